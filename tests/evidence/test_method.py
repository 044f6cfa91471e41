"""Method and limits: of what was made, and of nothing else."""

from __future__ import annotations

from counted import measure

from fourfifths._evidence.evidence import Evidence
from fourfifths._evidence.method import (
    CLOSING_LIMIT,
    LIMITS,
    METHOD,
    STRATA_METHOD,
    UNKNOWN_METHOD,
    limits_of,
    method_of,
)


def test_only_what_was_made_is_explained():
    evidence = Evidence(impact=measure({"A": (3, 5), "B": (6, 8)}))
    assert method_of(evidence) == METHOD
    assert limits_of(evidence) == (*LIMITS, CLOSING_LIMIT)
    assert not {UNKNOWN_METHOD, STRATA_METHOD} & set(method_of(evidence))
