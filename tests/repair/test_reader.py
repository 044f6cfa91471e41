"""Values of a JSON file: each is checked when it is read, and an error says where it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fourfifths._repair.reader import Reader
from fourfifths.errors import RepairError


def reader(**entries: Any) -> Reader:
    return Reader(file="repair.json", value=entries)


def test_a_value_is_read_as_it_is() -> None:
    assert reader(a=None).value_of("a") is None
    assert reader(a={"b": 3}).inside("a").value_of("b") == 3
    assert [part.value for part in reader(a=[{}, {"b": 1}]).objects("a")] == [{}, {"b": 1}]
    assert reader(a=[["x", 1, 0.5, True], []]).lists("a") == [["x", 1, 0.5, True], []]
    assert reader(a=["x", ""]).texts("a") == ("x", "")
    assert reader(a="x").choice("a", ("w", "x")) == "x"
    assert reader(a=2).integer("a", minimum=2) == 2


def test_numbers_are_read_as_an_array_of_their_type() -> None:
    whole = reader(a=[1, 2]).array("a", 1, dtype=np.int64)
    assert (whole.dtype, whole.tolist()) == (np.int64, [1, 2])
    fractions = reader(a=[[1, 0.5]]).array("a", 2, dtype=np.float64)
    assert (fractions.dtype, fractions.tolist()) == (np.float64, [[1.0, 0.5]])
    holes = reader(a=[[1, None], [0.5, None]]).numbers_or_null("a", 2)
    assert holes.dtype == np.float64
    np.testing.assert_array_equal(holes, [[1, np.nan], [0.5, np.nan]])


def test_an_error_names_the_file_the_place_and_the_remedy() -> None:
    inner = reader(columns=[{}, {"strata": {"size": "3"}}]).objects("columns")[1].inside("strata")
    message = (
        "repair.json: not a valid saved repair: columns[1].strata.size: expected a whole number, 1 "
        "or more; save the repair again"
    )
    with pytest.raises(RepairError, match=f"^{re.escape(message)}$"):
        inner.integer("size", minimum=1)


def test_a_requirement_that_holds_is_silent() -> None:
    reader().require(True, "a", expected="nothing")
    with pytest.raises(RepairError, match="a: expected more"):
        reader().require(False, "a", expected="more")


@pytest.mark.parametrize("value", [None, 5, "text", [], [{"a": 1}]])
def test_what_is_no_object_has_no_entries(value: Any) -> None:
    with pytest.raises(RepairError, match="a: expected this entry, which is missing"):
        Reader(file="repair.json", value=value).value_of("a")


READS: dict[str, tuple[Callable[[Reader], Any], str]] = {
    "inside": (lambda part: part.inside("a"), "an object"),
    "objects": (lambda part: part.objects("a"), "a list"),
    "lists": (lambda part: part.lists("a"), "lists of texts, numbers or booleans"),
    "texts": (lambda part: part.texts("a"), "a list of texts"),
    "choice": (lambda part: part.choice("a", ("w", "x")), "one of 'w', 'x'"),
    "integer": (lambda part: part.integer("a", minimum=3), "a whole number, 3 or more"),
    "array": (lambda part: part.array("a", 1, dtype=np.float64), "numbers in 1 dimensions"),
    "whole": (lambda part: part.array("a", 1, dtype=np.int64), "numbers in 1 dimensions"),
    "null": (lambda part: part.numbers_or_null("a", 2), "numbers or nulls in 2 dimensions"),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(
    "value",
    [
        None,
        2,
        0.5,
        True,
        "text",
        [None],
        [[None, True]],
        [{"b": 1}, "x"],
        [1, "x"],
        [True, False],
        [float("nan")],
        [float("inf"), 1.0],
        [10**400],
        [[1], [1, 2]],
        [[[1.0]]],
        [[10**400, None]],
        [[float("nan"), 1]],
        [[float("-inf"), 1]],
        [["1", 2]],
    ],
    ids=str,
)
def test_what_is_of_another_kind_is_named(read: str, value: Any) -> None:
    call, expected = READS[read]
    if (read == "lists" and isinstance(value, list) and value and is_plain(value)) or (
        read == "objects" and isinstance(value, list)
    ):
        return
    with pytest.raises(RepairError, match=re.escape(f"a: expected {expected}; save")):
        call(reader(a=value))


def is_plain(rows: list[Any]) -> bool:
    """Return whether all are lists of texts, numbers or booleans."""
    return all(
        isinstance(row, list) and all(isinstance(cell, str | int | float) for cell in row)
        for row in rows
    )
