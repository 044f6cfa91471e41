"""The features that a rule may use, read from a table as one matrix of numbers.

A column is a number or a category. Categories are coded, the most frequent first; missing values
are NaN in both. Every category has a code of its own, however many there are; who cannot use so
many pools the rarer ones. If there are many rows, a random sample of them is read. Which rows that
are depends on the seed and on their positions, and neither on the kind of table nor on the machine.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._tables.engines import spark
from fourfifths._tables.files import in_one_line
from fourfifths._tables.groups import Group, group_codes
from fourfifths._tables.table import ROW_NUMBER, Table
from fourfifths._tables.values import (
    CLEAR_NUMBER,
    MAX_EXACT_INTEGER,
    NUMBER,
    WHOLE_NUMBER,
    NumberTexts,
    Reading,
    ValueKind,
    are_codes,
    as_floats,
    beyond_exact,
    check_limits,
    check_words,
    codes_note,
)
from fourfifths._text import listed
from fourfifths.errors import ColumnError, TableError

ObjectArray = NDArray[np.object_]
# The steps of a draw: shift right and xor, or multiply (lowbias32, Wellons 2018). Numbers have 32
# bits, because their products fit into the 64 bits that both numpy and SQL have.
DRAW_STEPS = (("xor", 16), ("times", 0x7FEB_352D), ("xor", 15), ("times", 0x846C_A68B), ("xor", 16))
DRAW_LIMIT = 2**32
# A date is a number in which every month has room for 31 days.
MONTHS_PER_YEAR, DAYS_PER_MONTH = 12, 31
# In these libraries a duration is a whole number of its column's unit.
WITH_DURATIONS = (nw.Implementation.PANDAS, nw.Implementation.POLARS, nw.Implementation.PYARROW)
DURATION_TOTALS = {
    "s": "total_seconds",
    "ms": "total_milliseconds",
    "us": "total_microseconds",
    "ns": "total_nanoseconds",
}


@dataclass(frozen=True, kw_only=True)
class Features:
    """The features of the rows that are audited.

    Attributes
    ----------
    names : tuple of str
    kinds : tuple of {"number", "category"}
    values : float array, rows by features
    groups : int array
        The code of each row's group; rows of unknown membership are not read.
    sha256 : str
        Of names, kinds, values and groups.
    mixed : tuple of str
        The columns of text that hold numbers and words, and so are categories.
    texts : mapping of str to tuple of str
        For each category column, what its codes stand for.
    dates : tuple of str
        The columns of dates or times; `days_of` says which days their numbers mean.
    notes : tuple of str
        How numbers were read from text.
    """

    names: tuple[str, ...]
    kinds: tuple[ValueKind, ...]
    values: FloatArray
    groups: IntArray
    sha256: str
    mixed: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_category(self) -> list[bool]:
        """Which columns are categories."""
        return [kind == "category" for kind in self.kinds]


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A column as numbers, with what its text was.

    Attributes
    ----------
    values : float array
    kind : {"number", "category"}
    categories : tuple of str
        What the codes of a category stand for.
    whole_text : bool
        Whether it was text, and all of it whole numbers.
    words : tuple of str
        The texts that are not numbers, in a column that nobody declared to hold categories.
    word_rows, text_rows : int
        How many rows hold one of these words, and how many any text.
    notes : tuple of str
        How numbers were read from text.
    """

    values: FloatArray
    kind: ValueKind
    categories: tuple[str, ...] = ()
    whole_text: bool = False
    words: tuple[str, ...] = ()
    word_rows: int = 0
    text_rows: int = 0
    notes: tuple[str, ...] = ()


