"""Cuts are chosen on training rows, scores come from rows not seen, and anyone may be added.

Trees are those of scikit-learn, and details predict the group where nothing else does.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.linalg import hadamard
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import fourfifths
from fourfifths._certify.auditors import (
    MAX_BINS,
    MAX_ROWS_WITHOUT_STOPPING,
    BalancedCut,
    BinnedTrees,
    DetailScores,
    HeldRows,
    QuickTrees,
    SampledRows,
    best_cut,
    bit_cuts,
    column_edges,
    date_parts,
    decimals_of,
    encoder,
    find_details,
    find_parities,
    iso_days,
    look_up,
    number_parts,
    out_of_fold,
    panel,
    quiet,
    reference_shares,
    score_of,
    separation,
    stratified_folds,
    text_parts,
    weighted_quantiles,
)
from fourfifths._tables.sample import Features
from fourfifths.errors import GroupError, OptionError


def error_at(scores, is_reference, cut):
    """Return the balanced error of taking the scores above a cut for the reference."""
    taken = scores > cut
    return (np.mean(taken[~is_reference]) + np.mean(~taken[is_reference])) / 2


def shifted(n, d, seed):
    """Return one feature, N(0, 1) in the group and N(d, 1) in the reference, and who is which."""
    random = np.random.default_rng(seed)
    labels = np.arange(n) % 2 == 1
    return (random.normal(size=n) + d * labels)[:, None], labels


def splits(labels, folds=3):
    return list(StratifiedKFold(folds, shuffle=True, random_state=0).split(labels, labels))


def ask(auditor, values, labels, *, rate=0.5, folds=3):
    return out_of_fold(
        auditor,
        values,
        is_reference=labels,
        folds=splits(labels, folds),
        rates={"group": rate, "reference": rate},
        advance=lambda: None,
    )


@pytest.mark.parametrize("seed", range(30))
def test_best_cut_is_the_best_of_all_cuts(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 30))
    scores = random.integers(-4, 5, size) / 2
    labels = np.append([True, False], random.random(size - 2) < 0.4)
    cut, error = best_cut(scores, labels)
    every = [-100.0, *np.unique(scores), 100.0]
    assert error == pytest.approx(min(error_at(scores, labels, each) for each in every))
    assert error == pytest.approx(error_at(scores, labels, cut))


def test_best_cut_by_hand():
    # Between 2 and 4 every row is on its side.
    assert best_cut(np.array([4.0, 1, 5, 2]), np.array([True, False, True, False])) == (3.0, 0.0)


def test_best_cut_weighs_the_groups_alike():
    # One of the group and nine of the reference at the same score as the lowest three of them:
    # calling everyone the reference is right for 9 in 10, and balanced it is no better than .5.
    scores = np.array([0.0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    labels = np.array([False] + [True] * 9)
    cut, error = best_cut(scores, labels)
    assert 0 <= cut < 1
    assert error == pytest.approx((0 + 3 / 9) / 2)


class Spy(ClassifierMixin, BaseEstimator):
    """Scores a row by its number, and remembers which rows it was fitted to and asked about."""

    fits: list[tuple[set[int], list[set[int]]]] = []  # noqa: RUF012 - clones share it

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        self.seen_ = set(x[:, 0].astype(int).tolist())
        self.asked_ = []
        Spy.fits.append((self.seen_, self.asked_))
        return self

    def decision_function(self, x):
        self.asked_.append(set(x[:, 0].astype(int).tolist()))
        return x[:, 0] % 7


def spied(n):
    Spy.fits = []
    labels = np.arange(n) % 2 == 1
    rows = np.arange(n, dtype=float)[:, None]
    ask(BalancedCut(FunctionTransformer(), (Spy(),)), rows, labels)
    return Spy.fits, [set(test.tolist()) for _, test in splits(labels)]


@pytest.mark.parametrize("n", [90, 1800])
def test_no_fit_is_asked_about_a_row_that_it_saw(n):
    fits, _ = spied(n)
    assert not any(seen & rows for seen, asked in fits for rows in asked)


@pytest.mark.parametrize("n", [90, 1800])
def test_every_row_is_scored_once_by_a_fit_without_it(n):
    fits, folds = spied(n)
    for test in folds:
        assert sum(rows == test for seen, asked in fits for rows in asked if not seen & test) == 1


@pytest.mark.parametrize("n", [90, 1800])
def test_the_cut_is_chosen_on_training_rows_only(n):
    # A fold's rows are scored together, by a fit to the others; every other question that is
    # asked while that fold is the test fold is about other rows. Fits come fold by fold.
    fits, folds = spied(n)
    each = len(fits) // len(folds)
    for place, test in enumerate(folds):
        asked = [rows for _, all_rows in fits[place * each :][:each] for rows in all_rows]
        assert [rows for rows in asked if rows & test] == [test]


@pytest.mark.parametrize("n", [120, 1800])
@pytest.mark.parametrize("name", ["logistic", "naive-bayes"])
def test_labels_of_a_test_fold_do_not_move_its_scores_or_selections(n, name):
    values, labels = shifted(n, 0.5, seed=1)
    folds = splits(labels)
    test = folds[0][1]
    swapped = labels.copy()
    swapped[test] = ~labels[test]
    auditor = panel([name], [False], random_state=0)[name]
    first, second = (
        out_of_fold(
            auditor,
            values,
            is_reference=is_reference,
            folds=folds[:1],
            rates={"group": 0.3, "reference": 0.3},
            advance=lambda: None,
        )
        for is_reference in (labels, swapped)
    )
    np.testing.assert_array_equal(first.score[test], second.score[test])
    for harmed in ("group", "reference"):
        np.testing.assert_array_equal(first.selected[harmed][test], second.selected[harmed][test])


@pytest.mark.parametrize("name", ["logistic", "svm", "naive-bayes", "trees"])
def test_the_balanced_error_is_near_the_optimum_of_two_gaussians(name):
    """Phi(-.5) = .3085; five standard errors at 1,500 rows a group are .045."""
    values, labels = shifted(3000, 1.0, seed=2)
    found = ask(panel([name], [False], random_state=0)[name], values, labels, folds=2)
    assert error_at(found.score, labels, 0) == pytest.approx(0.3085, abs=0.045)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "svm", "naive-bayes", "trees"])
def test_the_cut_balances_groups_of_unequal_size(name):
    random = np.random.default_rng(3)
    labels = np.arange(2000) < 200
    values = (random.normal(size=2000) + labels)[:, None]
    found = ask(panel([name], [False], random_state=0)[name], values, labels, folds=2)
    assert error_at(found.score, labels, 0) < 0.4


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_rules_select_the_rate_that_was_asked_of_the_harmed_side(rate):
    values, labels = shifted(6000, 0.5, seed=4)
    found = ask(panel(["logistic"], [False], random_state=0)["logistic"], values, labels, rate=rate)
    # The cut is that of 400 training rows a fold, three folds: a standard error under .018.
    assert np.mean(found.selected["group"][~labels]) == pytest.approx(rate, abs=0.07)
    assert np.mean(found.selected["reference"][labels]) == pytest.approx(rate, abs=0.07)


def test_the_rules_favor_the_other_side():
    values, labels = shifted(3000, 1.0, seed=5)
    found = ask(panel(["logistic"], [False], random_state=0)["logistic"], values, labels)
    harms_group, harms_reference = found.selected["group"], found.selected["reference"]
    assert np.mean(harms_group[labels]) > 0.75 > 0.6 > np.mean(harms_group[~labels])
    assert np.mean(harms_reference[~labels]) > 0.75 > 0.6 > np.mean(harms_reference[labels])


def test_advance_is_called_once_for_each_fold():
    values, labels = shifted(60, 0.5, seed=6)
    calls = []
    out_of_fold(
        panel(["naive-bayes"], [False], random_state=0)["naive-bayes"],
        values,
        is_reference=labels,
        folds=splits(labels, 4),
        rates={"group": 0.5, "reference": 0.5},
        advance=lambda: calls.append(1),
    )
    assert len(calls) == 4


def test_all_six_by_default():
    names = ["logistic", "svm", "naive-bayes", "trees", "forest", "details"]
    assert list(panel(None, [False], random_state=0)) == names


def test_the_svm_is_the_papers():
    candidates = panel(["svm"], [False], random_state=0)["svm"].candidates
    assert all(isinstance(each, LinearSVC) for each in candidates)
    assert {(each.loss, each.class_weight) for each in candidates} == {("hinge", "balanced")}


def test_the_svm_has_thirteen_penalties_evenly_spaced_in_logarithm():
    penalties = [each.C for each in panel(["svm"], [False], random_state=0)["svm"].candidates]
    assert (len(penalties), penalties[0], penalties[-1]) == (13, 1e-3, 1e3)
    np.testing.assert_allclose(np.diff(np.log10(penalties)), 0.5)


def test_naive_bayes_has_equal_priors():
    (bayes,) = panel(["naive-bayes"], [False], random_state=0)["naive-bayes"].candidates
    assert isinstance(bayes, GaussianNB)
    assert list(bayes.priors) == [0.5, 0.5]


def test_trees_are_balanced_and_use_categories_and_missing_values_as_they_are():
    auditor = panel(["trees"], [False, True], random_state=0)["trees"]
    (trees,) = auditor.candidates
    assert isinstance(trees, HistGradientBoostingClassifier)
    assert (trees.class_weight, trees.categorical_features) == ("balanced", [1])
    values = np.array([[np.nan, 1.0], [2.0, np.nan]])
    np.testing.assert_array_equal(auditor.encoder.fit(values).transform(values), values)


def test_trees_see_no_details_and_pool_what_histograms_cannot_hold():
    auditor = panel(["trees"], [False, True], random_state=0)["trees"]
    values = np.array([[5.0, 300.0, 9.0], [np.nan, 254.0, 9.0], [1.0, 3.0, 9.0]])
    expected = [[5.0, 254.0], [np.nan, 254.0], [1.0, 3.0]]
    np.testing.assert_array_equal(auditor.encoder.fit(values).transform(values), expected)


def test_a_forest_sees_every_category_and_no_details():
    auditor = panel(["forest"], [True], random_state=0)["forest"]
    values = np.array([[300.0, 9.0], [254.0, 9.0]])
    np.testing.assert_array_equal(auditor.encoder.fit(values).transform(values), values[:, :1])


def test_a_forest_finds_stripes_that_are_narrower_than_bins():
    random = np.random.default_rng(11)
    values = random.random((2000, 1))
    labels = np.floor(values[:, 0] * 300) % 2 == 1
    forest = ask(panel(["forest"], [False], random_state=0)["forest"], values, labels, folds=2)
    # A stripe holds about 3 training rows, and a row's nearest neighbour is usually of its stripe.
    assert error_at(forest.score, labels, 0) < 0.3


def test_a_classifier_of_sampled_rows_sees_no_more_than_it_may():
    labels = np.arange(1000) % 2 == 1
    Spy.fits = []
    rows = np.arange(1000.0)[:, None]
    SampledRows(Spy(), max_rows=100).fit(rows, labels)
    assert len(Spy.fits[0][0]) == 100
    # Both groups keep their shares.
    assert sum(row % 2 for row in Spy.fits[0][0]) == 50
    SampledRows(Spy(), max_rows=1000).fit(rows, labels)
    assert len(Spy.fits[1][0]) == 1000


def test_penalties_are_tried_until_they_stop_helping():
    tried = []

    class Flat(LogisticRegression):
        def fit(self, x, y):
            tried.append(self.C)
            return super().fit(x, y)

    values, labels = shifted(600, 1.0, seed=13)
    candidates = tuple(Flat(C=penalty) for penalty in range(1, 14))
    BalancedCut(FunctionTransformer(), candidates).fit(values, labels)
    # One column has the same order whatever the penalty: the first is best, and three more are
    # tried, each on three folds; then the best is fitted.
    assert sorted(set(tried)) == [1, 2, 3, 4]
    assert tried[-1] == 1


def test_the_candidate_with_the_least_balanced_error_is_taken():
    values, labels = shifted(400, 2.0, seed=7)
    blind = DecisionTreeClassifier(max_depth=1, max_features=1, min_samples_leaf=190)
    sighted = LogisticRegression()
    fitted = BalancedCut(FunctionTransformer(), (blind, sighted)).fit(values, labels)
    assert isinstance(fitted.classifier_, LogisticRegression)


def test_trees_see_a_category_that_has_no_order():
    random = np.random.default_rng(8)
    values = random.integers(0, 6, 1200).astype(float)[:, None]
    labels = np.isin(values[:, 0], [0, 2, 5])
    found = ask(panel(["trees"], [True], random_state=0)["trees"], values, labels, folds=2)
    assert error_at(found.score, labels, 0) == 0


@pytest.mark.parametrize("name", ["logistic", "svm", "naive-bayes", "trees", "forest"])
def test_missingness_is_a_feature_for_every_auditor(name):
    random = np.random.default_rng(9)
    labels = np.arange(400) % 2 == 1
    values = np.where(labels, random.normal(size=400), np.nan)[:, None]
    found = ask(panel([name], [False], random_state=0)[name], values, labels, folds=2)
    assert error_at(found.score, labels, 0) == 0


class OnlyProbabilities(ClassifierMixin, BaseEstimator):
    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, x):
        likely = np.clip(0.5 + x[:, 0] / 200, 0, 1)
        return np.column_stack([1 - likely, likely])


class OnlyDecisions(ClassifierMixin, BaseEstimator):
    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, x):
        return x[:, 0]


class OnlyPredictions(ClassifierMixin, BaseEstimator):
    def fit(self, x, y):
        return self

    def predict(self, x):
        return x[:, 0] > 0


@pytest.mark.parametrize("classifier", [OnlyProbabilities(), OnlyDecisions()])
def test_scores_rise_with_the_likeness_to_the_reference(classifier):
    values = np.linspace(-80, 80, 9)[:, None]
    assert np.all(np.diff(score_of(classifier.fit(values, values[:, 0] > 0), values)) > 0)


@pytest.mark.parametrize(
    "classifier",
    [OnlyProbabilities(), OnlyDecisions(), RidgeClassifier(), DecisionTreeClassifier()],
)
def test_a_classifier_of_the_users_is_an_auditor(classifier):
    values, labels = shifted(400, 3.0, seed=10)
    found = ask(panel({"mine": classifier}, [False], random_state=0)["mine"], values, labels)
    assert error_at(found.score, labels, 0) < 0.2


def test_a_mapping_may_hold_the_users_and_one_of_the_four():
    values, labels = shifted(200, 1.0, seed=11)
    table = pd.DataFrame({"x": values[:, 0], "g": np.where(labels, "b", "a")})
    certificate = fourfifths.certify(
        table,
        protected="g",
        reference="b",
        beta=0.5,
        folds=2,
        auditors={"mine": DecisionTreeClassifier(max_depth=2), "naive-bayes": None},
    )
    assert [each.name for each in certificate.worst.auditors] == ["mine", "naive-bayes"]


def test_the_users_classifier_is_not_changed():
    mine = DecisionTreeClassifier()
    values, labels = shifted(100, 1.0, seed=12)
    ask(panel({"mine": mine}, [False], random_state=0)["mine"], values, labels)
    assert not hasattr(mine, "tree_")


def test_a_name_alone_is_one_auditor():
    assert list(panel("trees", [False], random_state=0)) == ["trees"]


def test_an_unknown_auditor_is_refused_with_the_nearest():
    with pytest.raises(OptionError, match=r"'logistics' is not one of .*did you mean 'logistic'\?"):
        panel(["logistics"], [False], random_state=0)


def test_an_unknown_auditor_in_a_mapping_without_a_classifier_is_refused():
    with pytest.raises(OptionError, match="'mine' is not one of"):
        panel({"mine": None}, [False], random_state=0)


def test_no_auditors_are_refused():
    with pytest.raises(OptionError, match="auditors: name at least one"):
        panel([], [False], random_state=0)


@pytest.mark.parametrize("classifier", [OnlyPredictions(), "svm", 3])
def test_a_classifier_without_scores_is_refused(classifier):
    with pytest.raises(OptionError, match="decision_function or predict_proba"):
        panel({"mine": classifier}, [False], random_state=0)


def test_a_class_in_the_place_of_a_classifier_is_refused():
    with pytest.raises(OptionError, match="auditors: 'mine'"):
        panel({"mine": LogisticRegression}, [False], random_state=0)


@pytest.mark.parametrize("auditors", [3, 0.5])
def test_auditors_that_are_neither_names_nor_a_mapping_are_refused(auditors):
    with pytest.raises(OptionError, match=f"auditors={auditors}: expected names, or a mapping"):
        panel(auditors, [False], random_state=0)


def test_a_rule_of_a_given_rate_by_hand():
    # Held scores of the group are 1, 2, 3, 3: half of it is the two threes.
    held = HeldRows(
        cut=0.0, scores=np.array([1.0, 2, 3, 3, 9]), is_reference=np.array([False] * 4 + [True])
    )
    scores, coin = np.array([0.0, 2.9, 3, 3, 4]), np.array([0.0, 0, 0.4, 0.6, 1])
    selected = held.select(scores, 0.5, harmed="group", coin=coin)
    np.testing.assert_array_equal(selected, [False, False, True, True, True])
    # A quarter of it is one of the two threes: half of the rows at the cut, by their coin.
    selected = held.select(scores, 0.25, harmed="group", coin=coin)
    np.testing.assert_array_equal(selected, [False, False, True, False, True])


def test_a_rule_whose_held_scores_are_of_other_fits_keeps_the_share_of_rows():
    # Half of the group's four held rows and the one of the reference: 3 of 5. The scores to select
    # from have another scale; 6 of 10 of them are selected.
    held = HeldRows(
        cut=0.0,
        scores=np.array([1.0, 2, 3, 3, 9]),
        is_reference=np.array([False] * 4 + [True]),
        fits="inner folds",
    )
    scores = 1000 + np.arange(10.0)
    selected = held.select(scores, 0.5, harmed="group", coin=np.full(10, 0.5))
    np.testing.assert_array_equal(selected, scores > 1003)


@pytest.mark.parametrize("n", [120, 300, 1800])
def test_a_rule_on_two_far_scores_selects_its_rate_whatever_the_fit(n):
    # The scores of trees are two values only, and every fit has its own two.
    labels = np.arange(n) % 2 == 1
    found = ask(panel(["trees"], [False], random_state=0)["trees"], 1.0 * labels[:, None], labels)
    # Half of n / 2 coins: four standard errors.
    rate, error = np.mean(found.selected["group"][~labels]), 0.5 / (n / 2) ** 0.5
    assert rate == pytest.approx(0.5, abs=4 * error)
    assert found.selected["group"][labels].all()


def test_a_rule_that_harms_the_reference_selects_from_the_low_end():
    held = HeldRows(
        cut=0.0, scores=np.array([0.0, 1, 2, 3, 4]), is_reference=np.array([False] + [True] * 4)
    )
    selected = held.select(
        np.array([1.0, 2, 2.1]), 0.5, harmed="reference", coin=np.array([0.5, 0.5, 0.5])
    )
    np.testing.assert_array_equal(selected, [True, True, False])


def test_folds_hold_the_same_share_of_both_groups():
    labels = np.arange(90) % 3 == 0
    folds = stratified_folds(labels, 5, random_state=1)
    assert [(int(labels[test].sum()), test.size) for _, test in folds] == [(6, 18)] * 5
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), range(90))


def test_more_folds_than_rows_of_a_group_are_refused():
    with pytest.raises(GroupError, match="folds=5: only 4 rows of a group are audited"):
        stratified_folds(np.arange(40) < 4, 5, random_state=0)


def test_numbers_are_standardised_and_missing_ones_marked():
    # Mean 2 and deviation 1 of the values present (1, 3); the missing one becomes the mean.
    values = np.array([[1.0], [3.0], [np.nan]])
    encoded = encoder([False], sparse=False).fit_transform(values)
    np.testing.assert_allclose(encoded[:, 0], np.array([-1, 1, 0]) / np.sqrt(2 / 3))
    assert encoded[2, 1] > encoded[0, 1] == encoded[1, 1]


def test_categories_are_dummies_and_missing_is_one_of_them():
    values = np.array([[0.0], [2.0], [np.nan], [0.0]])
    encoded = encoder([True], sparse=False).fit_transform(values)
    np.testing.assert_array_equal(encoded, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])


def test_a_category_that_is_new_to_the_encoder_is_no_error():
    fitted = encoder([True], sparse=False).fit(np.array([[0.0], [1.0]]))
    assert fitted.transform(np.array([[7.0]])).sum() == 0


def test_the_candidate_that_separates_the_groups_is_chosen():
    values, labels = shifted(60, 8, seed=0)
    blind, keen = DummyClassifier(), RidgeClassifier()
    auditor = BalancedCut(FunctionTransformer(), (blind, keen))
    best, scores, judged = auditor.choose_candidate(values, labels)
    assert best is keen
    assert judged.tolist() == labels.tolist()
    assert error_at(scores, judged, 0.0) == 0


def test_a_quiet_block_inside_another_does_not_end_it():
    def threads():
        return {library["num_threads"] for library in threadpool_info()}

    with threadpool_limits(2):
        before = threads()
        with quiet():
            with quiet():
                assert threads() == {1}
            assert threads() == {1}
            warnings.warn("not shown", RuntimeWarning, stacklevel=1)
        assert threads() == before == {2}
        # The next block is not inside another one.
        with quiet():
            assert threads() == {1}


# Histogram trees: bins that are found with one sort are those of scikit-learn.
WEIGHTS_COUNT_FOR_BINS = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


def mixed_columns(random, n):
    """Return a number without ties, one with many, one with a heavy end, a category, and gaps."""
    values = np.column_stack(
        [
            random.normal(size=n),
            np.round(300 * random.normal(size=n)),
            np.minimum(random.integers(0, 900, n), 600),
            random.integers(0, 5, n),
            np.round(200 * random.normal(size=n)),
        ]
    )
    values[random.random(n) < 0.1, 4] = np.nan
    return values


@pytest.mark.skipif(not WEIGHTS_COUNT_FOR_BINS, reason="scikit-learn 1.8 bins without weights")
@pytest.mark.parametrize(
    ("n", "shares", "early_stopping"),
    [
        (510, [0.5], "auto"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                (510, [0.2], "auto"),
                (2_550, [0.5], "auto"),
                (2_550, [0.2], "auto"),
                (2_550, [0.2, 0.3, 0.7], True),
                (MAX_ROWS_WITHOUT_STOPPING + 200, [0.5], "auto"),
                (MAX_ROWS_WITHOUT_STOPPING + 200, [0.2], "auto"),
            )
        ),
    ],
)
def test_the_trees_are_those_of_scikit_learn_to_the_last_bit(n, shares, early_stopping):
    # Of a multiple of 255 equal rows every edge falls exactly between two rows.
    random = np.random.default_rng(n)
    values = mixed_columns(random, n)
    y = np.searchsorted(shares, random.permutation(n) / n, side="right")
    values[:, 0] += 0.3 * y
    values[:, 1] += 40 * y
    new_rows = values + random.normal(size=values.shape) * [1, 1, 1, 0, 1]
    options = {"class_weight": "balanced", "categorical_features": [3], "random_state": 5}
    options |= {"early_stopping": early_stopping}
    theirs = HistGradientBoostingClassifier(**options).fit(values, y)
    ours = BinnedTrees(**options).fit(values, y)
    assert 0 in ours.edges_  # or nothing would be tested
    assert 3 not in ours.edges_
    for asked in (values, new_rows):
        for method in ("decision_function", "predict_proba", "predict"):
            assert np.array_equal(getattr(ours, method)(asked), getattr(theirs, method)(asked))


def test_quantiles_by_hand():
    values, weights = np.array([40.0, 10, 30, 20]), np.array([2.0, 1, 1, 1])
    # The weights of 10, 20, 30, 40 sum up to 1, 2, 3, 5; thirds of 5 are 1.67 and 3.33.
    assert weighted_quantiles(values, weights, parts=3).tolist() == [20, 40]
    # Fifths are reached exactly by 10, 20 and 30: halfway to the next value. 4 is within 40.
    assert weighted_quantiles(values, weights, parts=5).tolist() == [15, 25, 35, 40]


def test_quantiles_of_equal_weights_are_those_of_numpy():
    random = np.random.default_rng(0)
    for n in (500, 512, 777):
        values = np.round(random.normal(size=n), 1)
        expected = np.quantile(values, np.arange(1, 8) / 8, method="averaged_inverted_cdf")
        assert np.array_equal(weighted_quantiles(values, np.ones(n), parts=8), expected)


def test_a_row_of_weight_two_counts_as_two_rows():
    random = np.random.default_rng(1)
    values, times = random.normal(size=300), random.integers(1, 4, 300)
    repeated = np.repeat(values, times)
    assert np.array_equal(
        weighted_quantiles(values, times.astype(float), parts=9),
        weighted_quantiles(repeated, np.ones(repeated.size), parts=9),
    )


def test_few_values_need_no_edges():
    values = np.tile(np.arange(MAX_BINS, dtype=float), 3)
    assert column_edges(values, np.ones(values.size)) is None
    values = np.tile(np.arange(MAX_BINS + 1, dtype=float), 3)
    assert column_edges(values, np.ones(values.size)) is not None


def test_a_bin_without_rows_joins_the_one_above():
    # 1,020 rows in 255 parts of 4. The first 8 rows are 0: they fill the first two parts, so the
    # edges are 0 and, where the second part ends exactly, .5. Nothing lies between 0 and .5.
    values = np.append(np.zeros(8), np.arange(1.0, 1_013))
    edges = column_edges(values, np.ones(values.size))
    assert edges[:3].tolist() == [0, 4.5, 8.5]
    assert np.unique(np.searchsorted(edges, values)).tolist() == list(range(edges.size + 1))


def test_a_bin_without_rows_in_a_column_with_gaps_is_left_to_scikit_learn():
    values = np.concatenate([np.zeros(8), np.arange(1.0, 1_013), [np.nan]])
    assert column_edges(values, np.ones(values.size)) is None
    assert column_edges(values[8:], np.ones(values.size - 8)) is not None


# Details: what is taken of a column without looking at a group.
def features_of(values, *, kinds=("number",), **more):
    values = np.asarray(values, dtype=float)
    return Features(
        names=tuple(f"c{place}" for place in range(values.shape[1])),
        kinds=tuple(kinds),
        values=values,
        groups=np.zeros(len(values), dtype=np.int64),
        sha256="",
        **more,
    )


def same_partition(first, second):
    """Return whether two codes say the same of which rows are alike."""
    pairs = set(zip(first, second, strict=True))
    return len(pairs) == len(set(first)) == len(set(second))


def test_digits_of_whole_numbers():
    values = np.array([*range(100, 150), 7.0, np.nan])
    parts = dict(number_parts(values))
    assert same_partition(parts["last digit"], [*(values[:-1] % 10), -1])
    assert same_partition(parts["last two digits"], [*(values[:-1] % 100), -1])
    assert parts["last digit"][-1] == 0
    assert "tenths" not in parts


def test_higher_digits_of_whole_numbers():
    values = np.arange(0.0, 40_000, 17)
    parts = dict(number_parts(values))
    texts = [f"{int(value):06d}" for value in values]
    assert same_partition(parts["third digit from the end"], [text[-3] for text in texts])
    assert same_partition(parts["fourth digit from the end"], [text[-4] for text in texts])
    assert "third digit from the end" not in dict(number_parts(values[:100]))


def test_days_that_are_counted_have_weekdays():
    values = np.arange(0.0, 9_000, 5)
    days = np.datetime64("1970-01-01") + values.astype("timedelta64[D]")
    weekdays = [day.item().weekday() for day in days]
    assert same_partition(dict(number_parts(values))["remainder by 7"], weekdays)
    assert "remainder by 7" not in dict(number_parts(values + 0.5))


def test_each_letter_of_a_text():
    texts = [f"{number:03d}{letter}" for number in range(30) for letter in "XY"]
    parts = dict(text_parts(texts, np.array([*range(60), np.nan])))
    assert same_partition(parts["letter 2"], [*(text[1] for text in texts), ""])
    assert same_partition(parts["letter 4"][:-1], [text[3] for text in texts])
    assert parts["letter 4"][-1] == 0


def test_digits_of_prices_are_cents():
    values = np.arange(40) + np.arange(40) * 7 % 100 / 100
    parts = dict(number_parts(values))
    assert same_partition(parts["last two digits"], np.arange(40) * 7 % 100)
    assert "hundredths" not in parts


def test_a_column_of_few_values_has_no_details():
    assert dict(number_parts(np.arange(20.0))) == {}


def test_single_values_of_codes_that_repeat():
    values = np.tile(np.arange(100.0) * 3, 5)
    parts = dict(number_parts(values))
    assert same_partition(parts["single values"], values)
    assert not any("ranges" in part for part in parts)


def test_ranges_of_neighbours_where_nothing_repeats():
    values = np.random.default_rng(0).normal(size=640)
    parts = dict(number_parts(values))
    assert "single values" not in parts
    for rows in (8, 32):
        codes = parts[f"ranges of {rows} rows"]
        assert np.bincount(codes)[1:].tolist() == [rows] * (640 // rows)
        assert np.all(np.diff(codes[np.argsort(values)]) >= 0)


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [([1, 2], 0), ([0.5, 1], 1), ([19.99, 1e5 + 0.01], 2), ([1 / 3], None), ([1e-7], None)],
)
def test_decimals_by_hand(numbers, decimals):
    assert decimals_of(np.array(numbers, dtype=float)) == decimals


def test_beginnings_and_ends_of_texts():
    texts = np.array([f"{letter}{place}" for letter in "abc" for place in range(10)])
    values = np.append(np.arange(30.0), np.nan)
    parts = dict(text_parts(texts, values))
    assert same_partition(parts["first 1"], [*(text[0] for text in texts), ""])
    assert same_partition(parts["last 1"], [*(text[-1] for text in texts), ""])
    assert parts["first 1"][-1] == parts["length"][-1] == 0
    assert dict(text_parts(texts[:20], values[:20])) == {}


def test_parts_of_dates():
    days = np.array(["2024-02-29", "2024-03-07", "NaT", "1969-12-25"], dtype="datetime64[D]")
    parts = dict(date_parts(days))
    # The first three are Thursdays, as 1 January 1970 was; the last was one too.
    assert parts["weekday"].tolist() == [1, 1, 0, 1]
    assert parts["month"].tolist() == [2, 3, 0, 12]
    assert parts["day of the month"].tolist() == [29, 7, 0, 25]


def test_hours_of_moments():
    moments = np.array([5.0, 5 + 13 / 24, 5 + 23.99 / 24])
    days = np.full(3, np.datetime64("2024-01-01"))
    assert dict(date_parts(days, moments=moments))["hour"].tolist() == [1, 14, 24]


@pytest.mark.parametrize(
    ("texts", "is_date"),
    [
        (["2024-02-29", "1999-12-31T10:00"], True),
        (["2024-02-30", "1999-12-31"], False),
        (["2024", "1999"], False),
        (["north", "south"], False),
    ],
)
def test_texts_that_are_dates(texts, is_date):
    assert (iso_days(np.array(texts)) is not None) == is_date


def test_details_know_their_column():
    values = np.column_stack([np.arange(50.0), np.zeros(50), np.arange(50) + 0.25])
    found = find_details(features_of(values, kinds=("number",) * 3))
    assert {found.sources[place] for place, name in enumerate(found.names) if "c0" in name} == {0}
    assert 1 not in found.sources
    assert found.codes.shape == (50, len(found.names))


def test_no_features_with_details_make_an_empty_matrix():
    assert find_details(features_of(np.zeros((9, 2)), kinds=("number",) * 2)).codes.shape == (9, 0)


def test_shares_by_hand():
    # Two rows of the share of all, 3/5, are added to each code; a column's last is for codes that
    # it may not have.
    codes = np.array([[0, 1], [0, 0], [2, 0], [2, 0], [2, 0]])
    sizes, y = np.array([3, 2]), np.array([True, False, True, True, False])
    shares = reference_shares(codes, y, sizes)
    np.testing.assert_allclose(shares, [2.2 / 4, 0.6, 3.2 / 5, 0.6, 3.2 / 6, 2.2 / 3, 0.6])
    found = look_up(shares, np.array([[2, 1], [9, 9]]), sizes)
    np.testing.assert_allclose(found, [[0.64, 2.2 / 3], [0.6, 0.6]])


def test_bits_are_columns_with_two_values():
    values = np.array([[0.0, 5, 1, 2], [1, 9, 1, 3], [np.nan, 5, 1, 4]])
    assert bit_cuts(values) == [(0, 0.5), (1, 7.0)]


def test_the_spectrum_is_that_of_the_hadamard_matrix():
    """Sets are ordered as the sums with the rows of scipy's matrix order them."""
    random = np.random.default_rng(1)
    bits = random.integers(0, 2, (400, 4))
    labels = (bits[:, 1] + bits[:, 3] + (random.random(400) < 0.2)) % 2 == 1
    cell = bits @ (1 << np.arange(4))
    difference = np.bincount(cell[labels], minlength=16) / labels.sum()
    difference -= np.bincount(cell[~labels], minlength=16) / (~labels).sum()
    best = int(np.argmax(np.abs(hadamard(16) @ difference)))
    assert best == 0b1010
    assert find_parities(bits, labels)[0].tolist() == [1, 3]


