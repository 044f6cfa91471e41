"""A repair of a table that is not in memory: it is read in chunks, and gives the same values.

One pass says what the columns hold (`ChunkEngine`). A second finds equal rows, because draws of
rows without a key come from their place among them. A repair by blocks is fitted on at most
`MAX_FIT_ROWS` rows, which are loaded. The last pass repairs chunk by chunk, with what was fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, HashArray, IntArray
from fourfifths._progress import Advance
from fourfifths._repair.block_model import (
    BlockModel,
    first_drawn,
    fit_quotas,
    own_beta,
    record_counts,
)
from fourfifths._repair.columns.gathered import fit_gathered
from fourfifths._repair.columns.model import ROWS_PER_CHUNK, Model, check_column_kinds
from fourfifths._repair.draws import (
    RowDraws,
    content_words,
    draws_of,
    keyed_identity,
    placed_identity,
    seed_of,
    uniform_of,
)
from fourfifths._repair.fitted import FittedRepair
from fourfifths._repair.guide import Outcome, read_outcome
from fourfifths._tables.engines.cells import positions_among
from fourfifths._tables.engines.chunked import ChunkEngine
from fourfifths._tables.engines.chunks import ChunkedTable
from fourfifths._tables.engines.engine import ScannedEngine
from fourfifths._tables.engines.places import EqualRows, temporary_file
from fourfifths._tables.files import room_for_temporary_files
from fourfifths._tables.groups import check_no_second_header, holds_name, read_bands
from fourfifths._tables.identity import key_words, repeated_key
from fourfifths._tables.load import Output, RecordOutput, Rows
from fourfifths._tables.strata import (
    Strata,
    Unseen,
    fit_strata,
    stratum_argument,
    stratum_columns,
    stratum_names,
)
from fourfifths._tables.types import AskedType, ColumnType
from fourfifths._tables.values import folded
from fourfifths.errors import GroupError

if TYPE_CHECKING:
    from fourfifths._repair.plain_repairer import PlainRepairer

# So many standard deviations more rows are drawn than are needed; too few are never left.
SPARE_DEVIATIONS = 8
MAX_GATHERED_ROWS = 2_000_000  # of small strata, in a repair by column without a key
Numbers = Callable[[Rows], list[FloatArray]]


@dataclass(kw_only=True)
class IdentifiedRows:
    """What tells the rows of a table apart, on disk.

    Attributes
    ----------
    sizes : list of int
        The rows of each chunk.
    equal_rows : EqualRows
    words : file or None
        The word of each row's key or content; None if nothing is drawn for the rows.
    codes : file
        The stratum of each row.
    seed : int
    key : str or None
    """

    sizes: list[int]
    equal_rows: EqualRows | None
    words: IO[bytes] | None
    codes: IO[bytes]
    seed: int
    key: str | None

    def places(self) -> Iterator[IntArray]:
        """Yield the places of the rows among their equals, chunk by chunk."""
        if self.equal_rows is None:
            return (np.zeros(size, dtype=np.int64) for size in self.sizes)
        return self.equal_rows.places(self.sizes)

    def stratum_codes(self) -> Iterator[CodeArray]:
        """Yield the strata of the rows, chunk by chunk."""
        self.codes.seek(0)
        for size in self.sizes:
            yield np.frombuffer(self.codes.read(2 * size), dtype=np.int16)

    def identities(self) -> Iterator[tuple[HashArray, IntArray]]:
        """Yield the words that the rows' draws come from, and their places, chunk by chunk.

        Where nothing is drawn for the rows, their number in the table takes the place of a key.
        """
        if self.words is None:
            ends = np.cumsum(self.sizes)
            for size, end in zip(self.sizes, ends, strict=True):
                numbers = np.arange(end - size, end, dtype=np.uint64)
                yield keyed_identity(numbers, seed=self.seed), np.zeros(size, dtype=np.int64)
            return
        self.words.seek(0)
        for size, places in zip(self.sizes, self.places(), strict=True):
            words = np.frombuffer(self.words.read(8 * size), dtype=np.uint64)
            yield (
                (
                    placed_identity(words, places)
                    if self.key is None
                    else keyed_identity(words, seed=self.seed)
                ),
                places,
            )

    def stratum_rows(self, stratum_count: int) -> IntArray:
        """Return the number of rows of each stratum; the last entry counts rows without one."""
        counts = np.zeros(stratum_count + 1, dtype=np.int64)
        for codes in self.stratum_codes():
            counts += np.bincount(codes + 1, minlength=stratum_count + 1)
        return np.roll(counts, -1)

    def drawn(self, quotas: IntArray, row_counts: IntArray) -> tuple[IntArray, IntArray]:
        """Draw a quota of rows of each stratum; return them and their places, in their order.

        The last quota and count are those of the rows without a stratum.
        """
        limits = draw_limits(quotas, row_counts)
        candidates: list[tuple[IntArray, Any, CodeArray, IntArray]] = []
        first_row = 0
        for codes, (identity, places) in zip(self.stratum_codes(), self.identities(), strict=True):
            codes = codes % quotas.size  # noqa: PLW2901 - the code -1 is the last entry
            near = np.flatnonzero(uniform_of(identity, "sample") < limits[codes])
            candidates.append((near + first_row, identity[near], codes[near], places[near]))
            first_row += codes.size
        rows, identity, codes, places = (
            np.concatenate(arrays) for arrays in zip(*candidates, strict=True)
        )
        draws = RowDraws(rows=identity, content=identity, is_keyed=self.key is not None)
        chosen = first_drawn(np.arange(rows.size), codes, draws, most=quotas, purpose="sample")
        assert chosen.size == quotas.sum()
        return rows[chosen], places[chosen]


def draw_limits(quotas: IntArray, row_counts: IntArray) -> FloatArray:
    """Return a limit of the draws for each stratum; a few more rows than its quota are below it.

    The last limit is that of rows without a stratum, none of which is taken.
    """
    expected = quotas + SPARE_DEVIATIONS * np.sqrt(quotas) + SPARE_DEVIATIONS
    limits = np.where(quotas == row_counts, 1.0, expected / np.maximum(row_counts, 1))
    return np.append(limits, -1.0)


def identify(
    source: ChunkedTable,
    names: Sequence[str],
    *,
    strata: Strata,
    numbers: Numbers,
    seed: int,
    key: str | None,
    unseen: Unseen,
    row_count: int,
    files: ExitStack,
    advance: Advance,
) -> IdentifiedRows:
    """Read all rows once, and return what tells them apart.

    Parameters
    ----------
    source : ChunkedTable
    names : sequence of str
        The columns that are read.
    strata : Strata
    numbers : callable
        Returns the repaired columns of rows as numbers, and checks them.
    seed, key
        As in `draws_of`.
    unseen : {"error", "keep"}
    row_count : int
        About how many rows there are.
    files : ExitStack
        Closes the files at the end.
    advance : callable
        Is called with the rows that were read.
    """
    word_file, code_file = temporary_file(files), temporary_file(files)
    equal_rows = EqualRows(row_count)
    files.callback(equal_rows.close)
    sizes = []
    first_unseen, unseen_rows = ("", 0), 0
    for rows in source.chunks(names):
        codes = strata.codes_of(rows, unseen="keep")
        without_stratum = np.flatnonzero(codes < 0)
        if without_stratum.size and not unseen_rows:
            row = int(without_stratum[0])
            _, columns = stratum_columns(
                rows, strata.by, values=None, bands=strata.bands, argument=strata.argument
            )
            value = " & ".join(str(column[row]) for column in columns)
            first_unseen = value, rows.first_row + row
        unseen_rows += without_stratum.size
        columns_read = numbers(rows)
        if key is None:
            words = content_words(columns_read, len(rows), seed=seed)
        else:
            words = key_words(rows, key)
        equal_rows.add(words)
        with room_for_temporary_files():
            word_file.write(words.data)
            code_file.write(codes.astype(np.int16).data)
        sizes.append(len(rows))
        advance("reading rows", len(rows))
    if unseen_rows and unseen == "error":
        raise strata.unseen_error(*first_unseen, row_count=unseen_rows)
    equal_rows.finish()
    if key is not None and equal_rows.first_repeated is not None:
        row_number = np.array([equal_rows.first_repeated])
        value = source.take(row_number, [key]).dataframe[key].to_list()[0]
        raise repeated_key(key, value, repeated_rows=equal_rows.repeated_rows)
    return IdentifiedRows(
        sizes=sizes, equal_rows=equal_rows, words=word_file, codes=code_file, seed=seed, key=key
    )


@dataclass(frozen=True, kw_only=True)
class OutcomeValues:
    """An outcome of a table, known by the different values that the table holds.

    Attributes
    ----------
    outcome : Outcome
        Of each different value.
    column : series
        These values.
    """

    outcome: Outcome
    column: nw.Series[Any]

    def of(self, rows: Rows) -> Outcome:
        """Return the outcome of rows."""
        index = positions_among(rows.dataframe[self.outcome.name], self.column)
        return replace(self.outcome, values=self.outcome.values[index])


def _rows_with_name(engine: ScannedEngine, name: str) -> int:
    """Return how many rows of a column that is not counted hold the column's own name."""
    values, row_counts = engine.digests[name].values()
    is_name = [folded(str(value)) == folded(name) for value in values.to_list()]
    counts = np.ones(len(is_name)) if row_counts is None else row_counts
    return int(counts[np.array(is_name, dtype=bool)].sum())


