"""Why a figure is undefined: one sentence each, so that no NaN stands without a reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SAME = "this is the reference group"
NO_SELECTION_IN_REFERENCE = "no one in the reference group was selected"
NO_SELECTION_IN_GROUP = "no one in the group was selected"
NO_VARIATION = "everyone or no one was selected in both groups"
NOT_WHOLE = "whole persons are needed; these are sampling weights"
REASONS: Mapping[str, str] = {
    "impact_ratio": NO_SELECTION_IN_REFERENCE,
    "impact_ratio_interval": f"no upper limit: {NO_SELECTION_IN_REFERENCE}",
    "likelihood_ratio": NO_SELECTION_IN_GROUP,
    "z": NO_VARIATION,
    "z_p": NO_VARIATION,
    "standard_deviations": NO_VARIATION,
    "phi": NO_VARIATION,
    "fisher_p": NOT_WHOLE,
    "fisher_p_less": NOT_WHOLE,
    "mid_p": NOT_WHOLE,
    "holm_p": NO_VARIATION,
}
# Figures that compare a group with the reference; the reference has none of them.
COMPARISONS = (
    "impact_ratio_interval",
    "likelihood_ratio",
    "z",
    "z_p",
    "standard_deviations",
    "fisher_p",
    "fisher_p_less",
    "mid_p",
    "holm_p",
    "flip",
    "phi",
    "h",
    "detectable_ratio",
    "impact_ratio_bounds",
    "sensitivity",
    "specificity",
    "balanced_error_rate",
)


@dataclass(frozen=True)
class Context:
    """What the reasons depend on, for one group."""

    is_reference: bool
    exact: bool
    scored: bool
    stratified: bool
    nothing_selected: bool
    any_unknown: bool


def reasons(figures: Mapping[str, Any], within: object, context: Context) -> dict[str, str]:
    """Return the reason for each undefined figure."""
    limits = {
        name: value if isinstance(value, tuple) else (value,) for name, value in figures.items()
    }
    found = {
        name: _reason(name, context)
        for name, values in limits.items()
        if any(math.isnan(value) for value in values)
    }
    if within is None:
        found["stratified"] = _stratified_reason(context)
    return found


def _reason(name: str, context: Context) -> str:
    if context.is_reference and name in COMPARISONS:
        return SAME
    if name == "flip":
        moved = "with one selection moved, there is no one to move or no rate to compare with"
        return moved if context.exact else NOT_WHOLE
    if name == "impact_ratio_bounds":
        if not context.any_unknown:
            return "no membership is unknown"
        return "no bound on one side: no one of the reference might be selected"
    if name == "detectable_ratio":
        few = "so few rows would miss even a ratio of 0 more than one time in five"
        return NO_SELECTION_IN_REFERENCE if context.nothing_selected else few
    if name == "mean_difference":
        return (
            "the score does not vary, or a group has none"
            if context.scored
            else "no score was given"
        )
    return REASONS[name]


def _stratified_reason(context: Context) -> str:
    if not context.stratified:
        return "no strata were named"
    if context.is_reference:
        return SAME
    return "no row of the group has a known stratum" if context.exact else NOT_WHOLE
