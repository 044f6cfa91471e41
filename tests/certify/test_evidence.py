"""From what an auditor said of every row to limits and a verdict."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from fourfifths._certify.auditors import OutOfFold
from fourfifths._certify.evidence import (
    find_witness,
    paper_verdict,
    reason_for,
    rows_needed,
    verdict_of,
    weigh,
)
from fourfifths._certify.plan import Beta
from fourfifths._stats.proportions import ratio_interval
from fourfifths._stats.roc import best_slope


def known(rate):
    return Beta(rate=rate, interval=(rate, rate), counts=None)


def both(rate):
    return {"group": known(rate), "reference": known(rate)}


def answer(score, is_reference, rate):
    """Return what an auditor with this score says, whose rules select at least `rate`."""
    score = np.asarray(score, dtype=float)
    group, reference = np.sort(score[~is_reference])[::-1], np.sort(score[is_reference])
    return OutOfFold(
        score=score,
        selected={
            "group": score >= group[int(np.ceil(rate * group.size)) - 1],
            "reference": score <= reference[int(np.ceil(rate * reference.size)) - 1],
        },
    )


def stepped(group, reference, n=1000):
    """Return a two-valued score that is 1 for these shares of the group and of the reference."""
    labels = np.repeat([False, True], n)
    places = np.arange(n)
    score = np.append(places < group * n, places < reference * n)
    return np.where(score, 1.0, -1.0), labels


def counts_of(side):
    return side.selected_harmed, side.n_harmed, side.selected_favored, side.n_favored


def weighed(answers, is_reference, *, betas):
    """Return the evidence of one auditor alone, about one pair."""
    return weigh(answers, is_reference, betas=betas, threshold=0.8, confidence=0.95, corrected=0.95)


def evidence_of(group, reference, rate, n=1000):
    score, labels = stepped(group, reference, n)
    return {"one": weighed(answer(score, labels, rate), labels, betas=both(rate))}


def test_errors_are_counted_on_each_side():
    found = evidence_of(0.3, 0.7, 0.3)["one"].errors
    assert (found.wrong, found.n, found.wrong_reference, found.n_reference) == (
        300,
        1000,
        300,
        1000,
    )


def test_a_score_of_zero_is_taken_for_the_group():
    labels = np.array([False, False, True, True])
    found = weighed(answer([0, 0, 0, 1], labels, 0.5), labels, betas=both(0.5)).errors
    assert (found.wrong, found.wrong_reference) == (0, 1)


def test_the_rule_on_the_group_by_hand():
    side = evidence_of(0.3, 0.7, 0.3)["one"].group
    assert counts_of(side) == (300, 1000, 700, 1000)
    assert side.ratio == pytest.approx(3 / 7)
    assert side.floor == pytest.approx(3 / 7)


def test_the_rule_on_the_reference_by_hand():
    # The reverse selects the low scores: 30% of the reference, 70% of the group.
    side = evidence_of(0.3, 0.7, 0.3)["one"].reference
    assert counts_of(side) == (300, 1000, 700, 1000)
    assert side.floor == pytest.approx(3 / 7)


def test_the_sides_differ_where_the_curve_is_not_symmetric():
    # Only the reference ever scores high. Harming the group, at .5: .5 / .75. Harming the
    # reference, at .5: all that score low are 1 of the group to .5 of the reference.
    found = evidence_of(0.0, 0.5, 0.5)["one"]
    assert found.group.floor == pytest.approx(0.5 / 0.75)
    assert found.reference.floor == pytest.approx(0.5)


def test_most_is_the_upper_limit_of_the_rules_ratio():
    assert evidence_of(0.3, 0.7, 0.3)["one"].group.upper_limit == pytest.approx(
        float(ratio_interval(300, 1000, 700, 1000, confidence=0.95)[1])
    )


def test_a_rule_that_selects_no_one_shows_nothing():
    score, labels = stepped(0.3, 0.7, 100)
    no_one = np.zeros(200, bool)
    found = weighed(
        OutOfFold(score=score, selected={"group": no_one, "reference": no_one}),
        labels,
        betas=both(0.3),
    )
    assert np.isnan(found.group.ratio)
    assert verdict_of({"one": found}, 0.8) != "not certified"


def limit_by_hand(beta, *, alpha, slope, lowest):
    """Return the lower limit of the floor of a score with two values, .4 and .5 of 1,000 rows.

    The main line gets 95% of alpha. At each of the three cuts, the half widths of Clopper and
    Pearson's limits are added in squares. Eight other lines get the rest; half widths are added.
    """
    lines = [(slope, 0.95 * alpha, np.hypot)]
    for place in range(8):
        other = lowest + (place + 0.5) / 8 * (1.25 - lowest)
        lines.append((other, 0.05 * alpha / 8 / 2, np.add))
    best = 1.0
    for line_slope, tail, join in lines:
        intercepts = []
        for counts in ((0, 0), (400, 500), (1000, 1000)):
            widths = []
            for count in counts:
                low, high = proportion_confint(count, 1000, alpha=2 * tail, method="beta")
                widths.append(max(high - count / 1000, count / 1000 - low))
            difference = counts[1] / 1000 - line_slope * counts[0] / 1000
            intercepts.append(difference + join(line_slope * widths[0], widths[1]))
        best = min(best, max(intercepts) + line_slope * beta)
    return beta / best


@pytest.mark.parametrize("beta", [0.05, 0.3, 0.5, 0.7])
def test_the_lower_limit_is_that_of_the_lowest_line(beta):
    score, labels = stepped(0.4, 0.5)
    found = weighed(answer(score, labels, beta), labels, betas=both(beta)).group
    slope, lowest = best_slope(beta, 0.8), (1 - beta / 0.8) / (1 - beta)
    expected = limit_by_hand(beta, alpha=0.05, slope=slope, lowest=lowest)
    assert found.lower_limit == pytest.approx(expected)


def test_above_the_threshold_every_ratio_passes():
    # A rule that selects 85% of the group has a ratio of .85 even if it selects all others.
    score, labels = stepped(0.0, 1.0)
    assert weighed(answer(score, labels, 0.85), labels, betas=both(0.85)).group.lower_limit >= 0.8


def test_lower_limits_are_not_corrected_and_upper_limits_are():
    score, labels = stepped(0.4, 0.5)
    one, many = (
        weigh(
            answer(score, labels, 0.4),
            labels,
            betas=both(0.4),
            threshold=0.8,
            confidence=0.95,
            corrected=corrected,
        ).group
        for corrected in (0.95, 1 - 0.05 / 60)
    )
    assert one.lower_limit == many.lower_limit
    assert many.upper_limit == pytest.approx(
        float(ratio_interval(400, 1000, 500, 1000, confidence=1 - 0.05 / 60)[1])
    )
    assert one.upper_limit < many.upper_limit


def test_limits_contain_the_floor():
    side = evidence_of(0.4, 0.6, 0.4)["one"].group
    assert side.lower_limit <= side.floor <= side.upper_limit


def test_beta_of_an_outcome_counts_with_its_lower_end_and_its_share_of_the_error_rate():
    # A fifth of the error rate is beta's, and the slope is that of a beta of .2.
    score, labels = stepped(0.4, 0.5)
    wide = {
        side: Beta(rate=0.4, interval=(0.25, 0.6), counts=(20, 50))
        for side in ("group", "reference")
    }
    found = weighed(answer(score, labels, 0.4), labels, betas=wide).group
    # The other slopes are spread for .5, whose lowest slope is (1 - .625) / .5.
    expected = limit_by_hand(0.25, alpha=0.04, slope=best_slope(0.2, 0.8), lowest=0.75)
    assert found.lower_limit == pytest.approx(expected)


@pytest.mark.parametrize(
    ("group", "reference", "n", "verdict"),
    [
        (0.3, 0.7, 1000, "not certified"),
        (0.49, 0.51, 20_000, "certified"),
        (0.49, 0.51, 100, "inconclusive"),
        (0.395, 0.5, 200, "inconclusive"),
        (0.395, 0.5, 200_000, "not certified"),
    ],
)
def test_verdicts_by_hand(group, reference, n, verdict):
    assert verdict_of(evidence_of(group, reference, group, n), 0.8) == verdict


def test_one_auditor_is_enough_to_refuse():
    found = evidence_of(0.49, 0.51, 0.3, 20_000) | {"two": evidence_of(0.3, 0.7, 0.3)["one"]}
    assert verdict_of(found, 0.8) == "not certified"


def test_all_auditors_are_needed_to_certify():
    found = evidence_of(0.49, 0.51, 0.49, 20_000)
    assert verdict_of(found, 0.8) == "certified"
    unsure = evidence_of(0.49, 0.51, 0.49, 100)["one"]
    assert verdict_of(found | {"two": unsure}, 0.8) == "inconclusive"


def test_harm_to_the_reference_alone_is_seen_on_its_side():
    score, labels = stepped(0.0, 0.5, 5000)
    betas = {"group": known(0.95), "reference": known(0.3)}
    selected = {"group": answer(score, labels, 0.95).selected["group"], "reference": score < 0}
    answers = OutOfFold(score=score, selected=selected)
    found = {"one": weighed(answers, labels, betas=betas)}
    assert verdict_of(found, 0.8, harmed="group") == "certified"
    assert verdict_of(found, 0.8, harmed="reference") == "not certified"
    assert verdict_of(found, 0.8) == "not certified"


def test_a_cut_that_takes_everyone_for_one_side_certifies_nothing():
    # Its BER is exactly .5 with next to no error of its own, but the score tells the groups apart.
    labels = np.repeat([False, True], 100)
    score = np.append(np.arange(100) < 10, np.arange(100) < 90) + 5.0
    no_one = np.zeros(200, dtype=bool)
    answers = OutOfFold(score=score, selected={"group": no_one, "reference": no_one})
    found = {"one": weighed(answers, labels, betas=both(0.3))}
    assert found["one"].errors.balanced_error_rate == 0.5
    assert paper_verdict(found, both(0.3), threshold=0.8) != "certified"
    assert verdict_of(found, 0.8) != "certified"


@pytest.mark.parametrize(
    ("group", "reference", "n", "verdict"),
    [
        (0.3, 0.7, 1000, "not certified"),
        (0.49, 0.51, 20_000, "certified"),
        (0.49, 0.51, 100, "inconclusive"),
    ],
)
def test_the_papers_verdict_by_hand(group, reference, n, verdict):
    # Half less an eighth of beta, .4625 at .3, against errors of .3 and of .49.
    assert paper_verdict(evidence_of(group, reference, 0.3, n), both(0.3), threshold=0.8) == verdict


def test_the_tight_test_certifies_what_the_papers_cannot():
    # 60% and 70% score high: BER .45, under .4625. At .3 the best rule selects .35: .857.
    found = evidence_of(0.6, 0.7, 0.3, 50_000)
    assert verdict_of(found, 0.8, harmed="group") == "certified"
    assert paper_verdict(found, both(0.3), threshold=0.8) == "not certified"


def test_rows_needed_to_show_harm_is_where_the_interval_leaves_the_threshold():
    found = evidence_of(0.35, 0.5, 0.35, 100)
    assert verdict_of(found, 0.8) == "inconclusive"
    needed = rows_needed(found, both(0.35), threshold=0.8, confidence=0.95, corrected=0.95)
    for factor, settled in ((1.02, True), (0.98, False)):
        n = factor * needed / 2
        upper = float(ratio_interval(0.35 * n, n, 0.5 * n, n, confidence=0.95)[1])
        assert (upper < 0.8) == settled


def test_rows_needed_to_show_safety_settles_it():
    found = evidence_of(0.48, 0.52, 0.5, 150)
    assert verdict_of(found, 0.8) == "inconclusive"
    needed = rows_needed(found, both(0.5), threshold=0.8, confidence=0.95, corrected=0.95)
    enough = -(-needed // 2 // 50) * 50 + 50
    assert enough > 150
    assert verdict_of(evidence_of(0.48, 0.52, 0.5, enough), 0.8) == "certified"


def test_rows_needed_counts_on_the_tight_test():
    # The paper's test never certifies this (BER .45 against .4625), the tight one does.
    score, labels = stepped(0.6, 0.7, 500)
    betas = {"group": known(0.3), "reference": known(0.9)}
    everyone = np.ones(1000, bool)
    found = weighed(
        OutOfFold(score=score, selected={"group": score > 0, "reference": everyone}),
        labels,
        betas=betas,
    )
    assert verdict_of({"one": found}, 0.8) == "inconclusive"
    needed = rows_needed({"one": found}, betas, threshold=0.8, confidence=0.95, corrected=0.95)
    assert needed is not None
    assert 1000 < needed <= 100_000


def test_rows_needed_lets_the_interval_of_beta_shrink_too():
    # At the rate seen, .4, the line is .45 and the BER .47: more rows settle it. At the lower end
    # of beta's interval after 50 rows, .2, the line is .475.
    score, labels = stepped(0.47, 0.53, 500)
    wide = {
        side: Beta(rate=0.4, interval=(0.2, 0.6), counts=(20, 50))
        for side in ("group", "reference")
    }
    found = {"one": weighed(answer(score, labels, 0.4), labels, betas=wide)}
    assert verdict_of(found, 0.8) == "inconclusive"
    assert rows_needed(found, wide, threshold=0.8, confidence=0.95, corrected=0.95) is not None


def test_no_number_of_rows_settles_what_lies_on_the_threshold():
    assert (
        rows_needed(
            evidence_of(0.4, 0.5, 0.4, 100),
            both(0.4),
            threshold=0.8,
            confidence=0.95,
            corrected=0.95,
        )
        is None
    )


def test_the_interval_of_the_floor_contains_it_even_where_the_rule_did_better():
    # The curve says .5 / .75; a rule of other cuts selected .1 of the group and .5 of the other.
    score, labels = stepped(0.0, 0.5)
    first = np.append(np.arange(1000) < 100, np.arange(1000) < 500)
    selected = {"group": first, "reference": score < 0}
    answers = OutOfFold(score=score, selected=selected)
    side = weighed(answers, labels, betas=both(0.5)).group
    assert side.upper_limit < side.floor == pytest.approx(2 / 3)
    assert side.floor_interval == (side.lower_limit, side.floor)


def witness_of(evidence):
    return find_witness(evidence, group="a", reference="r", confidence=0.95)


def test_the_witness_against_the_group_by_hand():
    # Both sides are alike at these shares; the group comes first.
    witness = witness_of(evidence_of(0.3, 0.7, 0.3))
    assert (witness.auditor, witness.harms) == ("one", "a")
    assert witness.rates == {"a": 0.3, "r": 0.7}
    assert witness.impact_ratio == pytest.approx(3 / 7)
    expected = [float(limit) for limit in ratio_interval(300, 1000, 700, 1000, confidence=0.95)]
    assert witness.impact_ratio_interval == pytest.approx(expected)
    assert "most like r" in witness.rule


def test_the_witness_against_the_reference_has_a_ratio_above_one():
    # Low scores have all of the group and half of the reference: 1 to .5.
    witness = witness_of(evidence_of(0.0, 0.5, 0.5))
    assert (witness.harms, witness.rates) == ("r", {"a": 1.0, "r": 0.5})
    assert witness.impact_ratio == pytest.approx(2)
    assert witness.impact_ratio_interval[0] > 1.25
    assert "most like a" in witness.rule


def test_the_witness_is_the_rule_with_the_lowest_upper_limit():
    strong = {"two": evidence_of(0.1, 0.7, 0.1)["one"]}
    assert witness_of(evidence_of(0.3, 0.7, 0.3) | strong).auditor == "two"


def test_a_witness_that_selects_no_one_has_no_ratio():
    score, labels = stepped(0.3, 0.7, 100)
    no_one = np.zeros(200, bool)
    answers = OutOfFold(score=score, selected={"group": no_one, "reference": no_one})
    witness = witness_of({"one": weighed(answers, labels, betas=both(0.3))})
    assert np.isnan(witness.impact_ratio)
    assert witness.rates == {"a": 0, "r": 0}


def reason(evidence, rate, rows=None):
    return reason_for(
        verdict_of(evidence, 0.8),
        evidence,
        paper=paper_verdict(evidence, both(rate), threshold=0.8),
        witness=witness_of(evidence),
        rows=rows,
        betas=both(rate),
        threshold=0.8,
        confidence=0.95,
    )


def test_the_reason_not_to_certify_names_the_rule_and_the_limit():
    upper = float(ratio_interval(300, 1000, 700, 1000, confidence=0.95)[1])
    assert reason(evidence_of(0.3, 0.7, 0.3), 0.3) == (
        "decided by the tight test: one found a rule that selects 30.0% of a and 70.0% of r, an "
        f"impact ratio of 0.429 (at most {upper:.3f}, below 0.8, with 95% confidence); by the "
        "paper's test it is not certified (lowest BER 0.300, threshold 0.463)"
    )


def test_the_reason_names_the_limit_above_where_the_reference_is_harmed():
    lower = float(ratio_interval(1000, 1000, 500, 1000, confidence=0.95)[0])
    said = reason(evidence_of(0.0, 0.5, 0.5), 0.5)
    assert f"impact ratio of 2.000 (at least {lower:.3f}, above 1.25, with 95%" in said


def test_the_reason_to_certify_names_the_floor_and_both_rates():
    evidence = evidence_of(0.49, 0.51, 0.49, 50_000)
    floor = min(evidence["one"].group.lower_limit, evidence["one"].reference.lower_limit)
    said = reason(evidence, 0.49)
    assert said.startswith("decided by both tests: with 95% confidence, no rule found by these")
    assert f"an impact ratio below {floor:.3f}, provided" in said
    assert "at least 49.0% of the group (or, if it harms the reference, at least 49.0%" in said


@pytest.mark.parametrize(
    ("rows", "remedy"),
    [
        (12_345, "about 12,345 rows like these would settle it"),
        (None, "not with this beta: 100 times as many"),
    ],
)
def test_the_reason_for_an_inconclusive_verdict_says_how_many_rows_would_settle_it(rows, remedy):
    evidence = evidence_of(0.49, 0.51, 0.49, 100)
    assert remedy in reason(evidence, 0.49, rows)
    assert "the threshold 0.8 lies between them" in reason(evidence, 0.49, rows)
