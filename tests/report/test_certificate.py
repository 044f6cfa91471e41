"""A certificate as a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

import fourfifths
from fourfifths._report.document import to_document
from fourfifths._report.terminal import document_text


@pytest.fixture(scope="module")
def certificate():
    return fourfifths.certify("ricci", auditors=["logistic", "naive-bayes"], folds=3)


def sheet(certificate, title):
    sheets = [sheet for section in to_document(certificate).sections for sheet in section.sheets]
    return next(sheet for sheet in sheets if sheet.title.startswith(title))


def test_the_verdict_comes_first_and_then_its_grounds(certificate):
    lines = str(certificate).splitlines()
    assert lines[0] == f"{certificate.verdict}: ricci, race, impact ratio 0.8, 118 rows"
    worst = certificate.worst
    assert lines[2].startswith(f"{worst.group} against {worst.reference}: {worst.verdict}, ")


def test_each_pair_has_a_sentence_and_a_row(certificate):
    document = to_document(certificate)
    assert len(document.sections[0].sentences) == len(certificate.pairs) == 3
    assert len(sheet(certificate, "each group against").rows) == 3


def test_a_row_of_an_auditor_holds_its_figures(certificate):
    worst = certificate.worst
    found = sheet(certificate, f"{worst.group} against {worst.reference}")
    auditor = certificate.worst.auditors[0]
    assert found.rows[0][0] == auditor.name
    assert found.rows[0][1] == f"{auditor.balanced_error_rate:.3f}"
    assert found.rows[0][4] == f"{auditor.impact_floor:.3f}"


def test_only_pairs_that_are_not_certified_stand_out(certificate):
    found = sheet(certificate, "each group against")
    verdicts = [pair.verdict for pair in certificate.pairs]
    expected = [index for index, verdict in enumerate(verdicts) if verdict == "not certified"]
    assert list(found.marked) == expected


@pytest.mark.parametrize(
    ("verdict", "tone"), [("certified", "good"), ("not certified", "bad"), ("inconclusive", "open")]
)
def test_the_tone_is_the_verdicts(certificate, verdict, tone):
    assert to_document(replace(certificate, verdict=verdict)).tone == tone


def test_one_pair_needs_no_table_of_pairs(certificate):
    alone = replace(certificate, pairs=certificate.pairs[:1])
    assert "each group against" not in str(alone)


def test_of_many_leaks_ten_are_shown(certificate):
    leak = certificate.leaks[0]
    many = tuple(replace(leak, feature=f"column {index}") for index in range(12))
    text = str(replace(certificate, leaks=many))
    assert "how much each feature reveals (the first 10)" in text
    assert "column 9" in text
    assert "column 10" not in text


def test_a_beta_that_was_given_has_no_limits(certificate):
    worst = replace(certificate.worst, beta=0.25, beta_interval=(0.25, 0.25))
    found = sheet(replace(certificate, pairs=(worst,)), "the two tests")
    assert found.rows[0][1:] == ("0.250", "-")


def test_the_hash_of_the_data_is_noted(certificate):
    assert f"data SHA-256 {certificate.data_sha256}, seed 0" in certificate.to_markdown()


def test_at_80_columns_no_line_is_longer(certificate):
    text = document_text(to_document(certificate), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_records_have_one_row_per_pair_and_auditor(certificate):
    records = certificate.to_records()
    assert len(records) == 3 * 2
    first, auditor = records[0], certificate.worst.auditors[0]
    assert (first["group"], first["auditor"]) == (certificate.worst.group, auditor.name)
    assert first["balanced_error_rate"] == auditor.balanced_error_rate
    assert first["balanced_error_rate_low"] == auditor.interval[0]
    assert first["balanced_error_rate_high"] == auditor.interval[1]
    assert first["impact_floor_low"] == auditor.impact_floor_interval[0]
    assert len(certificate.to_frame("polars")) == 6


def test_the_words_of_a_verdict_are_the_only_ones(certificate):
    text = certificate.to_markdown().lower()
    assert not any(word in text for word in ("fair", "compliant", "unbiased"))