def read_features(
    table: Table,
    names: Sequence[str],
    *,
    protected: Sequence[str],
    groups: Sequence[Sequence[Group]],
    quotas: Sequence[int],
    sizes: Sequence[int],
    random_state: int,
    also_hashed: Sequence[str] = (),
) -> Features:
    """Read the features of a random sample of each group's rows.

    Parameters
    ----------
    table : Table
        As `prepare` returns it: missing values are null, banded columns are codes.
    names : sequence of str
    protected : sequence of str
    groups : sequence of tuple of tuple
        For each group and each protected column, the values that the table holds for it.
    quotas, sizes : sequence of int
        The largest number of rows to read of each group, and the number that it has.
    random_state : int
    also_hashed : sequence of str
        Columns that no auditor sees, but that the certificate depends on: the outcome.
    """
    inner_names = {name: f"f{index}" for index, name in enumerate([*names, *also_hashed])}
    table = _with_moments_in_utc(table, inner_names)
    _check_whole_in_memory(table, inner_names)
    is_polars = table.frame.implementation is nw.Implementation.POLARS
    try:
        frame = table.frame.select(
            *(_plain_column(table, name).alias(inner) for name, inner in inner_names.items()),
            group_codes(table, protected, groups).alias("code"),
            *([nw.col(ROW_NUMBER)] if is_polars else []),
        )
        frame = frame.filter(nw.col("code") >= 0)
        arrays = _fetch(frame, quotas, sizes, random_state)
    except TableError:
        raise
    except Exception as error:  # each backend has errors of its own
        raise ColumnError(
            f"columns: {listed(names)}: cannot be read as numbers or text: {in_one_line(error)}; "
            "name the columns that can"
        ) from error
    codes = arrays["code"].astype(np.int64)
    columns = {
        name: _as_numbers(
            arrays[inner],
            name,
            declared_category=table.is_declared_category(name),
            is_feature=name in names,
            reading=table.reading,
        )
        for name, inner in inner_names.items()
    }
    mixed = []
    # An outcome is hashed but not used as a number, so it may hold numbers beside a word.
    for name in names:
        column = columns[name]
        if column.words and column.word_rows < column.text_rows:
            check_words(name, column.words, word_rows=column.word_rows, row_count=column.text_rows)
            mixed.append(name)
        if column.kind == "number":
            check_limits(
                f"column {name!r}",
                name,
                low=float(np.fmin.reduce(column.values, initial=0.0)),
                high=float(np.fmax.reduce(column.values, initial=0.0)),
                is_whole=column.whole_text or table.dtype(name).is_integer(),
            )
    spelled_groups = [["|".join(map(str, members)) for members in group] for group in groups]
    digest = hashlib.sha256(repr(spelled_groups).encode())
    # A fixed byte order, and columns by name: neither the machine nor the order of columns matters.
    digest.update(codes.astype("<i8").tobytes())
    for name in sorted(columns):
        column = columns[name]
        digest.update(repr((name, column.kind, column.categories)).encode())
        digest.update(column.values.astype("<f8").tobytes())
    return Features(
        names=tuple(names),
        kinds=tuple(columns[name].kind for name in names),
        values=np.column_stack([columns[name].values for name in names]),
        groups=codes,
        sha256=digest.hexdigest(),
        mixed=tuple(mixed),
        texts={name: columns[name].categories for name in names if columns[name].categories},
        dates=tuple(name for name in names if table.dtype(name) in (nw.Date, nw.Datetime)),
        notes=tuple(note for name in names for note in columns[name].notes),
    )


def days_of(moments: FloatArray) -> NDArray[np.datetime64]:
    """Return the days that the numbers of a date column mean; a missing one is NaT.

    Examples
    --------
    >>> str(days_of(np.array([2024 * 372 + 2 * 31 + 29.5]))[0])
    '2024-02-29'
    """
    is_missing = np.isnan(moments)
    # The first day of a month is 1, and January is 1.
    day_count = np.floor(np.where(is_missing, 0, moments)).astype(np.int64) - DAYS_PER_MONTH - 1
    years, in_year = np.divmod(day_count, MONTHS_PER_YEAR * DAYS_PER_MONTH)
    months = (years - 1970) * MONTHS_PER_YEAR + in_year // DAYS_PER_MONTH
    first = months.astype("datetime64[M]").astype("datetime64[D]")
    days: NDArray[np.datetime64] = first + (in_year % DAYS_PER_MONTH).astype("timedelta64[D]")
    days[is_missing] = np.datetime64("NaT")
    return days


