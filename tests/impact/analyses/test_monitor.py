"""Batches weighed in the order of time, from a table and from a log."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import fourfifths
from fourfifths._impact.analyses.monitor import time_order
from fourfifths._stats.monitor import log_evidence_above, log_evidence_below
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError, TableError

SCHEMA = Path(__file__).parents[3] / "docs" / "schema" / "monitor.schema.json"
ROLES = {"protected": "sex", "outcome": "hired", "reference": "m"}


def rows(batch: str, f: tuple[int, int], m: tuple[int, int]) -> pd.DataFrame:
    people = [
        (batch, sex, hired)
        for sex, (selected, n) in (("f", f), ("m", m))
        for hired, size in (("yes", selected), ("no", n - selected))
        for _ in range(size)
    ]
    return pd.DataFrame(people, columns=["week", "sex", "hired"])


WEEKS = {
    "2026-W9": ((20, 100), (50, 100)),
    "2026-W10": ((22, 100), (55, 100)),
    "2026-W11": ((0, 0), (10, 20)),
}
TABLE = pd.concat([rows(week, *counts) for week, counts in WEEKS.items()])


def test_batches_are_weighed_in_the_order_of_time():
    shuffled = TABLE.sample(frac=1, random_state=1)
    result = fourfifths.monitor(shuffled, batch="week", **ROLES)
    assert result.batches == ("2026-W9", "2026-W10", "2026-W11")
    women = result["f"]
    counts = ([20, 22, 0], [100, 100, 0], [50, 55, 10], [100, 100, 20])
    below = np.exp(log_evidence_below(*counts, ratio=0.8)[0])
    assert [look.evidence_below for look in women.looks] == pytest.approx(list(below))
    assert women.evidence_above == pytest.approx(
        np.exp(log_evidence_above(*counts, ratio=0.8)[0, -1])
    )
    assert women.p_below == pytest.approx(1 / below.max())
    assert women.finding == "below"
    assert women.impact_ratio == pytest.approx((42 / 200) / (115 / 220))
    assert (women.n, women.selected, women.n_reference) == (200, 42, 220)


def test_a_table_of_counts_is_the_same():
    counts = TABLE.value_counts().rename("people").reset_index()
    whole = fourfifths.monitor(TABLE, batch="week", **ROLES)
    assert fourfifths.monitor(counts, batch="week", persons="people", **ROLES) == whole


def test_several_groups_share_the_error():
    other = TABLE.assign(sex=TABLE["sex"].replace("f", "x"))
    both = fourfifths.monitor(pd.concat([TABLE, other[other["sex"] == "x"]]), batch="week", **ROLES)
    alone = fourfifths.monitor(TABLE, batch="week", **ROLES)
    # Twice the same evidence: the smallest mean over sets of groups is that evidence.
    assert both["f"].p_below == pytest.approx(alone["f"].p_below)
    # The limits are wider, because they hold for both groups at once.
    assert both["f"].ratio_interval[1] > alone["f"].ratio_interval[1]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (["10", "9"], [1, 0]),
        (["2026-W10", "2026-W9"], [1, 0]),
        (["2026-02-01", "2026-01-31"], [1, 0]),
        (["week 10", "week 9"], [1, 0]),
        ([1, 2, 10], [0, 1, 2]),
    ],
)
def test_the_order_of_time(values, order):
    assert time_order("week", values) == order


@pytest.mark.parametrize(
    "values", [["Jan", "Feb"], ["Q1 2026", "Q2 2025"], ["3/1/2026", "4/1/2026"], ["a1", "b1"]]
)
def test_an_order_that_is_not_certain_is_an_error(values):
    with pytest.raises(ColumnError, match=r"batch='week': the order in time of .* is not certain"):
        time_order("week", values)


def test_a_reference_must_be_designated():
    with pytest.raises(GroupError, match=r"reference: name the group .* before the outcomes"):
        fourfifths.monitor(TABLE, batch="week", protected="sex", outcome="hired")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threshold": 0}, OptionError, r"threshold=0: expected a number above 0"),
        ({"confidence": 1.2}, OptionError, r"confidence=1.2: expected a number from 0.5"),
        ({"batch": "sex"}, ColumnError, r"batch='sex': the column has another role"),
        ({"batch": "weak"}, ColumnError, r"batch='weak': no such column .* did you mean 'week'"),
        ({"batch": None}, OptionError, r"batch: name the column"),
        ({"protected": ["sex", "week"], "reference": None}, ColumnError, r"expected one column"),
        ({"reference": "q"}, GroupError, r"reference='q': not among the groups of 'sex'"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        fourfifths.monitor(TABLE, **{"batch": "week", **ROLES, **options})


@pytest.fixture
def files(tmp_path):
    paths = []
    for week, counts in WEEKS.items():
        path = tmp_path / f"{week}.csv"
        rows(week, *counts).drop(columns="week").to_csv(path, index=False)
        paths.append(path)
    return paths


def test_a_log_says_the_same_as_the_table(files, tmp_path):
    log = tmp_path / "log.jsonl"
    fourfifths.add_batch(log, files[0], **ROLES)
    fourfifths.add_batch(log, files[1])
    added = fourfifths.add_batch(log, files[2])
    from_table = fourfifths.monitor(TABLE, batch="week", **ROLES)
    assert fourfifths.monitor(log) == added
    assert added.groups == from_table.groups
    header, *batches = (json.loads(line) for line in log.read_text().splitlines())
    assert header["reference"] == "m"
    assert batches[0]["groups"] == {
        "f": {"selected": 20, "n": 100},
        "m": {"selected": 50, "n": 100},
    }


def test_a_batch_counts_once(files, tmp_path):
    log = tmp_path / "log.jsonl"
    fourfifths.add_batch(log, files[0], **ROLES)
    before = log.read_bytes()
    with pytest.raises(OptionError, match=r"the batch '2026-W9' is in the log already"):
        fourfifths.add_batch(log, files[1], name="2026-W9")
    with pytest.raises(OptionError, match=r"the content of '2026-W9.csv' is in the log already"):
        fourfifths.add_batch(log, files[0], name="again")
    assert log.read_bytes() == before


@pytest.mark.parametrize("setting", [{"threshold": 0.9}, {"reference": "f"}, {"unknown": "?"}])
def test_the_first_batch_fixes_the_settings(files, tmp_path, setting):
    log = tmp_path / "log.jsonl"
    fourfifths.add_batch(log, files[0], **ROLES)
    message = rf"{next(iter(setting))}=.*: the first batch of the log fixed"
    with pytest.raises(OptionError, match=message):
        fourfifths.add_batch(log, files[1], **setting)
    with pytest.raises(OptionError, match=message):
        fourfifths.monitor(log, **setting)


def test_a_batch_in_which_nobody_is_selected_is_counted_but_not_a_new_spelling(files, tmp_path):
    log = tmp_path / "log.jsonl"
    fourfifths.add_batch(log, files[0], **ROLES)
    none = rows("", (0, 5), (0, 7)).drop(columns="week")
    result = fourfifths.add_batch(log, none, name="none")
    assert result["f"].looks[-1].n == 5
    with pytest.raises(OutcomeError, match=r"favorable='yes': does not occur in the batch"):
        fourfifths.add_batch(log, none.assign(hired="JA"), name="other")


def test_a_log_keeps_several_favorable_values(files, tmp_path):
    log = tmp_path / "log.jsonl"
    offers = rows("", (4, 10), (8, 10)).drop(columns="week")
    # Of the selected in each group, two declined the offer.
    is_declined = offers["hired"].eq("yes") & (offers.groupby(["sex", "hired"]).cumcount() < 2)
    first = offers.assign(hired=offers["hired"].mask(is_declined, "declined"))
    favorable = ["yes", "declined"]
    result = fourfifths.add_batch(log, first, name="1", favorable=favorable, **ROLES)
    assert result["f"].selected == 4
    assert result.favorable == ("yes", "declined")
    assert json.loads(log.read_text().splitlines()[0])["favorable"] == favorable
    # Nobody declines in the second batch; in the third everyone does.
    fourfifths.add_batch(log, offers, name="2", favorable=favorable[::-1])
    result = fourfifths.add_batch(log, offers.assign(hired="Declined"), name="3")
    assert (result["f"].selected, result["f"].n) == (4 + 4 + 10, 30)
    assert fourfifths.monitor(log).favorable == ("yes", "declined")
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(result.to_json()))
    with pytest.raises(OptionError, match=r"favorable='yes': the first batch of the log fixed"):
        fourfifths.monitor(log, favorable=["yes"])


def test_a_dataframe_needs_a_name(tmp_path):
    with pytest.raises(OptionError, match="name: a dataframe has no name"):
        fourfifths.add_batch(tmp_path / "log.jsonl", TABLE, **ROLES)


@pytest.mark.parametrize("change", ["header", "counts", "confidence", "threshold"])
def test_a_broken_log_names_the_line(files, tmp_path, change):
    log = tmp_path / "log.jsonl"
    fourfifths.add_batch(log, files[0], **ROLES)
    old, new, line = {
        "header": ("monitor-log/1", "monitor-log/9", 1),
        "confidence": ('"confidence": 0.95', '"confidence": 2', 1),
        "threshold": ('"threshold": 0.8', '"threshold": 0', 1),
        "counts": ('"selected": 20', '"selected": 2000', 2),
    }[change]
    log.write_text(log.read_text().replace(old, new))
    with pytest.raises(TableError, match=f"line {line} is not that of a log"):
        fourfifths.monitor(log)


def test_the_result_is_as_its_schema_says():
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    result = fourfifths.monitor(TABLE, batch="week", **ROLES)
    Draft202012Validator(schema).validate(json.loads(result.to_json()))
    assert set(schema["properties"]) - {"provenance"} == set(result.to_dict())
    assert len(result.to_records()) == 3
    assert "with 95% confidence the ratio was below 0.8" in " ".join(str(result).split())
    assert result.plot().axes[0].get_ylabel() == "evidence (e)"


def test_spellings_are_one_group_in_and_between_batches(tmp_path):
    first = ["Female", "female "] * 10 + ["Male"] * 20
    later = ["FEMALE"] * 20 + ["male"] * 20
    log = tmp_path / "log.jsonl"
    for name, sexes in (("2026-W01", first), ("2026-W02", later)):
        hired = ["Yes", "no"] * 20 if name == "2026-W01" else ["YES", "No"] * 20
        table = pd.DataFrame({"sex": sexes, "hired": hired})
        roles = {"protected": "sex", "outcome": "hired", "reference": "Male"}
        fourfifths.add_batch(log, table, name=name, **(roles if name == "2026-W01" else {}))
    batches = [json.loads(line) for line in log.read_text().splitlines()]
    groups = [set(batch["groups"]) for batch in batches if "groups" in batch]
    assert groups == [{"Female", "Male"}] * 2
    # "Female" and "female " take turns with yes and no: ten of twenty either way.
    sizes = [pair for batch in batches if "groups" in batch for pair in batch["groups"].values()]
    assert sizes == [{"selected": 10, "n": 20}] * 4


def test_a_log_without_its_reference_is_an_error(files, tmp_path):
    log = tmp_path / "log.jsonl"
    fourfifths.add_batch(log, files[0], **ROLES)
    log.write_text(log.read_text().replace('"reference": "m"', '"reference": "x"'))
    with pytest.raises(TableError, match="the reference 'x' is in no batch of the log"):
        fourfifths.monitor(log)


def test_a_name_may_hold_a_sign_that_ends_a_line(tmp_path):
    log = tmp_path / "log.jsonl"
    table = TABLE.assign(sex=TABLE["sex"].replace({"f": "f\u2028f\x85"}))
    fourfifths.add_batch(log, table, name="first", **ROLES)
    assert fourfifths.monitor(log)["f\u2028f\x85"].n == int((TABLE["sex"] == "f").sum())
