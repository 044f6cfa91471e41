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
