"""A repair from file to file: what the command line calls."""

from __future__ import annotations

import os
import re
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._effect.roles import AuditRoles, check_audit_roles
from fourfifths._progress import steps
from fourfifths._repair.engines.streamed import (
    IdentifiedRows,
    fit_streamed,
    identify,
    repaired_chunks,
    sampled_rows,
)
from fourfifths._repair.plain_repairer import PlainRepairer
from fourfifths._repair.proof import Proof, with_other_columns
from fourfifths._tables.engines.chunked import ChunkEngine
from fourfifths._tables.engines.chunks import ChunkedTable, write_row_chunks
from fourfifths._tables.engines.digests import ColumnDigest
from fourfifths._tables.engines.engine import TableEngine
from fourfifths._tables.engines.memory import engine_of
from fourfifths._tables.groups import (
    Roles,
    assign_roles,
    days_of_ages,
    edges_of,
    outcome_of,
    read_beta,
)
from fourfifths._tables.load import Output, RecordOutput, Rows, with_columns
from fourfifths._tables.table import Table, TableLike, open_table
from fourfifths._tables.values import unknown_tokens
from fourfifths._text import categories_note, listed, nearest
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError, ReadingWarning

MAX_EFFECT_ROWS = 100_000  # of a file that is not in memory
# pandas writes an index without a name into a Parquet file as a column of this name.
PANDAS_INDEX = re.compile(r"__index_level_\d+__$")

if TYPE_CHECKING:
    # Auditors take longer to load than many a repair takes, so they are loaded when they are used.
    from fourfifths._certify.result import Certificate
    from fourfifths._effect.amount import CertifiedAmount
    from fourfifths._effect.effect import EffectDetail
    from fourfifths._effect.result import ModelImpact, RepairEffect


