"""What is a number and what is missing: one rule for every column of every table.

A column is numeric if all its values are numbers, missing ones aside. Missing are null, NaN, empty
text, and the values that the user calls `unknown`. If nearly all values of a text column are
numbers, an error names the others: taking them for categories, or for missing, would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeVar, cast

import narwhals as nw
import numpy as np

from fourfifths.errors import ColumnError, listed

# [0-9], because the regular expressions of some libraries read \d as the digits of any script.
NUMBER = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
WHOLE_NUMBER = r"^[-+]?[0-9]+$"
INFINITY = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)
# A text column with at least this share of numbers was meant to hold numbers.
MIN_NUMBER_SHARE = 0.95
MAX_WHOLE_DIGITS = 18  # of a 64-bit integer
MAX_EXACT_INTEGER = 2**53  # from here on, floating-point numbers skip whole numbers
TEXT_TYPES = (nw.String, nw.Categorical, nw.Enum)
Frame = TypeVar("Frame", nw.DataFrame[Any], nw.LazyFrame[Any])
DecimalMark = Literal[".", ","]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the user says about how a table is to be read; all of it may be left to the package.

    Attributes
    ----------
    sheet : str or None
        The sheet of a workbook.
    header_row : int or None
        The line, or row of a sheet, that holds the names of the columns; the first is 1.
    decimal : {".", ","} or None
        The decimal mark of numbers that are written as text.
    known : tuple
        Values that are groups or outcomes, although they look like "not known".
    exact_values : bool
        Whether values that differ only in case or in surrounding spaces are kept apart.
    """

    sheet: str | None = None
    header_row: int | None = None
    decimal: DecimalMark | None = None
    known: tuple[Any, ...] = ()
    exact_values: bool = False


def is_text(dtype: nw.dtypes.DType) -> bool:
    """Return whether a column of this type holds text."""
    return any(dtype == text_type for text_type in TEXT_TYPES)


def unknown_tokens(unknown: Any) -> tuple[Any, ...]:
    """Return the user's `unknown` values as a tuple; a single value need not be in a list.

    Examples
    --------
    >>> unknown_tokens("?"), unknown_tokens(["?", -1])
    (('?',), ('?', -1))
    """
    is_one = isinstance(unknown, str) or not isinstance(unknown, Iterable)
    tokens = [unknown] if is_one else list(unknown)
    # None is missing by itself; as a token it would mean the text "None".
    return tuple(token for token in tokens if token is not None)


@dataclass(frozen=True, kw_only=True)
class MissingText:
    """Which texts mean that a value is missing; spaces around them do not matter.

    Attributes
    ----------
    texts : frozenset of str
    numbers : str or None
        A regular expression of the tokens that are numbers: -999 also means "-999.0", as a CSV
        file may have it.
    """

    texts: frozenset[str]
    numbers: str | None

    @classmethod
    def of(cls, unknown: Sequence[Any]) -> MissingText:
        """Return what is missing by itself, and by the user's tokens.

        Examples
        --------
        >>> missing = MissingText.of(["n/a", -999])
        >>> [text for text in (" ", "n/a", "-999.0", "-99", "0") if text in missing]
        [' ', 'n/a', '-999.0']
        """
        tokens = [str(token).strip() for token in unknown]
        patterns = []
        for token in filter(is_number, tokens):
            # 1e3, 1000 and 1000.0 are one number: in plain digits, without zeros at the end.
            digits = format(Decimal(token).normalize(), "f")
            tail = "0*" if "." in digits else r"(?:\.0*)?"
            patterns.append(re.escape(digits) + tail)
        numbers = f"^(?:{'|'.join(patterns)})$" if patterns else None
        return cls(texts=frozenset(["", *tokens]), numbers=numbers)

    def __contains__(self, text: str) -> bool:
        text = text.strip()
        is_token = self.numbers is not None and re.match(self.numbers, text) is not None
        return text in self.texts or is_token

    def marks(self, column: nw.Expr) -> nw.Expr:
        """Return which values of a text column are missing; null where they already are null."""
        text = column.cast(nw.String()).str.strip_chars()
        is_missing = text.is_in(sorted(self.texts))
        return is_missing if self.numbers is None else is_missing | text.str.contains(self.numbers)


def without_missing(
    column: nw.Expr, dtype: nw.dtypes.DType, unknown: Sequence[Any] = ()
) -> nw.Expr:
    """Return a column in which every missing value is null.

    A token of `unknown` means a text as it is written, and a number whatever its type.
    """
    if dtype.is_float():
        column = nw.when(~column.is_nan()).then(column)
    texts = [str(token).strip() for token in unknown]
    comparable, tokens = column, list[Any]()
    if dtype == nw.Boolean:
        truths = {"true": True, "false": False}
        tokens = [truths[text.lower()] for text in texts if text.lower() in truths]
    elif dtype.is_numeric():
        # As floats, because polars does not compare whole numbers with a list of floats.
        comparable = column.cast(nw.Float64())
        tokens = [float(text) for text in texts if is_number(text)]
    elif isinstance(dtype, nw.Datetime) and dtype.time_zone is None:
        # Not as text: each library writes a moment in a way of its own.
        tokens = [moment for moment in map(_moment, texts) if moment is not None]
    elif is_text(dtype) or unknown:
        return nw.when(~MissingText.of(unknown).marks(column)).then(column)
    return nw.when(~comparable.is_in(tokens)).then(column) if tokens else column


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None


