"""The formulas of the paper's section 4, the interval of the BER, and its Bayesian form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from fourfifths._stats.balanced_error import Errors, ber_threshold, impact_bound, posterior
from fourfifths.errors import OptionError


def believe(errors, beta=0.3, threshold=0.8, confidence=0.95):
    return posterior(errors, beta, threshold=threshold, confidence=confidence)


def test_ber_threshold_at_three_tenths():
    assert ber_threshold(0.3) == pytest.approx(0.4625, abs=1e-15)


def test_ber_threshold_is_half_minus_an_eighth_of_beta_at_four_fifths():
    beta = np.linspace(0.01, 1, 100)
    np.testing.assert_allclose(ber_threshold(beta), 0.5 - beta / 8, rtol=1e-14)


def test_ber_threshold_at_another_threshold():
    assert ber_threshold(0.5, 0.5) == pytest.approx(0.25, abs=1e-15)


def test_a_rule_at_the_threshold_has_a_ber_at_its_threshold():
    group, reference = 0.48, 0.60
    assert group / reference == pytest.approx(0.8)
    # Taking the selected for the reference errs on .48 of the group and .40 of the reference.
    assert (group + 1 - reference) / 2 == pytest.approx(0.44)
    assert ber_threshold(0.48) == pytest.approx(0.44, abs=1e-15)


def test_impact_bound_at_the_threshold():
    assert impact_bound(0.44, 0.48) == pytest.approx(0.8, abs=1e-15)


def test_impact_bound_of_guessing_is_one():
    assert impact_bound(0.5, 0.3) == 1


def test_impact_bound_of_worse_than_guessing_is_one():
    assert impact_bound(0.6, 0.3) == 1


def test_impact_bound_of_a_perfect_predictor():
    # Everyone of the reference may be selected, and one more than that is not possible.
    assert impact_bound(0.0, 0.25) == pytest.approx(0.25 / 1.25)


def test_impact_bound_undoes_ber_threshold():
    beta = np.linspace(0.05, 1, 20)[:, None]
    threshold = np.linspace(0.5, 0.95, 10)
    np.testing.assert_allclose(
        impact_bound(ber_threshold(beta, threshold), beta), np.broadcast_to(threshold, (20, 10))
    )


@pytest.mark.parametrize("beta", [0, 1.001, 2, -0.1, [0.3, 5]], ids=str)
def test_a_selection_rate_is_above_0_and_1_at_most(beta):
    with pytest.raises(OptionError, match=r"beta=.*: expected selection rates from above 0 to 1"):
        impact_bound(0.3, beta)


@pytest.mark.parametrize("beta", [1.001, 2, -0.1, [0.3, 5]], ids=str)
def test_a_ber_threshold_takes_selection_rates_from_0_to_1(beta):
    with pytest.raises(OptionError, match=r"beta=.*: expected selection rates from 0 to 1"):
        ber_threshold(beta)
    assert ber_threshold(0) == 0.5


@pytest.mark.parametrize("threshold", [0, 1, 1.25])
def test_the_threshold_of_a_ber_is_between_0_and_1(threshold):
    with pytest.raises(OptionError, match=r"threshold=.*: expected a number between 0 and 1"):
        ber_threshold(0.3, threshold)


def test_balanced_error_rate_is_the_mean_of_the_two_rates():
    # 1 of 10 and 30 of 100: (.1 + .3) / 2, whatever the sizes.
    assert Errors(
        wrong=1, n=10, wrong_reference=30, n_reference=100
    ).balanced_error_rate == pytest.approx(0.2)


@pytest.mark.parametrize("wrong", [(0, 0), (0, 7), (3, 7), (10, 20), (5, 10)])
def test_interval_contains_the_balanced_error_rate(wrong):
    errors = Errors(wrong=wrong[0], n=10, wrong_reference=wrong[1], n_reference=20)
    low, high = errors.interval(0.95)
    assert 0 <= low <= errors.balanced_error_rate <= high <= 1


def test_interval_widens_with_confidence():
    errors = Errors(wrong=30, n=100, wrong_reference=40, n_reference=120)
    narrow, wide = errors.interval(0.8), errors.interval(0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_interval_of_no_errors_starts_at_zero_and_reaches_the_exact_limits():
    low, high = Errors(wrong=0, n=10, wrong_reference=0, n_reference=10).interval(0.95)
    limit = 1 - 0.025**0.1  # at which no error in 10 has probability .025
    assert (low, high) == (0, pytest.approx(np.sqrt(2) * limit / 2))


def test_interval_is_close_to_the_normal_one_for_many_rows():
    low, high = Errors(
        wrong=30_000, n=100_000, wrong_reference=40_000, n_reference=100_000
    ).interval(0.95)
    half = 1.959964 * np.sqrt(0.3 * 0.7 / 100_000 + 0.4 * 0.6 / 100_000) / 2
    assert high - low == pytest.approx(2 * half, rel=0.01)


def coverages(n, n_reference, rates, confidence=0.95):
    """Return the coverage at each pair of true error rates, by summing over all outcomes."""
    x, y = np.arange(n + 1), np.arange(n_reference + 1)
    limits = [
        [
            Errors(wrong=i, n=n, wrong_reference=j, n_reference=n_reference).interval(confidence)
            for j in y
        ]
        for i in x
    ]
    low, high = np.moveaxis(np.array(limits), -1, 0)
    found = []
    for p in rates:
        for q in rates:
            weight = np.outer(stats.binom.pmf(x, n, p), stats.binom.pmf(y, n_reference, q))
            true = (p + q) / 2
            found.append(weight[(low <= true + 1e-12) & (true <= high + 1e-12)].sum())
    return np.array(found)


@pytest.mark.parametrize(("n", "n_reference"), [(20, 20), (6, 30), (30, 30)])
def test_interval_covers_as_stated_unless_nearly_no_one_is_mistaken(n, n_reference):
    """At any pair of error rates from .1 to .9. Summed, not simulated: the test has no error."""
    assert coverages(n, n_reference, np.linspace(0.1, 0.9, 33)).min() >= 0.95


@pytest.mark.parametrize(("n", "n_reference"), [(5, 5), (8, 12), (10, 10), (30, 30)])
def test_interval_covers_nearly_as_stated_everywhere(n, n_reference):
    """At least 92% at any pair of rates, and 95% on average over them. Exact, as above."""
    found = coverages(n, n_reference, np.linspace(0.01, 0.99, 30))
    assert found.min() >= 0.92
    assert found.mean() >= 0.95


def test_posterior_mean_of_the_ber_is_that_of_two_betas():
    found = believe(Errors(wrong=30, n=100, wrong_reference=45, n_reference=120))
    first, second = stats.beta(30.5, 70.5), stats.beta(45.5, 75.5)
    assert found.balanced_error_rate == pytest.approx((first.mean() + second.mean()) / 2)


@pytest.mark.parametrize("n", [100, 1_000_000])
def test_posterior_interval_of_the_ber_has_the_quantiles_of_two_betas(n):
    """One group may have many more rows than the other."""
    low, high = believe(
        Errors(wrong=30, n=100, wrong_reference=45 * n // 100, n_reference=n), confidence=0.9
    ).balanced_error_rate_interval
    first, second = stats.beta(30.5, 70.5), stats.beta(45 * n // 100 + 0.5, n * 55 // 100 + 0.5)

    def below(ber):
        return integrate.quad(lambda p: second.cdf(2 * ber - p) * first.pdf(p), 0, 1, limit=500)[0]

    assert below(low) == pytest.approx(0.05, abs=1e-5)
    assert below(high) == pytest.approx(0.95, abs=1e-5)


def test_posterior_probability_is_that_of_a_ber_under_its_threshold():
    found = believe(Errors(wrong=45, n=100, wrong_reference=50, n_reference=110), beta=0.3)
    first, second = stats.beta(45.5, 55.5), stats.beta(50.5, 60.5)
    expected = integrate.quad(lambda p: first.pdf(p) * second.cdf(2 * 0.4625 - p), 0, 1)[0]
    assert found.probability_below == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("errors", "beta"),
    [((45, 100, 50, 110), 0.3), ((45, 100, 50, 110), (3, 10)), ((9, 20, 4000, 9000), (1, 5))],
)
def test_posterior_of_the_bound_agrees_with_a_simulation(errors, beta):
    wrong, n, wrong_reference, n_reference = errors
    found = believe(
        Errors(wrong=wrong, n=n, wrong_reference=wrong_reference, n_reference=n_reference), beta
    )
    random, draws = np.random.default_rng(0), 1_000_000

    def draw(successes, n):
        return random.beta(successes + 0.5, n - successes + 0.5, draws)

    ber = (draw(wrong, n) + draw(wrong_reference, n_reference)) / 2
    bound = impact_bound(ber, draw(*beta) if isinstance(beta, tuple) else beta)
    # Five standard errors of a simulated mean and of a simulated probability.
    assert found.impact_bound == pytest.approx(bound.mean(), abs=5 * bound.std() / draws**0.5)
    for limit, level in zip(found.impact_bound_interval, (0.025, 0.975), strict=True):
        if limit < 1 - 1e-6:
            assert np.mean(bound < limit) == pytest.approx(level, abs=5 * (level / draws) ** 0.5)
    assert found.probability_below == pytest.approx(np.mean(bound < 0.8), abs=0.0025)


def test_posterior_of_few_rows_is_close_to_a_simulation():
    """Of five rows a posterior has its mode at an end, where points are coarse."""
    found = believe(Errors(wrong=0, n=5, wrong_reference=5, n_reference=5))
    random = np.random.default_rng(0)
    ber = (random.beta(0.5, 5.5, 1_000_000) + random.beta(5.5, 0.5, 1_000_000)) / 2
    np.testing.assert_allclose(
        found.balanced_error_rate_interval, np.quantile(ber, [0.025, 0.975]), atol=0.005
    )
    assert found.impact_bound == pytest.approx(impact_bound(ber, 0.3).mean(), abs=0.001)


def test_posterior_of_beta_from_counts_is_wider_than_of_a_known_beta():
    errors = Errors(wrong=40, n=100, wrong_reference=40, n_reference=100)
    known = believe(errors, beta=0.3).impact_bound_interval
    counted = believe(errors, beta=(3, 10)).impact_bound_interval
    assert counted[1] - counted[0] > known[1] - known[0]


def test_posterior_of_the_bound_tends_to_the_formula():
    found = believe(
        Errors(wrong=440_000, n=1_000_000, wrong_reference=440_000, n_reference=1_000_000),
        beta=(480_000, 1_000_000),
    )
    assert found.impact_bound == pytest.approx(0.8, abs=0.001)


def test_posterior_rises_with_the_errors():
    found = [
        believe(Errors(wrong=wrong, n=100, wrong_reference=45, n_reference=100))
        for wrong in range(5, 60, 5)
    ]
    assert np.all(np.diff([each.balanced_error_rate for each in found]) > 0)
    assert np.all(np.diff([each.impact_bound for each in found]) > 0)
    assert np.all(np.diff([each.probability_below for each in found]) <= 0)


def test_posterior_narrows_with_rows():
    few, many = (
        believe(Errors(wrong=40, n=100, wrong_reference=40, n_reference=100)),
        believe(Errors(wrong=4000, n=10_000, wrong_reference=4000, n_reference=10_000)),
    )
    for field in ("balanced_error_rate_interval", "impact_bound_interval"):
        (low, high), (lower, higher) = getattr(many, field), getattr(few, field)
        assert lower < low < high < higher