@dataclass(frozen=True, kw_only=True)
class FileRepair:
    """A table before and after its repair; nothing is written or audited until asked for.

    Attributes
    ----------
    repairer : PlainRepairer
        Fitted, or loaded from a saved repair.
    before, after : Rows
        In a CSV, every cell that did not change is as it was written.
    roles : AuditRoles
        The outcome, its favorable value, the reference and beta, as given or as a shipped data set
        has them.
    not_features : tuple of str
        Columns that no rule would use.
    certified_amount : CertifiedAmount or None
        How the amount was found, if the least certified one was asked for.
    is_fitted : bool
        Whether the repair was fitted to these rows; what auditors find is then measured on folds.
    notes : tuple of str
        What a reader must know about the fit.
    """

    repairer: PlainRepairer
    before: Rows
    after: Rows
    roles: AuditRoles
    not_features: tuple[str, ...]
    certified_amount: CertifiedAmount | None
    is_fitted: bool
    notes: tuple[str, ...]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the repaired table; repaired numbers of a CSV are numbers in a Parquet file."""
        written_rows(self.repairer, self.after, path).write(path)

    def effect(
        self,
        detail: EffectDetail = "full",
        *,
        certify: Callable[..., Certificate] | None = None,
        model_impact: Callable[..., ModelImpact | None] | None = None,
    ) -> RepairEffect:
        """Return what the repair did; the arguments are those of `fourfifths._effect.effect`."""
        from fourfifths._effect.effect import effect

        held_out, notes = None, self.notes
        if self.is_fitted and detail == "full":
            try:
                held_out = self._held_out()
            except (ColumnError, GroupError, OutcomeError) as error:
                notes, detail = (*notes, f"not audited: {error}"), "quick"
        result = effect(
            self.repairer.fitted_,
            self.before,
            self.after,
            held_out=held_out,
            unseen=self.repairer.unseen,
            roles=self.roles,
            not_features=self.not_features,
            detail=detail,
            certify=certify,
            model_impact=model_impact,
        )
        return replace(result, notes=(*notes, *result.notes))

    def proof(self) -> Proof | None:
        """Return what is proven of the repaired columns; None for a repair by column."""
        return proof_of_file(self.repairer, self.before.columns, self.roles)

    def _held_out(self) -> Rows:
        """Return the audited rows, each repaired by a fit that has not seen it."""
        from fourfifths._effect.held_out import (
            audited_rows,
            fitted_folds,
            repaired_folds,
            repaired_sample,
        )

        kept = [self.repairer.keep] if self.repairer.keep else []  # a file has one outcome
        needed = [*self.repairer.fitted_.needed_columns, *kept]
        frame = self.before.dataframe
        codes = self.repairer.strata_.codes_of(self.before, unseen=self.repairer.unseen)
        positions = audited_rows(codes, random_state=0)
        if positions is None:
            folds = fitted_folds(frame.select(*needed), self.repairer, random_state=0)
            repaired = repaired_folds(folds, amount=self.repairer.amount)
        else:
            repaired = repaired_sample(frame.select(*needed), self.repairer, positions)
            frame = frame[positions]
        names = [column.name for column in self.repairer.column_types_]
        columns = [repaired[name] for name in names]
        return self.before.with_frame(with_columns(frame, columns))


def written_rows(repairer: PlainRepairer, rows: Rows, path: str | os.PathLike[str]) -> Rows:
    """Return repaired rows as they are written to a file: in a Parquet file, numbers are numbers.

    Without the stratifying columns, if these are dropped.
    """
    if repairer.drop_protected:
        kept = rows.dataframe.drop(*repairer.strata_.columns)
        rows = rows.with_frame(kept)
    if not str(path).lower().endswith(".parquet"):
        return rows
    # Only text is read as numbers: in other columns NaN and null stay what they are.
    text_columns = [
        column
        for column in repairer.column_types_
        if column.kind in ("number", "integer") and rows.dataframe[column.name].dtype == nw.String
    ]
    formats = {column.name: column.number_format for column in text_columns}
    frame = rows.with_numbers(list(formats), formats=formats).dataframe
    # The type is the repair's, so that rows with only whole numbers, or none, have it too.
    typed = [
        frame[column.name].cast(nw.Float64() if column.kind == "number" else nw.Int64())
        for column in text_columns
        if column.kind == "number" or frame[column.name].dtype == nw.String
    ]
    return rows.with_frame(frame.with_columns(*typed))


@dataclass(frozen=True, kw_only=True)
class StreamedFileRepair:
    """The repair of a file that is larger than memory; `write` repairs it chunk by chunk.

    Attributes
    ----------
    repairer : PlainRepairer
    source : ChunkedTable
    identified : IdentifiedRows
    roles, not_features, certified_amount, is_fitted, notes
        As in `FileRepair`.
    row_count : int
        About how many rows there are.
    effect_rows : list
        The rows that the effect is measured on, and their places, once they are known.
    """

    repairer: PlainRepairer
    source: ChunkedTable
    identified: IdentifiedRows
    roles: AuditRoles
    not_features: tuple[str, ...]
    certified_amount: CertifiedAmount | None
    is_fitted: bool
    notes: tuple[str, ...]
    row_count: int
    effect_rows: list[tuple[Rows, IntArray]] = field(default_factory=list)
    max_effect_rows: int = MAX_EFFECT_ROWS

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the repaired table, with the bytes that it would have if it fitted into memory."""
        if any(Path(path).resolve() == file.resolve() for file in self.source.file.paths):
            self._draw_effect_rows()  # they will be gone
        with steps("writing rows", self.row_count) as progress:
            chunks = repaired_chunks(
                self.repairer,
                self.source,
                self.identified,
                is_fitted=self.is_fitted,
                advance=progress.advance,
            )
            write_row_chunks(
                path,
                (
                    written_rows(self.repairer, repaired_rows(rows, output), path)
                    for rows, output in chunks
                ),
            )

    def effect(
        self,
        detail: EffectDetail = "full",
        *,
        certify: Callable[..., Certificate] | None = None,
        model_impact: Callable[..., ModelImpact | None] | None = None,
    ) -> RepairEffect:
        """Return what the repair did to some of the rows, which are drawn at random."""
        fitted = self.repairer.fitted_
        if not self.effect_rows:
            self._draw_effect_rows()
        before, places = self.effect_rows[0]
        output = fitted.transform(
            before,
            fitted.strata.codes_of(before, unseen=self.repairer.unseen),
            method=self.repairer.method,
            amount=self.repairer.amount,
            unseen=self.repairer.unseen,
            places=places,
        )
        repair = FileRepair(
            repairer=self.repairer,
            before=before,
            after=repaired_rows(before, output),
            roles=self.roles,
            not_features=self.not_features,
            certified_amount=self.certified_amount,
            is_fitted=self.is_fitted,
            notes=self.notes,
        )
        result = repair.effect(detail, certify=certify, model_impact=model_impact)
        rows = sum(self.identified.sizes)
        if len(before) == rows:
            return result
        sampled = (
            f"the effect was measured on {len(before):,} of the {rows:,} rows, drawn at random"
        )
        return replace(result, notes=(sampled, *result.notes))

    def _draw_effect_rows(self) -> None:
        drawn = sampled_rows(
            self.source, self.identified, self.repairer.strata_, most=self.max_effect_rows
        )
        self.effect_rows.append(drawn)

    def proof(self) -> Proof | None:
        """Return what is proven of the repaired columns; None for a repair by column."""
        return proof_of_file(self.repairer, self.source.empty.columns, self.roles)


