"""The tree of errors, and the words that their messages share."""

from __future__ import annotations

import pytest

from fourfifths import errors
from fourfifths.errors import FourfifthsError, listed, nearest

ERRORS = [
    kind
    for name, kind in vars(errors).items()
    if name.endswith("Error") and kind is not FourfifthsError
]


@pytest.mark.parametrize("kind", ERRORS)
def test_every_error_is_one_of_ours_and_a_value_error(kind):
    assert issubclass(kind, FourfifthsError)
    with pytest.raises(ValueError, match="which column"):
        raise kind("which column")


def test_the_page_of_the_tree_names_every_error():
    names = {kind.__name__ for kind in ERRORS}
    assert {word for word in errors.__doc__.split() if word.endswith("Error")} == {
        *names,
        "FourfifthsError",
    }


@pytest.mark.parametrize(
    ("word", "choices", "hint"),
    [
        ("Rcae", ["sex", "RACE"], "; did you mean 'RACE'?"),
        ("sex", ["race", "age"], ""),
        (40, ["41", "x"], ""),
        (1234, [1235, "x"], "; did you mean '1235'?"),
        ("anything", [], ""),
    ],
)
def test_the_nearest_choice_is_suggested_as_it_is_spelled(word, choices, hint):
    assert nearest(word, choices) == hint


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([], ""),
        (["it's"], '"it\'s"'),
        ([1, None], "'1', 'None'"),
        (range(10), ", ".join(f"'{number}'" for number in range(10))),
        (range(12), ", ".join(f"'{number}'" for number in range(10)) + ", and 2 more"),
    ],
)
def test_values_are_quoted_and_cut_after_ten(values, text):
    assert listed(values) == text