def _check_whole_in_memory(table: Table, names: Iterable[str]) -> None:
    """Raise for whole numbers that floats cannot hold, which Arrow would refuse in its own words.

    A table on disk is not read twice for it: its columns are checked when they are read.
    """
    if table.frame.implementation not in (nw.Implementation.PANDAS, nw.Implementation.PYARROW):
        return
    for name in names:
        if table.dtype(name).is_integer():
            column = table.col(name)
            limits = table.frame.select(column.min().alias("low"), column.max().alias("high"))
            if any(abs(limit or 0) >= MAX_EXACT_INTEGER for limit in table.rows(limits)[0]):
                raise beyond_exact(name)


def _plain_column(table: Table, name: str) -> nw.Expr:
    """Return the column as a number or as text, whatever its type."""
    dtype, column = table.dtype(name), table.col(name)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return as_floats(column, dtype)
    if isinstance(dtype, nw.Duration) and table.frame.implementation in WITH_DURATIONS:
        # The number that the column holds, as a Parquet file has it.
        total: nw.Expr = getattr(column.dt, DURATION_TOTALS[dtype.time_unit])()
        return total.cast(nw.Float64())
    if dtype not in (nw.Date, nw.Datetime):
        return column.cast(nw.String())
    # A number that grows with time, of fields that every backend has. Days are not evenly spaced,
    # but the auditors need only their order.
    years, months, days = (
        field.cast(nw.Float64()) for field in (column.dt.year(), column.dt.month(), column.dt.day())
    )
    moment = years * MONTHS_PER_YEAR * DAYS_PER_MONTH + months * DAYS_PER_MONTH + days
    if dtype == nw.Date:
        return moment
    hours = column.dt.hour().cast(nw.Float64()) + column.dt.minute().cast(nw.Float64()) / 60
    return moment + hours / 24 + column.dt.second().cast(nw.Float64()) / 86_400


def _with_moments_in_utc(table: Table, names: Iterable[str]) -> Table:
    """Return the table with moments that have a time zone as those of UTC.

    Otherwise the hour of a moment would depend on the machine, whose zone DuckDB takes.
    """
    frame = table.frame
    inner_names = [table.names[name] for name in names]
    if frame.implementation is nw.Implementation.DUCKDB:
        relation: Any = frame.to_native()
        kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
        zoned = [name for name in inner_names if kinds[name] == "TIMESTAMP WITH TIME ZONE"]
        if not zoned:
            return table
        in_utc = ", ".join(f"{name} AT TIME ZONE 'UTC' AS {name}" for name in zoned)
        return replace(table, frame=nw.from_native(relation.project(f"* REPLACE ({in_utc})")))
    if frame.implementation.is_spark_like():
        return replace(table, frame=nw.from_native(spark.in_utc(frame.to_native(), inner_names)))
    if frame.implementation is nw.Implementation.PANDAS:
        # By pandas itself: narwhals does not know zones like America/New_York, with an underscore.
        native: Any = frame.collect().to_native()
        zoned = [name for name in inner_names if getattr(native[name].dtype, "tz", None)]
        moments = {name: native[name].dt.tz_convert("UTC").dt.tz_localize(None) for name in zoned}
        if moments:
            frame = nw.from_native(native.assign(**moments)).lazy()
    schema = frame.collect_schema()
    zoned = [name for name in inner_names if getattr(schema[name], "time_zone", None)]
    if zoned:
        in_zone = nw.col(*zoned).dt.convert_time_zone("UTC")
        frame = frame.with_columns(in_zone.dt.replace_time_zone(None))
    return replace(table, frame=frame)


