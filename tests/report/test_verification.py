"""The page of a certificate that was run again."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fourfifths
from fourfifths._report.document import to_document


@pytest.fixture(scope="module")
def verification():
    certificate = fourfifths.certify("ricci", auditors=["naive-bayes"], folds=3, leaks=False)
    return fourfifths.verify(certificate.to_dict(), "ricci", progress=False)


def text_of(verification):
    document = to_document(verification)
    sentences = [sentence.text for section in document.sections for sentence in section.sentences]
    return " ".join((document.headline, *sentences))


def test_the_claim_is_said_in_full(verification):
    text = text_of(verification)
    assert text.startswith("verified: the same data, the same certificate (inconclusive)")
    assert "at a threshold of 0.8 for the impact ratio, with 0.95 confidence" in text
    assert "Auditors: naive-bayes; not asked: logistic, svm, trees, forest, details." in text
    assert "Rows audited: 118 of 118 in the table; rows of unknown group: 0." in text


def test_a_sample_is_said_to_be_one(verification):
    sample = replace(verification.claim, rows_audited=100)
    text = text_of(replace(verification, claim=sample))
    assert "the data SHA-256 says nothing about the other 18 rows" in text


@pytest.mark.parametrize(
    ("require", "verdict", "is_said"),
    [
        ({"threshold": 0.8}, "inconclusive", True),
        ({"threshold": 0.8}, "not certified", True),
        ({"threshold": 0.8}, "certified", False),
        ({"threshold": 0.8, "verdict": "certified"}, "not certified", False),
        ({}, "not certified", False),
    ],
)
def test_a_verdict_that_was_not_required_is_said(verification, require, verdict, is_said):
    claim = replace(verification.claim, verdict=verdict)
    text = text_of(replace(verification, claim=claim, require=require))
    assert ("No verdict was required, and this one is" in text) == is_said
