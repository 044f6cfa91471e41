"""A repair of a table that is in a cluster: fitted to a sample, applied where the rows are.

The functions that Spark calls are small objects with what was fitted. They are pickled once and
map Arrow chunks to Arrow chunks, so the rows are repaired by the same code as rows in memory. The
draws of a row come from its key. Without a key they come from its content and its place among equal
rows, which Spark finds by bringing equal rows together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._repair.block_model import (
    MAX_FIT_ROWS,
    BlockModel,
    TableCounts,
    first_drawn,
    fit_quotas,
    record_counts,
)
from fourfifths._repair.columns.model import check_column_kinds, chunk_numbers
from fourfifths._repair.columns.ordered import Method
from fourfifths._repair.draws import content_words, draws_of, keyed_identity, uniform_of
from fourfifths._repair.engines.order_statistics import fit_columns_in_cluster
from fourfifths._repair.engines.streamed import ScannedFit, draw_limits
from fourfifths._repair.fitted import FittedRepair
from fourfifths._tables.engines.spark import check_session, gathered_by, places_by, with_positions
from fourfifths._tables.engines.spark_engine import (
    SparkEngine,
    SparkTable,
    numbers_schema,
    placed_rows,
    repaired_schema,
    with_numbers,
)
from fourfifths._tables.identity import key_words
from fourfifths._tables.load import RecordOutput, Rows
from fourfifths._tables.strata import Strata, Unseen, stratum_argument, stratum_names
from fourfifths._tables.table import no_rows
from fourfifths._tables.types import ColumnType
from fourfifths._tables.values import unknown_tokens
from fourfifths.errors import ColumnError, OutcomeError

if TYPE_CHECKING:
    from fourfifths._repair.repairer import Repairer

# Columns that a table has on its way through Spark.
WORD, POSITION, PLACE = "fourfifths_word", "fourfifths_position", "fourfifths_place"
CHUNK = "fourfifths_chunk"


@dataclass(frozen=True, kw_only=True)
class SampledRows:
    """Takes the rows whose draw is below the limit of their stratum.

    Attributes
    ----------
    strata : Strata
    column_types : tuple of ColumnType
        They are read in every row, so that a value that cannot be repaired is an error at the fit.
    key : str
    seed : int
    limits : float array
        One for each stratum, and that of rows without a stratum.
    """

    strata: Strata
    column_types: tuple[ColumnType, ...]
    key: str
    seed: int
    limits: FloatArray

    def __call__(self, rows: Rows) -> Any:
        """Return the rows that are taken, as an Arrow table."""
        codes = self.strata.codes_of(rows, unseen="keep")
        rows.checked_numbers(self.column_types)
        identity = keyed_identity(key_words(rows, self.key), seed=self.seed)
        taken = np.flatnonzero(uniform_of(identity, "sample") < self.limits[codes])
        native: Any = rows.dataframe.to_native()
        return native.take(taken)


@dataclass(frozen=True, kw_only=True)
class RepairedRows:
    """Repairs rows.

    Attributes
    ----------
    fitted : FittedRepair
    method, amount, unseen
        As in `Repairer`.
    without : tuple of str
        Columns that are left out.
    has_places : bool
        Whether the rows have a column with their place among equal rows.
    row_counts : int array or None
        As in `Model.apply`.
    """

    fitted: FittedRepair
    method: Method
    amount: float
    unseen: Unseen
    without: tuple[str, ...] = ()
    has_places: bool = False
    row_counts: IntArray | None = None

    def output(self, rows: Rows, places: IntArray) -> Any:
        """Return what is written for rows, and their strata."""
        codes = self.fitted.strata.codes_of(rows, unseen=self.unseen)
        output = self.fitted.transform(
            rows,
            codes,
            method=self.method,
            amount=self.amount,
            unseen=self.unseen,
            places=places,
            row_counts=self.row_counts,
        )
        return output, codes

    def __call__(self, rows: Rows) -> Any:
        """Return the repaired rows, as an Arrow table."""
        places = np.zeros(len(rows), dtype=np.int64)
        if self.has_places:
            rows, places = placed_rows(rows, PLACE)
        output, _ = self.output(rows, places)
        return output.native(without=self.without)


@dataclass(frozen=True, kw_only=True)
class CountedRecords:
    """Counts how many rows of each stratum of a partition are written as each record."""

    repaired: RepairedRows

    def __call__(self, chunks: Iterator[Rows]) -> Any:
        """Return an int array of shape (strata, records), or 0 without rows."""
        counts: Any = 0
        model = self.repaired.fitted.model
        assert isinstance(model, BlockModel)
        for rows in chunks:
            output, codes = self.repaired.output(rows, np.zeros(len(rows), dtype=np.int64))
            assert isinstance(output, RecordOutput)
            counts = counts + record_counts(model.blocks, output.index, codes)
        return counts


@dataclass(frozen=True, kw_only=True)
class IdentifiedRows:
    """Adds to rows the word of their content, which equal rows share, and their chunk.

    Attributes
    ----------
    fitted : FittedRepair
    unseen : {"error", "keep"}
    row_counts : int array or None
        The rows of each stratum in the table; None if rows are not repaired chunk by chunk.
    """

    fitted: FittedRepair
    unseen: Unseen
    row_counts: IntArray | None

    @property
    def names(self) -> tuple[str, ...]:
        """The further columns."""
        return (WORD,) if self.row_counts is None else (WORD, CHUNK)

    def __call__(self, rows: Rows) -> Any:
        """Return the rows with further columns, as an Arrow table."""
        numbers = self.fitted.numbers(rows, self.unseen)
        words = content_words(numbers, len(rows), seed=self.fitted.seed)
        if self.row_counts is None:
            return with_numbers(rows, {WORD: words})
        codes = self.fitted.strata.codes_of(rows, unseen=self.unseen)
        positions = rows.dataframe[POSITION].to_numpy()
        chunks = chunk_numbers(codes, positions, row_counts=self.row_counts)
        return with_numbers(rows, {WORD: words, CHUNK: chunks})


@dataclass(frozen=True, kw_only=True)
class StratumRows:
    """Counts the rows of each stratum, and of none, in a partition."""

    strata: Strata

    def __call__(self, chunks: Iterator[Rows]) -> IntArray:
        """Return the counts; those without a stratum come first."""
        counts = np.zeros(len(self.strata.groups) + 1, dtype=np.int64)
        for rows in chunks:
            counts += np.bincount(
                self.strata.codes_of(rows, unseen="keep") + 1, minlength=counts.size
            )
        return counts


def fit_on_spark(
    repairer: Repairer, frame: Any, y: Any, protected: Any, *, max_rows: int = MAX_FIT_ROWS
) -> None:
    """Fit a repair to a Spark DataFrame.

    A table of at most `max_rows` rows is loaded. A sample of a larger one is, by blocks: the rows
    that a fit in memory would choose. By column, Spark sorts all rows: the fit is exact.

    Parameters
    ----------
    repairer : Repairer
    frame : Spark dataframe
    y, protected
        Must be None: a Spark DataFrame has no order that other values could have.
    max_rows : int
    """
    repairer._check_options()
    source = _source(repairer, frame, protected)
    if y is not None:
        raise OutcomeError(
            "y: the rows of a Spark DataFrame have no numbers that y could follow; name the column "
            "of the outcome, keep='...'"
        )
    schema = source.empty
    by = stratum_names(repairer.protected, repairer.stratify_by)
    if by is None:
        raise ColumnError("protected: name the columns to stratify by, Repairer(protected='...')")
    schema.check_columns(by, stratum_argument(repairer.stratify_by))
    outcomes = schema.check_columns(repairer._outcome_names, "keep")
    row_count = source.count()
    if not row_count:
        raise no_rows("X")
    if row_count <= max_rows:
        repairer._fit(source.load().dataframe.to_native(), None, None)
        return
    if repairer.key is None and repairer.scope == "blocks":
        raise ColumnError(
            f"key: X has {row_count:,} rows, so the repair is fitted to a sample of them, which is "
            "drawn by key; name a column that identifies a row, key='...'"
        )
    if repairer.key is not None:
        schema.check_columns([repairer.key], "key")
        source.check_keys(repairer.key)
    engine = SparkEngine(source=source)
    named = None if repairer.columns is None else tuple(repairer.columns)
    asked = (
        repairer._asked_columns(schema, None, stratifying=by)
        if named is not None or not outcomes
        else {}
    )
    engine.scan((*dict.fromkeys((*by, *outcomes)),), tuple(asked) if asked else None)
    engine.check_tokens()
    if not asked:
        asked = dict.fromkeys(engine.repairable((*by, *outcomes, repairer.key)))
    scanned = ScannedFit.of(repairer, engine, asked)
    if repairer.scope == "column":
        check_column_kinds(scanned.column_types)
        model = fit_columns_in_cluster(
            source,
            scanned.column_types,
            strata=scanned.strata,
            ties=repairer.ties,
            levels=repairer.levels,
            row_count=row_count,
        )
        scanned.complete(repairer, schema, model)
        return
    assert repairer.key is not None
    sample = sampled_rows(source, scanned, key=repairer.key, max_rows=max_rows)
    is_proven = scanned.learn(repairer, sample, np.zeros(len(sample), dtype=np.int64))
    _count_lazily(repairer, source)
    repairer._warn_if_unproven(is_proven=is_proven)


def sampled_rows(source: SparkTable, scanned: ScannedFit, *, key: str, max_rows: int) -> Rows:
    """Load the rows that a repair is fitted to: a quota of each stratum, by the draws of keys."""
    row_counts = np.array(scanned.strata.rows)
    quotas = fit_quotas(row_counts, max_rows)
    taken = source.mapped(
        SampledRows(
            strata=scanned.strata,
            column_types=scanned.column_types,
            key=key,
            seed=scanned.seed,
            limits=draw_limits(quotas, row_counts),
        ),
        source.frame.schema,
    )
    candidates = replace(source, frame=taken).load()
    codes = scanned.strata.codes_of(candidates, unseen="error")
    places = np.zeros(len(candidates), dtype=np.int64)
    numbers: Sequence[FloatArray] = candidates.numbers(scanned.column_types)
    draws = draws_of(candidates, numbers, seed=scanned.seed, key=key, places=places)
    chosen = first_drawn(np.arange(len(candidates)), codes, draws, most=quotas, purpose="sample")
    native: Any = candidates.dataframe.to_native()
    return source.rows(native.take(chosen))


def _count_lazily(repairer: Repairer, source: SparkTable) -> None:
    """Let Spark count how the whole table is written, when a proof asks for it."""
    fitted: FittedRepair = repairer.fitted_
    model = fitted.model
    assert isinstance(model, BlockModel)
    nothing = np.zeros_like(record_counts(model.blocks, *np.zeros((2, 0), dtype=np.int64)))
    repaired = RepairedRows(
        fitted=_to_be_sent(fitted), method="random", amount=1.0, unseen=repairer.unseen
    )

    def count_rows() -> IntArray:
        counts: IntArray = nothing + sum(source.folded(CountedRecords(repaired=repaired)))
        return counts

    table = TableCounts(nothing, count_rows)
    repairer.fitted_ = replace(fitted, model=replace(model, table=table))


def transform_on_spark(repairer: Repairer, frame: Any, protected: Any) -> Any:
    """Return the Spark DataFrame of the repaired rows; Spark computes it when it is used.

    Rows without a key are brought together with their equals, if anything is drawn: the result then
    has another order. Rows that share a key are not looked for: they share their draws.
    """
    source = _source(repairer, frame, protected)
    fitted: FittedRepair = repairer.fitted_
    if fitted.table_columns is None or fitted.strata.passed:
        raise ColumnError(
            "protected: the repair was fitted to an array, or to values that came with the table; "
            "a Spark DataFrame needs columns; fit with Repairer(protected='...') to a dataframe"
        )
    schema = source.empty
    repairer._read(schema.dataframe.to_native(), reset=False)
    sent = _to_be_sent(fitted)
    repaired = RepairedRows(
        fitted=sent,
        method=repairer.method,
        amount=float(repairer.amount),
        unseen=repairer.unseen,
        without=sent.strata.columns if repairer.drop_protected else (),
    )
    written_schema = repaired_schema(frame, repaired(schema))
    if fitted.key is None and fitted.needs_draws(repairer.method, float(repairer.amount)):
        check_names(frame.columns)
        row_counts = _rows_of_strata(source, sent)
        numbered = replace(source, frame=with_positions(frame, POSITION))
        identified = IdentifiedRows(fitted=sent, unseen=repairer.unseen, row_counts=row_counts)
        words = numbered.mapped(identified, numbers_schema(numbered.frame, identified.names))
        placed = places_by(words, WORD, POSITION, PLACE)
        repaired = replace(repaired, has_places=True, row_counts=row_counts)
        if row_counts is not None:
            placed = gathered_by(placed, CHUNK, POSITION).drop(POSITION)
            return replace(source, frame=placed).mapped(repaired, written_schema, chunk=CHUNK)
        source = replace(source, frame=placed.drop(POSITION))
    return source.mapped(repaired, written_schema)


def check_names(names: Sequence[str]) -> None:
    """Raise if a column has the name of one that a repair adds; Spark ignores case."""
    taken = [name for name in names if name.lower() in (WORD, POSITION, PLACE, CHUNK)]
    if taken:
        raise ColumnError(
            f"X: a column is called {taken[0]!r}, which the repair adds for itself; rename it, or "
            "name a key, key='...'"
        )


def _rows_of_strata(source: SparkTable, fitted: FittedRepair) -> IntArray | None:
    """Return the rows of each stratum, if rows that are repaired by column are spread evenly.

    Without a key the equals of a value are spread over the levels that they share, among the rows
    of a chunk. Then the chunks have to be those of memory. By blocks, a row is repaired by itself.
    """
    if isinstance(fitted.model, BlockModel):
        return None
    none = np.zeros(len(fitted.strata.groups) + 1, dtype=np.int64)  # a table may have no partition
    partitions = source.select(fitted.strata.columns).folded(StratumRows(strata=fitted.strata))
    row_counts: IntArray = sum(partitions, start=none)[1:]
    return row_counts


def _source(repairer: Repairer, frame: Any, protected: Any) -> SparkTable:
    if protected is not None:
        raise ColumnError(
            "protected: the rows of a Spark DataFrame have no numbers that other values could "
            "follow; name columns, Repairer(protected='...')"
        )
    check_session(frame)
    return SparkTable(
        frame=frame, unknown=unknown_tokens(repairer.unknown), reading=repairer.reading
    )


def _to_be_sent(fitted: FittedRepair) -> FittedRepair:
    """Return the fitted repair without the counts of its table, which workers do not need."""
    if not isinstance(fitted.model, BlockModel):
        return fitted
    none = TableCounts(np.zeros((0, 0), dtype=np.int64))
    return replace(fitted, model=replace(fitted.model, table=none))
