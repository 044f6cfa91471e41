"""What only the user knows."""

from __future__ import annotations

import pytest

from fourfifths._evidence.fields import cover_fields, read_fields
from fourfifths.errors import OptionError


def test_a_field_given_alone_takes_precedence_over_the_file(tmp_path):
    file = tmp_path / "fields.toml"
    file.write_text("auditor = 'Ann Lee'\nperiod = 2025\naudit_date = 2026-01-31\ntool = ' '\n")
    assert read_fields(["auditor=Bo = Li"], file) == {
        "auditor": "Bo = Li",
        "period": "2025",
        "audit_date": "2026-01-31",
    }


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["auditor"], r"fields='auditor': expected key=value"),
        (["auditor= "], r"fields='auditor= ': expected key=value"),
        (["auditr=A"], r"fields='auditr': no such field.*did you mean 'auditor'"),
        (["tool=a", "tool=b"], r"'tool' was given twice"),
    ],
)
def test_a_wrong_field_is_refused(texts, message):
    with pytest.raises(OptionError, match=message):
        read_fields(texts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("auditor = ", r"fields.toml: is not TOML"),
        ("auditor = ['a']", r"auditor is \['a'\]; expected a text, a number or a date"),
        ("auditor = true", r"auditor is True; expected"),
        ("color = 'red'", r"fields='color': no such field"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, content, message):
    file = tmp_path / "fields.toml"
    file.write_text(content)
    with pytest.raises(OptionError, match=message):
        read_fields([], file)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(OptionError, match=r"none.toml: cannot be read: No such file"):
        read_fields([], tmp_path / "none.toml")


def test_what_nobody_stated_says_so():
    stated, unstated = cover_fields({"tool": "Sorter"}, ["tool", "auditor"])
    assert (stated.text, stated.is_stated) == ("Sorter", True)
    assert (unstated.text, unstated.is_stated) == ("not stated", False)