def test_noise_has_no_parity():
    random = np.random.default_rng(2)
    for _ in range(20):
        bits = random.integers(0, 2, (500, 10))
        assert find_parities(bits, random.random(500) < 0.5) == []


def test_separation_in_standard_errors():
    random = np.random.default_rng(3)
    labels = np.arange(4000) % 2 == 1
    columns = random.normal(size=(4000, 2)) + np.array([0.0, 0.5]) * labels[:, None]
    noise, signal = separation(columns, labels)
    # A difference of .5 is 15.8 standard errors of sqrt(2 / 2000); noise is standard normal.
    assert abs(noise) < 4
    assert signal == pytest.approx(15.8, abs=4)


def scores_of(codes, labels, train):
    model = DetailScores(
        HistGradientBoostingClassifier(max_iter=20, random_state=0), feature_count=1
    )
    values = np.column_stack([np.zeros(len(codes)), codes])
    return model.fit(values[train], labels[train]), values


def test_a_code_that_tells_is_kept_and_noise_is_not():
    random = np.random.default_rng(4)
    codes = np.column_stack([random.integers(1, 60, 2000), random.integers(1, 60, 2000)])
    labels = codes[:, 0] % 2 == 0
    train = np.arange(2000) < 1500
    model, values = scores_of(codes, labels, train)
    assert model.kept_.tolist() == [0]
    guessed = model.decision_function(values[~train]) > 0
    assert np.mean(guessed == labels[~train]) > 0.95


