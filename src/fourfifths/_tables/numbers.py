"""What is a number and what is missing: one rule for every column of every table.

A column holds numbers if all its values do, but for the missing ones. Missing are null, NaN, empty
text, and the values that the user calls `unknown`. A text column in which nearly all values are
numbers is an error that names the rest: it is neither quietly taken for categories nor quietly
thinned out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw

from fourfifths.errors import ColumnError, listed

NUMBER = r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$"
WHOLE_NUMBER = r"^[-+]?\d+$"
INFINITY = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)
# A text column with so large a share of numbers was meant to be numbers.
MIN_NUMBER_SHARE = 0.95
MAX_WHOLE_DIGITS = 18  # of a 64-bit integer
TEXT_TYPES = (nw.String, nw.Categorical, nw.Enum)


def is_text(dtype: nw.dtypes.DType) -> bool:
    """Return whether a column of this type holds text."""
    return any(dtype == text_type for text_type in TEXT_TYPES)


def unknown_tokens(unknown: Any) -> tuple[Any, ...]:
    """Return what the user calls unknown as a tuple; a single value may stand alone.

    Examples
    --------
    >>> unknown_tokens("?"), unknown_tokens(["?", -1])
    (('?',), ('?', -1))
    """
    if isinstance(unknown, str) or not isinstance(unknown, Sequence):
        return (unknown,)
    return tuple(unknown)


def without_missing(
    column: nw.Expr, dtype: nw.dtypes.DType, unknown: Sequence[Any] = ()
) -> nw.Expr:
    """Return a column in which every missing value is null.

    A token of `unknown` means a text as it is written, and in a column of numbers that number.
    """
    if is_text(dtype):
        texts = ["", *(str(token).strip() for token in unknown)]
        text = column.cast(nw.String()).str.strip_chars()
        return nw.when(~text.is_in(texts)).then(column)
    if dtype.is_float():
        column = nw.when(~column.is_nan()).then(column)
    if dtype == nw.Boolean:
        truths = {"true": True, "false": False}
        tokens: list[Any] = [truths[t] for t in map(_lower, unknown) if t in truths]
    elif dtype.is_numeric():
        tokens = [float(token) for token in unknown if is_number(token)]
    else:
        tokens = []
        if unknown:
            texts = [str(token) for token in unknown]
            return nw.when(~column.cast(nw.String()).is_in(texts)).then(column)
    if not tokens:
        return column
    # As floats, because polars does not compare whole numbers with a list of floats.
    comparable = column if dtype == nw.Boolean else column.cast(nw.Float64())
    return nw.when(~comparable.is_in(tokens)).then(column)


def is_number(value: Any) -> bool:
    """Return whether a value is a number, or a text that reads as one.

    Examples
    --------
    >>> is_number("-1.5e3"), is_number(7), is_number("n/a"), is_number(True)
    (True, True, False, False)
    """
    if isinstance(value, str):
        return re.match(NUMBER, value.strip()) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def known_values(column: nw.Series[Any], unknown: Sequence[Any] = ()) -> nw.Series[Any]:
    """Return a column in memory in which every missing value is null."""
    # Under another name, because polars reads a name like "*" as more than a name.
    frame = column.alias("value").to_frame()
    known = frame.select(without_missing(nw.col("value"), column.dtype, unknown))["value"]
    # Nothing new is missing: the column stays what it is, with the order of its categories.
    if int(known.null_count()) == int(column.null_count()) and not column.dtype.is_float():
        return column
    return known.alias(column.name)


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
    return text.cast(_number_type(str(column.name), distinct))


def check_words(
    name: str, words: Sequence[str], *, word_rows: int, row_count: int, must: bool = False
) -> None:
    """Raise if a text column with these words was meant to hold numbers."""
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


def _number_type(name: str, distinct: nw.Series[Any]) -> nw.dtypes.DType:
    is_whole = bool(distinct.str.contains(WHOLE_NUMBER).all())
    if is_whole and (distinct.str.len_chars() > MAX_WHOLE_DIGITS).any():
        raise ColumnError(
            f"column {name!r}: holds whole numbers of more than {MAX_WHOLE_DIGITS} digits, which "
            "reading would change; it looks like an identifier; leave the column out"
        )
    return nw.Int64() if is_whole else nw.Float64()


def _lower(token: Any) -> str:
    return str(token).strip().lower()
