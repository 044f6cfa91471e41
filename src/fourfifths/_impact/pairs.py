"""Two groups compared: every figure that follows from their selections.

Many pairs are compared at once: each group with the reference, with the largest group, or with
every other group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._impact.result import IntervalMethod
from fourfifths._impact.rules import SIGNIFICANCE_LEVEL, Facts, Rule, deciding_test
from fourfifths._stats.proportions import (
    MAX_ROWS_FOR_EXACT,
    cohen_h,
    detectable_ratio,
    divide,
    fisher_test,
    phi,
    ratio_interval,
    score_interval,
    standard_deviations,
    two_sided_p,
    z_statistic,
)
from fourfifths._stats.several_groups import range_z
from fourfifths._tables.groups import Tally

# Each exact interval takes a few hundredths of a second. Of more pairs than this all intervals are
# score intervals.
MAX_EXACT_INTERVALS = 100


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Pairs of groups of one attribute, and every figure of each pair.

    Attributes
    ----------
    tally : Tally
        Rows, weights and selections of each group.
    group, reference : int array
        The two groups of each pair, by their index.
    figures : dict of str to float array
        By the names of the fields of `GroupImpact` (`shortfall` as its two fields): one number per
        pair, or one pair of limits. `pair_tests` computes some of them, `compare_pairs` all.
    has_exact_interval : bool array
        Whether the interval of the impact ratio is the exact one.
    confidence : float
        Of the intervals.
    picked_from : int
        From how many groups the two of a pair were picked out by their figures; 0 if they were not.
    """

    tally: Tally
    group: IntArray
    reference: IntArray
    figures: dict[str, FloatArray]
    has_exact_interval: BoolArray
    confidence: float
    picked_from: int

    @property
    def p(self) -> FloatArray:
        """The p-value that is adjusted for several comparisons: Fisher's, or that of z."""
        fisher = self.figures["fisher_p"]
        return np.where(np.isnan(fisher), self.figures["z_p"], fisher)

    def interval_method(self, pair: int) -> IntervalMethod:
        """Return how the interval of a pair's impact ratio was computed."""
        return "exact" if self.has_exact_interval[pair] else "score"

    def facts(self, pair: int, *, share: Fraction, adjusted_p: float, adjusted_for: str) -> Facts:
        """Return what a rule needs to know about one pair, the rates as exact fractions."""
        sums, group, reference = self.tally, self.group[pair], self.reference[pair]
        low, high = self.figures["impact_ratio_interval"][pair].tolist()
        least_expected, z, fisher_p, flip, detectable = (
            float(self.figures[name][pair])
            for name in ("least_expected", "z", "fisher_p", "flip", "detectable_ratio")
        )
        return Facts(
            rate=fraction(sums.weight_selected[group], sums.weight[group]),
            rate_reference=fraction(sums.weight_selected[reference], sums.weight[reference]),
            share=share,
            n=float(sums.effective[group] + sums.effective[reference]),
            least_expected=least_expected,
            z=z,
            fisher_p=fisher_p,
            picked_from=self.picked_from,
            adjusted_p=adjusted_p,
            adjusted_for=adjusted_for,
            flip=flip,
            ratio_interval=(low, high),
            confidence=self.confidence,
            detectable_ratio=detectable,
        )


def fraction(numerator: float, denominator: float) -> Fraction:
    """Return a quotient of floats, each of which is itself a fraction: nothing is rounded."""
    return Fraction(float(numerator)) / Fraction(float(denominator))


def compare_pairs(
    sums: Tally,
    group: IntArray,
    reference: IntArray,
    *,
    rule: Rule,
    exact: bool,
    confidence: float,
    picked_from: int,
) -> Pairs:
    """Compute every figure of pairs of groups.

    Parameters
    ----------
    sums : Tally
    group, reference : int array
        The two groups of each pair, by their index.
    rule : Rule
        It decides which test the smallest detectable effect is about.
    exact : bool
        Whether the counts are persons, so that exact tests apply.
    confidence : float
        Of the intervals.
    picked_from : int
        From how many groups the two of a pair were picked out by their figures: all, if the
        reference is the highest rate or if every pair is looked at; 0 if it was designated.
    """
    tested = pair_tests(sums, group, reference, exact=exact, confidence=confidence)
    n, x = sums.weight[group], sums.weight_selected[group]
    n_reference, x_reference = sums.weight[reference], sums.weight_selected[reference]
    rate, rate_reference = divide(x, n), divide(x_reference, n_reference)
    pooled = divide(x + x_reference, n + n_reference)
    effective = effective_table(sums, group, reference, exact=exact)
    size, size_reference = sums.effective[group], sums.effective[reference]
    effective_pooled = (effective[0] + effective[2]) / (size + size_reference)
    least_expected = np.minimum(size, size_reference) * np.minimum(
        effective_pooled, 1 - effective_pooled
    )
    tests = [
        deciding_test(
            rule,
            n=float(rows),
            least_expected=float(expected),
            has_fisher=exact,
            picked_from=picked_from,
        )
        for rows, expected in zip(size + size_reference, least_expected, strict=True)
    ]
    # A group could not be told from itself.
    detectable = np.full(n.shape, np.nan)
    is_pair = group != reference
    detectable[is_pair] = lower_side_detectable(
        rate[is_pair],
        size[is_pair],
        rate_reference[is_pair],
        size_reference[is_pair],
        critical_z=critical_z(rule, picked_from),
        is_fisher=np.array([test == "fisher" for test in tests])[is_pair],
    )
    further = {
        "likelihood_ratio": divide(n * x_reference, x * n_reference),
        "difference": rate - rate_reference,
        "expected": n * pooled,
        "least_expected": least_expected,
        # n x'/n' - x, as one quotient, so that nothing is rounded twice.
        "shortfall_to_reference": (n * x_reference - x * n_reference) / n_reference,
        "shortfall_to_pooled": n * pooled - x,
        "detectable_ratio": detectable,
        "standard_deviations": standard_deviations(*effective),
        "phi": phi(*effective),
        "h": cohen_h(*effective),
        # Moving whole persons makes sense only where persons are counted.
        "flip": flip(x, n, x_reference, n_reference) if exact else np.full(n.shape, np.nan),
        # Table 1 of the paper, and "selected" as a predictor of the reference.
        "a": n - x,
        "b": n_reference - x_reference,
        "c": x,
        "d": x_reference,
        "sensitivity": rate_reference,
        "specificity": 1 - rate,
        "balanced_error_rate": (1 - rate_reference + rate) / 2,
    }
    return replace(tested, figures=tested.figures | further, picked_from=picked_from)


