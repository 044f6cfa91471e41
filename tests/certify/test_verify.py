"""A certificate can be run again from its JSON, and whatever was changed is noticed."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths._certify.result import Certificate
from fourfifths._certify.verify import find_differences
from fourfifths.errors import OptionError, TableError

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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("notes", []),
        ("left_out", []),
        ("kind", "proven"),
        ("threshold", 0.7),
        ("rows", 7),
        ("paper_verdict", "certified"),
        ("protected", ["sex"]),
    ],
)
def test_every_field_is_compared(certificate, field, value):
    forged = json.loads(certificate.to_json()) | {field: value}
    again = fourfifths.verify(forged, people(400, 1.0))
    assert not again.same_certificate
    assert all(text.startswith(field) for text in again.differences)


def test_every_field_that_is_written_is_compared(certificate):
    """A certificate of nothing differs in every field but its settings."""
    written = json.loads(certificate.to_json())
    kept = {key: written[key] for key in ("schema", "settings")}
    again = fourfifths.verify(kept, people(400, 1.0))
    remarked = " ".join(again.remarks)
    assert "table was None" in remarked
    assert "versions was None" in remarked


def test_other_versions_and_another_name_are_remarked_on(certificate, tmp_path):
    written = json.loads(certificate.to_json())
    written["versions"]["numpy"] = "0.1"
    people(400, 1.0).to_csv(tmp_path / "people.csv", index=False)
    again = fourfifths.verify(written, tmp_path / "people.csv")
    assert again.same_certificate
    assert any(text.startswith("versions.numpy was '0.1' and is") for text in again.remarks)
    assert any(text.startswith("table was") for text in again.remarks)
    assert "versions.numpy was '0.1'" in str(again)


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
    written = json.loads(certificate.to_json())
    written["settings"]["auditors"] = ["mine"]
    with pytest.raises(OptionError, match="its auditors 'mine' are custom classifiers"):
        fourfifths.verify(written, people(400, 1.0))


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("auditors", "trees", "its auditors are 'trees'; expected a list of names"),
        ("depth", 3, "its settings contain 'depth', which certify does not know"),
        ("table", "adult", "its settings contain 'table', which certify does not know"),
        ("progress", True, "its settings contain 'progress', which certify does not know"),
    ],
)
def test_settings_that_certify_does_not_take_are_refused(certificate, name, value, match):
    written = json.loads(certificate.to_json())
    written["settings"][name] = value
    with pytest.raises(OptionError, match=match):
        fourfifths.verify(written, people(400, 1.0))


def test_a_range_of_beta_is_verified_too():
    stated = fourfifths.certify("ricci", beta=(0.2, 0.4), auditors=["naive-bayes"], folds=3)
    again = fourfifths.verify(json.loads(stated.to_json()), "ricci", progress=False)
    assert (again.same_data, again.same_certificate) == (True, True)


def test_a_certificate_without_leaks_is_verified_without_them(certificate):
    options = {"protected": "group", "outcome": "hired", "leaks": False}
    stated = fourfifths.certify(people(400, 1.0), **options, **QUICK)
    assert stated.leaks == ()
    assert stated.to_dict()["pairs"] == certificate.to_dict()["pairs"]
    assert "how much each feature reveals" in str(certificate)
    assert "how much each feature reveals" not in str(stated)
    again = fourfifths.verify(json.loads(stated.to_json()), people(400, 1.0), progress=False)
    assert (again.same_data, again.same_certificate) == (True, True)


@pytest.mark.parametrize(
    ("stated", "current", "sentences"),
    [
        (1.0, 1 + 1e-12, []),
        (1, 1.0, []),
        (0.25, 0.5, ["x was 0.25 and is 0.5"]),
        ([1, 2], [1, 3], ["x[1] was 2 and is 3"]),
        ([1, 2], [1], ["x was [1, 2] and is [1]"]),
        ({"a": 1, "b": None}, {"a": 2}, ["x.a was 1 and is 2"]),
        ({"a": "y"}, {}, ["x.a was 'y' and is None"]),
        ("z" * 100, "y", ["x was '" + "z" * 56 + "... and is 'y'"]),
    ],
)
def test_differences_by_hand(stated, current, sentences):
    assert list(find_differences("x", stated, current=current)) == sentences
