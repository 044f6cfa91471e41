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
    divide,
    fisher_test,
    phi,
    standard_deviations,
    two_sided_p,
    z_statistic,
)
from fourfifths.strata import Tally

# Selected of n, then the same of the reference.
Sizes = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def figures(
    tally: Tally, reference: int, *, exact: bool, confidence: float
) -> dict[str, FloatArray]:
    """Return every figure of every group, as arrays over groups.

    Tests and intervals use the effective sizes; with whole counts those are the counts.
    """
    rate = divide(tally.weight_selected, tally.weight)
    size = tally.effective
    sizes = (rate * size, size, (rate * size)[reference], size[reference])
    return {
        "effective_n": size,
        **_rates(tally, rate, reference),
        **_intervals(sizes, confidence),
        **_tests(sizes),
        **_exact(tally, reference, exact=exact),
        **_paper(tally, rate, reference),
    }


def _rates(tally: Tally, rate: FloatArray, reference: int) -> dict[str, FloatArray]:
    n, x = tally.weight, tally.weight_selected
    pooled = divide(x + x[reference], n + n[reference])
    return {
        "share": n / n.sum(),
        "selection_rate": rate,
        # As one quotient of whole numbers: 3/5 against 6/8 is then 0.8 to the last bit.
        "impact_ratio": divide(x * n[reference], n * x[reference]),
        "likelihood_ratio": divide(n * x[reference], x * n[reference]),
        "difference": rate - rate[reference],
        "expected": n * pooled,
        "to_reference": (n * x[reference] - x * n[reference]) / n[reference],
        "to_pooled": n * pooled - x,
    }


def _intervals(sizes: Sizes, confidence: float) -> dict[str, FloatArray]:
    x, n, x_reference, n_reference = sizes
    low, high = clopper_pearson(x, n, confidence)
    ratio_low, ratio_high = ratio_interval(*sizes, confidence)
    rate_reference = x_reference / n_reference
    return {
        "rate_low": low,
        "rate_high": high,
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "detectable_ratio": detectable_ratio(n, n_reference, rate_reference, confidence=confidence),
    }


def _tests(sizes: Sizes) -> dict[str, FloatArray]:
    z = z_statistic(*sizes)
    return {
        "z": z,
        "z_p": two_sided_p(z),
        "standard_deviations": standard_deviations(*sizes),
        "phi": phi(*sizes),
        "h": cohen_h(*sizes),
    }


def _exact(tally: Tally, reference: int, *, exact: bool) -> dict[str, FloatArray]:
    """Return the figures that need whole persons; all NaN where there are none."""
    n, x = tally.weight, tally.weight_selected
    if not exact:
        nothing = np.full(n.shape, np.nan)
        return dict.fromkeys(("fisher_p", "fisher_p_less", "mid_p", "flip"), nothing)
    counts = (x, n, x[reference], n[reference])
    fisher = fisher_test(*counts)
    return {
        "fisher_p": fisher.p,
        "fisher_p_less": fisher.p_less,
        "mid_p": fisher.mid_p,
        "flip": _flip(*counts),
    }


def _paper(tally: Tally, rate: FloatArray, reference: int) -> dict[str, FloatArray]:
    """Return the paper's table 1, and "selected" as a predictor of the reference."""
    n, x = tally.weight, tally.weight_selected
    return {
        "a": n - x,
        "b": np.full(n.shape, n[reference] - x[reference]),
        "c": x,
        "d": np.full(n.shape, x[reference]),
        "sensitivity": np.full(n.shape, rate[reference]),
        "specificity": 1 - rate,
        "balanced_error_rate": (1 - rate[reference] + rate) / 2,
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


def _flip(x: FloatArray, n: FloatArray, x_reference: float, n_reference: float) -> FloatArray:
    """Return the ratio after one selection has gone to the side with the lower rate."""
    step = np.sign(x_reference * n - x * n_reference)
    moved, moved_reference = x + step, x_reference - step
    possible = (step != 0) & (moved <= n) & (moved_reference > 0) & (moved_reference <= n_reference)
    flipped = divide(moved / n, np.where(possible, moved_reference, 0.0) / n_reference)
    return np.where(possible, flipped, np.nan)
