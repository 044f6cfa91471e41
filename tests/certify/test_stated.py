"""Certificates that a file states are read strictly: what certify did not write is an error."""

from __future__ import annotations

import json

import pytest

import fourfifths
from fourfifths._certify.stated import (
    SETTINGS,
    brief,
    check_stated,
    read_certificate,
    stated_settings,
)
from fourfifths.errors import OptionError, TableError


@pytest.fixture(scope="module")
def stated():
    certificate = fourfifths.certify("ricci", auditors=["naive-bayes"], folds=2, leaks=False)
    return json.loads(certificate.to_json())


def test_what_certify_wrote_passes_and_gives_its_settings(stated):
    check_stated(stated)
    assert {*stated_settings(stated)} == {*SETTINGS}
    assert stated_settings(stated)["auditors"] == ["naive-bayes"]


def test_a_range_of_beta_comes_back_as_certify_takes_it(stated):
    settings = stated["settings"] | {"beta": [0.2, 0.4]}
    assert stated_settings(stated | {"settings": settings})["beta"] == (0.2, 0.4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "other/1"}, "its schema is 'other/1'; expected"),
        ({"extra": 1}, "it contains 'extra', which no certificate has"),
        ({"provenance": {"command": "x"}}, "its provenance is .*; expected"),
    ],
)
def test_what_no_certificate_has_is_refused(stated, change, message):
    with pytest.raises(OptionError, match=message):
        check_stated(stated | change)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("folds", True),
        ("folds", 2.5),
        ("threshold", "0.8"),
        ("max_rows", 10**30),
        ("columns", "x"),
        ("beta", [0.1, None]),
        ("leaks", 1),
        ("reading", {}),
        ("bands", {"age": ["x"]}),
    ],
)
def test_settings_of_another_kind_are_refused_by_name(stated, name, value):
    settings = stated["settings"] | {name: value}
    with pytest.raises(OptionError, match=f"its settings have {name} .*; expected what certify"):
        stated_settings(stated | {"settings": settings})


def test_settings_that_are_missing_unknown_or_none_are_refused(stated):
    settings = dict(stated["settings"])
    with pytest.raises(OptionError, match="its settings contain 'colour', which certify does not"):
        stated_settings(stated | {"settings": settings | {"colour": 1}})
    del settings["folds"]
    with pytest.raises(OptionError, match="its settings lack 'folds'"):
        stated_settings(stated | {"settings": settings})
    with pytest.raises(OptionError, match="its settings are None"):
        stated_settings({})


def test_auditors_of_ones_own_cannot_be_run_again(stated):
    settings = stated["settings"] | {"auditors": ["naive-bayes", "mine"]}
    with pytest.raises(OptionError, match="its auditors 'mine' are custom classifiers"):
        stated_settings(stated | {"settings": settings})


def test_a_file_that_is_no_certificate(tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text("[1, 2]")
    with pytest.raises(TableError, match="expected a certificate, found list"):
        read_certificate(path)
    path.write_text('{"schema": 1}')
    assert read_certificate(path) == {"schema": 1}
    with pytest.raises(TableError, match=r"certificate\.json"):
        read_certificate(path, max_bytes=4)


def test_long_values_are_shortened_to_sixty_letters():
    assert brief("x" * 58) == repr("x" * 58)
    assert len(brief("x" * 59)) == 60
    assert brief("x" * 59).endswith("...")
