"""Each claim on points made by hand: when it holds, with a caveat, and when it does not.

The recorded outcomes of the three data sets are those of the shipped rows: women of Adult are
selected at 1769 / 16192, so the paper's threshold of their BER is 1/2 - 1769 / 16192 / 8 = .486.
"""

from __future__ import annotations

from typing import Any

import pytest
from curves import curve, point

import fourfifths
from fourfifths._paper.claims import (
    above_one,
    adult_utility,
    certified_points,
    claims,
    german_utility,
    joint_loss,
    naive_bayes,
    ricci_rule,
    similar_methods,
    unrepaired,
)

RULE = "combined >= 70"
SETS = ("ricci", "german", "adult")


def three(**points: Any) -> dict[str, fourfifths.Tradeoff]:
    """Return curves of the three data sets; each has the points named, or one ordinary point."""
    return {name: curve(points.get(name, [point("SVM")])) for name in SETS}


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(0.79, "holds"), (0.8, "holds with a caveat"), (0.5, "holds")]
)
def test_unrepaired_ratios_of_models_decide_between_holding_and_a_caveat(
    ratio: float, verdict: str
) -> None:
    repaired = point("LR", "random", 1.0, impact_ratio=1.0)  # does not count
    claim = unrepaired(three(german=[point("LR", impact_ratio=ratio), repaired]))
    assert claim.verdict == verdict
    # Recorded: Ricci 15/50 against 41/68, German's young .7948 (the test of the data sets).
    assert "ricci: 0.498 recorded, at most 0.700 by a model" in claim.measured
    assert f"german: 0.795 recorded, at most {ratio:.3f} by a model" in claim.measured


@pytest.mark.parametrize(
    ("ratio", "verdict", "count"),
    [(0.8, "holds", 0), (0.76, "holds with a caveat", 1), (0.74, "does not hold", 1)],
)
def test_a_certified_point_below_the_threshold(ratio: float, verdict: str, count: int) -> None:
    # The BER of the same kind of classifier is .49, above .486: certified, whatever others find.
    bers = {"svm": 0.49, "logistic": 0.3, "naive-bayes": 0.3, "trees": 0.1}
    claim = certified_points(three(adult=[point("SVM", impact_ratio=ratio, ber=bers)]))
    assert claim.verdict == verdict
    assert claim.measured.startswith(f"{count} of 1 certified points are below .8: ")
    assert "certified by the same kind of classifier used as an auditor" in claim.why


@pytest.mark.parametrize(("model", "ber"), [("SVM", 0.486), ("LR", 0.3), (RULE, 0.5)])
def test_points_that_are_not_certified_do_not_count(model: str, ber: float) -> None:
    claim = certified_points(three(adult=[point(model, impact_ratio=0.2, ber=ber)]))
    assert (claim.verdict, claim.measured) == (
        "holds",
        "0 of 0 certified points are below .8: none",
    )


@pytest.mark.parametrize(("ratio", "verdict"), [(1.0, "does not hold"), (1.08, "holds")])
def test_a_ratio_above_one(ratio: float, verdict: str) -> None:
    claim = above_one(three(ricci=[point("SVM", impact_ratio=ratio)]))
    assert claim.verdict == verdict
    if verdict == "holds":
        assert claim.measured == "1 of 3 points; the highest is 1.080"


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ((0.029, 0.029), "holds"),
        ((0.04, 0.01), "holds with a caveat"),  # .025 on average
        ((0.05, 0.03), "does not hold"),  # .04 on average
        ((-0.05, 0.03), "does not hold"),  # either way
    ],
)
def test_methods_are_similar_by_their_gaps_of_utility(
    gaps: tuple[float, float], verdict: str
) -> None:
    points = []
    for amount, gap in zip((0.5, 1.0), gaps, strict=True):
        points.append(point("SVM", "geometric", amount, utility=0.5, impact_ratio=0.9))
        points.append(point("SVM", "combinatorial", amount, utility=0.5 + gap, impact_ratio=0.8))
    claim = similar_methods(three(ricci=points))
    assert claim.verdict == verdict
    assert "the impact ratio by 0.100 at most" in claim.measured


