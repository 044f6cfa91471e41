"""Fits of all groups at once judge pairs as fits to each pair do."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

import fourfifths
from fourfifths._certify.auditors import BinnedTrees, QuickTrees, panel, quiet
from fourfifths._certify.certify import can_share, certify_pairs
from fourfifths._certify.plan import Beta, Pair, groups_of
from fourfifths._certify.shared import (
    SHARED_AUDITORS,
    shared_answers,
    vote_scores,
    with_quick_trees,
)
from fourfifths._stats.balanced_error import Errors

RUNS = 30
STATED = Beta(rate=0.5, interval=(0.5, 0.5), counts=None)


def pair_of(groups, group, reference, *, codes=True):
    rows = np.flatnonzero((groups == group) | (groups == reference))
    return Pair(
        group=str(group),
        reference=str(reference),
        codes=(group, reference) if codes else None,
        rows=rows,
        is_reference=groups[rows] == reference,
        betas={"group": STATED, "reference": STATED},
    )


def every_pair(groups):
    count = int(groups.max()) + 1
    return [pair_of(groups, high, low) for low in range(count) for high in range(low + 1, count)]


def answers_of(name, values, groups, pairs, *, folds=3, is_category=None):
    is_category = [False] * values.shape[1] if is_category is None else is_category
    auditor = panel([name], is_category, random_state=0)[name]
    with quiet():
        return shared_answers(
            name,
            with_quick_trees(auditor),
            values,
            groups,
            pairs=pairs,
            folds=folds,
            random_state=0,
            advance=lambda: None,
        )


def balanced_error(answer, pair):
    predicted = answer.score > 0
    return (np.mean(predicted[~pair.is_reference]) + np.mean(~predicted[pair.is_reference])) / 2


def shifted(shifts, n, seed=0):
    """Return x ~ N(shift, 1) for n rows of each group, in random order."""
    random = np.random.default_rng(seed)
    groups = random.permutation(np.repeat(np.arange(len(shifts)), n))
    return random.normal(size=groups.size)[:, None] + np.array(shifts)[groups][:, None], groups


# --- which pairs ---


def test_pairs_of_four_large_groups_share_and_small_ones_do_not():
    # Of 340 rows, 255 are training rows of four folds; of 330 rows 247.5, which are too few.
    groups = np.repeat(np.arange(6), [340, 340, 340, 340, 340, 330])
    pairs = every_pair(groups)
    shared = can_share(pairs, ["logistic"], folds=4)
    assert shared == [5 not in (pair.codes or ()) for pair in pairs]


def test_groups_much_smaller_than_the_largest_do_not_share():
    # The pairs of four groups of 1,000 to 2,000 rows do; the fifth has less than half of 2,000.
    groups = np.repeat(np.arange(5), [2_000, 2_000, 1_000, 1_500, 999])
    pairs = every_pair(groups)
    assert can_share(pairs, ["forest"], folds=5) == [4 not in (pair.codes or ()) for pair in pairs]


def test_three_groups_have_as_many_pairs_and_do_not_share():
    pairs = every_pair(np.repeat(np.arange(3), 2_000))
    assert can_share(pairs, ["logistic"], folds=5) == [False] * 3


def test_several_groups_taken_together_have_fits_of_their_own():
    groups = np.repeat(np.arange(4), 500)
    pairs = [*every_pair(groups), pair_of(groups, 1, 0, codes=False)]
    assert can_share(pairs, ["trees"], folds=5) == [True] * 6 + [False]
    assert groups_of(pairs) == [0, 1, 2, 3]


def test_details_and_classifiers_of_ones_own_are_not_shared():
    pairs = every_pair(np.repeat(np.arange(5), 500))
    assert not any(can_share(pairs, ["details", "mine"], folds=5))


# --- what they show ---


@pytest.mark.parametrize("name", SHARED_AUDITORS)
def test_two_gaussians_among_four_are_told_apart_as_well_as_can_be(name):
    """By any two of them the BER is Phi(-d / 2); no auditor does better but by chance."""
    n, shifts = 1_500, [0.0, 0.5, 1.0, 2.0]
    values, groups = shifted(shifts, n)
    pairs = every_pair(groups)
    # The mean of two rates of n rows has a standard error of at most sqrt(.5 / n) / 2.
    chance = 4 * np.sqrt(0.5 / n) / 2
    # Trees and forests have less than everything: they cut where chance cuts.
    loss = {"trees": 0.03, "forest": 0.09}.get(name, 0.01)
    for answer, pair in zip(answers_of(name, values, groups, pairs), pairs, strict=True):
        group, reference = pair.codes
        best = norm.cdf(-abs(shifts[group] - shifts[reference]) / 2)
        assert best - chance <= balanced_error(answer, pair) <= best + loss + chance


@pytest.mark.parametrize("name", SHARED_AUDITORS)
def test_no_row_is_scored_by_a_fit_that_has_seen_it(name):
    # Every row has a column of its own kind of noise, by which a fit could know it again.
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(4), 400))
    values = np.random.default_rng(1).normal(size=(1_600, 30))
    pairs = every_pair(groups)
    for answer, pair in zip(answers_of(name, values, groups, pairs), pairs, strict=True):
        assert abs(balanced_error(answer, pair) - 0.5) < 5 * np.sqrt(0.5 / 400) / 2


@pytest.mark.parametrize("name", ["trees", "forest"])
def test_what_tells_two_groups_apart_and_no_others_is_found(name):
    random = np.random.default_rng(0)
    groups = random.permutation(np.repeat(np.arange(5), 1_000))
    values = random.normal(size=(5_000, 4))
    # In group 3 two columns have the same sign, in group 4 opposite ones; alone, none differs.
    for code, sign in ((3, 1), (4, -1)):
        rows = groups == code
        values[rows, 1] = np.abs(values[rows, 1]) * np.sign(values[rows, 0]) * sign
    pairs = every_pair(groups)
    errors = {
        pair.codes: balanced_error(answer, pair)
        for answer, pair in zip(answers_of(name, values, groups, pairs), pairs, strict=True)
    }
    assert min(errors, key=errors.get) == (4, 3)
    assert errors[4, 3] < 0.15


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_rules_select_their_rate_of_the_side_that_they_harm(rate):
    n = 2_000
    values, groups = shifted([0.0, 0.3, 0.6, 0.9], n)
    beta = Beta(rate=rate, interval=(rate, rate), counts=None)
    pairs = [
        Pair(**{**vars(pair), "betas": {"group": beta, "reference": beta}})
        for pair in every_pair(groups)
    ]
    # Of the rows that set the cut, n 2/3 / 5, and of those that are selected.
    error = np.sqrt(rate * (1 - rate) * (1 / (n * 2 / 3 / 5) / 3 + 1 / n))
    for answer, pair in zip(answers_of("logistic", values, groups, pairs), pairs, strict=True):
        for side in ("group", "reference"):
            is_harmed = pair.is_reference == (side == "reference")
            assert abs(np.mean(answer.selected[side][is_harmed]) - rate) < 4.5 * error


def test_groups_that_the_same_seed_has_made_are_not_told_apart_by_coins():
    random = np.random.default_rng(0)
    groups = np.searchsorted([0.25, 0.5, 0.75], random.random(4_000))
    # A constant: whom a rule selects is decided by coins alone.
    pairs = every_pair(groups)
    answers = answers_of("naive-bayes", np.zeros((4_000, 1)), groups, pairs)
    for answer, pair in zip(answers, pairs, strict=True):
        selected = answer.selected["group"]
        rates = [np.mean(selected[pair.is_reference == side]) for side in (True, False)]
        assert abs(rates[0] - rates[1]) < 5 * np.sqrt(0.5 / 1_000)


def test_votes_for_other_groups_do_not_change_how_two_compare():
    # Group 1 has half as many votes as group 2, twice, and then both have none.
    shares = np.array([[0.25, 0.25, 0.5], [0.7, 0.1, 0.2], [1.0, 0.0, 0.0]])
    scores = vote_scores(shares)
    margins = scores[:, 1] - scores[:, 2]
    np.testing.assert_allclose(margins, [-np.log(2), -np.log(2), 0], atol=0.06)


def test_a_forest_of_ten_groups_finds_what_a_forest_of_two_would():
    """In groups 8 and 9 the sign of one column is that of two others, in four of five rows."""
    random = np.random.default_rng(0)
    groups = random.permutation(np.repeat(np.arange(10), 1_500))
    values = random.normal(size=(groups.size, 3))
    for code, share in ((8, 0.8), (9, 0.2)):
        rows = np.flatnonzero(groups == code)
        sign = np.where(random.random(rows.size) < share, 1, -1)
        values[rows, 2] = (
            np.abs(values[rows, 2]) * sign * np.prod(np.sign(values[rows, :2]), axis=1)
        )
    pair = pair_of(groups, 9, 8)
    alone, together = (
        balanced_error(answers_of("forest", values, groups, pairs)[0], pair)
        for pairs in ([pair], [pair, *every_pair(np.minimum(groups, 9))])
    )
    # No classifier has an error below .2; that of a rate of 1,500 rows is .01.
    assert 0.2 - 0.03 < together < alone + 0.03


def test_quick_trees_take_the_place_of_others_and_change_no_auditor_that_is_given():
    auditors = panel(["trees", "details", "forest"], [False, True], random_state=3)
    quick = {name: with_quick_trees(auditor) for name, auditor in auditors.items()}
    trees, in_details = quick["trees"].candidates[0], quick["details"].candidates[0].classifier
    for found in (trees, in_details):
        assert isinstance(found, QuickTrees)
        assert (found.categorical_features, found.random_state) == ([1], 3)
    assert isinstance(auditors["trees"].candidates[0], BinnedTrees)
    assert isinstance(auditors["details"].candidates[0].classifier, BinnedTrees)
    assert quick["forest"].candidates == auditors["forest"].candidates


def test_narrow_stripes_that_tell_two_of_eight_groups_apart_are_found_without_details():
    """Groups 1 and 2 lie on stripes of other colours; one cut shows next to nothing of them."""
    random = np.random.default_rng(0)
    groups = random.permutation(np.repeat(np.arange(8), 1_500))
    values = random.normal(size=(groups.size, 6))
    direction = np.where(groups == 1, 1, np.where(groups == 2, -1, 0))
    colour = random.random(groups.size) < 0.5 + 0.35 * direction
    is_there = np.floor(values[:, 0] * 20) % 2 == 1
    values[:, 0] += 0.05 * (is_there != colour)
    names = [f"c{index}" for index in range(6)]
    table = pd.DataFrame(values, columns=names).assign(g=np.array(list("rabcdefh"))[groups])
    certificate = certify(table, auditors=["logistic", "trees", "forest"], folds=5)
    # The colour itself has a ratio of .15 / .85, and rates of .15 to .85.
    assert certificate.verdict == "not certified"
    assert {certificate.worst.group, certificate.worst.reference} == {"a", "b"}


# --- the verdicts ---


def certify(table, **options):
    defaults = {
        "protected": "g",
        "reference": "r",
        "beta": 0.5,
        "auditors": ["logistic", "naive-bayes"],
        "folds": 3,
        "leaks": False,
    }
    return fourfifths.certify(table, **defaults | options)


def people(shifts, n, seed):
    values, groups = shifted(shifts, n, seed)
    return pd.DataFrame({"x": values[:, 0], "g": np.array(list("rbcde"))[groups]})


def test_a_note_says_how_many_pairs_were_judged_in_full():
    certificate = certify(people([0.0] * 5, 500, 0), auditors=["naive-bayes", "trees"])
    note = next(note for note in certificate.notes if "judged together" in note)
    # One of five groups' pairs, and all others against the reference; perhaps the first shown.
    assert re.search(r"in [23] of 11 pairs, among them those that came closest to harm", note)
    assert len(certificate.pairs) == 11
    assert all(len(pair.auditors) == 2 for pair in certificate.pairs)


def test_auditors_that_are_the_same_for_two_groups_need_no_note():
    notes = certify(people([0.0] * 5, 500, 0)).notes
    assert not any("judged together" in note for note in notes)


def test_few_groups_or_few_rows_have_no_such_note():
    for table in (people([0.0] * 3, 500, 0), people([0.0] * 4, 150, 0)):
        notes = certify(table, auditors=["naive-bayes"]).notes
        assert not any("judged together" in note for note in notes)


@pytest.mark.parametrize("name", ["logistic", "svm", "naive-bayes"])
def test_outliers_of_other_groups_do_not_hide_a_difference(name):
    """Groups 3 and 4 are N(0, 1) and N(.7, 1); some rows of the others are far away."""
    values, groups = shifted([0.0, 0.0, 0.0, 0.0, 0.7], 1_000)
    far = (groups < 3) & (np.random.default_rng(2).random(groups.size) < 0.02)
    values[far] *= 1e5
    pairs = every_pair(groups)
    answers = answers_of(name, values, groups, pairs)
    error = next(
        balanced_error(answer, pair)
        for answer, pair in zip(answers, pairs, strict=True)
        if pair.codes == (4, 3)
    )
    assert abs(error - norm.cdf(-0.35)) < 4 * np.sqrt(0.5 / 1_000) / 2 + 0.01


def test_dummies_stay_as_they_are_and_numbers_are_scaled_by_the_pair():
    random = np.random.default_rng(0)
    groups = random.permutation(np.repeat(np.arange(4), 1_000))
    values = np.column_stack([random.normal(size=4_000), random.integers(0, 5, 4_000) * 1.0])
    # Nine of ten rows of group 3 have the first category.
    values[(groups == 3) & (random.random(4_000) < 0.9), 1] = 0
    pairs = every_pair(groups)
    for name in ("logistic", "svm"):
        answers = answers_of(name, values, groups, pairs, is_category=[False, True])
        for answer, pair in zip(answers, pairs, strict=True):
            # Category 0 has .92 of group 3 and .2 of the others: (.2 + .08) / 2.
            expected = 0.14 if 3 in pair.codes else 0.5
            assert abs(balanced_error(answer, pair) - expected) < 0.05


def test_a_group_that_differs_is_found_in_every_pair():
    certificate = certify(people([0.0, 0.0, 0.0, 0.0, 2.0], 500, 0))
    verdicts = {frozenset((pair.group, pair.reference)): pair.verdict for pair in certificate.pairs}
    assert all(verdicts[frozenset((other, "e"))] == "not certified" for other in "rbcd")
    assert not any(
        verdict == "not certified" and "e" not in pair and "not r" not in pair
        for pair, verdict in verdicts.items()
    )
    # The pair that decides is shown with all auditors.
    assert len(certificate.worst.auditors) == 2


@pytest.mark.parametrize(
    ("names", "rules"), [(["naive-bayes"], 6), (["naive-bayes", "trees"], 2 * 6 + 6)]
)
def test_limits_are_corrected_for_both_fits(names, rules):
    """Of six pairs; trees have few rounds in each, and all rounds in some that are not fixed."""
    values, groups = shifted([0.0, 0.2, 0.4, 0.6], 500)
    pairs = every_pair(groups)
    with quiet():
        certificates, _ = certify_pairs(
            values,
            groups,
            pairs=pairs,
            is_shared=[True] * 6,
            auditors=panel(names, [False], random_state=0),
            threshold=0.8,
            confidence=0.95,
            folds=3,
            random_state=0,
            advance=lambda _: None,
        )
    answer, pair = answers_of("naive-bayes", values, groups, pairs)[0], pairs[0]
    predicted = answer.score > 0
    errors = Errors(
        wrong=int(predicted[~pair.is_reference].sum()),
        n=500,
        wrong_reference=int((~predicted)[pair.is_reference].sum()),
        n_reference=500,
    )
    assert certificates[0].auditors[0].interval == errors.interval(1 - 0.05 / rules)


@pytest.mark.slow
def test_noise_in_five_groups_is_seldom_not_certified():
    """With a true error of 5%, more false alarms than these are rarer than 1%."""
    verdicts = [certify(people([0.0] * 5, 450, seed)).verdict for seed in range(RUNS)]
    assert verdicts.count("not certified") <= binom.ppf(0.99, RUNS, 0.05)


@pytest.mark.slow
def test_a_group_just_below_the_threshold_is_seldom_certified():
    """The best rule on r at half of another group has a ratio of .79; certified is an error."""
    shift = norm.ppf(0.5 / 0.79)
    verdicts = [
        certify(people([shift, 0.0, 0.0, 0.0], 2_500, seed)).verdict for seed in range(RUNS)
    ]
    assert verdicts.count("certified") <= binom.ppf(0.99, RUNS, 0.05)


@pytest.mark.slow
def test_shares_and_own_fits_agree_on_far_and_equal_groups():
    for shifts, verdict in (([0.0] * 4, "certified"), ([0.0, 0.0, 0.0, 1.0], "not certified")):
        table = people(shifts, 8_000, 1)
        assert certify(table, auditors=None, folds=5).verdict == verdict
