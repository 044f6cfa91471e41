"""A certificate as a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fourfifths
from fourfifths._certify.result import AuditorResult, Leak, PairCertificate, Witness
from fourfifths._report.certificate import (
    auditor_sheet,
    comparison_sheet,
    leak_sheet,
    pair_sheet,
)
from fourfifths._report.document import to_document
from fourfifths._report.terminal import document_text
from fourfifths._stats.balanced_error import Posterior
from fourfifths._stats.roc import FloorLimit, Hull


@pytest.fixture(scope="module")
def certificate():
    return fourfifths.certify("ricci", auditors=["logistic", "naive-bayes"], folds=3)


def sheet(certificate, title):
    sheets = [sheet for section in to_document(certificate).sections for sheet in section.sheets]
    return next(sheet for sheet in sheets if sheet.title.startswith(title))


def test_the_verdict_comes_first_and_then_its_grounds(certificate):
    lines = str(certificate).splitlines()
    worst = certificate.worst
    assert lines[0] == (
        f"{certificate.verdict} (rules found by these auditors, beta {worst.beta:.3f}): ricci, "
        "race, threshold 0.8, 118 rows"
    )
    assert lines[2].startswith(f"{worst.group} against {worst.reference}: {worst.verdict}, ")


def test_each_pair_has_a_sentence_and_a_row(certificate):
    document = to_document(certificate)
    assert len(document.sections[0].sentences) == len(certificate.pairs) == 4
    assert len(sheet(certificate, "all pairs of groups").rows) == 4


def test_a_row_of_an_auditor_holds_its_figures(certificate):
    worst = certificate.worst
    found = sheet(certificate, f"{worst.group} against {worst.reference}")
    auditor = certificate.worst.auditors[0]
    assert found.rows[0][0] == auditor.name
    assert found.rows[0][1] == f"{auditor.balanced_error_rate:.3f}"
    assert found.rows[0][4] == f"{auditor.impact_floor:.3f}"


def test_only_pairs_that_are_not_certified_stand_out(certificate):
    found = sheet(certificate, "all pairs of groups")
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
    assert "all pairs of groups" not in str(alone)


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
    assert len(records) == 4 * 2
    first, auditor = records[0], certificate.worst.auditors[0]
    assert (first["group"], first["auditor"]) == (certificate.worst.group, auditor.name)
    assert first["balanced_error_rate"] == auditor.balanced_error_rate
    assert first["balanced_error_rate_low"] == auditor.interval[0]
    assert first["balanced_error_rate_high"] == auditor.interval[1]
    assert first["impact_floor_low"] == auditor.impact_floor_interval[0]
    assert len(certificate.to_frame("polars")) == 8


def test_the_words_of_a_verdict_are_the_only_ones(certificate):
    text = certificate.to_markdown().lower()
    assert not any(word in text for word in ("fair", "compliant", "unbiased"))


def auditor(name, error, floor, floor_interval):
    return AuditorResult(
        name=name,
        balanced_error_rate=error,
        interval=(error - 0.05, error + 0.05),
        impact_bound=0.625,
        impact_floor=floor,
        impact_floor_interval=floor_interval,
        reverse_floor=0.9,
        reverse_floor_interval=(0.85, 0.95),
    )


PAIR = PairCertificate(
    group="B",
    reference="W",
    n=1200,
    n_reference=2400,
    sampling_error=0.01,
    beta=0.25,
    beta_interval=(0.2, 0.3),
    reverse_beta=0.5,
    reverse_beta_interval=(0.4, 0.6),
    ber_threshold=0.475,
    verdict="not certified",
    paper_verdict="inconclusive",
    because="because",
    strongest="trees",
    auditors=(
        auditor("svm", 0.45, 0.8, (0.7, 0.8)),
        auditor("trees", 0.425, 0.5, (0.4, 0.79)),
    ),
    witness=Witness(
        auditor="trees",
        harms="B",
        rates={"B": 0.25, "W": 0.5},
        impact_ratio=0.5,
        impact_ratio_interval=(0.45, 0.55),
        rule="a rule",
    ),
    posterior=Posterior(
        balanced_error_rate=0.43,
        balanced_error_rate_interval=(0.4, 0.46),
        impact_bound=0.64,
        impact_bound_interval=(0.6, 0.68),
        probability_below=0.999,
    ),
    rows_needed=None,
    floor_limit=FloorLimit(
        curve=Hull(
            group=np.array([0.0, 1.0]), reference=np.array([0.0, 1.0]), n=1200, n_reference=2400
        ),
        slopes=np.array([1.0]),
        intercepts=np.array([0.1]),
        confidence=0.95,
    ),
)


def test_a_row_of_a_pair_holds_the_lowest_error_and_the_witness():
    found = pair_sheet([PAIR, replace(PAIR, group="H", verdict="certified")])
    assert found.title == "all pairs of groups"
    assert found.rows[0] == (
        *("B", "W", "1,200", "0.250", "0.425", "0.500", "0.450 to 0.550"),
        "not certified",
    )
    assert found.marked == (0,)


def test_an_auditor_whose_upper_limit_is_below_the_threshold_stands_out():
    found = auditor_sheet(PAIR, 0.8)
    assert found.title == "B against W: predicting membership, out of fold"
    assert found.rows[1] == (
        *("trees", "0.425", "0.375 to 0.475", "0.625", "0.500", "0.400 to 0.790", "0.900"),
    )
    assert found.marked == (1,)
    assert auditor_sheet(PAIR, 0.81).marked == (0, 1)


def test_the_two_tests_and_the_posterior_have_a_row_each():
    assert comparison_sheet(PAIR, 0.8).rows == (
        ("beta, the selection rate of the group", "0.250", "0.200 to 0.300"),
        ("BER must exceed (paper)", "0.475", "-"),
        ("ratio must exceed (tight)", "0.800", "-"),
        ("posterior BER of trees", "0.430", "0.400 to 0.460"),
        ("posterior bound", "0.640", "0.600 to 0.680"),
        ("probability that it is below 0.8", "0.999", "-"),
    )


def test_a_row_of_a_feature_says_what_it_reveals_alone():
    leak = Leak(
        feature="zip", kind="category", balanced_error_rate=0.3, impact_floor=0.4, loss=0.0625
    )
    found = leak_sheet([leak] * 10, "trees")
    assert found.title == "how much each feature reveals"
    assert found.headers == ("feature", "kind", "BER alone", "floor alone", "trees loses")
    assert found.rows == (("zip", "category", "0.300", "0.400", "0.062"),) * 10