def svm(before: float, after: float) -> fourfifths.Tradeoff:
    """Return an SVM's utility without repair and after full combinatorial repair."""
    return curve(
        [point("SVM", utility=before), point("SVM", "combinatorial", 1.0, utility=after)],
    )


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (0.74, 0.72, "holds"),
        (0.755, 0.705, "holds"),
        (0.765, 0.72, "does not hold"),
        (0.74, 0.695, "does not hold"),
    ],
)
def test_adults_utility_is_within_two_percent(before: float, after: float, verdict: str) -> None:
    assert adult_utility(svm(before, after)).verdict == verdict


@pytest.mark.parametrize(
    ("before", "after", "by_age", "verdict"),
    [
        (0.72, 0.5, 0.7, "holds"),
        (0.70, 0.69, 0.53, "holds with a caveat"),
        (0.70, 0.69, 0.66, "does not hold"),
        (0.60, 0.5, 0.5, "does not hold"),  # it does not start at about 72%
    ],
)
def test_germans_utility_by_strata(
    before: float, after: float, by_age: float, verdict: str
) -> None:
    claim = german_utility(svm(before, after), svm(before, by_age))
    assert claim.verdict == verdict
    assert "German has 53 ages, 1 of them with a single row" in claim.why


@pytest.mark.parametrize(
    ("bers", "ratios", "verdict"),
    [
        # Guessing is reached at .5, and the ratio gains .2 from there.
        ((0.3, 0.49, 0.5), (0.5, 0.8, 1.0), "holds"),
        # Nearly guessing at .5; at guessing there is nothing more to gain.
        ((0.3, 0.47, 0.5), (0.5, 0.8, 1.0), "holds with a caveat"),
        ((0.3, 0.4, 0.5), (0.5, 0.8, 1.0), "does not hold"),
        ((0.3, 0.4, 0.45), (0.5, 0.8, 1.0), "does not hold"),
        ((0.3, 0.49, 0.5), (0.5, 0.99, 1.0), "does not hold"),
    ],
)
def test_naive_bayes_while_the_ratio_still_improves(
    bers: tuple[float, ...], ratios: tuple[float, ...], verdict: str
) -> None:
    points = [
        point("GNB", "combinatorial", amount, ber=ber, impact_ratio=ratio)
        for amount, ber, ratio in zip((0.1, 0.5, 1.0), bers, ratios, strict=True)
    ]
    claim = naive_bayes(curve(reversed(points)))
    assert claim.verdict == verdict
    assert f"at amount 1 the BER is {bers[-1]:.3f} and the impact ratio 1.000" in claim.measured


def test_riccis_rule_reaches_the_threshold_by_both_methods() -> None:
    points = [
        point(RULE, method, amount, impact_ratio=ratio)
        for method in ("combinatorial", "geometric")
        for amount, ratio in ((1.0, 0.9), (0.5, 0.8), (0.2, 0.7))
    ]
    claim = ricci_rule(curve(points))
    assert claim.verdict == "holds"
    assert claim.measured.startswith(
        "combinatorial: first at amount 0.5, where the ratio is 0.800 (95% of the splits: 0.70 to"
    )
    one_fails = [p for p in points if p.method == "combinatorial" or p.amount < 0.5]
    claim = ricci_rule(curve(one_fails))
    assert claim.verdict == "does not hold"
    assert claim.measured.endswith("; geometric: at no amount")


@pytest.mark.parametrize(
    ("sex", "race", "both", "verdict"),
    [
        (0.02, 0.01, 0.03, "holds"),
        (0.01, 0.03, 0.02, "holds"),
        (0.02, 0.01, 0.05, "does not hold"),
    ],
)
def test_the_loss_for_both_is_near_the_larger(
    sex: float, race: float, both: float, verdict: str
) -> None:
    losses = {"adult": sex, "adult-race": race, "adult-both": both}
    claim = joint_loss({name: svm(0.74, 0.74 - loss) for name, loss in losses.items()})
    assert claim.verdict == verdict
    assert claim.measured == (
        f"loss of utility: {sex:.3f} for sex, {race:.3f} for race, {both:.3f} for both"
    )


def test_only_claims_that_the_sweeps_can_answer_are_made() -> None:
    assert list(claims({}, None)) == []
    rule = [point(RULE, method, 1.0) for method in ("combinatorial", "geometric")]
    (ricci,) = claims({"ricci": curve(rule)}, None)
    assert ricci.claim.startswith("Ricci: ")
    german = {"german": svm(0.7, 0.7), "german-raw-age": svm(0.7, 0.7)}
    assert [claim.claim[:7] for claim in claims(german, None)] == ["German:"]
