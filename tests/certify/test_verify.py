"""A certificate can be run again from its JSON, and whatever was changed is noticed."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths._certify.result import Certificate
from fourfifths._certify.stated import SETTINGS
from fourfifths._certify.verify import CHANGED, MISSING, find_differences
from fourfifths._json import CONTENT_HASH, is_intact, sealed
from fourfifths.errors import FourfifthsError, OptionError, TableError

QUICK = {"auditors": ["naive-bayes"], "folds": 2}


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
    assert again.differences[0] == CHANGED
    assert all(text.startswith(field) for text in again.differences[1:])


def test_every_field_that_is_written_is_compared(certificate):
    """A certificate of nothing differs in every field but its settings."""
    written = json.loads(certificate.to_json())
    kept = {key: written[key] for key in ("schema", "settings")}
    again = fourfifths.verify(kept, people(400, 1.0))
    remarked = " ".join(again.remarks)
    assert "table was missing" in remarked
    assert "versions was missing" in remarked


def test_other_versions_and_another_name_are_remarked_on(certificate, tmp_path):
    written = json.loads(certificate.to_json())
    written["versions"]["numpy"] = "0.1"
    written = sealed(written)
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
        ("not json", TableError, "not JSON"),
        ("[" * 10**6, TableError, "nested more than 100 deep"),
        ('{"schema": 1, "schema": 1}', TableError, "the key 'schema' occurs twice"),
        ('{"rows": NaN}', TableError, "NaN is not JSON"),
        ('{"schema": "fourfifths/certificate/1", "verdi', TableError, "not JSON"),
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
        ("auditors", "trees", "its settings have auditors 'trees'; expected what certify wrote"),
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


@pytest.mark.slow
def test_a_range_of_beta_is_verified_too():
    stated = fourfifths.certify("ricci", beta=(0.2, 0.4), auditors=["naive-bayes"], folds=3)
    again = fourfifths.verify(json.loads(stated.to_json()), "ricci", progress=False)
    assert (again.same_data, again.same_certificate) == (True, True)


def places(value, place=()):
    """Yield the place of every value in a certificate, within lists and objects too."""
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, entry in entries:
        yield (*place, key)
        yield from places(entry, (*place, key))


def changed_at(document, place, change):
    """Return a copy of a document with one value changed."""
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    change(inner, place[-1])
    return copy


def spoil(inner, key):
    value = inner[key]
    inner[key] = (
        not value
        if isinstance(value, bool)
        else value + 1
        if isinstance(value, int | float)
        else f"{value}!"
        if isinstance(value, str)
        else "other"
    )


def test_whatever_is_changed_is_noticed_in_the_file():
    """Every value of a certificate of two auditors, wherever it is, changed and taken out."""
    options = QUICK | {"auditors": ["logistic", "naive-bayes"]}
    certificate = fourfifths.certify(
        people(400, 1.0), protected="group", outcome="hired", **options
    )
    written = json.loads(certificate.to_json())
    everywhere = list(places(written))
    assert len(everywhere) > 200
    for place in everywhere:
        assert not is_intact(changed_at(written, place, spoil)), place
        assert not is_intact(changed_at(written, place, lambda inner, key: inner.pop(key))), place


@pytest.fixture(scope="module")
def rerun(certificate):
    """Return what `verify` says of a document without running it again."""
    current = json.loads(certificate.to_json())

    def differences(stated):
        fields = {*stated, *current} - {CONTENT_HASH}
        return [
            text
            for field in fields
            for text in find_differences(
                field, stated.get(field, MISSING), current=current.get(field, MISSING)
            )
        ]

    return differences


def test_whatever_is_changed_by_a_forger_differs_from_a_rerun(certificate, rerun):
    """The same with hashes computed anew: the rerun differs in exactly that place."""
    written = json.loads(certificate.to_json())
    for place in places({key: written[key] for key in written if key != CONTENT_HASH}):
        name = place[0] + "".join(
            f"[{key}]" if isinstance(key, int) else f".{key}" for key in place[1:]
        )
        (text,) = rerun(sealed(changed_at(written, place, spoil)))
        assert text.startswith(f"{name} was ")


@pytest.mark.parametrize("name", ["approved", "provenance2", "Verdict", "floor_limit"])
def test_a_field_that_no_certificate_has_is_refused(certificate, name):
    forged = sealed(certificate.to_dict() | {name: None})
    with pytest.raises(OptionError, match=f"it contains '{name}', which no certificate has"):
        fourfifths.verify(forged, people(400, 1.0))


@pytest.mark.parametrize(
    "provenance",
    [
        None,
        [],
        {},
        {"sha256": "0"},
        dict.fromkeys(["command", "date", "version", "file", "sha256"], 1),
        dict.fromkeys(["command", "date", "version", "file", "sha256", "more"], ""),
    ],
)
def test_a_provenance_that_the_shell_does_not_write_is_refused(certificate, provenance):
    forged = sealed(certificate.to_dict() | {"provenance": provenance})
    with pytest.raises(OptionError, match=r"its provenance is .*; expected 'command', 'date'"):
        fourfifths.verify(forged, people(400, 1.0))


@pytest.mark.parametrize("setting", sorted({*SETTINGS} - {"leaks"}))
@pytest.mark.parametrize("value", [{"a": {"b": []}}, [[["a"]]], True, 10**400, "\ud800"])
def test_settings_of_other_types_are_one_line(certificate, setting, value):
    written = json.loads(certificate.to_json())
    written["settings"][setting] = value
    with pytest.raises(FourfifthsError, match=setting) as caught:
        fourfifths.verify(written, people(40, 1.0), progress=False)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("setting", sorted(SETTINGS))
def test_a_setting_that_is_missing_is_named(certificate, setting):
    written = json.loads(certificate.to_json())
    del written["settings"][setting]
    with pytest.raises(OptionError, match=f"its settings lack '{setting}'"):
        fourfifths.verify(written, people(40, 1.0))


@pytest.mark.slow
def test_the_claim_is_stated_in_full(certificate, tmp_path):
    people(400, 1.0).assign(note="x").to_csv(tmp_path / "people.csv", index=False)
    stated = fourfifths.certify(
        tmp_path / "people.csv",
        protected="group",
        outcome="hired",
        columns=["score"],
        max_rows=400,
        threshold=0.7,
        auditors=["logistic", "naive-bayes"],
        folds=2,
    )
    again = fourfifths.verify(stated.to_dict(), tmp_path / "people.csv")
    claim = again.claim
    assert (claim.threshold, claim.confidence) == (0.7, 0.95)
    hired = people(400, 1.0).groupby("group")["hired"].agg(lambda values: (values == "yes").mean())
    assert claim.beta == pytest.approx(hired.max())
    assert claim.auditors == ("logistic", "naive-bayes")
    assert claim.auditors_not_asked == ("svm", "trees", "forest", "details")
    assert (claim.features, claim.columns_not_audited) == (("score",), ("note",))
    assert (claim.rows_audited, claim.rows_of_known_group, claim.rows_in_table) == (400, 800, 800)
    text = " ".join(str(again).split())
    for part in (
        "threshold of 0.7",
        "0.95 confidence",
        "Auditors: logistic, naive-bayes; not asked: svm, trees, forest, details.",
        "Features (1): score; columns not audited: note.",
        "Rows audited: 400 of 800 in the table",
        "Only a sample was audited and hashed: the data SHA-256 says nothing about the other 400",
        "The certificate does not state the hash of a file.",
        hashlib.sha256((tmp_path / "people.csv").read_bytes()).hexdigest(),
    ):
        assert part in text


def test_rows_of_unknown_group_are_counted():
    table = people(400, 1.0)
    table.loc[:9, "group"] = None
    stated = fourfifths.certify(table, protected="group", outcome="hired", **QUICK)
    assert (stated.rows_audited, stated.rows, stated.rows_in_table) == (790, 790, 800)


@pytest.mark.slow
def test_an_easy_certificate_is_not_what_is_required(certificate):
    again = fourfifths.verify(
        certificate.to_dict(), people(400, 1.0), require={"threshold": 0.8, "auditors": "all"}
    )
    assert (again.same_certificate, again.is_verified) == (True, False)
    assert str(again).startswith("not verified: the same data, the same certificate (not certified")
    words = " ".join(str(again).split())
    assert (
        "Not as required: auditors: 'logistic', 'svm', 'trees', 'forest', 'details' required"
        in words
    )


@pytest.mark.slow
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
        ({"a": 1, "b": None}, {"a": 2}, ["x.a was 1 and is 2", "x.b was None and is missing"]),
        ({"a": "y"}, {}, ["x.a was 'y' and is missing"]),
        ({}, {"a": None}, ["x.a was missing and is None"]),
        (10**70, 1, ["x was 1" + "0" * 56 + "... and is 1"]),
        (1, True, ["x was 1 and is True"]),
        (False, 0, ["x was False and is 0"]),
        (None, 0.0, ["x was None and is 0.0"]),
        (MISSING, None, ["x was missing and is None"]),
        ("z" * 100, "y", ["x was '" + "z" * 56 + "... and is 'y'"]),
    ],
)
def test_differences_by_hand(stated, current, sentences):
    assert list(find_differences("x", stated, current=current)) == sentences
