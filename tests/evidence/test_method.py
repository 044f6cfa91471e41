"""Method and limits: of what was made, and of nothing else."""

from __future__ import annotations

from counted import aggregated, measure

import fourfifths
from fourfifths._evidence.evidence import Evidence
from fourfifths._evidence.method import (
    CLOSING_LIMIT,
    LIMITS,
    METHOD,
    STRATA_METHOD,
    UNKNOWN_METHOD,
    WEIGHTED_METHOD,
    limits_of,
    method_of,
)


def test_only_what_was_made_is_explained():
    evidence = Evidence(impact=measure({"A": (3, 5), "B": (6, 8)}))
    assert method_of(evidence) == METHOD
    assert limits_of(evidence) == (*LIMITS, CLOSING_LIMIT)
    assert not {UNKNOWN_METHOD, STRATA_METHOD} & set(method_of(evidence))


def test_sampling_weights_are_explained_and_counts_need_no_explanation():
    table = aggregated({"A": (3, 5), "B": (6, 8)})
    options = {"protected": "group", "outcome": "hired", "weights": "count"}
    sampled = Evidence(impact=fourfifths.impact(table, weights_are="sampling", **options))
    counted = Evidence(impact=fourfifths.impact(table, weights_are="counts", **options))
    assert WEIGHTED_METHOD in method_of(sampled)
    assert WEIGHTED_METHOD not in method_of(counted)