def test_without_a_telling_detail_nothing_is_fitted():
    random = np.random.default_rng(5)
    codes = random.integers(1, 60, (1000, 2))
    model, values = scores_of(codes, random.random(1000) < 0.5, np.arange(1000) < 800)
    assert model.classifier_ is None
    assert np.all(model.decision_function(values) == 0)


def test_single_values_of_noise_do_not_leak_their_own_label():
    # Each code occurs about twice, so a share that counted the row itself would tell its group.
    random = np.random.default_rng(6)
    for seed in range(10):
        labels = np.random.default_rng(seed).random(1000) < 0.5
        model, _ = scores_of(random.integers(1, 500, (1000, 1)), labels, np.arange(1000) < 1000)
        assert model.kept_.size == 0


def hidden(kind, rows, seed):
    """Return a table whose group is a function of one kind of detail."""
    random = np.random.default_rng(seed)
    noise = random.normal(size=rows)
    days = np.datetime64("2015-01-01") + random.integers(0, 3000, rows).astype("timedelta64[D]")
    if kind.startswith("parity"):
        count = int(kind.split()[1])
        bits = random.integers(0, 2, (rows, 2 * count))
        columns = {f"b{place}": bits[:, place] for place in range(2 * count)}
        is_group = bits[:, :count].sum(axis=1) % 2 == 1
    elif kind == "last digit":
        columns = {"x": random.integers(10_000, 99_999, rows), "z": noise}
        is_group = columns["x"] % 10 >= 5
    elif kind == "cents":
        cents = random.integers(1_000, 99_999, rows)
        columns = {"x": cents / 100, "z": noise}
        is_group = cents % 100 >= 50
    elif kind in ("weekday", "weekday in text"):
        is_group = days.astype(np.int64) % 7 >= 4
        column = days.astype(str) if "text" in kind else pd.to_datetime(days)
        columns = {"day": column, "z": noise}
    elif kind == "prefix":
        first = random.integers(0, 26, rows)
        numbers = random.integers(0, 999_999, rows)
        letters = np.array(list("QWERTYUIOPASDFGHJKLZXCVBNM"))
        codes = [f"{letters[place]}{number}" for place, number in zip(first, numbers, strict=True)]
        columns, is_group = {"code": codes, "z": noise}, first % 2 == 0
    elif kind.startswith("areas"):
        count = int(kind.split()[1])
        of_group = random.random(count) < 0.5
        area = random.integers(0, count, rows)
        columns = {"area": np.char.add("area ", area.astype(str)), "z": noise}
        if "number" in kind:
            columns["area"] = area + 10_000
        is_group = of_group[area]
    elif kind == "stripes":
        columns = {"x": random.random(rows), "z": noise}
        is_group = np.floor(400 * columns["x"]) % 2 == 1
    else:  # one Gaussian column, in stripes that are blurred
        columns = {"x": noise}
        is_group = (np.floor(25 * noise) % 2 == 1) ^ (random.random(rows) < 0.2)
    return pd.DataFrame({"g": np.where(is_group, "a", "r"), **columns})


