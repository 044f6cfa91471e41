"""Numbers and names as people read them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence

UNDEFINED = "-"
SMALLEST_SHOWN_P = 0.0001


def number(value: float, digits: int = 3) -> str:
    """Return a number for people; undefined is a dash.

    Examples
    --------
    >>> number(1234.5, 1), number(float("nan"))
    ('1,234.5', '-')
    """
    return UNDEFINED if math.isnan(value) else f"{value:,.{digits}f}"


def p_value(p: float) -> str:
    """Return a p-value for people; undefined is a dash.

    Examples
    --------
    >>> p_value(0.0404), p_value(0.00001)
    ('0.0404', '< 0.0001')
    """
    if math.isnan(p):
        return UNDEFINED
    return f"{p:.4f}" if p >= SMALLEST_SHOWN_P else f"< {SMALLEST_SHOWN_P:.4f}"


def interval(limits: tuple[float, float], digits: int = 3) -> str:
    """Return an interval for people; a missing limit is left open.

    Examples
    --------
    >>> interval((0.1, 0.25)), interval((0.1, float("nan")))
    ('0.100 to 0.250', '0.100 to ...')
    """
    low, high = limits
    if math.isnan(low) and math.isnan(high):
        return UNDEFINED
    return f"{number(low, digits)} to {'...' if math.isnan(high) else number(high, digits)}"


def in_rows(row_count: float) -> str:
    """Return a number of rows.

    Examples
    --------
    >>> in_rows(1), in_rows(1_200)
    ('1 row', '1,200 rows')
    """
    return "1 row" if row_count == 1 else f"{int(row_count):,} rows"


def rows_have(row_count: int) -> str:
    """Return the beginning of a sentence about a number of rows.

    Examples
    --------
    >>> rows_have(1), rows_have(1_200)
    ('1 row has', '1,200 rows have')
    """
    return f"{in_rows(row_count)} {'has' if row_count == 1 else 'have'}"


def categories_note(column: object, treatment: str) -> str:
    """Return what is said of a column of text that is not all numbers.

    Examples
    --------
    >>> categories_note("grade", "is taken")
    "column 'grade' holds numbers and words; it is taken as categories"
    """
    return f"column {column!r} holds numbers and words; it {treatment} as categories"


def alternatives(names: str | Sequence[str]) -> str:
    """Return one name, or several joined by "or".

    Examples
    --------
    >>> alternatives("Hired"), alternatives(("Hired", "Offer declined"))
    ('Hired', 'Hired or Offer declined')
    """
    return names if isinstance(names, str) else " or ".join(names)


def printable(text: str) -> str:
    r"""Return text that cannot control the terminal: names come from other people's data.

    Examples
    --------
    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def number_text(number: float) -> str:
    """Return the shortest text that is exactly this number.

    Examples
    --------
    >>> number_text(25.0), number_text(1000001.5)
    ('25', '1000001.5')
    """
    return repr(number).removesuffix(".0")


def nearest(word: object, choices: Iterable[object]) -> str:
    """Return ``"; did you mean 'x'?"`` for the choice closest to `word`, or nothing.

    Examples
    --------
    >>> nearest("rase", ["race", "sex"])
    "; did you mean 'race'?"
    >>> nearest("income", ["race", "sex"])
    ''
    """
    by_lower = {str(choice).lower(): str(choice) for choice in choices}
    close = difflib.get_close_matches(str(word).lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def listed(values: Iterable[object], limit: int = 10) -> str:
    """Return the values quoted and separated by commas, cut after `limit`.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b', and 1 more"
    """
    texts = [repr(str(value)) for value in values]
    rest = len(texts) - limit
    return ", ".join(texts[:limit]) + (f", and {rest} more" if rest > 0 else "")
