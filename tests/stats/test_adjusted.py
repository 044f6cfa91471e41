from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.special import expit
from statsmodels.discrete.discrete_model import Logit
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from fourfifths._stats.adjusted import adjusted_rates, fit_logistic


def people(seed=0, rows=600, effect=-0.7):
    """Return the group (1 is the reference), two controls, and whether each was selected."""
    generator = np.random.default_rng(seed)
    groups = generator.integers(0, 2, rows)
    number = generator.normal(size=rows) + 0.5 * groups
    category = (generator.random(rows) < 0.3 + 0.3 * groups).astype(float)
    chances = expit(-0.3 + effect * (groups == 0) + 0.8 * number - 0.5 * category)
    selected = (generator.random(rows) < chances).astype(float)
    return groups, np.column_stack([number, category]), selected


def compare(groups, controls, selected, n=None, **options):
    return adjusted_rates(
        groups,
        controls,
        selected=selected,
        n=np.ones(selected.size) if n is None else n,
        **{"reference": 1} | options,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_fit_and_its_margins_agree_with_statsmodels(seed):
    groups, controls, selected = people(seed)
    design = np.column_stack([np.ones(groups.size), groups == 0, controls]).astype(float)
    expected = Logit(selected, design).fit(disp=0, tol=1e-12)
    result = compare(groups, controls, selected)
    assert result.fit.coefficients == pytest.approx(expected.params)
    assert result.fit.covariance == pytest.approx(expected.cov_params(), rel=1e-6)
    assert result.p[0] == pytest.approx(expected.pvalues[1])
    assert np.log(result.odds_ratio_interval[0]) == pytest.approx(expected.conf_int()[1])
    effects = expected.get_margeff(dummy=True)
    assert result.difference[0] == pytest.approx(effects.margeff[0])
    assert result.difference_interval[0] == pytest.approx(effects.conf_int()[0], rel=1e-5)


def test_persons_may_be_counted():
    groups, controls, selected = people()
    cells = np.column_stack([groups, controls.round(0), selected])
    distinct, persons = np.unique(cells, axis=0, return_counts=True)
    counted = compare(
        distinct[:, 0].astype(int), distinct[:, 1:3], persons * distinct[:, 3], persons * 1.0
    )
    single = compare(groups, controls.round(0), selected)
    assert counted.ratio_interval[0] == pytest.approx(single.ratio_interval[0])


def test_standardised_by_hand():
    # An odds ratio of 1/2 at both values of the control, so that the fitted rates are those of the
    # table: 1/3 and 1/2 of 30 and 40, 1/2 and 2/3 of 60 and 30. The control has 70 and 90 rows.
    groups, control = np.array([0, 1, 0, 1]), np.array([[0.0], [0.0], [1.0], [1.0]])
    n, selected = np.array([30.0, 40.0, 60.0, 30.0]), np.array([10.0, 20.0, 30.0, 20.0])
    result = compare(groups, control, selected, n)
    group, reference = (70 / 3 + 90 / 2) / 160, (70 / 2 + 90 * 2 / 3) / 160
    assert result.rate == pytest.approx([group, reference])
    assert result.ratio[0] == pytest.approx(group / reference)
    assert result.difference[0] == pytest.approx(group - reference)
    assert result.odds_ratio[0] == pytest.approx(0.5)


def test_without_controls_the_intervals_are_those_of_two_rates():
    result = compare(
        np.array([0, 1]), np.empty((2, 0)), np.array([30.0, 50.0]), np.array([100.0, 140.0])
    )
    p, q, z = 30 / 100, 50 / 140, 1.959963984540054
    log_distance = z * sqrt(1 / 30 - 1 / 100 + 1 / 50 - 1 / 140)
    assert np.log(result.ratio_interval[0]) == pytest.approx(
        [np.log(p / q) - log_distance, np.log(p / q) + log_distance]
    )
    distance = z * sqrt(p * (1 - p) / 100 + q * (1 - q) / 140)
    assert result.difference_interval[0] == pytest.approx([p - q - distance, p - q + distance])


def test_the_reference_is_compared_with_no_one():
    result = compare(*people())
    compared = (result.ratio, result.difference, result.odds_ratio, result.p)
    assert all(np.isnan(figure[1]) for figure in compared)
    assert np.isnan(result.ratio_interval[1]).all()
    assert not np.isnan(result.rate_interval).any()


def test_what_the_control_is_measured_in_does_not_matter():
    groups, controls, selected = people()
    result = compare(groups, controls, selected)
    other = compare(groups, controls * [3.0, -1.0] + [50.0, 1.0], selected)
    assert other.ratio_interval[0] == pytest.approx(result.ratio_interval[0], rel=1e-6)


def test_a_column_that_follows_from_others_is_named():
    groups, controls, selected = people()
    twice = np.column_stack([controls, controls[:, 0] + 2 * (groups == 0)])
    fit = compare(groups, twice, selected).fit
    assert (fit.problem, fit.column) == ("collinear", 4)


@pytest.mark.parametrize("is_partly", [False, True])
def test_separation_is_noticed_and_gives_no_numbers(is_partly):
    groups, controls, selected = people()
    # Everyone with a high number was selected, and no one else; or only the first.
    high = controls[:, 0] > 1
    selected = np.where(high, 1.0, selected if is_partly else 0.0)
    result = compare(groups, np.column_stack([high, controls[:, 1]]).astype(float), selected)
    assert (result.fit.problem, result.fit.column) == ("separated", 2)
    assert np.isnan(result.ratio).all()


@pytest.mark.parametrize("is_separated", [True, False])
def test_one_exception_among_many_rows_ends_a_separation(is_separated):
    # A hundred with the rare value were selected, all or all but one, among a million.
    groups, rare = np.array([0, 1, 0, 1]), np.array([[0.0], [0.0], [1.0], [1.0]])
    n = np.array([5e5, 5e5, 50.0, 50.0])
    selected = np.array([1e5, 2e5, 50.0 - (not is_separated), 50.0])
    fit = compare(groups, rare, selected, n).fit
    assert fit.problem == ("separated" if is_separated else "none")


def test_separation_by_a_sum_of_numbers_is_noticed():
    generator = np.random.default_rng(2)
    numbers = generator.normal(size=(300, 3))
    selected = (numbers.sum(axis=1) > 0.2).astype(float)
    fit = compare(generator.integers(0, 2, 300), numbers, selected).fit
    assert fit.problem == "separated"
    selected[np.argmax(np.abs(numbers.sum(axis=1)))] = (
        1 - selected[np.argmax(np.abs(numbers.sum(axis=1)))]
    )
    assert compare(generator.integers(0, 2, 300), numbers, selected).fit.problem == "none"


def test_a_steep_but_finite_fit_is_found():
    x = np.array([0.0, 1, 2, 3, 4, 5, 6, 7])
    n = np.array([1e6, 1e6, 1e6, 1, 1, 1e6, 1e6, 1e6])
    selected = np.array([0, 0, 1, 0, 1, 1e6 - 1, 1e6, 1e6])
    design = np.column_stack([np.ones(8), x - 3.5])
    fit = fit_logistic(design, selected=selected, n=n)
    expected = GLM(np.column_stack([selected, n - selected]), design, family=Binomial()).fit(
        tol=1e-12, maxiter=200
    )
    assert fit.problem == "none"
    assert fit.coefficients == pytest.approx(expected.params, rel=1e-6, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [150, 600])
def test_the_intervals_cover(rows):
    """95% intervals cover the truth in about 95% of 2,000 draws of the outcome."""
    groups, controls, _ = people(3, rows)
    from_controls = -0.3 + 0.8 * controls[:, 0] - 0.5 * controls[:, 1]
    chances = expit(from_controls - 0.7 * (groups == 0))
    rate, reference = expit(from_controls - 0.7).mean(), expit(from_controls).mean()
    generator, trials = np.random.default_rng(4), 2000
    covered = np.zeros(4)
    for _ in range(trials):
        selected = (generator.random(rows) < chances).astype(float)
        result = compare(groups, controls, selected)
        intervals = (
            (result.rate_interval[0], rate),
            (result.difference_interval[0], rate - reference),
            (result.ratio_interval[0], rate / reference),
            (result.odds_ratio_interval[0], np.exp(-0.7)),
        )
        covered += [low <= truth <= high for (low, high), truth in intervals]
    # Three standard errors, and a point for what the delta method lacks at 150 rows.
    assert covered / trials == pytest.approx(0.95, abs=3 * sqrt(0.95 * 0.05 / trials) + 0.01)
