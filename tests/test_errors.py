"""The tree of errors."""

from __future__ import annotations

import pytest

from fourfifths import errors
from fourfifths.errors import FourfifthsError

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
