"""Reading JSON that somebody may have edited: each value checked, each error with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths.errors import RepairError, listed


@dataclass(frozen=True)
class Reader:
    """One object of a JSON file, and where it stands."""

    file: str
    value: Any
    place: str = ""

    def value_of(self, key: str) -> Any:
        """Return the value of a key that must be there."""
        if not isinstance(self.value, Mapping) or key not in self.value:
            raise self.wrong(key, "to be there")
        return self.value[key]

    def inside(self, key: str) -> Reader:
        """Return the object of a key."""
        found = Reader(self.file, self.value_of(key), f"{self.place}{key}.")
        self.require(isinstance(found.value, Mapping), key, "an object")
        return found

    def items(self, key: str) -> list[Reader]:
        """Return the objects of a list."""
        found = self.value_of(key)
        self.require(isinstance(found, list), key, "a list")
        return [
            Reader(self.file, item, f"{self.place}{key}[{at}].") for at, item in enumerate(found)
        ]

    def lists(self, key: str) -> list[list[Any]]:
        """Return a list of lists of plain values."""
        found = self.value_of(key)
        good = isinstance(found, list) and all(
            isinstance(item, list)
            and all(isinstance(each, str | int | float | bool) for each in item)
            for item in found
        )
        self.require(good, key, "lists of plain values")
        return list(found)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        found = self.value_of(key)
        good = isinstance(found, list) and all(isinstance(item, str) for item in found)
        self.require(good, key, "a list of texts")
        return tuple(found)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """Return one of the choices."""
        found = self.value_of(key)
        self.require(found in choices, key, f"one of {listed(choices)}")
        return str(found)

    def whole(self, key: str, *, least: int) -> int:
        """Return a whole number."""
        found = self.value_of(key)
        good = isinstance(found, int) and not isinstance(found, bool) and found >= least
        self.require(good, key, f"a whole number, {least} or more")
        return int(found)

    def array(self, key: str, dimensions: int, dtype: type[np.generic]) -> NDArray[Any]:
        """Return finite numbers as an array."""
        expected = f"numbers in {dimensions} dimensions"
        try:
            found = np.array(self.value_of(key))
        except ValueError:  # lists of unequal length
            raise self.wrong(key, expected) from None
        kinds = "iu" if np.issubdtype(dtype, np.integer) else "iuf"
        good = found.dtype.kind in kinds and found.ndim == dimensions
        self.require(good and bool(np.all(np.isfinite(found))), key, expected)
        return found.astype(dtype)

    def require(self, condition: bool, key: str, expected: str) -> None:  # noqa: FBT001
        """Raise unless the condition holds."""
        if not condition:
            raise self.wrong(key, expected)

    def wrong(self, key: str, expected: str) -> RepairError:
        """Return the error that names the place."""
        return RepairError(
            f"{self.file}: not a repair as it was saved: {self.place}{key}: expected {expected}; "
            "save it anew"
        )
