"""The only door: any dataframe that narwhals knows, a file, or a shipped data set.

Past this module there are arrays and small results; nothing knows what kind of table came in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import narwhals as nw

from fourfifths import datasets
from fourfifths.errors import ColumnError, TableError, listed, nearest
from fourfifths.files import in_one_line, read

Value: TypeAlias = Any  # one cell of a table: str, int, float, bool, date, ... or None
TableLike: TypeAlias = Any  # a dataframe, a path, the name of a shipped data set, or a Dataset
NUMBER = r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$"


@dataclass(frozen=True)
class Table:
    """A lazy table whose rows stay where they are.

    Its columns are called c0, c1, ... inside, because a backend may read a name like "a.b" or "*"
    as more than a name; `names` maps the user's names to those.
    """

    frame: nw.LazyFrame[Any]
    names: Mapping[str, str]
    name: str
    dataset: datasets.Dataset | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The user's names of the columns."""
        return tuple(self.names)

    def column(self, name: str, argument: str) -> str:
        """Return `name` if there is such a column, else raise with the nearest that there is."""
        if not isinstance(name, str) or name not in self.names:
            raise ColumnError(
                f"{argument}={name!r}: no such column in {self.name}{nearest(name, self.columns)} "
                f"(columns: {listed(self.columns)})"
            )
        return name

    def col(self, name: str) -> nw.Expr:
        """Return the column as an expression."""
        return nw.col(self.names[name])

    def dtype(self, name: str) -> nw.dtypes.DType:
        """Return the column's type."""
        return self.frame.collect_schema()[self.names[name]]

    def rows(self, frame: nw.LazyFrame[Any]) -> list[tuple[Value, ...]]:
        """Compute a small result frame and return its rows as Python values."""
        try:
            if frame.implementation is nw.Implementation.DUCKDB:
                native: Any = frame.to_native()
                found = native.fetchall()
            else:
                found = frame.collect().rows()
        except Exception as error:  # each backend has errors of its own
            raise TableError(f"{self.name}: cannot be computed: {in_one_line(error)}") from error
        return [tuple(_plain(value) for value in row) for row in found]

    def with_numbers(self, name: str, argument: str) -> Table:
        """Return the table with column `name` as floating-point numbers.

        Text is converted (a CSV has nothing else); text that is not a number is an error. NaN
        becomes missing.
        """
        dtype = self.dtype(self.column(name, argument))
        number = self.col(name)
        if dtype == nw.String:
            number = number.str.strip_chars()
            odd = self.frame.filter(~number.is_null() & ~number.str.contains(NUMBER))
            if found := self.rows(odd.select(self.names[name]).head(1)):
                raise ColumnError(f"{argument}={name!r}: expected numbers, found {found[0][0]!r}")
        elif not dtype.is_numeric():
            raise ColumnError(f"{argument}={name!r}: expected numbers, found {dtype}")
        table = self.with_column(name, number.cast(nw.Float64()))
        return table.with_column(name, nw.when(~table.col(name).is_nan()).then(table.col(name)))

    def with_column(self, name: str, expression: nw.Expr) -> Table:
        """Return the table with column `name` added or replaced."""
        inside = self.names.get(name, f"c{len(self.names)}")
        frame = self.frame.with_columns(expression.alias(inside))
        return replace(self, frame=frame, names={**self.names, name: inside})