@dataclass(frozen=True, kw_only=True)
class ScannedFit:
    """What a fit takes from the values of the whole table, before it sees any row.

    Attributes
    ----------
    strata : Strata
    column_types : tuple of ColumnType
    outcomes : list of OutcomeValues
    beta : float
    seed : int
    notes : list of str
        What was assumed about values.
    """

    strata: Strata
    column_types: tuple[ColumnType, ...]
    outcomes: list[OutcomeValues]
    beta: float
    seed: int
    notes: list[str]

    @classmethod
    def of(
        cls, repairer: PlainRepairer, engine: ScannedEngine, asked: Mapping[Any, AskedType]
    ) -> ScannedFit:
        """Return what is known of a table that was looked at.

        Parameters
        ----------
        repairer : PlainRepairer
        engine : ScannedEngine
            That has looked at the values.
        asked : mapping of column to type
            The columns to repair.
        """
        assert engine.cells is not None
        notes: list[str] = []
        by = stratum_names(repairer.protected, repairer.stratify_by)
        assert by is not None
        strata, _ = fit_strata(
            engine.cells.rows,
            by,
            bands=read_bands(repairer.bands, repairer.ages),
            unseen=repairer.unseen,
            small=repairer.small,
            row_counts=engine.cells.row_counts,
            argument=stratum_argument(repairer.stratify_by),
            outcomes=repairer._outcome_names,
        )
        notes += engine.cells.rows.value_notes
        column_types = engine.types(asked, notes)
        categories = [column for column in column_types if column.kind == "category"]
        if categories and not repairer._outcome_names:
            # Without an outcome the cells are those of the strata alone: the values must do.
            codes = np.arange(len(strata.groups))
            values = zip(*strata.groups, strict=True)
            check_no_second_header(
                {
                    name: holds_name(name, groups, codes)
                    for name, groups in zip(by, values, strict=True)
                },
                np.array(strata.rows),
                # A header has the names of all columns, so that each name is in as many rows.
                beside={
                    column.name: np.array(strata.rows) == _rows_with_name(engine, column.name)
                    for column in categories
                },
            )
        outcomes = [_outcome_values(engine, name, notes) for name in repairer._outcome_names]
        cell_outcomes = [outcome.of(engine.cells.rows) for outcome in outcomes]
        favorable = repairer._favorable_of(cell_outcomes)
        beta = repairer.beta
        if beta is None:
            beta = own_beta(
                cell_outcomes,
                strata.codes_of(engine.cells.rows, unseen="keep"),
                favorable,
                row_counts=engine.cells.row_counts,
            )
        return cls(
            strata=strata,
            column_types=column_types,
            outcomes=outcomes,
            beta=float(beta),
            seed=seed_of(repairer.random_state),
            notes=notes,
        )

    def learn(self, repairer: PlainRepairer, sample: Rows, places: IntArray) -> bool:
        """Fit a repair by blocks to a sample of the rows, and return whether it is proven.

        `places` as in `draws_of`.
        """
        columns = sample.numbers(self.column_types)
        model, is_proven = repairer._learn_blocks(
            sample,
            columns,
            self.column_types,
            codes=self.strata.codes_of(sample, unseen="error"),
            outcomes=[outcome.of(sample) for outcome in self.outcomes],
            beta=self.beta,
            draws=draws_of(sample, columns, seed=self.seed, key=repairer.key, places=places),
            seed=self.seed,
        )
        self.complete(repairer, sample, model)
        return is_proven

    def complete(self, repairer: PlainRepairer, rows: Rows, model: BlockModel | Model) -> None:
        """Give a repair its model; of the rows only the columns are looked at."""
        repairer._complete_fit(
            repairer._read(rows.dataframe.to_native(), reset=True),
            strata=self.strata,
            column_types=self.column_types,
            model=model,
            seed=self.seed,
            notes=self.notes,
        )