def is_number(value: Any) -> bool:
    """Return whether a value is a number, or a text that reads as one.

    Examples
    --------
    >>> is_number("-1.5e3"), is_number(7), is_number("n/a"), is_number(True)
    (True, True, False, False)
    """
    if isinstance(value, str):
        return re.match(NUMBER, value.strip()) is not None
    return isinstance(value, Real) and not isinstance(value, bool)


def with_room_for_null(frame: Frame, name: str) -> Frame:
    """Return a frame whose column `name` can be null and still be what it is.

    pandas makes floats of numpy's whole numbers, and objects of its booleans, once one is missing;
    its own nullable types stay.
    """
    dtype = frame.collect_schema()[name]
    is_pandas = frame.implementation is nw.Implementation.PANDAS
    if not is_pandas or not (dtype.is_integer() or dtype == nw.Boolean):
        return frame
    native: Any = frame.to_native()
    if not isinstance(native[name].dtype, np.dtype):
        return frame
    nullable_type = "boolean" if dtype == nw.Boolean else str(dtype)
    converted = nw.from_native(native.astype({name: nullable_type}), eager_only=True)
    return cast(Frame, converted.lazy() if isinstance(frame, nw.LazyFrame) else converted)


def known_values(column: nw.Series[Any], unknown: Sequence[Any] = ()) -> nw.Series[Any]:
    """Return a column in memory in which every missing value is null."""
    # Under another name, because polars reads a name like "*" as more than a name.
    frame = column.alias("value").to_frame()
    if unknown:
        frame = with_room_for_null(frame, "value")
    values = frame.select(without_missing(nw.col("value"), column.dtype, unknown))["value"]
    # Nothing new is missing: the column stays what it is, with the order of its categories.
    if int(values.null_count()) == int(column.null_count()) and not column.dtype.is_float():
        return column
    return values.alias(column.name)


def read_numbers(column: nw.Series[Any], *, must: bool = False) -> nw.Series[Any] | None:
    """Return a text column as numbers, or None if it holds words.

    Parameters
    ----------
    column : series of text
        Missing values are null.
    must : bool
        Whether anything that is not a number is an error. Without it, it is one only if nearly
        all values are numbers.
    """
    # Arrow reads no plus sign.
    text = column.cast(nw.String()).str.strip_chars().str.replace_all(r"^\+", "")
    distinct = text.filter(~text.is_null()).unique()
    words = distinct.filter(~distinct.str.contains(NUMBER))
    if len(words):
        word_rows = int(text.is_in(words.to_list()).sum())
        row_count = len(text) - int(text.null_count())
        check_words(
            str(column.name), words.to_list(), word_rows=word_rows, row_count=row_count, must=must
        )
        return None
    if not len(distinct):
        return text.cast(nw.Float64()) if must else None
    is_whole = bool(distinct.str.contains(WHOLE_NUMBER).all())
    if is_whole and (distinct.str.len_chars() > MAX_WHOLE_DIGITS).any():
        raise beyond_exact(str(column.name))
    if not is_whole:
        return text.cast(nw.Float64())
    if text.null_count() and text.implementation is nw.Implementation.PANDAS:
        # By way of floats, because pandas makes no whole numbers of texts beside missing ones.
        native: Any = text.cast(nw.Float64()).to_native()
        numbers: nw.Series[Any] = nw.from_native(native.astype("Int64"), series_only=True)
        return numbers
    return text.cast(nw.Int64())


def check_words(
    name: str, words: Sequence[str], *, word_rows: int, row_count: int, must: bool = False
) -> None:
    """Raise an error if nearly all values of a text column are numbers, but not these words."""
    number_rows = row_count - word_rows
    words = sorted(words)
    if number_rows and all(INFINITY.fullmatch(word) for word in words):
        raise ColumnError(
            f"column {name!r}: expected finite numbers, found {listed(words, limit=3)}; correct or "
            "empty such cells, or leave the column out"
        )
    remedy = f"unknown={[str(word) for word in words[:3]]!r}"
    if number_rows < MIN_NUMBER_SHARE * row_count:
        if not must:
            return
        raise ColumnError(
            f"column {name!r}: expected numbers, found {listed(words, limit=3)}; convert the "
            f"column or leave it out, or, if they mean that the value is missing, give {remedy}"
        )
    raise ColumnError(
        f"column {name!r}: {number_rows:,} of {row_count:,} values are numbers, but "
        f"{listed(words, limit=3)} {'is' if len(words) == 1 else 'are'} not; correct or "
        f"empty such cells, or, if they mean that the value is missing, give {remedy}"
    )


def beyond_exact(name: Any) -> ColumnError:
    """Return the error for whole numbers that floating-point numbers cannot hold."""
    return ColumnError(
        f"column {name!r}: holds whole numbers beyond 2**53, which reading would change; it "
        "looks like an identifier; leave the column out"
    )