def verdict_on(kind, rows, seed=0, **options):
    return fourfifths.certify(
        hidden(kind, rows, seed), protected="g", reference="r", beta=0.5, **options
    ).verdict


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parity 4", "last digit"])
def test_a_hidden_rule_is_found_by_the_details(kind):
    assert verdict_on(kind, 800, auditors=["details"], folds=2) == "not certified"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("parity 3", 1500),
        ("parity 4", 1500),
        ("parity 5", 1500),
        ("last digit", 1500),
        ("cents", 1500),
        ("weekday", 1500),
        ("weekday in text", 1500),
        ("prefix", 1500),
        ("areas 1500", 4000),
        ("areas 1500 as number", 4000),
        ("areas 8000", 12_000),
        ("areas 8000 as number", 12_000),
        ("stripes", 6000),
        ("one Gaussian column", 4000),
    ],
)
def test_the_panel_finds_every_kind_of_hidden_rule(kind, rows, seed):
    assert verdict_on(kind, rows, seed) == "not certified"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_panel_finds_nothing_in_noise(seed):
    random = np.random.default_rng(seed)
    table = hidden("last digit", 1500, seed).assign(area=random.integers(0, 300, 1500))
    table["g"] = random.permutation(table["g"])
    found = fourfifths.certify(table, protected="g", reference="r", beta=0.5)
    assert found.verdict != "not certified"


