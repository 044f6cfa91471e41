"""Every figure of a group against the reference, for all groups of an attribute at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fourfifths.counts import FloatArray
from fourfifths.findings import Facts
from fourfifths.intervals import clopper_pearson, ratio_interval
from fourfifths.power import detectable_ratio
from fourfifths.significance import (
    cohen_h,
    fisher_test,
    phi,
    standard_deviations,
    two_sided_p,
    z_statistic,
)
from fourfifths.strata import Tally


def figures(
    tally: Tally, reference: int, *, exact: bool, confidence: float
) -> dict[str, FloatArray]:
    """Return every figure of every group, as arrays over groups.

    Tests and intervals use the effective sizes; with whole counts those are the counts.
    """
    n, x = tally.weight, tally.weight_selected
    rate = _ratio(x, n)
    table = (rate * tally.effective, tally.effective)
    against = (table[0][reference], table[1][reference])
    counts = (x, n, x[reference], n[reference])
    low, high = clopper_pearson(*table, confidence)
    ratio_low, ratio_high = ratio_interval(*table, *against, confidence)
    z = z_statistic(*table, *against)
    pooled = _ratio(x + x[reference], n + n[reference])
    fisher = fisher_test(*counts) if exact else np.full((3, n.size), np.nan)
    return {
        "share": n / n.sum(),
        "effective_n": tally.effective,
        "selection_rate": rate,
        "rate_low": low,
        "rate_high": high,
        "impact_ratio": _ratio(rate, rate[reference]),
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "likelihood_ratio": _ratio(rate[reference], rate),
        "difference": rate - rate[reference],
        "z": z,
        "z_p": two_sided_p(z),
        "standard_deviations": standard_deviations(*table, *against),
        "fisher_p": fisher[0],
        "fisher_p_less": fisher[1],
        "mid_p": fisher[2],
        "expected": n * pooled,
        "to_reference": n * rate[reference] - x,
        "to_pooled": n * pooled - x,
        "flip": _flip(*counts) if exact else np.full(n.shape, np.nan),
        "phi": phi(*table, *against),
        "h": cohen_h(*table, *against),
        "a": n - x,
        "b": np.full(n.shape, n[reference] - x[reference]),
        "c": x,
        "d": np.full(n.shape, x[reference]),
        "sensitivity": np.full(n.shape, rate[reference]),
        "specificity": 1 - rate,
        "balanced_error_rate": (1 - rate[reference] + rate) / 2,
        "detectable_ratio": detectable_ratio(
            tally.effective, table[1][reference], rate[reference], confidence=confidence
        ),
    }


def facts(figure: dict[str, FloatArray], tally: Tally, group: int, reference: int) -> Facts:
    """Return what a rule needs to know of one group, the rates as exact fractions."""
    n, n_reference = tally.effective[group], tally.effective[reference]
    pooled = (
        figure["selection_rate"][group] * n + figure["selection_rate"][reference] * n_reference
    ) / (n + n_reference)
    return Facts(
        rate=_fraction(tally.weight_selected[group], tally.weight[group]),
        rate_reference=_fraction(tally.weight_selected[reference], tally.weight[reference]),
        share=_fraction(tally.weight[group], float(tally.weight.sum())),
        n=float(n + n_reference),
        least_expected=float(min(n, n_reference) * min(pooled, 1 - pooled)),
        **{
            name: float(figure[name][group])
            for name in ("z", "fisher_p", "flip", "ratio_low", "detectable_ratio")
        },
    )


def _fraction(numerator: float, denominator: float) -> Fraction:
    return Fraction(float(numerator)) / Fraction(float(denominator))


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide; NaN where the denominator is zero."""
    usable = np.broadcast_to(denominator > 0, np.broadcast(numerator, denominator).shape)
    return np.where(usable, numerator / np.where(denominator > 0, denominator, 1.0), np.nan)


def _flip(x: FloatArray, n: FloatArray, x_reference: float, n_reference: float) -> FloatArray:
    """Return the ratio after one selection has gone to the side with the lower rate."""
    step = np.sign(x_reference * n - x * n_reference)
    moved, moved_reference = x + step, x_reference - step
    possible = (step != 0) & (moved <= n) & (moved_reference > 0) & (moved_reference <= n_reference)
    flipped = _ratio(moved / n, np.where(possible, moved_reference, 0.0) / n_reference)
    return np.where(possible, flipped, np.nan)
