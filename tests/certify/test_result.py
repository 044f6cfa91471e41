"""The JSON of a certificate is a contract, and a certificate can be run again from it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths._certify.result import Certificate
from fourfifths.errors import OptionError, TableError

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "certificate.schema.json").read_text()
)
QUICK = {"auditors": ["logistic", "naive-bayes"], "folds": 3}


def people(n: int, gap: float, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    group = np.repeat(["A", "B"], n)
    score = random.normal(size=2 * n) + gap * (group == "B")
    hired = np.where(random.random(2 * n) < 0.5, "yes", "no")
    return pd.DataFrame({"group": group, "score": score.round(6), "hired": hired})


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return fourfifths.certify(people(400, 1.0), protected="group", outcome="hired", **QUICK)


@pytest.mark.parametrize("gap", [0.0, 0.3, 1.0])
def test_every_verdict_fits_the_schema(gap):
    found = fourfifths.certify(people(400, gap), protected="group", outcome="hired", **QUICK)
    jsonschema.validate(json.loads(found.to_json()), SCHEMA)


def test_several_groups_and_a_given_beta_fit_the_schema():
    found = fourfifths.certify("ricci", beta=(0.2, 0.4), **QUICK)
    written = json.loads(found.to_json())
    jsonschema.validate(written, SCHEMA)
    assert [pair["group"] for pair in written["pairs"]] != []
    assert {pair["group"] for pair in written["pairs"]} == {"B", "H", "not W"}


def test_the_schema_is_strict(certificate):
    written = json.loads(certificate.to_json())
    for broken in ({**written, "more": 1}, {**written, "verdict": "maybe"}):
        with pytest.raises(jsonschema.ValidationError, match=r"more|maybe"):
            jsonschema.validate(broken, SCHEMA)


def test_the_keys_that_were_promised_are_there(certificate):
    written = json.loads(certificate.to_json())
    assert {
        *("verdict", "beta", "beta_interval", "threshold", "ber_threshold", "strongest"),
        *("auditors", "witness", "leaks", "data_sha256", "random_state"),
    } <= set(written)
    assert {
        *("name", "balanced_error_rate", "interval", "impact_bound"),
        *("impact_floor", "impact_floor_interval"),
    } <= set(written["auditors"][0])
    assert set(written["witness"]["rates"]) == {"A", "B"}
    assert {"feature", "balanced_error_rate", "impact_floor"} <= set(written["leaks"][0])


def test_the_same_data_gives_the_same_certificate(certificate, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(certificate.to_json())
    again = fourfifths.verify(path, people(400, 1.0))
    assert (again.same_data, again.same_certificate) == (True, True)
    assert again.differences == ()


def test_the_same_data_in_a_file_gives_the_same_certificate(certificate, tmp_path):
    people(400, 1.0).to_csv(tmp_path / "people.csv", index=False)
    again = fourfifths.verify(certificate.to_dict(), tmp_path / "people.csv")
    assert again.same_certificate


def test_one_changed_cell_is_noticed(certificate):
    other = people(400, 1.0)
    other.loc[3, "score"] += 1
    again = fourfifths.verify(certificate.to_dict(), other)
    assert not again.same_data
    assert not again.same_certificate
    assert any("data_sha256" in each for each in again.differences)


def test_a_changed_verdict_is_noticed(certificate):
    forged = json.loads(certificate.to_json()) | {"verdict": "certified"}
    again = fourfifths.verify(forged, people(400, 1.0))
    assert again.same_data
    assert "verdict was 'certified' and is 'not certified'" in again.differences


def test_a_missing_part_is_noticed(certificate):
    kept = {key: certificate.to_dict()[key] for key in ("schema", "settings")}
    again = fourfifths.verify(kept, people(400, 1.0))
    assert not again.same_data
    assert not again.same_certificate


def test_a_changed_reason_is_noticed(certificate):
    forged = json.loads(certificate.to_json()) | {"because": "all is well"}
    assert not fourfifths.verify(forged, people(400, 1.0)).same_certificate


def test_one_changed_outcome_is_other_data(certificate):
    other = people(400, 1.0)
    yes, no = (
        other.index[(other.group == "A") & (other.hired == each)][0] for each in ("yes", "no")
    )
    other.loc[yes, "hired"], other.loc[no, "hired"] = "no", "yes"
    assert not fourfifths.verify(certificate.to_dict(), other).same_data


def test_a_changed_figure_is_noticed(certificate):
    forged = json.loads(certificate.to_json())
    forged["auditors"][0]["balanced_error_rate"] += 0.01
    assert not fourfifths.verify(forged, people(400, 1.0)).same_certificate


@pytest.mark.parametrize(
    ("content", "error", "match"),
    [
        ("not json", TableError, "not readable as JSON"),
        ("[]", TableError, "expected a certificate, found list"),
        ('{"schema": "other"}', OptionError, "its schema is 'other'"),
        ('{"schema": "fourfifths/certificate/1"}', OptionError, "its settings are None"),
        ('{"schema": "fourfifths/certificate/1", "settings": {}}', OptionError, "settings lack"),
    ],
)
def test_what_is_no_certificate_is_an_error(tmp_path, content, error, match):
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(error, match=match):
        fourfifths.verify(tmp_path / "c.json", "ricci")


def test_a_missing_certificate_is_an_error(tmp_path):
    with pytest.raises(TableError, match="no such file"):
        fourfifths.verify(tmp_path / "c.json", "ricci")


def test_classifiers_of_ones_own_cannot_be_verified_from_a_file(certificate):
    own = json.loads(certificate.to_json())
    own["settings"]["auditors"] = ["mine"]
    with pytest.raises(OptionError, match="'mine' are classifiers of its maker's"):
        fourfifths.verify(own, people(400, 1.0))