# --- trees of few rounds ---


def test_quick_trees_weigh_small_groups_and_take_categories_and_missing_values():
    random = np.random.default_rng(0)
    # Of the reference, 9 of 10 rows have an even category, of the group 1 of 10; the group is a
    # fifth of the rows. Where the category is missing, a number says it as well.
    is_reference = random.random(8_000) < 0.8
    is_even = random.random(8_000) < np.where(is_reference, 0.9, 0.1)
    category = 2.0 * random.integers(0, 20, 8_000) + ~is_even
    number = np.where(random.random(8_000) < 0.5, np.nan, is_even + random.random(8_000))
    category[~np.isnan(number)] = np.nan
    values = np.column_stack([random.normal(size=8_000), category, number])
    train, test = np.arange(8_000) < 6_000, np.arange(8_000) >= 6_000
    trees = QuickTrees([1], random_state=0).fit(values[train], is_reference[train])
    is_predicted = trees.decision_function(values[test]) > 0
    wrong = is_predicted != is_reference[test]
    rates = [np.mean(wrong[is_reference[test] == side]) for side in (True, False)]
    assert np.abs(np.array(rates) - 0.1).max() < 5 * np.sqrt(0.1 * 0.9 / 400)


def test_quick_trees_are_the_same_every_time():
    random = np.random.default_rng(0)
    values, y = random.normal(size=(2_000, 3)), random.random(2_000) < 0.5
    first, second = (QuickTrees([], random_state=1).fit(values, y) for _ in range(2))
    np.testing.assert_array_equal(first.decision_function(values), second.decision_function(values))