def proof_of_file(repairer: PlainRepairer, names: Sequence[str], roles: AuditRoles) -> Proof | None:
    """Return what is proven, with the columns of the file that stay as they were."""
    proof: Proof | None = repairer.proof_
    if proof is None:
        return None
    not_outcome = [name for name in names if name != roles.outcome]
    return with_other_columns(proof, repairer.fitted_.other_columns(not_outcome))


def repaired_rows(rows: Rows, output: Output | RecordOutput) -> Rows:
    """Return rows with their repair."""
    return rows.with_frame(output.repaired_frame())


def repair_file(
    source: TableLike,
    *,
    protected: Sequence[str] | None = None,
    stratify_by: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    amount: float | Literal["certified"] = 1.0,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: Any = (),
    roles: AuditRoles | None = None,
    options: Mapping[str, Any] | None = None,
    memory: int | None = None,
    chunk_rows: int | None = None,
    least_certified_amount: Callable[..., CertifiedAmount] | None = None,
) -> FileRepair | StreamedFileRepair:
    """Fit a repair to a file, and apply it to the same rows.

    Parameters
    ----------
    source : str or Table
        A file, the name of a shipped data set, or what `fourfifths.read_table` made of them.
    protected, stratify_by, columns, bands, ages, unknown : optional
        As for `Repairer`. By default every column is repaired that a rule could use.
    orders : mapping of str to sequence of str, optional
        The categories of ordered columns, lowest first.
    amount : float or "certified"
        "certified" searches for the least amount whose result is certified.
    roles : AuditRoles, optional
    options : mapping, optional
        Other arguments of `Repairer`.
    memory : int, optional
        How many bytes a repair in memory may take; a larger file is repaired in chunks. By default
        half of the machine's.
    chunk_rows : int, optional
        The rows of a chunk; by default as many as take about 100 MB.
    least_certified_amount : callable, optional
        What searches for the amount.
    """
    if protected and stratify_by:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")
    table = open_table(source)
    stratifying = tuple(dict.fromkeys(protected or stratify_by or ()))
    if not stratifying and table.dataset is None:
        raise ColumnError("protected: name the protected columns, as in protected=['sex']")
    engine = engine_of(
        table, unknown_tokens(unknown), table.reading, memory=memory, chunk_rows=chunk_rows
    )
    rows = engine.schema
    rows.check_columns(stratifying, "protected")
    table_roles, audit_roles = _roles(
        table,
        engine,
        stratifying=stratifying or None,
        columns=columns,
        roles=roles,
        bands=bands,
        ages=ages,
    )
    stratifying = table_roles.protected

    key = (options or {}).get("key")
    if key is not None:
        rows.check_columns([key], f"key={key!r}")
    names = _repaired_columns(engine, columns, table_roles, key)
    for name in orders or ():
        if name not in names:
            raise ColumnError(
                f"orders: {name!r} is not a column that is repaired{nearest(name, names)}"
            )
    all_orders = {**(table.dataset.orders if table.dataset else {}), **(orders or {})}
    options = dict(options or {})
    if options.get("scope", "blocks") == "blocks":
        beta = audit_roles.beta
        options |= {
            "keep": audit_roles.outcome,
            "favorable": audit_roles.favorable,
            # The lower end of a range is used, as for certificates.
            "beta": beta[0] if isinstance(beta, tuple) else beta,
        }
    kept = [audit_roles.outcome] if options.get("keep") else []
    repairer = PlainRepairer(
        None if stratify_by else stratifying,
        stratify_by=stratifying if stratify_by else None,
        bands=edges_of(table_roles.bands) or None,
        ages=days_of_ages(table_roles.bands) or None,
        columns={name: tuple(all_orders[name]) if name in all_orders else None for name in names},
        unknown=rows.unknown,
        known=rows.reading.known,
        exact_values=rows.reading.exact_values,
        decimal=rows.reading.decimal,
        **options,
    )

    key = [repairer.key] if repairer.key else []
    needed = list(dict.fromkeys([*key, *stratifying, *names, *kept]))
    certified_amount = None
    if isinstance(engine, ChunkEngine):
        return _fit_in_chunks(
            repairer,
            engine,
            needed,
            amount=amount,
            roles=audit_roles,
            not_features=table_roles.not_features,
        )
    if amount == "certified":
        outcome = [audit_roles.outcome] if audit_roles.outcome and not kept else []
        table_in_memory = rows.dataframe.select(*needed, *outcome).to_native()
        certified_amount = _certified_amount(
            table_in_memory, repairer, audit_roles, least_certified_amount
        )
        assert certified_amount.amount is not None
        amount = certified_amount.amount
    repairer.set_params(amount=amount)
    with warnings_shown_otherwise():
        repairer.fit(rows.dataframe.select(*needed).to_native())
    notes = tuple(
        categories_note(name, "was repaired")
        for name in rows.mixed_columns(repairer.column_types_, repairer.columns)
    )
    notes += repairer.notes_
    check_audit_roles(repairer.fitted_, rows, audit_roles)
    return _repaired(
        repairer,
        rows,
        roles=audit_roles,
        not_features=table_roles.not_features,
        certified_amount=certified_amount,
        is_fitted=True,
        notes=(*rows.notes, *notes),
    )


