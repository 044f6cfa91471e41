"""Which columns give the protected attribute away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import fourfifths
from fourfifths._certify.auditors import panel
from fourfifths._certify.leaks import LOSS_TREES, cells_of, lighter_auditor, losses, single_column


def folds_of(n, folds=2):
    return np.arange(n) % folds


def table_of(cells):
    """Return values, membership and folds of {value: (group, reference)}, the same in two folds."""
    values = np.repeat(list(cells), [sum(both) for both in cells.values()]).astype(float)
    labels = np.concatenate([np.arange(sum(both)) >= both[0] for both in cells.values()])
    return np.tile(values, 2), np.tile(labels, 2), np.repeat([0, 1], values.size)


def certify(table, **options):
    return fourfifths.certify(
        table, protected="g", **{"reference": "a", "beta": 0.5, "folds": 3} | options
    )


@pytest.mark.parametrize(("beta", "floor"), [(0.25, 1 / 3), (0.125, 1 / 3), (0.5, 0.6), (1, 1)])
def test_a_column_of_two_values_by_hand(beta, floor):
    # 3 to 1 and 1 to 3 in each fold: one in four of each is mistaken. The best rule selects the
    # second value, 1/4 of the group and 3/4 of the reference; at 1/2 it adds a third of the rest.
    values, labels, fold = table_of({0: (3, 1), 1: (1, 3)})
    assert single_column(values, labels, fold_of_row=fold, beta=beta) == (
        0.25,
        pytest.approx(floor),
    )


def test_a_column_of_three_values_by_hand():
    # Group 6, 3, 1 of 10 and reference 1, 3, 6 of 10; the middle value says nothing. Total
    # variation is 1/2, so the balanced error is 1/4. At beta = .1 the rule selects the last value.
    values, labels, fold = table_of({0: (6, 1), 1: (3, 3), 2: (1, 6)})
    error, floor = single_column(values, labels, fold_of_row=fold, beta=0.1)
    assert error == pytest.approx(0.25)
    assert floor == pytest.approx(0.1 / 0.6)


def test_sizes_of_the_groups_do_not_matter():
    few, many = (
        single_column(values, labels, fold_of_row=fold, beta=0.25)
        for values, labels, fold in (
            table_of({0: (30, 10), 1: (10, 30)}),
            table_of({0: (30, 100), 1: (10, 300)}),
        )
    )
    assert few == pytest.approx(many)


def test_missing_is_a_value_like_any_other():
    values, labels, fold = table_of({0: (3, 1), 1: (1, 3)})
    holes = np.where(values == 0, np.nan, values)
    assert single_column(holes, labels, fold_of_row=fold, beta=0.25) == (
        0.25,
        pytest.approx(1 / 3),
    )


def test_values_that_are_never_seen_again_tell_nothing():
    """600 names, one each: what chance put into a cell is not counted. 5 standard errors: .1."""
    random = np.random.default_rng(0)
    labels = random.random(600) < 0.5
    error, _ = single_column(np.arange(600.0), labels, fold_of_row=folds_of(600), beta=0.5)
    assert error == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("d", [0.5, 1.5])
def test_a_number_of_two_gaussians_has_its_closed_form(d):
    """Cells cost a little: within .02 of Phi(-d/2), and .05 of the floor, at 40,000 rows."""
    random = np.random.default_rng(1)
    labels = np.arange(40_000) % 2 == 0
    values = random.normal(size=40_000) + d * labels
    error, floor = single_column(
        values, labels, fold_of_row=random.integers(0, 5, 40_000), beta=0.3
    )
    assert error == pytest.approx(norm.cdf(-d / 2), abs=0.02)
    assert floor == pytest.approx(0.3 / norm.cdf(d + norm.ppf(0.3)), abs=0.05)


def test_a_number_that_tells_by_its_middle_is_found():
    # No cut of the value does it, but cells do.
    random = np.random.default_rng(2)
    values = random.normal(size=4000)
    labels = np.abs(values) < norm.ppf(0.75)
    assert (
        single_column(values, labels, fold_of_row=random.integers(0, 5, 4000), beta=0.5)[0] < 0.05
    )


def test_noise_is_near_a_half():
    """A standard error at 2,000 rows a group is .008."""
    random = np.random.default_rng(3)
    labels = np.arange(4000) % 2 == 0
    error, floor = single_column(
        random.normal(size=4000), labels, fold_of_row=folds_of(4000, 5), beta=0.5
    )
    assert error == pytest.approx(0.5, abs=0.04)
    assert floor > 0.85


def test_a_constant_is_a_half():
    assert single_column(np.ones(40), np.arange(40) < 20, fold_of_row=folds_of(40), beta=0.5) == (
        0.5,
        1,
    )


def test_loss_is_large_for_the_column_that_tells_and_none_for_noise():
    random = np.random.default_rng(4)
    labels = np.arange(600) % 2 == 0
    values = np.column_stack([random.normal(size=600) + 3 * labels, random.normal(size=600)])
    telling, noise = losses(
        panel(["logistic"], [False] * 2, random_state=0)["logistic"],
        values,
        is_reference=labels,
        sources=np.arange(2),
        random_state=0,
    )
    assert telling > 0.3
    assert abs(noise) < 0.03


def test_loss_is_small_where_another_column_says_the_same():
    random = np.random.default_rng(5)
    labels = np.arange(600) % 2 == 0
    values = random.normal(size=600) + 3 * labels
    twice = np.column_stack([values, values])
    lost = list(
        losses(
            panel(["logistic"], [False] * 2, random_state=0)["logistic"],
            twice,
            is_reference=labels,
            sources=np.arange(2),
            random_state=0,
        )
    )
    assert np.abs(lost).max() < 0.01


@pytest.fixture(scope="module")
def copied():
    """Return a certificate of a table in which one column is the protected one by another name."""
    random = np.random.default_rng(6)
    groups = np.where(np.arange(300) % 2 == 0, "a", "b")
    table = pd.DataFrame(
        {
            "noise": random.normal(size=300),
            "weak": random.normal(size=300) + (groups == "a"),
            "copy": np.where(groups == "a", "m", "f"),
            "g": groups,
        }
    )
    return certify(table, auditors=["logistic", "naive-bayes"])


def test_a_copy_of_the_protected_column_is_first(copied):
    assert [leak.feature for leak in copied.leaks] == ["copy", "weak", "noise"]


def test_a_copy_of_the_protected_column_has_no_error(copied):
    assert copied.leaks[0].balanced_error_rate == 0
    assert copied.leaks[0].impact_floor == pytest.approx(0.5)


def test_a_copy_of_the_protected_column_is_named_in_the_notes(copied):
    assert any("'copy' alone predicts the protected attribute" in note for note in copied.notes)


def test_a_copy_of_the_protected_column_is_not_certified(copied):
    assert copied.verdict == "not certified"


def test_noise_beside_a_copy_is_near_a_half(copied):
    assert copied.leaks[-1].balanced_error_rate == pytest.approx(0.5, abs=0.15)


def test_no_note_names_a_column_that_errs():
    random = np.random.default_rng(7)
    table = pd.DataFrame({"x": random.normal(size=200), "g": ["a", "b"] * 100})
    found = certify(table, auditors=["naive-bayes"])
    assert not any("without error" in note for note in found.notes)


def test_redlining_a_zip_code_is_ranked_first():
    """Eight in ten live where their group lives: BER .2; income differs by .3 deviations: .44."""
    random = np.random.default_rng(8)
    n = 2000
    group = np.arange(n) % 2 == 0
    moved = random.random(n) < 0.2
    north = group ^ moved
    zips = np.where(north, random.choice(["60601", "60602", "60603"], n), "60621")
    table = pd.DataFrame(
        {
            "income": random.normal(size=n) + 0.3 * group,
            "years": random.integers(0, 20, n),
            "zip": "z" + pd.Series(zips),
            "g": np.where(group, "a", "b"),
        }
    )
    first = certify(table, auditors=["logistic"]).leaks[0]
    assert (first.feature, first.kind) == ("zip", "category")
    assert first.balanced_error_rate == pytest.approx(0.2, abs=0.04)
    assert first.loss > 0.15


def test_every_feature_is_ranked_and_the_ranking_rises():
    random = np.random.default_rng(9)
    labels = np.arange(400) % 2 == 0
    columns = {f"x{k}": random.normal(size=400) + k * labels / 2 for k in range(5)}
    table = pd.DataFrame(columns | {"g": np.where(labels, "a", "b")})
    leaks = certify(table, auditors=["naive-bayes"]).leaks
    assert {leak.feature for leak in leaks} == set(columns)
    assert np.all(np.diff([leak.balanced_error_rate for leak in leaks]) >= 0)
    assert leaks[0].feature == "x4"


def test_a_cell_is_a_value_or_a_quantile_and_missing_is_cell_0():
    assert cells_of(np.array([5.0, np.nan, 2.0, 5.0])).tolist() == [2, 0, 1, 2]
    cells = cells_of(np.arange(1000.0))
    assert np.all(np.diff(cells) >= 0)
    sizes = np.bincount(cells)[1:]
    assert sizes.max() - sizes.min() <= 1


def test_a_lighter_auditor_has_one_candidate_and_few_trees():
    auditors = panel(["svm", "trees"], [False], random_state=7)
    (machine,) = lighter_auditor(auditors["svm"]).candidates
    (trees,) = lighter_auditor(auditors["trees"]).candidates
    assert pytest.approx(1.0) == machine.C  # the middle of 13 penalties from .001 to 1,000
    assert trees.max_iter == LOSS_TREES
    assert lighter_auditor(auditors["svm"]).random_state == 7


def test_codes_that_tell_the_group_are_a_leak_even_as_numbers():
    # 600 codes of five rows each: their quantiles say nothing, the single values everything.
    random = np.random.default_rng(20)
    codes = np.repeat(np.arange(600), 5)
    of_group = random.random(600) < 0.5
    error, _ = single_column(
        codes.astype(float), of_group[codes], fold_of_row=np.arange(3000) % 5, beta=0.5
    )
    assert error < 0.05


def test_a_column_is_left_out_together_with_its_details():
    random = np.random.default_rng(21)
    digits = random.integers(0, 10, 800)
    labels = digits >= 5
    # The column is noise for trees; its detail, in the second place, tells the group.
    values = np.column_stack([random.normal(size=800), digits + 1.0])
    (loss,) = losses(
        panel(["details"], [False], random_state=0)["details"],
        values,
        is_reference=labels,
        sources=np.array([0, 0]),
        random_state=0,
    )
    assert loss > 0.4
