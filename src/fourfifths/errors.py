"""Every error the package raises on purpose.

::

    FourfifthsError
    ├── TableError     the table cannot be read, is empty, or has no rows to use
    ├── ColumnError    a column does not exist, or cannot play its role
    ├── GroupError     there is nothing to compare: groups, reference
    ├── OutcomeError   the outcome or its favorable value
    ├── WeightsError   a weight is missing, negative or not finite
    ├── OptionError    an argument whose value is not one of the choices
    ├── RepairError    a saved repair cannot be used
    ├── EvidenceError  a pack, a signature or a key cannot be used
    └── OutputError    a result cannot be written

Each message says which argument, what came, what was expected and what to do. All are
`ValueError`, so that ``except ValueError`` works too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FourfifthsError(ValueError):
    """The root of all errors raised by fourfifths."""


class TableError(FourfifthsError):
    """The table cannot be read, is empty, or has no rows to use."""


class ColumnError(FourfifthsError):
    """A column does not exist, or cannot play its role."""


class GroupError(FourfifthsError):
    """There is nothing to compare."""


class OutcomeError(FourfifthsError):
    """The outcome column or its favorable value is not usable."""


class WeightsError(FourfifthsError):
    """A weight is missing, negative or not finite."""


class OptionError(FourfifthsError):
    """An argument has a value that is not one of the choices."""


class RepairError(FourfifthsError):
    """A saved repair cannot be used."""


class EvidenceError(FourfifthsError):
    """A pack of evidence, a signature or a key cannot be used."""


class OutputError(FourfifthsError):
    """A result cannot be written."""


class ReadingWarning(UserWarning):
    """What a repair assumed about the values of a table."""


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