def _certified_amount(
    table: Any,
    repairer: PlainRepairer,
    roles: AuditRoles,
    search: Callable[..., CertifiedAmount] | None,
) -> CertifiedAmount:
    """Search for the least amount whose result is certified; an error if there is none."""
    from fourfifths._effect.amount import least_certified_amount
    from fourfifths._repair.repairer import Repairer

    with warnings_shown_otherwise():
        result = (search or least_certified_amount)(
            table,
            Repairer(**repairer.get_params()),
            outcome=roles.outcome,
            favorable=roles.favorable,
            reference=roles.reference,
            beta=roles.beta,
        )
    if result.amount is None:
        raise OptionError(f"amount='certified': {'; '.join(str(result).splitlines())}")
    return result


@contextmanager
def warnings_shown_otherwise() -> Iterator[None]:
    """Fit without the warnings that the shell shows in its own way."""
    with warnings.catch_warnings():
        # It becomes a note: the warning's advice is for Python.
        warnings.filterwarnings("ignore", ".* holds numbers and words", category=UserWarning)
        warnings.simplefilter("ignore", ReadingWarning)
        # The proof says the same.
        warnings.filterwarnings("ignore", "blocks='certified'", category=UserWarning)
        yield


def _fit_in_chunks(
    repairer: PlainRepairer,
    engine: ChunkEngine,
    names: Sequence[str],
    *,
    amount: float | Literal["certified"],
    roles: AuditRoles,
    not_features: tuple[str, ...],
) -> StreamedFileRepair:
    """Fit a repair to a file that is larger than memory."""
    if amount == "certified":
        raise OptionError(
            "amount='certified': the least certified amount is searched in memory only, and the "
            "file is larger than memory=; give an amount, or search on some of the rows"
        )
    repairer.set_params(amount=amount)
    files = ExitStack()
    try:
        with steps("reading rows", engine.row_count) as progress, warnings_shown_otherwise():
            identified = fit_streamed(
                repairer, engine, names, files=files, advance=progress.advance
            )
        check_audit_roles(repairer.fitted_, engine.schema, roles, engine.values)
    except BaseException:
        files.close()
        raise
    mixed = tuple(
        categories_note(name, "was repaired")
        for name in engine.schema.mixed_columns(repairer.column_types_, repairer.columns)
    )
    repair = StreamedFileRepair(
        repairer=repairer,
        source=engine.source,
        identified=identified,
        roles=roles,
        not_features=not_features,
        certified_amount=None,
        is_fitted=True,
        notes=(*engine.schema.notes, *mixed, *repairer.notes_),
        row_count=engine.row_count,
    )
    weakref.finalize(repair, files.close)
    return repair


