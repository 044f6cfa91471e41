"""Cuts are chosen on training rows, scores come from rows not seen, and anyone may be added."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
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
    BalancedCut,
    SampledRows,
    best_cut,
    encoder,
    out_of_fold,
    panel,
    quiet,
    score_of,
    stratified_folds,
)
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
    auditor = BalancedCut(FunctionTransformer(), ())
    auditor.held_scores_ = np.array([1.0, 2, 3, 3, 9])
    auditor.held_labels_ = np.array([False, False, False, False, True])
    scores, coin = np.array([0.0, 2.9, 3, 3, 4]), np.array([0.0, 0, 0.4, 0.6, 1])
    selected = auditor.select(scores, 0.5, harmed="group", coin=coin)
    np.testing.assert_array_equal(selected, [False, False, True, True, True])
    # A quarter of it is one of the two threes: half of the rows at the cut, by their coin.
    selected = auditor.select(scores, 0.25, harmed="group", coin=coin)
    np.testing.assert_array_equal(selected, [False, False, True, False, True])


def test_a_rule_whose_held_scores_are_of_other_fits_keeps_the_share_of_rows():
    # Half of the group's four held rows and the one of the reference: 3 of 5. The scores to select
    # from have another scale; 6 of 10 of them are selected.
    auditor = BalancedCut(FunctionTransformer(), ())
    auditor.held_fits_ = "inner folds"
    auditor.held_scores_ = np.array([1.0, 2, 3, 3, 9])
    auditor.held_labels_ = np.array([False, False, False, False, True])
    scores = 1000 + np.arange(10.0)
    selected = auditor.select(scores, 0.5, harmed="group", coin=np.full(10, 0.5))
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
    auditor = BalancedCut(FunctionTransformer(), ())
    auditor.held_scores_ = np.array([0.0, 1, 2, 3, 4])
    auditor.held_labels_ = np.array([False, True, True, True, True])
    selected = auditor.select(
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
