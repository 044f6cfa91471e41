"""The attributes that an auditor sees, read out of a table as one matrix of numbers.

A column is a number or a category. Categories are numbered, the most frequent first; missing is NaN
in both. Only the rows that are audited are read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._tables.groups import Group
from fourfifths._tables.numbers import NUMBER
from fourfifths._tables.table import Table
from fourfifths.errors import ColumnError

FeatureKind = Literal["number", "category"]
ObjectArray = NDArray[np.object_]
# What scikit-learn's histogram trees can tell apart; rarer categories share the last number.
MAX_CATEGORIES = 255
SEED_STRIDE = 1_000_003


@dataclass(frozen=True, kw_only=True)
class Features:
    """Rows that are audited.

    Attributes
    ----------
    names : tuple of str
    kinds : tuple of {"number", "category"}
    values : float array, rows by features
    groups : int array
        The number of each row's group; rows of unknown membership are not read.
    sha256 : str
        Of names, kinds, values and groups.
    """

    names: tuple[str, ...]
    kinds: tuple[FeatureKind, ...]
    values: FloatArray
    groups: IntArray
    sha256: str

    @property
    def is_category(self) -> list[bool]:
        """Which columns are categories."""
        return [kind == "category" for kind in self.kinds]


def read_features(
    table: Table,
    names: Sequence[str],
    protected: Sequence[str],
    groups: Sequence[Group],
    quotas: Sequence[int],
    sizes: Sequence[int],
    random_state: int,
    also_hashed: Sequence[str] = (),
) -> Features:
    """Read the features of at most `quotas` rows of each group, chosen at random.

    `also_hashed` are columns that no auditor sees but that the certificate rests on.
    """
    read = [*names, *also_hashed]
    columns = {f"f{place}": _plain_column(table, name) for place, name in enumerate(read)}
    frame = table.frame.select(
        *(expression.alias(inside) for inside, expression in columns.items()),
        _group_number(table, protected, groups).alias("number"),
    )
    frame = frame.filter(nw.col("number") >= 0)
    arrays = _fetch(frame, quotas, sizes, random_state)
    number = arrays.pop("number").astype(np.int64)
    converted = [_convert(arrays[inside]) for inside in columns]
    seen = converted[: len(names)]
    for name, (array, _, _) in zip(names, seen, strict=True):
        if np.any(np.isinf(array)):
            raise ColumnError(
                f"columns: {name!r} holds an infinite value; expected finite numbers; make it "
                "missing, or leave the column out"
            )
    return Features(
        names=tuple(names),
        kinds=tuple(kind for _, kind, _ in seen),
        values=np.column_stack([array for array, _, _ in seen]),
        groups=number,
        sha256=_sha256(read, converted, groups, number),
    )


def _plain_column(table: Table, name: str) -> nw.Expr:
    """Return the column as a number or as text, whatever its type."""
    dtype, column = table.dtype(name), table.col(name)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return column.cast(nw.Float64())
    if dtype == nw.Date or dtype == nw.Datetime:
        return _moment(column, with_time=dtype == nw.Datetime)
    return column.cast(nw.String())


def _moment(column: nw.Expr, *, with_time: bool) -> nw.Expr:
    """Return a number that grows with time, from parts that every backend can tell."""
    days = column.dt.year().cast(nw.Float64()) * 372
    days = days + column.dt.month().cast(nw.Float64()) * 31 + column.dt.day().cast(nw.Float64())
    if not with_time:
        return days
    hours = column.dt.hour().cast(nw.Float64()) + column.dt.minute().cast(nw.Float64()) / 60
    return days + hours / 24 + column.dt.second().cast(nw.Float64()) / 86_400


def _group_number(table: Table, protected: Sequence[str], groups: Sequence[Group]) -> nw.Expr:
    """Return the number of each row's group, -1 where it is unknown."""
    number: Any = nw.lit(-1)
    for place, group in enumerate(groups):
        same: Any = None
        for column, value in zip(protected, group, strict=True):
            equal = table.col(column) == value
            same = equal if same is None else same & equal
        number = nw.when(same).then(nw.lit(place)).otherwise(number)
    expression: nw.Expr = number.cast(nw.Int64())
    return expression


