"""What a verification says of a certificate that was run again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import fourfifths


@pytest.fixture(scope="module")
def verification(tmp_path_factory):
    options = {"auditors": ["naive-bayes"], "folds": 2, "leaks": False}
    path = tmp_path_factory.mktemp("certificates") / "ricci.json"
    path.write_text(fourfifths.certify("ricci", **options).to_json())
    return fourfifths.verify(path, "ricci")


def test_a_certificate_that_is_the_same_and_claims_enough_is_verified(verification):
    assert verification.same_data
    assert verification.same_certificate
    assert verification.is_verified


def test_an_unmet_requirement_or_another_certificate_is_not_verified(verification):
    assert not replace(verification, unmet=("verdict",)).is_verified
    assert not replace(verification, same_certificate=False).is_verified


def test_a_claim_is_of_a_sample_if_rows_of_known_group_were_not_audited(verification):
    claim = verification.claim
    assert not claim.is_sample
    assert replace(claim, rows_audited=claim.rows_of_known_group - 1).is_sample


def test_the_certificate_of_now_is_not_repeated_in_the_json(verification):
    content = json.loads(verification.to_json())
    assert "certificate" not in content
    assert content["claim"]["auditors"] == ["naive-bayes"]
