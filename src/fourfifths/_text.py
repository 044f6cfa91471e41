"""Numbers and names as people read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
UNDEFINED = "-"


def number(value: float, digits: int = 3) -> str:
    """Return a number for people; undefined is a dash."""
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
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def interval(limits: tuple[float, float], digits: int = 3) -> str:
    """Return an interval for people; a missing limit is left open."""
    low, high = limits
    if math.isnan(low) and math.isnan(high):
        return UNDEFINED
    return f"{number(low, digits)} to {'...' if math.isnan(high) else number(high, digits)}"


def printable(text: str) -> str:
    r"""Return text in which nothing can drive the terminal.

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