def open_table(source: TableLike) -> Table:
    """Return the `Table` for a dataframe, a file, a shipped data set or its name.

    Examples
    --------
    >>> open_table("ricci").columns
    ('position', 'oral', 'written', 'race', 'combined', 'passed')
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str) and source in datasets.names():
        source = datasets.load(source)
    if isinstance(source, datasets.Dataset):
        return _wrap(source.table, source.name, source)
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if "." not in path and not os.path.exists(path):  # noqa: PTH110 - a name, not yet a path
            raise TableError(
                f"{path}: neither a file nor a shipped data set{nearest(path, datasets.names())} "
                f"(data sets: {listed(datasets.names())})"
            )
        return _wrap(read(path), path, None)
    return _wrap(source, "the table", None)


def with_bands(table: Table, column: str, edges: Sequence[float]) -> tuple[Table, dict[int, str]]:
    """Cut a numeric column into groups: an edge belongs to the group below it.

    Returns the table, its column replaced by the number of the group, and the groups' labels.
    Missing values stay missing.
    """
    cuts = band_cuts(column, edges)
    table = table.with_numbers(column, "bands")
    value = table.col(column)
    above = [(value > cut).cast(nw.Int64()) for cut in cuts]
    banded = table.with_column(column, nw.when(~value.is_null()).then(nw.sum_horizontal(*above)))
    return banded, dict(enumerate(band_labels(column, cuts)))


def band_labels(column: str, cuts: Sequence[float]) -> list[str]:
    """Return the names of the groups that the cuts make.

    Examples
    --------
    >>> band_labels("age", [25, 40])
    ['age <= 25', '25 < age <= 40', 'age > 40']
    """
    texts = [number_text(cut) for cut in cuts]
    return [
        f"{column} <= {texts[0]}",
        *(f"{low} < {column} <= {high}" for low, high in pairwise(texts)),
        f"{column} > {texts[-1]}",
    ]


def number_text(number: float) -> str:
    """Return the shortest text that is exactly this number.

    Examples
    --------
    >>> number_text(25.0), number_text(1000001.5)
    ('25', '1000001.5')
    """
    return repr(number).removesuffix(".0")


def band_cuts(column: str, edges: Sequence[float]) -> list[float]:
    """Return the edges as numbers, or raise if they are not increasing ones."""
    try:
        cuts = [float(edge) for edge in edges]
    except (TypeError, ValueError):
        cuts = []
    if not cuts or cuts != sorted(set(cuts)) or not all(abs(cut) < float("inf") for cut in cuts):
        raise ColumnError(
            f"bands: the edges of {column!r} are {edges!r}; "
            "expected one or more numbers, each larger than the one before"
        )
    return cuts


def with_missing(table: Table, column: str, unknown: Sequence[Value]) -> Table:
    """Make NaN, and the values in `unknown`, missing."""
    value, dtype = table.col(column), table.dtype(column)
    if dtype in (nw.Float64(), nw.Float32()):
        table = table.with_column(column, nw.when(~value.is_nan()).then(value))
    for each in unknown:
        table = table.with_column(column, nw.when(value != each).then(value))
    return table


def _wrap(native: Any, name: str, dataset: datasets.Dataset | None) -> Table:
    try:
        frame = nw.from_native(native).lazy()
        names = {each: f"c{place}" for place, each in enumerate(frame.collect_schema().names())}
    except nw.exceptions.DuplicateError as error:
        raise TableError(f"{name}: a column name is there twice: {in_one_line(error)}") from error
    except TypeError as error:
        raise TableError(
            f"table: cannot use {type(native).__module__}.{type(native).__qualname__}; expected a "
            "pandas, polars or pyarrow table, a DuckDB relation, a file's path or the name of a "
            f"shipped data set ({listed(datasets.names())})"
        ) from error
    return Table(_renamed(frame, names), names, name, dataset)


def _renamed(frame: nw.LazyFrame[Any], names: Mapping[str, str]) -> nw.LazyFrame[Any]:
    if frame.implementation is not nw.Implementation.DUCKDB:
        return frame.rename(dict(names))
    relation: Any = frame.to_native()
    quoted = (f"{quote(each)} AS {inside}" for each, inside in names.items())
    renamed: nw.LazyFrame[Any] = nw.from_native(relation.project(", ".join(quoted)))
    return renamed


def quote(name: str) -> str:
    """Return a name quoted for SQL.

    Examples
    --------
    >>> print(quote('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def _plain(value: Value) -> Value:
    """Return a cell as a plain Python value; every kind of missing is None."""
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if isinstance(value, float) and value != value else value
