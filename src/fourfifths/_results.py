"""What every result can do: print itself, become JSON, a dataframe, Markdown, HTML, a picture.

A result is a frozen dataclass that derives from `Result`. How it looks is decided elsewhere: in
`_report` (the result as a `Document`) and in `_plot` (the result as a picture).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args, overload

from fourfifths._text import listed, nearest
from fourfifths.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FrameKind = Literal["pandas", "polars", "pyarrow"]
Record = dict[str, Any]
Verdict = Literal["certified", "not certified", "inconclusive"]
Entry = TypeVar("Entry")


def plain(value: Any) -> Any:
    """Return a figure ready for JSON: NaN as None, an interval as a list, a result as a mapping.

    Examples
    --------
    >>> plain((float("nan"), float("nan"))), plain((0.5, float("nan")))
    (None, [0.5, None])
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and not math.isinf(value):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        entries = [plain(entry) for entry in value]
        # An interval without either limit is undefined as a whole.
        return None if entries and all(entry is None for entry in entries) else entries
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return str(value)


def entry_of(entries: Mapping[str, Entry], key: object, kind: str, *, hint: str = "") -> Entry:
    """Return the entry that a key names: by its name, its value, or the values of a joint group.

    Parameters
    ----------
    entries : mapping of name to entry
    key : object
        A text, a number, or a tuple of them.
    kind : str
        What the entries are, for the `KeyError`.
    hint : str
        The end of its message.

    Examples
    --------
    >>> entry_of({"2019": "a", "F & Black": "b"}, 2019, "group")
    'a'
    >>> entry_of({"2019": "a", "F & Black": "b"}, ("F", "Black"), "group")
    'b'
    """
    name = " & ".join(map(str, key)) if isinstance(key, tuple) else str(key)
    if name not in entries:
        names = f"{listed(entries)}{nearest(name, entries)}"
        raise KeyError(f"no {kind} {name!r}; there are {names}{hint}")
    return entries[name]


def attribute_or_group(attributes: Sequence[Any], key: object) -> Any:
    """Return a protected attribute or, if there is only one, a group of it: see `entry_of`."""
    named = {attribute.name: attribute for attribute in attributes}
    for attribute in attributes:
        if key == attribute.name or key == attribute.protected:
            return attribute
    if len(attributes) == 1:
        return attributes[0][key]
    first = attributes[0]
    example = f"result[{first.name!r}][{first.groups[0].group!r}]"
    hint = f"; for a group name its attribute first, as in {example}"
    return entry_of(named, key, "protected attribute", hint=hint)


def flat(record: Mapping[str, Any]) -> Record:
    """Return a plain record with one value per column: a row of a table.

    An interval ``x_interval`` is spread over ``x_low`` and ``x_high``; a mapping or a list becomes
    one text.

    Examples
    --------
    >>> flat({"auc": 0.7, "auc_interval": [0.6, 0.8], "rates": {"A": 0.5, "B": 0.4}})
    {'auc': 0.7, 'auc_low': 0.6, 'auc_high': 0.8, 'rates': 'A: 0.5; B: 0.4'}
    """
    row: Record = {}
    for name, value in record.items():
        if name.endswith("_interval"):
            lower, upper = value or (None, None)
            stem = name.removesuffix("_interval")
            row |= {f"{stem}_low": lower, f"{stem}_high": upper}
        elif isinstance(value, Mapping):
            row[name] = "; ".join(f"{key}: {entry}" for key, entry in value.items())
        elif isinstance(value, list):
            row[name] = "; ".join(map(str, value))
        else:
            row[name] = value
    return row


def json_text(content: Mapping[str, Any]) -> str:
    """Return plain values as JSON text."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


class Result:
    """The base of every result: a dataclass that knows how to show itself.

    A subclass is a frozen dataclass made with ``repr=False``, so that the text below is shown
    instead of the dataclass's own. Two class variables say what its JSON holds.

    Attributes
    ----------
    _schema : str or None
        The name of the JSON format, its first key. None where the format has no name.
    _not_in_json : tuple of str
        Fields that `to_dict` leaves out.
    """

    _schema: ClassVar[str | None] = None
    _not_in_json: ClassVar[tuple[str, ...]] = ()

    def __str__(self) -> str:
        report = _room("_report")
        text: str = report.document_text(report.to_document(self))
        return text

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        report = _room("_report")
        fragment: str = report.document_fragment(report.to_document(self))
        return fragment

    def to_dict(self) -> dict[str, Any]:
        """Return every field, ready for JSON: undefined figures are None."""
        names = [field.name for field in fields(self) if field.name not in self._not_in_json]  # type: ignore[arg-type]
        schema = {} if self._schema is None else {"schema": self._schema}
        return schema | {name: plain(getattr(self, name)) for name in names}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json_text(self.to_dict())

    def to_records(self) -> list[Record]:
        """Return the rows of a flat table; one row unless the result says otherwise."""
        return [flat(self.to_dict())]

    def to_frame(self, kind: FrameKind = "pandas") -> Any:
        """Return `to_records` as a dataframe.

        Parameters
        ----------
        kind : {"pandas", "polars", "pyarrow"}
            The library of the dataframe; it must be installed.
        """
        if kind not in get_args(FrameKind):
            raise OptionError(f"kind={kind!r}: expected one of {listed(get_args(FrameKind))}")
        import narwhals as nw

        records = self.to_records()
        columns = {
            name: of_one_type([record[name] for record in records]) for name in (records or [{}])[0]
        }
        try:
            return nw.from_dict(columns, backend=kind).to_native()
        except ImportError as error:
            raise OptionError(
                f"kind={kind!r}: {kind} is not installed; pip install {kind}, or choose another of "
                f"{listed(get_args(FrameKind))}"
            ) from error

    def to_markdown(self) -> str:
        """Return the same tables and sentences as Markdown, with further figures."""
        report = _room("_report")
        text: str = report.document_markdown(report.to_document(self))
        return text

    def to_html(self) -> str:
        """Return the same as a page of HTML, with charts: one file that works offline."""
        report = _room("_report")
        page: str = report.document_page(report.to_document(self), report.to_charts(self))
        return page

    @overload
    def plot(self, ax: None = None) -> Figure: ...

    @overload
    def plot(self, ax: Axes) -> Axes: ...

    def plot(self, ax: Axes | None = None) -> Figure | Axes:
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Draw the main panel there and return it. By default a new Figure with every panel.
        """
        picture: Figure | Axes = _room("_plot").plot(self, ax)
        return picture


def of_one_type(values: list[Any]) -> list[Any]:
    """Return the values of a column as one type: a dataframe cannot hold texts and numbers."""
    types = {type(value) for value in values if value is not None}
    if len(types) < 2:
        return values
    convert = float if types == {int, float} else str
    return [None if value is None else convert(value) for value in values]


def _room(name: Literal["_report", "_plot"]) -> Any:
    """Return a room that shows results.

    This is the only import in the package that goes up: a result belongs to the room that makes
    it, yet ``print(result)`` has to find the room that shows it. Loaded on first use, so that
    measuring needs neither rich nor matplotlib.
    """
    return import_module(f"fourfifths.{name}")
