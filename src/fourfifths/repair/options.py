"""The choices of a `Repairer`, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, cast, get_args

from fourfifths.errors import ColumnError, OptionError, listed, nearest
from fourfifths.repair.columns import Method, Ties
from fourfifths.repair.model import Scope
from fourfifths.repair.stratification import Small, Unseen

LEVELS = 16_384
LEAST_LEVELS = 2
CHOICES: Mapping[str, Any] = {
    "method": Method,
    "scope": Scope,
    "ties": Ties,
    "unseen": Unseen,
    "small": Small,
}


def check_options(options: Mapping[str, Any]) -> None:
    """Raise for the first option whose value is not one of its choices."""
    for name, choices in CHOICES.items():
        value = options[name]
        if value not in get_args(choices):
            raise OptionError(
                f"{name}={value!r}: expected one of {listed(get_args(choices))}"
                f"{nearest(value, get_args(choices))}"
            )
    amount = options["amount"]
    if isinstance(amount, bool) or not isinstance(amount, Real) or not 0 <= cast(Any, amount) <= 1:
        raise OptionError(
            f"amount={amount!r}: expected a number from 0 (nothing) to 1 (full repair)"
        )
    levels = options["levels"]
    if isinstance(levels, bool) or not isinstance(levels, Integral) or levels < LEAST_LEVELS:
        raise OptionError(f"levels={levels!r}: expected a whole number, {LEAST_LEVELS} or more")
    seed = options["random_state"]
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0):
        raise OptionError(f"random_state={seed!r}: expected a whole number, 0 or more, or None")
    if options["protected"] is not None and options["stratify_by"] is not None:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")


def check_fitted(options: Mapping[str, Any], scope: Scope, ties: Ties) -> None:
    """Check the options once more, and that none was changed that needs a new fit."""
    check_options(options)
    for name, value in (("scope", scope), ("ties", ties)):
        if options[name] != value:
            raise OptionError(
                f"{name}={options[name]!r}: the repair was fitted with {value!r}; fit it again"
            )


def strata_names(protected: Any, stratify_by: Any) -> tuple[str, ...] | None:
    """Return the stratifying columns' names, or None where the values come with the data."""
    named = stratify_by if protected is None else protected
    if named is None:
        return None
    names = (named,) if isinstance(named, str) else named
    good = isinstance(names, Sequence) and len(names) and all(isinstance(e, str) for e in names)
    if not good:
        raise ColumnError(f"protected={named!r}: expected the name of a column, or several")
    return tuple(names)