def fit_streamed(
    repairer: PlainRepairer,
    engine: ChunkEngine,
    names: Sequence[str],
    *,
    files: ExitStack,
    advance: Advance,
) -> IdentifiedRows:
    """Fit a repair to a table that is not in memory.

    Parameters
    ----------
    repairer : PlainRepairer
        With the names of the columns that it repairs.
    engine : ChunkEngine
        That has looked at the values.
    names : sequence of str
        The columns that the repair is fitted to.
    files, advance
        As in `identify`.
    """
    assert isinstance(repairer.columns, Mapping)
    repairer._check_options()
    scanned = ScannedFit.of(repairer, engine, repairer.columns)
    if repairer.scope == "column":
        return _fit_columns(
            repairer,
            engine,
            names,
            strata=scanned.strata,
            column_types=scanned.column_types,
            seed=scanned.seed,
            notes=scanned.notes,
            files=files,
            advance=advance,
        )
    identified = identify(
        engine.source,
        names,
        strata=scanned.strata,
        numbers=lambda rows: rows.checked_numbers(scanned.column_types),
        seed=scanned.seed,
        key=repairer.key,
        unseen=repairer.unseen,
        row_count=engine.row_count,
        files=files,
        advance=advance,
    )
    row_counts = identified.stratum_rows(len(scanned.strata.groups))
    quotas = np.append(fit_quotas(row_counts[:-1]), 0)
    row_numbers, places = identified.drawn(quotas, row_counts)
    scanned.learn(repairer, engine.source.take(row_numbers, names), places)
    return identified


