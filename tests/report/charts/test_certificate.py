"""The charts of a certificate."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fourfifths
from fourfifths._report.charts import to_charts
from fourfifths._report.charts.certificate import floor_chart


@pytest.fixture(scope="module")
def certificate():
    return fourfifths.certify("ricci", auditors=["logistic", "naive-bayes"], folds=3)


def test_the_floor_at_beta_is_the_decisive_auditors(certificate):
    floor, _ = to_charts(certificate)
    pair = certificate.worst
    ((beta, mark),) = floor.marks
    decisive = min(pair.auditors, key=lambda auditor: auditor.impact_floor_interval[1])
    assert (beta, mark.value) == (pair.beta, decisive.impact_floor)
    assert (mark.low, mark.high) == decisive.impact_floor_interval
    assert floor.title.startswith(f"{pair.verdict}: ")
    (curve,) = floor.curves
    assert all(low <= high for low, high in zip(curve.low, curve.y, strict=True))


def test_every_auditor_has_a_mark_with_its_limits(certificate):
    _, auditors = to_charts(certificate)
    pair = certificate.worst
    assert [(mark.label, mark.low, mark.high) for mark in auditors.marks] == [
        (auditor.name, *auditor.interval) for auditor in pair.auditors
    ]
    for mark, auditor in zip(auditors.marks, pair.auditors, strict=True):
        assert (mark.kind == "indicated") == (auditor.interval[1] <= pair.ber_threshold)
    assert "0.5 is guessing" in auditors.title


def test_a_verdict_that_rests_on_harm_to_the_reference_says_so(certificate):
    pair = certificate.worst
    harmless = tuple(
        replace(auditor, impact_floor_interval=(0.7, 0.95)) for auditor in pair.auditors
    )
    changed = replace(pair, verdict="not certified", auditors=harmless)
    title = floor_chart(certificate, changed).title
    assert title.startswith(f"not certified, because of rules that harm {pair.reference}: ")
    assert title.endswith("not shown to be below 0.8")
