"""From what an auditor said of every row to limits and a verdict."""

from __future__ import annotations

import numpy as np
import pytest

from fourfifths._certify.auditors import OutOfFold
from fourfifths._certify.evidence import paper_verdict, rows_needed, verdict_of, weigh
from fourfifths._certify.plan import Beta
from fourfifths._stats.intervals import ratio_interval


def known(rate):
    return Beta(rate=rate, interval=(rate, rate), counts=None)


def both(rate):
    return {"group": known(rate), "reference": known(rate)}


def answer(score, is_reference, rate):
    """Return what an auditor with this score says, whose rules select at least `rate`."""
    score = np.asarray(score, dtype=float)
    own, other = np.sort(score[~is_reference])[::-1], np.sort(score[is_reference])
    return OutOfFold(
        score=score,
        selected=score >= own[int(np.ceil(rate * own.size)) - 1],
        selected_reverse=score <= other[int(np.ceil(rate * other.size)) - 1],
    )


def stepped(group, reference, n=1000):
    """Return a two-valued score that is 1 for these shares of the group and of the reference."""
    labels = np.repeat([False, True], n)
    places = np.arange(n)
    score = np.append(places < group * n, places < reference * n)
    return np.where(score, 1.0, -1.0), labels


def evidence_of(group, reference, rate, n=1000, confidence=0.95):
    score, labels = stepped(group, reference, n)
    return {"one": weigh(answer(score, labels, rate), labels, both(rate), confidence)}


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
    found = weigh(answer([0, 0, 0, 1], labels, 0.5), labels, both(0.5), 0.95).errors
    assert (found.wrong, found.wrong_reference) == (0, 1)


def test_the_rule_on_the_group_by_hand():
    side = evidence_of(0.3, 0.7, 0.3)["one"].group
    assert (side.selected, side.n, side.selected_other, side.n_other) == (300, 1000, 700, 1000)
    assert side.ratio == pytest.approx(3 / 7)
    assert side.floor == pytest.approx(3 / 7)


def test_the_rule_on_the_reference_by_hand():
    # The reverse selects the low scores: 30% of the reference, 70% of the group.
    side = evidence_of(0.3, 0.7, 0.3)["one"].reference
    assert (side.selected, side.n, side.selected_other, side.n_other) == (300, 1000, 700, 1000)
    assert side.floor == pytest.approx(3 / 7)


def test_the_sides_differ_where_the_curve_is_not_symmetric():
    # Only the reference ever scores high. Harming the group, at .5: .5 / .75. Harming the
    # reference, at .5: all that score low are 1 of the group to .5 of the reference.
    found = evidence_of(0.0, 0.5, 0.5)["one"]
    assert found.group.floor == pytest.approx(0.5 / 0.75)
    assert found.reference.floor == pytest.approx(0.5)


def test_most_is_the_upper_limit_of_the_rules_ratio():
    assert evidence_of(0.3, 0.7, 0.3)["one"].group.most == pytest.approx(
        float(ratio_interval(300, 1000, 700, 1000, 0.95)[1])
    )


def test_a_rule_that_selects_no_one_shows_nothing():
    score, labels = stepped(0.3, 0.7, 100)
    no_one = np.zeros(200, bool)
    found = weigh(
        OutOfFold(score=score, selected=no_one, selected_reverse=no_one), labels, both(0.3), 0.95
    )
    assert np.isnan(found.group.ratio)
    assert verdict_of({"one": found}, 0.8) != "not certified"


@pytest.mark.parametrize("beta", [0.05, 0.5, 1.0])
def test_least_is_the_lower_end_of_the_band(beta):
    # Both distributions may be off by sqrt(ln(4 / .05) / 2000) = .0468: two groups, two sides.
    score, labels = stepped(0.4, 0.5)
    off = np.sqrt(np.log(80) / 2000)
    best = np.interp(min(beta + off, 1), [0, 0.4, 1], [0, 0.5, 1]) + off
    found = weigh(answer(score, labels, beta), labels, both(beta), 0.95)
    assert found.group.least == pytest.approx(beta / min(best, 1))


def test_limits_contain_the_floor():
    side = evidence_of(0.4, 0.6, 0.4)["one"].group
    assert side.least <= side.floor <= side.most


def test_beta_of_an_outcome_counts_with_its_lower_end():
    score, labels = stepped(0.45, 0.5)
    wide = {
        side: Beta(rate=0.4, interval=(0.2, 0.6), counts=(20, 50))
        for side in ("group", "reference")
    }
    found = weigh(answer(score, labels, 0.4), labels, wide, 0.95)
    low = weigh(answer(score, labels, 0.4), labels, both(0.2), 0.95)
    assert found.group.least == low.group.least


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
    own = answer(score, labels, 0.95)
    found = {
        "one": weigh(
            OutOfFold(score=score, selected=own.selected, selected_reverse=score < 0),
            labels,
            betas,
            0.95,
        )
    }
    assert verdict_of(found, 0.8, "group") == "certified"
    assert verdict_of(found, 0.8, "reference") == "not certified"
    assert verdict_of(found, 0.8) == "not certified"


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
    assert paper_verdict(evidence_of(group, reference, 0.3, n), both(0.3), 0.8, 0.95) == verdict


def test_the_tight_test_certifies_what_the_papers_cannot():
    # 60% and 70% score high: BER .45, under .4625. At .3 the best rule selects .35: .857.
    found = evidence_of(0.6, 0.7, 0.3, 50_000)
    assert verdict_of(found, 0.8, "group") == "certified"
    assert paper_verdict(found, both(0.3), 0.8, 0.95) == "not certified"


def test_rows_needed_to_show_harm_is_where_the_interval_leaves_the_threshold():
    found = evidence_of(0.35, 0.5, 0.35, 100)
    assert verdict_of(found, 0.8) == "inconclusive"
    needed = rows_needed(found, both(0.35), 0.8, 0.95)
    for factor, settled in ((1.02, True), (0.98, False)):
        n = factor * needed / 2
        upper = float(ratio_interval(0.35 * n, n, 0.5 * n, n, 0.95)[1])
        assert (upper < 0.8) == settled


def test_rows_needed_to_show_safety_settles_it():
    found = evidence_of(0.48, 0.52, 0.5, 200)
    assert verdict_of(found, 0.8) == "inconclusive"
    needed = rows_needed(found, both(0.5), 0.8, 0.95)
    enough = -(-needed // 2 // 100) * 100 + 100
    assert enough > 200
    assert verdict_of(evidence_of(0.48, 0.52, 0.5, enough), 0.8) == "certified"


def test_rows_needed_counts_on_the_tight_test():
    # The paper's test never certifies this (BER .45 against .4625), the tight one does.
    score, labels = stepped(0.6, 0.7, 500)
    betas = {"group": known(0.3), "reference": known(0.9)}
    everyone = np.ones(1000, bool)
    found = weigh(
        OutOfFold(score=score, selected=score > 0, selected_reverse=everyone), labels, betas, 0.95
    )
    assert verdict_of({"one": found}, 0.8) == "inconclusive"
    needed = rows_needed({"one": found}, betas, 0.8, 0.95)
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
    found = {"one": weigh(answer(score, labels, 0.4), labels, wide, 0.95)}
    assert verdict_of(found, 0.8) == "inconclusive"
    assert rows_needed(found, wide, 0.8, 0.95) is not None


def test_no_number_of_rows_settles_what_lies_on_the_threshold():
    assert rows_needed(evidence_of(0.4, 0.5, 0.4, 100), both(0.4), 0.8, 0.95) is None