def _fetch(
    frame: nw.LazyFrame[Any], quotas: Sequence[int], sizes: Sequence[int], random_state: int
) -> dict[str, ObjectArray]:
    """Load the rows, or as many of each group as its quota allows, in the table's order."""
    if frame.implementation is nw.Implementation.DUCKDB:
        return _fetch_duckdb(frame.to_native(), quotas, sizes, random_state)
    loaded = frame.collect()
    number = loaded["number"].to_numpy()
    random = np.random.default_rng(random_state)
    chosen = [
        random.permutation(np.flatnonzero(number == place))[:quota]
        for place, quota in enumerate(quotas)
    ]
    if sum(map(len, chosen)) < len(number):
        loaded = loaded[np.sort(np.concatenate(chosen)).tolist()]
    return {name: _as_array(loaded[name]) for name in loaded.columns}


def _as_array(column: nw.Series[Any]) -> ObjectArray:
    if column.dtype != nw.String:
        return np.asarray(column.to_numpy())
    texts = np.array(column.to_list(), dtype=object)
    texts[np.asarray(column.is_null().to_numpy(), dtype=bool)] = None
    return texts


def _fetch_duckdb(
    relation: Any, quotas: Sequence[int], sizes: Sequence[int], random_state: int
) -> dict[str, ObjectArray]:
    """Let DuckDB choose the rows, by a hash of their place, so that the rest is never loaded."""
    if all(size <= quota for size, quota in zip(sizes, quotas, strict=True)):
        return {name: _filled(array) for name, array in relation.fetchnumpy().items()}
    # A little more than the quota of each group passes the filter; the lowest hashes are kept.
    shares = [
        min(1.0, (quota + 6 * quota**0.5 + 20) / size)
        for size, quota in zip(sizes, quotas, strict=True)
    ]
    cuts = " ".join(
        f"WHEN {place} THEN {min(int(share * 2**64), 2**64 - 1)}::UBIGINT"
        for place, share in enumerate(shares)
    )
    seed = int(random_state) * SEED_STRIDE
    sampled = relation.query(
        "audited",
        f"""SELECT * FROM (
                SELECT *, hash(place + {seed}) AS draw
                FROM (SELECT *, row_number() OVER () AS place FROM audited))
            WHERE draw <= CASE number {cuts} END""",
    )
    arrays = {name: _filled(array) for name, array in sampled.fetchnumpy().items()}
    draw, place, number = (arrays.pop(name) for name in ("draw", "place", "number"))
    keep = [
        rows[np.argsort(draw[rows], kind="stable")][:quota]
        for group, quota in enumerate(quotas)
        if (rows := np.flatnonzero(number == group)).size
    ]
    chosen = np.concatenate(keep)
    chosen = chosen[np.argsort(place[chosen])]
    return {name: array[chosen] for name, array in (arrays | {"number": number}).items()}


def _filled(array: Any) -> ObjectArray:
    """Return a masked array as a plain one: missing is NaN or None."""
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array)
    plain = array.data if array.dtype.kind == "f" else array.data.astype(object)
    plain = plain.copy()
    plain[np.ma.getmaskarray(array)] = np.nan if plain.dtype.kind == "f" else None
    return np.asarray(plain)


def _convert(array: ObjectArray) -> tuple[FloatArray, FeatureKind, tuple[str, ...]]:
    """Return a column as numbers; text that is all numbers is a number."""
    if array.dtype.kind in "fiu":
        return array.astype(np.float64), "number", ()
    missing = np.asarray(array == None, dtype=np.bool_)  # noqa: E711 - element by element
    texts, place, frequency = np.unique(
        array[~missing].astype(str), return_inverse=True, return_counts=True
    )
    values = np.full(array.shape, np.nan)
    numeric = np.char.strip(texts)
    if texts.size and all(_is_number(text) for text in numeric):
        values[~missing] = numeric.astype(np.float64)[place]
        return values, "number", ()
    order = np.argsort(-frequency, kind="stable")
    rank = np.empty(texts.size)
    rank[order] = np.arange(texts.size)
    values[~missing] = np.minimum(rank, MAX_CATEGORIES - 1)[place]
    return values, "category", tuple(texts[order])


def _is_number(text: str) -> bool:
    return re.match(NUMBER, text) is not None


def _sha256(
    names: Sequence[str],
    converted: Sequence[tuple[FloatArray, FeatureKind, tuple[str, ...]]],
    groups: Sequence[Group],
    number: IntArray,
) -> str:
    digest = hashlib.sha256(repr([[str(value) for value in group] for group in groups]).encode())
    digest.update(number.astype("<i8").tobytes())
    by_name: Mapping[str, tuple[FloatArray, FeatureKind, tuple[str, ...]]] = dict(
        zip(names, converted, strict=True)
    )
    for name in sorted(names):
        values, kind, categories = by_name[name]
        digest.update(repr((name, kind, categories)).encode())
        digest.update(values.astype("<f8").tobytes())
    return digest.hexdigest()