def pair_tests(
    sums: Tally, group: IntArray, reference: IntArray, *, exact: bool, confidence: float
) -> Pairs:
    """Compute the impact ratio of pairs of groups, its interval and the tests of equal rates.

    The parameters are those of `compare_pairs`.
    """
    n, x = sums.weight[group], sums.weight_selected[group]
    n_reference, x_reference = sums.weight[reference], sums.weight_selected[reference]
    effective = effective_table(sums, group, reference, exact=exact)
    limits = np.stack(score_interval(*effective, confidence=confidence))
    # Sampling weights are not persons, even where an effective size happens to be a whole number.
    is_exact = (n + n_reference <= MAX_ROWS_FOR_EXACT) & (group != reference)
    is_exact &= exact and n.size <= MAX_EXACT_INTERVALS
    if np.any(is_exact):
        limits[:, is_exact] = ratio_interval(
            *(counts[is_exact] for counts in effective), confidence=confidence
        )
    z = z_statistic(*effective)
    # Fisher's test moves whole persons, and a sampling weight is not a number of them.
    fisher = fisher_test(x, n, x_reference, n_reference) if exact else None
    not_tested = np.full(n.shape, np.nan)
    figures = {
        # As one quotient of integers: 3/5 against 6/8 is then 0.8 to the last bit.
        "impact_ratio": divide(x * n_reference, n * x_reference),
        "impact_ratio_interval": limits.T,
        "z": z,
        "z_p": two_sided_p(z),
        "fisher_p": fisher.p if fisher else not_tested,
        "fisher_p_less": fisher.p_less if fisher else not_tested,
        "mid_p": fisher.mid_p if fisher else not_tested,
        "mid_p_less": fisher.mid_p_less if fisher else not_tested,
    }
    return Pairs(
        tally=sums,
        group=group,
        reference=reference,
        figures=figures,
        has_exact_interval=is_exact,
        confidence=confidence,
        picked_from=0,
    )


def effective_table(
    sums: Tally, group: IntArray, reference: IntArray, *, exact: bool
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the selections and sizes of pairs that tests and intervals take.

    Where persons are counted these are the counts; otherwise sizes are effective ones.
    """
    n, x = sums.weight[group], sums.weight_selected[group]
    n_reference, x_reference = sums.weight[reference], sums.weight_selected[reference]
    if exact:
        return x, n, x_reference, n_reference
    size, size_reference = sums.effective[group], sums.effective[reference]
    return (
        divide(x, n) * size,
        size,
        divide(x_reference, n_reference) * size_reference,
        (size_reference),
    )


def flip(
    x: FloatArray, n: FloatArray, x_reference: FloatArray, n_reference: FloatArray
) -> FloatArray:
    """Return the impact ratio after one selection has moved to the side with the lower rate.

    NaN where the rates are equal, or where no one in the reference would remain selected. There is
    always someone to move: the lower of two rates is below 1, and the higher one is above 0.
    """
    step = np.sign(x_reference * n - x * n_reference)
    ratio = divide((x + step) / n, (x_reference - step) / n_reference)
    return np.where(step == 0, np.nan, ratio)


def critical_z(rule: Rule, picked_from: int) -> float:
    """Return the |z| from which on a difference is significant, where z decides.

    Where the two groups were picked from several, it is that of Tukey's range: close to what the
    simulation of `chosen_reference_p` asks for.
    """
    if rule.standard_deviations is not None:
        return rule.standard_deviations
    return range_z(max(picked_from, 2), confidence=1 - SIGNIFICANCE_LEVEL)


def lower_side_detectable(
    rate: FloatArray,
    n: FloatArray,
    rate_reference: FloatArray,
    n_reference: FloatArray,
    *,
    critical_z: float,
    is_fisher: BoolArray,
) -> FloatArray:
    """Return the smallest detectable effect, as a ratio of the lower rate to the higher one.

    The higher rate is taken as it is. So the answer is the same whichever of the two groups is
    the reference; at equal rates it is the smaller of the two ratios that there are.
    """

    def detectable(is_lower: BoolArray) -> FloatArray:
        return detectable_ratio(
            np.where(is_lower, n, n_reference),
            np.where(is_lower, n_reference, n),
            rate_reference=np.maximum(rate, rate_reference),
            confidence=1 - SIGNIFICANCE_LEVEL,
            critical_z=critical_z,
            is_exact=is_fisher,
        )

    ratio = detectable(rate <= rate_reference)
    if np.any(rate == rate_reference):
        ratio = np.where(
            rate == rate_reference, np.minimum(ratio, detectable(rate < rate_reference)), ratio
        )
    return ratio
