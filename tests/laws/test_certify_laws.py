"""What must hold of a certificate whatever the scores are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourfifths._certify.auditors import OutOfFold, best_cut
from fourfifths._certify.evidence import paper_verdict, verdict_of, weigh
from fourfifths._certify.plan import Beta
from fourfifths._stats.balanced_error import Errors, ber_threshold, impact_bound
from fourfifths._stats.roc import hull

BETAS = np.linspace(0.01, 1, 34)


@st.composite
def scored(draw, largest=25):
    """Scores with ties, at least one row in each group."""
    score = st.integers(-6, 6)
    group = draw(st.lists(score, min_size=1, max_size=largest))
    reference = draw(st.lists(score, min_size=1, max_size=largest))
    return np.array(group + reference, dtype=float), np.arange(len(group + reference)) >= len(group)


def rules(scores, is_reference):
    """Return the rates on the group and on the reference of every threshold rule."""
    cuts = np.append(np.unique(scores), np.inf)
    above = scores >= cuts[:, None]
    return above[:, ~is_reference].mean(1), above[:, is_reference].mean(1)


@given(scored())
def test_hull_runs_from_corner_to_corner_and_rises(data):
    curve = hull(*data)
    assert (curve.group[0], curve.reference[0]) == (0, 0)
    assert (curve.group[-1], curve.reference[-1]) == (pytest.approx(1), pytest.approx(1))
    assert np.all(np.diff(curve.group) >= 0)
    assert np.all(np.diff(curve.reference) >= 0)


@given(scored())
def test_hull_is_concave(data):
    curve = hull(*data)
    across, up = np.diff(curve.group), np.diff(curve.reference)
    assert np.all(up[1:] * across[:-1] <= up[:-1] * across[1:] + 1e-12)


@given(scored())
def test_hull_lies_above_every_threshold_rule(data):
    group, reference = rules(*data)
    assert np.all(hull(*data).best_rate(group) >= reference - 1e-12)


@given(scored())
def test_floor_is_never_above_the_ratio_of_a_threshold_rule(data):
    curve = hull(*data)
    for own, other in zip(*rules(*data), strict=True):
        if own > 0 and other > 0:
            floors = curve.floor(BETAS[own >= BETAS])
            assert np.all(floors <= own / other + 1e-12)


@given(scored(), st.floats(0, 1), st.data())
def test_floor_is_never_above_the_ratio_of_a_mixture_of_two_rules(data, share, draw):
    group, reference = rules(*data)
    places = st.integers(0, group.size - 1)
    first, second = draw.draw(places), draw.draw(places)
    own = share * group[first] + (1 - share) * group[second]
    other = share * reference[first] + (1 - share) * reference[second]
    if own > 0.01 and other > 0:
        assert np.all(hull(*data).floor(BETAS[own >= BETAS]) <= own / other + 1e-9)


@given(scored())
def test_floor_is_reached_by_a_rule_or_one(data):
    # At the hull's corners the floor is the ratio of a threshold rule, unless none harms.
    curve = hull(*data)
    for own, other in zip(curve.group, curve.reference, strict=True):
        if own > 0 and own < 1:
            assert curve.floor(own) == pytest.approx(min(own / other, 1) if other else 1)


@given(scored())
def test_floor_rises_with_beta(data):
    assert np.all(np.diff(hull(*data).floor(BETAS)) >= -1e-12)


@given(scored())
def test_floor_is_at_least_the_papers_bound(data):
    curve = hull(*data)
    ber = (1 - np.max(curve.reference - curve.group)) / 2
    assert np.all(curve.floor(BETAS) >= impact_bound(ber, BETAS) - 1e-12)


@given(scored(), st.floats(0.01, 10), st.floats(-5, 5))
def test_a_rising_change_of_the_score_changes_nothing(data, factor, shift):
    scores, labels = data
    np.testing.assert_allclose(
        hull(np.exp(factor * scores / 10) + shift, labels).floor(BETAS),
        hull(scores, labels).floor(BETAS),
    )


@given(scored())
def test_best_cut_has_the_least_balanced_error_of_the_curve(data):
    curve = hull(*data)
    assert best_cut(*data)[1] == pytest.approx((1 - np.max(curve.reference - curve.group)) / 2)


@given(scored(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(data, random):
    order = list(range(data[0].size))
    random.shuffle(order)
    moved = (data[0][order], data[1][order])
    np.testing.assert_allclose(hull(*moved).floor(BETAS), hull(*data).floor(BETAS))
    assert best_cut(*moved) == pytest.approx(best_cut(*data))


@given(st.floats(0.01, 1), st.floats(0.05, 0.99), st.floats(0, 0.5))
def test_bound_is_under_the_threshold_where_the_ber_is_under_its(beta, threshold, ber):
    line = float(ber_threshold(beta, threshold))
    if abs(ber - line) > 1e-9:
        assert (impact_bound(ber, beta) < threshold) == (ber < line)


@given(st.integers(1, 60), st.integers(1, 60), st.data(), st.floats(0.5, 0.999))
def test_interval_of_the_ber_contains_it(n, n_reference, data, confidence):
    wrong = data.draw(st.integers(0, n)), data.draw(st.integers(0, n_reference))
    errors = Errors(wrong=wrong[0], n=n, wrong_reference=wrong[1], n_reference=n_reference)
    low, high = errors.interval(confidence)
    assert 0 <= low <= errors.balanced_error_rate + 1e-12
    assert errors.balanced_error_rate - 1e-12 <= high <= 1


def random_evidence(random, auditors, threshold):
    """Return evidence of auditors with good and bad cuts, and beta with an interval."""
    sizes = random.integers(50, 12_000, 2)
    labels = np.repeat([False, True], sizes)
    rate = random.uniform(0.05, 1)
    beta = Beta(rate=rate, interval=(rate * random.uniform(0.8, 1), rate), counts=None)
    betas = {"group": beta, "reference": beta}
    found = {}
    for name in range(auditors):
        d = random.choice([0.0, 0.02, 0.1, 0.3, 1.0])
        score = random.normal(size=labels.size) + d * labels
        if random.random() < 0.5:
            score = np.round(score, 1)
        # Half of them with the best cut, half with any.
        score -= best_cut(score, labels)[0] if random.random() < 0.5 else random.uniform(-3, 3)
        own = np.sort(score[~labels])
        cut = own[own.size - int(np.ceil(rate * own.size))]
        answer = OutOfFold(score=score, selected={"group": score >= cut, "reference": score <= cut})
        found[str(name)] = weigh(
            answer, labels, betas=betas, threshold=threshold, confidence=0.95, corrected=0.95
        )
    return found, betas


@pytest.mark.slow
@pytest.mark.parametrize("auditors", [1, 3])
def test_the_papers_test_certifies_only_what_the_tight_test_certifies(auditors):
    random = np.random.default_rng(auditors)
    certified = 0
    for _ in range(80):
        threshold = random.choice([0.5, 0.8, 0.9])
        found, betas = random_evidence(random, auditors, threshold)
        if paper_verdict(found, betas, threshold=threshold) == "certified":
            certified += 1
            assert verdict_of(found, threshold, harmed="group") == "certified"
    assert certified >= 8
