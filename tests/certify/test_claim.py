"""What a certificate claims, and what may be required of it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fourfifths._certify.claim import check_requirements, unmet_requirements
from fourfifths._certify.verification import Claim
from fourfifths.errors import OptionError

CLAIM = Claim(
    verdict="not certified",
    threshold=0.8,
    confidence=0.95,
    beta=0.52,
    auditors=("logistic", "naive-bayes"),
    auditors_not_asked=("svm", "trees", "forest", "details"),
    features=("score",),
    columns_not_audited=(),
    protected=("group",),
    outcome="hired",
    favorable="yes",
    unknown=(),
    rows_audited=800,
    rows_of_known_group=800,
    rows_in_table=810,
    same_file=None,
)


@pytest.mark.parametrize(
    ("require", "unmet"),
    [
        ({}, None),
        ({"threshold": 0.8, "confidence": 0.95}, None),
        ({"threshold": 0.81}, "threshold is 0.8, but at least 0.81 is required"),
        ({"confidence": 0.99}, "confidence is 0.95, but at least 0.99 is required"),
        ({"beta": 0.6}, None),
        ({"beta": 0.1}, "beta is 0.52, but at most 0.1 is required"),
        ({"auditors": ["logistic"]}, None),
        (
            {"auditors": "all"},
            "auditors: 'svm', 'trees', 'forest', 'details' required, but not asked",
        ),
        ({"auditors": ["trees"]}, "auditors: 'trees' required, but not asked"),
        ({"features": "all"}, None),
        ({"features": ["score", "note"]}, "features: 'note' required, but not audited"),
        ({"rows": "all"}, None),
        ({"rows": 801}, "rows: 800 were audited, but 801 are required"),
        ({"verdict": "certified"}, "verdict is not certified, but certified is required"),
        ({"file": "same"}, "file: the same bytes are required, but they differ or are not known"),
    ],
)
def test_requirements_by_hand(require, unmet):
    check_requirements(require)
    assert unmet_requirements(require, CLAIM) == (() if unmet is None else (unmet,))


@pytest.mark.parametrize(
    ("require", "match"),
    [
        ({"treshold": 0.8}, "'treshold' cannot be required; did you mean 'threshold'?"),
        ({"threshold": "high"}, "threshold='high': expected a number above 0 and up to 1"),
        ({"threshold": True}, "threshold=True: expected a number"),
        ({"threshold": float("nan")}, "threshold=nan: expected a number"),
        ({"auditors": ["trees", "magic"]}, "expected 'all', or a list of logistic"),
        ({"auditors": []}, "expected 'all', or a list of logistic"),
        ({"rows": 0}, "rows=0: expected 'all', or a number of rows"),
        ({"verdict": "inconclusive"}, "verdict='inconclusive': expected 'certified'"),
        ({"file": "other"}, "file='other': expected 'same'"),
    ],
)
def test_what_cannot_be_required_is_an_error(require, match):
    with pytest.raises(OptionError, match=re.escape(match)):
        check_requirements(require)


def test_all_rows_are_those_of_known_group():
    sample = replace(CLAIM, rows_audited=700)
    assert sample.is_sample
    assert not CLAIM.is_sample
    assert unmet_requirements({"rows": "all"}, sample) == (
        "rows: 700 were audited, but 800 are required",
    )


def test_all_features_are_all_columns_without_another_role():
    narrow = replace(CLAIM, columns_not_audited=("zip", "age"))
    assert unmet_requirements({"features": "all"}, narrow) == (
        "features: 'zip', 'age' required, but not audited",
    )


@pytest.mark.parametrize(("same_file", "is_met"), [(True, True), (False, False), (None, False)])
def test_the_same_file_is_one_whose_hash_is_known(same_file, is_met):
    claim = replace(CLAIM, same_file=same_file)
    assert (unmet_requirements({"file": "same"}, claim) == ()) == is_met
