"""A group's number among the selected against its share of a population."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest, norm

import fourfifths
from fourfifths.errors import OptionError


def test_castaneda():
    castaneda = fourfifths.against_share(339, 870, share=0.791)
    assert castaneda.expected == pytest.approx(688.17, abs=0.005)
    assert castaneda.standard_deviations == pytest.approx(-29.11, abs=0.005)
    assert castaneda.shortfall == pytest.approx(349.17, abs=0.005)
    assert castaneda.p == pytest.approx(binomtest(339, 870, 0.791).pvalue)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.1, float("nan")])
def test_a_share_is_between_0_and_1(share):
    with pytest.raises(OptionError, match=r"share=.*expected a share between 0 and 1"):
        fourfifths.against_share(1, 2, share=share)


@pytest.mark.parametrize(("observed", "n"), [(3, 2), (-1, 2), (0, 0)])
def test_observed_is_part_of_n(observed, n):
    with pytest.raises(OptionError, match=r"expected 0 <= observed <= n"):
        fourfifths.against_share(observed, n, share=0.5)


def test_the_page_says_what_was_compared():
    text = str(fourfifths.against_share(339, 870, share=0.791))
    assert "339 of the 870 selected are of the group, 39.0%" in text
    assert "-29.11 standard deviations (binomial)" in text


@pytest.mark.parametrize(
    ("observed", "n", "share"),
    [(0, 1, 0.5), (1, 1, 0.3), (0, 30, 0.1), (30, 30, 0.9), (5, 10, 0.5), (40, 1000, 0.05)],
)
def test_the_binomial_p_agrees_with_scipy(observed, n, share):
    expected = binomtest(observed, n, share).pvalue
    assert fourfifths.against_share(observed, n, share=share).p == pytest.approx(expected)


def test_the_binomial_test_answers_for_ten_million_rows():
    found = fourfifths.against_share(5_003_000, 10_000_000, share=0.5)
    assert found.p == pytest.approx(2 * norm.sf(6_000 / 10_000_000**0.5), rel=0.01)