def apply_repair(
    source: TableLike,
    saved: str | os.PathLike[str],
    *,
    roles: AuditRoles | None = None,
    memory: int | None = None,
    chunk_rows: int | None = None,
) -> FileRepair | StreamedFileRepair:
    """Apply a saved repair to a file; nothing is fitted.

    Parameters
    ----------
    source : str
        A file, or the name of a shipped data set. It may have more columns than the repair uses.
    saved : path
        What `Repairer.save` wrote.
    roles : AuditRoles, optional
        For audits of its effect. Without it there are none, and nothing about them is checked.
    memory, chunk_rows : int, optional
        As for `repair_file`.
    """
    repairer = PlainRepairer.load(saved)
    if repairer.strata_.passed:
        raise GroupError(
            f"{saved}: this repair was fitted to protected values that are not a column of the "
            "table, and a file has no others; apply it in Python, transform(X, protected=values)"
        )
    table = open_table(source)
    engine = engine_of(
        table,
        unknown_tokens(repairer.unknown),
        repairer.reading,
        memory=memory,
        chunk_rows=chunk_rows,
    )
    rows = engine.schema
    rows.check_columns(repairer.fitted_.needed_columns, "the saved repair")
    not_features: tuple[str, ...] = ()
    if roles is not None:
        table_roles, roles = _roles(
            table,
            engine,
            stratifying=repairer.strata_.columns,
            columns=(),
            roles=roles,
            bands=None,
        )
        check_audit_roles(repairer.fitted_, rows, roles, engine.values)
        kept = [repairer.keep] if isinstance(repairer.keep, str) else repairer.keep or ()
        # The outcome that is kept is not a column that a rule would use.
        not_features = (*table_roles.not_features, *kept)
    if isinstance(engine, ChunkEngine):
        return _apply_in_chunks(repairer, engine, roles=roles, not_features=not_features)
    return _repaired(
        repairer,
        rows,
        roles=roles or AuditRoles(),
        not_features=not_features,
        certified_amount=None,
        is_fitted=False,
        notes=rows.notes,
    )


def _apply_in_chunks(
    repairer: PlainRepairer,
    engine: ChunkEngine,
    *,
    roles: AuditRoles | None,
    not_features: tuple[str, ...],
) -> StreamedFileRepair:
    """Apply a saved repair to a file that is larger than memory."""
    fitted = repairer.fitted_
    row_count = engine.source.about_rows
    files = ExitStack()
    texts: dict[str, ColumnDigest] = {}

    def numbers(rows: Rows) -> list[FloatArray]:
        columns = fitted.numbers(rows, repairer.unseen)
        if rows.value_notes:  # something was assumed, so texts are counted
            for name in (column.name for column in fitted.types_in(rows)):
                column = rows.dataframe[name]
                if column.dtype == nw.String:
                    texts.setdefault(name, ColumnDigest(name=name, column=column.head(0))).add(rows)
        return columns

    try:
        with steps("reading rows", row_count) as progress:
            identified = identify(
                engine.source,
                fitted.needed_columns,
                strata=fitted.strata,
                numbers=numbers,
                seed=fitted.seed,
                key=fitted.key,
                unseen=repairer.unseen,
                row_count=row_count,
                files=files,
                advance=progress.advance,
            )
    except BaseException:
        files.close()
        raise
    value_notes = [
        note
        for column in fitted.types_in(engine.schema)
        if column.kind in ("number", "integer") and column.name in texts
        for note in texts[column.name].number_notes(column, engine.schema.reading)
    ]
    repair = StreamedFileRepair(
        repairer=repairer,
        source=engine.source,
        identified=identified,
        roles=roles or AuditRoles(),
        not_features=not_features,
        certified_amount=None,
        is_fitted=False,
        notes=tuple(dict.fromkeys((*engine.schema.notes, *value_notes))),
        row_count=sum(identified.sizes),
    )
    weakref.finalize(repair, files.close)
    return repair