def row_generator(random_state: int, purpose: str) -> np.random.Generator:
    """Return a generator of what is drawn for rows, whose numbers are in no data.

    Simulated data are often made by `numpy.random.default_rng(0)`. With the same generator, a draw
    of a row would be the very number that its group or its score was made of.
    """
    digest = hashlib.sha256(f"{purpose} {random_state}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def row_draws(row_count: int, random_state: int) -> NDArray[np.uint64]:
    """Return a number below 2**32 for each row, by its position: those with the lowest are sampled.

    Two rows of a table have different numbers, unless it has more than 2**32 rows.
    """
    limit = np.uint64(DRAW_LIMIT)
    draws = np.arange(row_count, dtype=np.uint64) + np.uint64(_seed_offset(random_state))
    draws %= limit
    for step, operand in DRAW_STEPS:
        if step == "xor":
            draws ^= draws >> np.uint64(operand)
        else:
            draws = draws * np.uint64(operand) % limit
    return draws


def draws_query(rows: str, random_state: int) -> str:
    """Return a query that adds to rows, in SQL, the `draw` that `row_draws` computes in memory."""
    query = f"""SELECT *, (row_position + {_seed_offset(random_state)}::UBIGINT)
        & {DRAW_LIMIT - 1}::UBIGINT AS draw
        FROM (SELECT *, (row_number() OVER () - 1)::UBIGINT AS row_position FROM {rows})"""
    for step, operand in DRAW_STEPS:
        expression = (
            f"xor(draw, draw >> {operand})"
            if step == "xor"
            else f"(draw * {operand}::UBIGINT) & {DRAW_LIMIT - 1}::UBIGINT"
        )
        query = f"SELECT * REPLACE ({expression} AS draw) FROM ({query})"
    return query


def _seed_offset(random_state: int) -> int:
    """Return where a seed begins to count, so that one sample is not another moved by some rows."""
    digest = hashlib.sha256(str(int(random_state)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def _lowest_draws(codes: IntArray, draws: NDArray[np.uint64], quotas: Sequence[int]) -> IntArray:
    """Return the rows of each group with the lowest draws, as many as its quota, in their order."""
    sampled = []
    for code, quota in enumerate(quotas):
        rows = np.flatnonzero(codes == code)
        sampled.append(rows[np.argsort(draws[rows], kind="stable")][:quota])
    return np.sort(np.concatenate(sampled))


def _fetch(
    frame: nw.LazyFrame[Any], quotas: Sequence[int], sizes: Sequence[int], random_state: int
) -> dict[str, ObjectArray]:
    """Load the rows, or as many of each group as its quota allows, in the table's order."""
    if frame.implementation is nw.Implementation.DUCKDB:
        return _fetch_duckdb(frame.to_native(), quotas, sizes, random_state)
    if frame.implementation.is_spark_like():
        return _fetch_spark(frame.to_native(), quotas, sizes, random_state)
    if frame.implementation is nw.Implementation.POLARS:
        return _fetch_polars(frame, quotas, random_state)
    if frame.implementation is nw.Implementation.DASK:
        return _fetch_dask(frame, quotas, random_state)
    # Any other table is in memory: its rows are loaded once, and chosen among.
    loaded = frame.collect()
    codes = loaded["code"].to_numpy()
    if np.any(np.bincount(codes, minlength=len(quotas)) > quotas):
        sampled_rows = _lowest_draws(codes, row_draws(codes.size, random_state), quotas)
        loaded = loaded[sampled_rows.tolist()]
    return _arrays_of(loaded)


def _fetch_polars(
    frame: nw.LazyFrame[Any], quotas: Sequence[int], random_state: int
) -> dict[str, ObjectArray]:
    """Load only the rows that are sampled; the others stay lazy.

    The query is computed twice: for the groups of all rows, then for the rows that are sampled.
    `ROW_NUMBER` says in both which row is which.
    """
    counted = frame.select(ROW_NUMBER, "code").collect().sort(ROW_NUMBER)
    numbers, codes = counted[ROW_NUMBER].to_numpy(), counted["code"].to_numpy()
    if np.any(np.bincount(codes, minlength=len(quotas)) > quotas):
        rows = _lowest_draws(codes, row_draws(codes.size, random_state), quotas)
        numbers, codes = numbers[rows], codes[rows]
        frame = frame.filter(nw.col(ROW_NUMBER).is_in(numbers.tolist()))
    loaded = frame.collect("polars", engine="streaming").sort(ROW_NUMBER)
    is_same = np.array_equal(loaded[ROW_NUMBER].to_numpy(), numbers)
    if not (is_same and np.array_equal(loaded["code"].to_numpy(), codes)):
        raise TableError(
            "the table: this LazyFrame gives other rows, or gives them in another order, each time "
            "that it is computed; collect it first, as in table.collect()"
        )
    return _arrays_of(loaded.drop(ROW_NUMBER))


def _fetch_dask(
    frame: nw.LazyFrame[Any], quotas: Sequence[int], random_state: int
) -> dict[str, ObjectArray]:
    """Load one partition after the other, and keep the rows that are sampled."""
    codes = frame.select("code").collect()["code"].to_numpy()
    if np.all(np.bincount(codes, minlength=len(quotas)) <= quotas):
        return _arrays_of(frame.collect())
    sampled_rows = _lowest_draws(codes, row_draws(codes.size, random_state), quotas)
    native: Any = frame.to_native()
    chosen, first_row = [], 0
    for index in range(native.npartitions):
        loaded = nw.from_native(native.get_partition(index).compute(), eager_only=True)
        span = slice(*np.searchsorted(sampled_rows, [first_row, first_row + len(loaded)]))
        chosen.append(loaded[(sampled_rows[span] - first_row).tolist()])
        first_row += len(loaded)
    return _arrays_of(nw.concat(chosen))


def _arrays_of(loaded: nw.DataFrame[Any]) -> dict[str, ObjectArray]:
    """Return the columns as arrays; missing is NaN or None."""
    arrays = {}
    for name in loaded.columns:
        column = loaded[name]
        arrays[name] = np.asarray(column.to_numpy())
        if column.dtype == nw.String:
            arrays[name] = np.array(column.to_list(), dtype=object)
            arrays[name][np.asarray(column.is_null().to_numpy(), dtype=bool)] = None
    return arrays


def _fetch_duckdb(
    relation: Any, quotas: Sequence[int], sizes: Sequence[int], random_state: int
) -> dict[str, ObjectArray]:
    """Let DuckDB choose the rows, so that the rest is never loaded."""
    if all(size <= quota for size, quota in zip(sizes, quotas, strict=True)):
        return {name: _filled(array) for name, array in relation.fetchnumpy().items()}
    cuts = " ".join(
        f"WHEN {code} THEN {cut}::UBIGINT" for code, cut in enumerate(_draw_cuts(quotas, sizes))
    )
    sampled = relation.query(
        "audited",
        f"""SELECT * FROM ({draws_query("audited", random_state)})
            WHERE draw <= CASE code {cuts} END""",
    )
    return _lowest_of(
        {name: _filled(array) for name, array in sampled.fetchnumpy().items()}, quotas
    )


def _fetch_spark(
    native: Any, quotas: Sequence[int], sizes: Sequence[int], random_state: int
) -> dict[str, ObjectArray]:
    """Let Spark choose the rows, so that the rest stays in the cluster."""
    if all(size <= quota for size, quota in zip(sizes, quotas, strict=True)):
        return _arrays_of(nw.from_native(spark.collected(native), eager_only=True))
    drawn = spark.with_draws(
        spark.with_positions(native, "row_position"),
        position="row_position",
        draw="draw",
        offset=_seed_offset(random_state),
        steps=DRAW_STEPS,
        limit=DRAW_LIMIT,
    )
    sampled = spark.lowest_candidates(
        drawn, draw="draw", code="code", cuts=_draw_cuts(quotas, sizes)
    )
    return _lowest_of(_arrays_of(nw.from_native(sampled, eager_only=True)), quotas)


def _draw_cuts(quotas: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return a limit of the draws for each group; a few more rows than its quota are below it.

    The number that passes varies by about its square root, so eight of those leave no group short.
    """
    shares = [
        min(1.0, (quota + 8 * quota**0.5 + 20) / size)
        for size, quota in zip(sizes, quotas, strict=True)
    ]
    return [int(share * DRAW_LIMIT) for share in shares]


def _lowest_of(arrays: dict[str, ObjectArray], quotas: Sequence[int]) -> dict[str, ObjectArray]:
    """Return the rows with the lowest draws of those that passed the cuts, in the table's order."""
    codes, draws = arrays["code"].astype(np.int64), arrays.pop("draw").astype(np.uint64)
    order = np.argsort(arrays.pop("row_position"))
    chosen = order[_lowest_draws(codes[order], draws[order], quotas)]
    return {name: array[chosen] for name, array in arrays.items()}


def _filled(array: Any) -> ObjectArray:
    """Return a masked array as a plain one: missing is NaN or None."""
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    values = array.data if array.dtype.kind == "f" else array.data.astype(object)
    values = values.copy()
    values[np.ma.getmaskarray(array)] = np.nan if values.dtype.kind == "f" else None
    return np.asarray(values)


def _as_numbers(
    array: ObjectArray, name: str, *, declared_category: bool, is_feature: bool, reading: Reading
) -> _Column:
    """Return a column as numbers; text that is all numbers is a number, unless it is declared.

    Of the outcome, which is only hashed, no more is read than what is plainly a number.
    """
    if array.dtype.kind in "fiu":
        return _Column(values=array.astype(np.float64), kind="number")
    is_missing = np.asarray(array == None, dtype=np.bool_)  # noqa: E711 - element by element
    texts, codes = _distinct_texts(array[~is_missing])
    frequencies = np.bincount(codes, minlength=texts.size)
    values = np.full(array.shape, np.nan)
    stripped = [text.strip() for text in texts]
    pattern = re.compile(CLEAR_NUMBER if is_feature else NUMBER)
    clear = [text for text in stripped if pattern.match(text)]
    unclear = [text for text in stripped if not pattern.match(text)]
    sorted_texts = NumberTexts(numbers={}, missing=(), words=tuple(unclear))
    if is_feature and not declared_category:
        sorted_texts = NumberTexts.of(unclear, reading.known)
    has_numbers = bool(clear or sorted_texts.numbers)
    notes = list[str]()
    if has_numbers and is_feature and not declared_category:
        series = nw.new_series(name, stripped, nw.String(), backend="pyarrow")
        if are_codes(series, reading.known):
            declared_category = True
            notes.append(codes_note(name))
    if has_numbers and not sorted_texts.words and not declared_category:
        number_of = {text: float(text) for text in clear}
        is_whole = all(re.match(WHOLE_NUMBER, text) for text in clear)
        if unclear or (is_feature and reading.decimal == ","):
            number_format = sorted_texts.number_format(name, clear=clear, decimal=reading.decimal)
            number_of |= {text: number_format.number(text) for text in sorted_texts.numbers}
            number_of |= dict.fromkeys(sorted_texts.missing, np.nan)
            is_whole = is_whole and all(
                number_of[text].is_integer() for text in sorted_texts.numbers
            )
            rows_of = dict(zip(stripped, frequencies.tolist(), strict=True))
            missing_rows = sum(rows_of[text] for text in sorted_texts.missing)
            notes = sorted_texts.notes(name, number_format, missing_rows=missing_rows)
        values[~is_missing] = np.array([number_of[text] for text in stripped])[codes]
        return _Column(values=values, kind="number", whole_text=is_whole, notes=tuple(notes))
    order = np.argsort(-frequencies, kind="stable")
    rank = np.empty(texts.size)
    rank[order] = np.arange(texts.size)
    values[~is_missing] = rank[codes]
    categories = tuple(texts[order])
    if declared_category:
        return _Column(values=values, kind="category", categories=categories, notes=tuple(notes))
    words = {*sorted_texts.words, *sorted_texts.missing}
    is_word = np.array([text in words for text in stripped], dtype=np.bool_)
    return _Column(
        values=values,
        kind="category",
        categories=categories,
        words=tuple(texts[is_word].tolist()),
        word_rows=int(frequencies[is_word].sum()),
        text_rows=int(frequencies.sum()),
    )


def _distinct_texts(array: ObjectArray) -> tuple[ObjectArray, IntArray]:
    """Return the different texts of an array, sorted, and which of them each element is.

    Not by numpy's texts, of which each takes as much memory as the longest.
    """
    import pyarrow as pa

    encoded = pa.array(list(map(str, array)), type=pa.large_string()).dictionary_encode()
    texts = np.empty(len(encoded.dictionary), dtype=object)
    texts[:] = encoded.dictionary.to_pylist()
    order = np.argsort(texts)
    rank = np.empty(texts.size, dtype=np.int64)
    rank[order] = np.arange(texts.size)
    return texts[order], rank[encoded.indices.to_numpy()]
