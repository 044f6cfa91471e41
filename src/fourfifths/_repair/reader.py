"""`Reader`: one object of a JSON file, which checks what is read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import FloatArray
from fourfifths._text import listed
from fourfifths.errors import RepairError


@dataclass(frozen=True, kw_only=True)
class Reader:
    """One object of a JSON file, which checks what is read from it.

    Attributes
    ----------
    file : str
    value : Any
        The object.
    path : str
        Where it is in the file, for errors: ``"columns[0]."``.
    """

    file: str
    value: Any
    path: str = ""

    def value_of(self, key: str) -> Any:
        """Return the value of a key that must be present."""
        if not isinstance(self.value, Mapping) or key not in self.value:
            raise self.error(key, expected="this entry, which is missing")
        return self.value[key]

    def inside(self, key: str) -> Reader:
        """Return the object of a key."""
        value = self.value_of(key)
        self.require(isinstance(value, Mapping), key, expected="an object")
        return Reader(file=self.file, value=value, path=f"{self.path}{key}.")

    def objects(self, key: str) -> list[Reader]:
        """Return the objects of a list."""
        values = self.value_of(key)
        self.require(isinstance(values, list), key, expected="a list")
        return [
            Reader(file=self.file, value=value, path=f"{self.path}{key}[{index}].")
            for index, value in enumerate(values)
        ]

    def lists(self, key: str) -> list[list[Any]]:
        """Return a list of lists of plain values."""
        rows = self.value_of(key)
        are_lists = isinstance(rows, list) and all(
            isinstance(row, list)
            and all(isinstance(value, str | int | float | bool) for value in row)
            for row in rows
        )
        self.require(are_lists, key, expected="lists of texts, numbers or booleans")
        return list(rows)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        texts = self.value_of(key)
        are_texts = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        self.require(are_texts, key, expected="a list of texts")
        return tuple(texts)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """Return a value that is one of the choices."""
        value = self.value_of(key)
        if value not in choices:
            raise self.error(key, expected=f"one of {listed(choices)}")
        return str(value)

    def integer(self, key: str, *, minimum: int) -> int:
        """Return a whole number."""
        value = self.value_of(key)
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        self.require(
            is_integer and value >= minimum, key, expected=f"a whole number, {minimum} or more"
        )
        return int(value)

    def array(self, key: str, dimensions: int, *, dtype: type[np.generic]) -> NDArray[Any]:
        """Return finite numbers as an array."""
        expected = f"numbers in {dimensions} dimensions"
        try:
            array = np.array(self.value_of(key))
        except ValueError:  # lists of unequal length
            raise self.error(key, expected=expected) from None
        kinds = "iu" if np.issubdtype(dtype, np.integer) else "iuf"
        are_numbers = array.dtype.kind in kinds and array.ndim == dimensions
        self.require(are_numbers and bool(np.all(np.isfinite(array))), key, expected=expected)
        return array.astype(dtype)

    def numbers_or_null(self, key: str, dimensions: int) -> FloatArray:
        """Return finite numbers as an array, with NaN where there is none."""
        expected = f"numbers or nulls in {dimensions} dimensions"
        try:
            array: Any = np.array(self.value_of(key), dtype=object)
            is_null = array == None  # noqa: E711 - element by element
            are_numbers = all(
                isinstance(value, int | float) and not isinstance(value, bool)
                for value in array[~is_null]
            )
            numbers = np.where(is_null, np.nan, array).astype(np.float64)
        except (ValueError, TypeError, OverflowError):
            raise self.error(key, expected=expected) from None
        self.require(
            are_numbers
            and numbers.ndim == dimensions
            and bool(np.array_equal(np.isfinite(numbers), ~is_null)),
            key,
            expected=expected,
        )
        return numbers

    def require(self, condition: bool, key: str, *, expected: str) -> None:  # noqa: FBT001
        """Raise unless the condition holds."""
        if not condition:
            raise self.error(key, expected=expected)

    def error(self, key: str, *, expected: str) -> RepairError:
        """Return the error that names the file and the entry."""
        return RepairError(
            f"{self.file}: not a valid saved repair: {self.path}{key}: expected {expected}; save "
            "the repair again"
        )