def _roles(
    table: Table,
    engine: TableEngine,
    *,
    stratifying: tuple[str, ...] | None,
    columns: Sequence[str] | None,
    roles: AuditRoles | None,
    bands: Mapping[str, Sequence[float]] | None,
    ages: Mapping[str, date | str] | None = None,
) -> tuple[Roles, AuditRoles]:
    """Return the roles of the table's columns, with what a shipped data set says of itself.

    A misspelt outcome or favorable value, or a wrong beta, is an error here, before anything is
    computed.
    """
    roles, rows = roles or AuditRoles(), engine.schema
    read_beta(roles.beta)
    if roles.outcome is not None:
        rows.check_columns([roles.outcome], "outcome")
    assigned = assign_roles(
        table,
        protected=stratifying,
        outcome=roles.outcome,
        favorable=roles.favorable,
        reference=roles.reference,
        bands=bands,
        ages=ages,
        unknown=rows.unknown,
        outcome_is="optional",
    )
    outcome = () if assigned.outcome is None else (assigned.outcome,)
    if columns:
        rows.check_columns(columns, "columns")
    engine.scan((*assigned.protected, *outcome), columns)
    if columns != ():  # a saved repair says itself what is unknown
        engine.check_tokens()
    if assigned.outcome is not None:
        values, row_counts = engine.values(assigned.outcome)
        outcome_of(values, assigned.favorable, rows.unknown, rows.reading, row_counts=row_counts)
    reference = {
        column: group
        for column, group in assigned.designated.items()
        if column in assigned.protected
    }
    return assigned, replace(
        roles,
        outcome=assigned.outcome,
        favorable=assigned.favorable,
        reference=reference or None,
    )


def _repaired_columns(
    engine: TableEngine, columns: Sequence[str] | None, roles: Roles, key: str | None
) -> tuple[str, ...]:
    """Return the columns that are named, or all that a rule could use and that may be changed."""
    rows = engine.schema
    if not columns:
        if roles.outcome is None:
            raise ColumnError(
                "columns: which columns to repair is not known; name them, or name the outcome, "
                "outcome='...', so that all others can be repaired"
            )
        repairable = engine.repairable((*roles.not_features, key))
        names = tuple(name for name in repairable if not PANDAS_INDEX.match(name))
        if not names:
            key_part = "" if key is None else f", {key!r} is the key"
            raise ColumnError(
                f"columns: no column is left to repair: strata are made of "
                f"{listed(roles.protected)}, {roles.outcome!r} is the outcome{key_part}; dates, "
                "identifiers and other groups are repaired only if you name them"
            )
        return names
    names = tuple(dict.fromkeys(rows.check_columns(columns, "columns")))
    for name in roles.protected:
        if name in names:
            raise ColumnError(f"columns: {name!r} is what the strata are made of")
    if roles.outcome in names:
        raise ColumnError(f"columns: {roles.outcome!r} is the outcome; leave it out")
    return names


def _repaired(
    repairer: PlainRepairer,
    rows: Rows,
    *,
    roles: AuditRoles,
    not_features: tuple[str, ...],
    certified_amount: CertifiedAmount | None,
    is_fitted: bool,
    notes: tuple[str, ...],
) -> FileRepair:
    """Repair the rows; the repair uses only some of their columns."""
    fitted = repairer.fitted_
    codes = fitted.strata.codes_of(rows, unseen=repairer.unseen)
    output = fitted.transform(
        rows,
        codes,
        method=repairer.method,
        amount=repairer.amount,
        unseen=repairer.unseen,
    )
    if is_fitted and repairer.amount == 1:
        fitted.count_table(output, codes)
    return FileRepair(
        repairer=repairer,
        before=rows,
        after=rows.with_frame(output.repaired_frame()),
        roles=roles,
        not_features=not_features,
        certified_amount=certified_amount,
        is_fitted=is_fitted,
        # Where a saved repair is applied, values are read only now.
        notes=tuple(dict.fromkeys((*notes, *rows.value_notes))),
    )