def _fit_columns(
    repairer: PlainRepairer,
    engine: ChunkEngine,
    names: Sequence[str],
    *,
    strata: Strata,
    column_types: tuple[ColumnType, ...],
    seed: int,
    notes: Sequence[str],
    files: ExitStack,
    advance: Advance,
) -> IdentifiedRows:
    """Fit a repair by column, a few columns at a time."""
    check_column_kinds(column_types)
    source, code_file = engine.source, temporary_file(files)
    identified = IdentifiedRows(
        sizes=engine.sizes, equal_rows=None, words=None, codes=code_file, seed=seed, key=None
    )
    for codes in engine.stratum_codes(strata):
        with room_for_temporary_files():
            code_file.write(codes.data)
    engine.read_numbers(column_types)

    def read_columns(indices: Sequence[int]) -> Iterator[tuple[list[FloatArray], CodeArray]]:
        def advance_share(step: str, row_count: int = 1) -> None:
            advance(step, row_count * len(indices) // len(column_types))

        types = [column_types[index] for index in indices]
        chunks = engine.number_chunks(types, advance=advance_share)
        for columns, codes in zip(chunks, identified.stratum_codes(), strict=False):
            if columns[0].size != codes.size:
                raise source.changed()
            yield columns, codes

    columns = fit_gathered(column_types, read_columns, strata=strata, levels=repairer.levels)
    model = Model(columns=columns, ties=repairer.ties)
    repairer._complete_fit(
        repairer._read(engine.schema.dataframe.select(*names).to_native(), reset=True),
        strata=strata,
        column_types=column_types,
        model=model,
        seed=seed,
        notes=notes,
    )
    if repairer.key is None and not model.needs_draws(repairer.method, repairer.amount):
        return identified
    return identify(
        source,
        names,
        strata=strata,
        numbers=lambda rows: rows.numbers(column_types),
        seed=seed,
        key=repairer.key,
        unseen=repairer.unseen,
        row_count=engine.row_count,
        files=files,
        advance=lambda _step, _count=1: None,
    )


def _outcome_values(engine: ScannedEngine, name: str, notes: list[str]) -> OutcomeValues:
    assert engine.cells is not None
    cells = engine.cells.of([name])
    outcome = read_outcome(
        name,
        cells.rows.column(name),
        cells.rows.unknown,
        reading=cells.rows.reading,
        notes=notes,
        row_counts=cells.row_counts,
    )
    return OutcomeValues(outcome=outcome, column=cells.rows.dataframe[name])


def repaired_chunks(
    repairer: PlainRepairer,
    source: ChunkedTable,
    identified: IdentifiedRows,
    *,
    is_fitted: bool,
    advance: Advance,
) -> Iterator[tuple[Rows, Output | RecordOutput]]:
    """Yield the rows of a table chunk by chunk, each with its repair.

    At the end the fitted repair knows how many rows of the table are written as each record.
    """
    fitted: FittedRepair = repairer.fitted_
    model = fitted.model
    counts: Any = 0
    counts_table = is_fitted and isinstance(model, BlockModel)
    small_strata = SmallStrata.of(repairer, source, identified)
    identity = zip(identified.places(), identified.stratum_codes(), strict=True)
    for rows in source.chunks():
        places, codes = next(identity, (None, None))
        if places is None or codes is None or places.size != len(rows):
            raise source.changed()
        output = fitted.transform(
            rows,
            codes if small_strata is None else small_strata.without(codes),
            method=repairer.method,
            amount=1.0 if counts_table else repairer.amount,
            unseen=repairer.unseen,
            places=places,
            row_counts=None if small_strata is None else small_strata.row_counts,
        )
        if small_strata is not None:
            assert isinstance(output, Output)
            small_strata.write_to(output)
        if counts_table:
            assert isinstance(output, RecordOutput)
            assert isinstance(model, BlockModel)
            counts = counts + record_counts(model.blocks, output.index, codes)
            if repairer.amount < 1:
                before = fitted.numbers(rows, repairer.unseen)
                draws = draws_of(rows, before, seed=fitted.seed, key=fitted.key, places=places)
                stays = draws.uniforms("amount") >= repairer.amount
                output = replace(output, index=np.where(stays, -1, output.index))
        yield rows, output
        advance("writing rows", len(rows))
    if counts_table:
        assert isinstance(model, BlockModel)
        model.table.complete(counts)


@dataclass(frozen=True, kw_only=True)
class SmallStrata:
    """The repaired rows of strata that a repair by column repairs at once, wherever they are.

    Rows without a key that have equal values are spread evenly over their levels: in strata of many
    rows among the rows of a stretch of the table, in others among all of the stratum. So these are
    repaired first, together.

    Attributes
    ----------
    is_small : bool array
        Of each stratum.
    row_counts : int array
        The rows of each stratum.
    row_numbers : int array
    after : sequence of float array
        The repaired columns of these rows.
    """

    is_small: BoolArray
    row_counts: IntArray
    row_numbers: IntArray
    after: Sequence[FloatArray]

    @classmethod
    def of(
        cls,
        repairer: PlainRepairer,
        source: ChunkedTable,
        identified: IdentifiedRows,
        *,
        max_rows: int = MAX_GATHERED_ROWS,
    ) -> SmallStrata | None:
        """Repair the rows of small strata; None if rows are repaired one by one anyway."""
        fitted: FittedRepair = repairer.fitted_
        is_alone = identified.words is None or identified.key is not None
        if not isinstance(fitted.model, Model) or is_alone or repairer.amount == 0:
            return None
        row_counts = identified.stratum_rows(len(fitted.strata.groups))[:-1]
        is_small = row_counts <= ROWS_PER_CHUNK
        small_rows = int(row_counts[is_small].sum())
        if small_rows > max_rows:
            raise GroupError(
                f"{' & '.join(fitted.strata.by)}: {small_rows:,} rows are in strata of at most "
                f"{ROWS_PER_CHUNK:,} rows, which are repaired together and do not fit into memory; "
                "name the column that identifies a row, key='...', so that rows are repaired one "
                "by one, or make coarser strata"
            )
        numbers, all_places, first_row = [], [], 0
        for codes, places in zip(identified.stratum_codes(), identified.places(), strict=True):
            positions = np.flatnonzero(np.append(is_small, False)[codes])
            numbers.append(positions + first_row)
            all_places.append(places[positions])
            first_row += codes.size
        row_numbers = np.concatenate(numbers)
        after: Sequence[FloatArray] = [np.empty(0) for _ in fitted.column_types]
        if row_numbers.size:
            rows = source.take(row_numbers, list(dict.fromkeys(fitted.needed_columns)))
            output = fitted.transform(
                rows,
                fitted.strata.codes_of(rows, unseen=repairer.unseen),
                method=repairer.method,
                amount=repairer.amount,
                places=np.concatenate(all_places),
                row_counts=row_counts,
            )
            assert isinstance(output, Output)
            after = output.after
        return cls(is_small=is_small, row_counts=row_counts, row_numbers=row_numbers, after=after)

    def without(self, codes: CodeArray) -> CodeArray:
        """Return the strata of rows, -1 for those of small strata."""
        return np.where(np.append(self.is_small, True)[codes], np.int16(-1), codes)

    def write_to(self, output: Output) -> None:
        """Write those of the rows that a chunk has."""
        first_row = output.rows.first_row
        span = slice(*np.searchsorted(self.row_numbers, [first_row, first_row + len(output.rows)]))
        positions = self.row_numbers[span] - first_row
        for column, after in zip(output.after, self.after, strict=True):
            column[positions] = after[span]


def sampled_rows(
    source: ChunkedTable, identified: IdentifiedRows, strata: Strata, *, most: int
) -> tuple[Rows, IntArray]:
    """Return about `most` rows by draw, in the shares of the strata, and their places.

    Rows without a stratum, which a repair leaves as they are, have their share too.
    """
    row_counts = identified.stratum_rows(len(strata.groups))
    share = min(most / max(int(row_counts.sum()), 1), 1.0)
    quotas = np.ceil(share * row_counts).astype(np.int64)
    row_numbers, places = identified.drawn(quotas, row_counts)
    return source.take(row_numbers), places
