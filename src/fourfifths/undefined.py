"""Why a figure is undefined: one sentence each, so that no NaN stands without a reason."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

SAME = "this is the reference group"
NO_SELECTION_IN_REFERENCE = "no one in the reference group was selected"
NO_SELECTION_IN_GROUP = "no one in the group was selected"
NO_VARIATION = "everyone or no one was selected in both groups"
NOT_WHOLE = "exact counts are needed; these are sampling weights"
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
    "detectable_ratio": "so few rows would miss even a ratio of 0 more than one time in five",
    "mean_difference": "the rule was given no score",
    "impact_ratio_bounds": "no membership is unknown",
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


def reasons(figures: Mapping[str, Any], *, is_reference: bool, exact: bool) -> dict[str, str]:
    """Return the reason for each undefined figure."""
    limits = {
        name: value if isinstance(value, tuple) else (value,) for name, value in figures.items()
    }
    return {
        name: _reason(name, values, is_reference=is_reference, exact=exact)
        for name, values in limits.items()
        if any(math.isnan(value) for value in values)
    }


def _reason(name: str, limits: tuple[float, ...], *, is_reference: bool, exact: bool) -> str:
    if is_reference and name in COMPARISONS:
        return SAME
    if name == "flip":
        return "no selection can be moved to the side with the lower rate" if exact else NOT_WHOLE
    if name == "impact_ratio_bounds" and not all(math.isnan(limit) for limit in limits):
        return "no bound on one side: the unknown could leave no one selected in the reference"
    return REASONS[name]
