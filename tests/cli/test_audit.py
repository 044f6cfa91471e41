from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from counted import aggregated, frame, printed

import fourfifths
from fourfifths import datasets

COMMAND = str(Path(sys.executable).with_name("fourfifths"))
TEAL = {"Black": (26, 48), "White": (206, 259)}
AUDIT = ("audit", "teal.csv", "--protected", "group", "--outcome", "hired")


@pytest.fixture
def teal(shell, tmp_path):
    frame(TEAL).to_csv(tmp_path / "teal.csv", index=False)
    return shell


def only_group(answer, name):
    groups = json.loads(answer.out)["attributes"][0]["groups"]
    return next(group for group in groups if group["group"] == name)


def test_an_audit_shows_the_ratio_and_the_finding(teal):
    answer = teal(*AUDIT)
    assert (answer.code, answer.err) == (0, "")
    assert "0.681 <" in answer.out
    assert "Black: adverse impact is indicated under ugesp" in answer.out


def test_json_is_what_python_says(teal, tmp_path):
    answer = teal(*AUDIT, "--format", "json")
    result = fourfifths.impact("teal.csv", protected="group", outcome="hired")
    content = json.loads(answer.out)
    provenance = content.pop("provenance")
    assert content == result.to_dict()
    assert provenance["command"] == "fourfifths audit teal.csv " + " ".join(
        (*AUDIT[2:], "--format", "json")
    )
    assert provenance["sha256"] == hashlib.sha256(Path("teal.csv").read_bytes()).hexdigest()


def test_csv_has_one_row_per_group(teal):
    rows = list(csv.DictReader(io.StringIO(teal(*AUDIT, "--format", "csv").out)))
    assert [row["group"] for row in rows] == ["Black", "White"]
    assert float(rows[0]["impact_ratio"]) == printed("0.68103")
    assert float(rows[0]["shortfall_to_reference"]) == printed("12.178")


def test_markdown_has_a_table(teal):
    answer = teal(*AUDIT, "--format", "markdown")
    assert "| Black | 48 | 26 |" in answer.out


def test_the_format_table_can_be_named(teal):
    named = teal(*AUDIT, "--format", "table").out
    assert named.partition("Command: ")[0] == teal(*AUDIT).out.partition("Command: ")[0]


@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown"])
def test_out_writes_a_file_and_nothing_else(teal, tmp_path, form):
    answer = teal(*AUDIT, "--format", form, "--out", "result")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "wrote result\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["result", "teal.csv"]
    assert "0.68" in (tmp_path / "result").read_text()


def test_out_replaces_a_file_whole(teal, tmp_path):
    (tmp_path / "result.json").write_text("x" * 100_000)
    teal(*AUDIT, "--format", "json", "--out", "result.json")
    assert json.loads((tmp_path / "result.json").read_text())["rule"] == "ugesp"


def test_a_failure_while_writing_leaves_the_file_that_was_there(teal, tmp_path, monkeypatch):
    def fail(self, target):
        raise OSError(28, "No space left on device")

    (tmp_path / "result.json").write_text("as it was")
    monkeypatch.setattr(Path, "replace", fail)
    answer = teal(*AUDIT, "--format", "json", "--out", "result.json")
    assert answer.code == 2
    assert answer.err == "fourfifths: result.json: cannot be written: No space left on device\n"
    assert (tmp_path / "result.json").read_text() == "as it was"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["result.json", "teal.csv"]


def test_reference_and_rule(teal):
    answer = teal(*AUDIT, "--reference", "group=Black", "--rule", "feldman2015", "--format", "json")
    white = only_group(answer, "White")
    assert white["impact_ratio"] == pytest.approx((206 / 259) / (26 / 48))
    assert white["finding"] == "adverse impact on the reference is indicated under feldman2015"


def test_favorable(teal):
    answer = teal(*AUDIT, "--favorable", "no", "--format", "json")
    assert only_group(answer, "Black")["selected"] == 22


def test_several_favorable_values(shell, tmp_path):
    # Women: 3 hired, 2 declined the offer, 5 rejected; men: 4, 2 and 2.
    results = [("f", 3, 2, 5), ("m", 4, 2, 2)]
    lines = [
        f"{sex},{result}"
        for sex, *sizes in results
        for result, size in zip(("Hired", "Offer declined", "Rejected"), sizes, strict=True)
        for _ in range(size)
    ]
    (tmp_path / "offers.csv").write_text("\n".join(["sex,result", *lines]))
    audit = ("audit", "offers.csv", "--protected", "sex", "--outcome", "result")
    favorable = ("--favorable", "Hired", "--favorable", "Offer declined")
    answer = shell(*audit, *favorable, "--format", "json")
    assert only_group(answer, "f")["selected"] == 5
    content = json.loads(answer.out)
    assert content["favorable"] == ["Hired", "Offer declined"]
    assert "--favorable 'Offer declined'" in content["provenance"]["command"]
    assert "result = Hired or Offer declined, rule ugesp" in shell(*audit, *favorable).out
    answer = shell(*audit, "--favorable", "Hired", "--favorable", "hired")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "fourfifths: --favorable Hired --favorable hired: 'Hired' and 'hired' are the same value "
        "of outcome 'result'; give each value once\n"
    )


def test_weights_as_counts(shell, tmp_path):
    aggregated(TEAL).to_csv(tmp_path / "teal.csv", index=False)
    answer = shell(*AUDIT, "--weights", "count", "--weights-are", "counts", "--format", "json")
    assert only_group(answer, "Black")["fisher_p"] == printed("0.000404")


def test_weights_for_sampling(shell, tmp_path):
    aggregated(TEAL).to_csv(tmp_path / "teal.csv", index=False)
    answer = shell(*AUDIT, "--weights", "count", "--format", "json")
    black = only_group(answer, "Black")
    assert black["impact_ratio"] == printed("0.68103")
    assert black["fisher_p"] is None


def test_several_protected_columns(shell):
    answer = shell(
        "audit", "adult", "--protected", "sex", "--protected", "race", "--format", "json"
    )
    attributes = json.loads(answer.out)["attributes"]
    assert [each["protected"] for each in attributes] == [["sex"], ["race"], ["sex", "race"]]


def test_strata(shell):
    answer = shell("audit", "ricci", "--within", "position", "--format", "json")
    assert only_group(answer, "B")["stratified"]["odds_ratio"] == printed("0.33395")


def test_score_and_median_of(shell, tmp_path):
    (tmp_path / "t.csv").write_text("g,s\nA,1\nA,2\nB,3\nB,4\n,9\n,9\n")
    audit = ("audit", "t.csv", "--protected", "g", "--score", "s", "--rule", "nyc-ll144")
    known = shell(*audit, "--median-of", "known", "--format", "json")
    of_all = shell(*audit, "--format", "json")
    assert json.loads(known.out)["outcome"] == "s > 2.5"
    assert json.loads(of_all.out)["outcome"] == "s > 3.5"


def test_band(shell):
    answer = shell(
        "audit", "german", "--protected", "age", "--band", "age=30,50", "--format", "json"
    )
    groups = json.loads(answer.out)["attributes"][0]["groups"]
    assert [group["group"] for group in groups] == ["under 30", "30 to under 50", "50 and over"]


def test_unknown(shell, tmp_path):
    (tmp_path / "t.csv").write_text("g,y\nA,1\nA,0\nB,1\n?,1\nNA,0\n")
    answer = shell(
        *("audit", "t.csv", "--protected", "g", "--outcome", "y", "--format", "json"),
        *("--unknown", "?", "--unknown", "NA"),
    )
    assert json.loads(answer.out)["attributes"][0]["unknown"] == 2


@pytest.mark.parametrize(
    ("column", "value"), [("a=b", "c"), ("group", "a=b"), ("a=b", "c=d"), ("group", "x y")]
)
def test_a_column_and_a_value_may_hold_an_equals_sign(shell, tmp_path, column, value):
    table = pl.DataFrame({column: [value, value, "z", "z"], "y": [1, 0, 1, 1]})
    table.write_csv(tmp_path / "t.csv")
    answer = shell(
        *("audit", "t.csv", "--protected", column, "--outcome", "y", "--format", "json"),
        *("--reference", f"{column}={value}"),
    )
    assert json.loads(answer.out)["attributes"][0]["reference"] == value


@pytest.mark.parametrize("favorable", ["1", "1.0"])
def test_a_favorable_number_in_parquet_may_be_named_as_a_whole_one(shell, tmp_path, favorable):
    table = pl.DataFrame({"g": ["A", "A", "B", "B"], "y": [1.0, 0.0, 1.0, 2.0]})
    table.write_parquet(tmp_path / "t.parquet")
    answer = shell(
        *("audit", "t.parquet", "--protected", "g", "--outcome", "y", "--format", "json"),
        *("--favorable", favorable),
    )
    assert answer.code == 0


@pytest.mark.parametrize("name", datasets.names())
def test_a_shipped_data_set_needs_no_options(shell, name):
    answer = shell("audit", name)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"{name}: ")


def test_help_names_every_option(shell):
    text = shell("audit", "--help").out
    for option in (
        *("--protected", "--outcome", "--favorable", "--reference", "--rule", "--weights"),
        *("--within", "--score", "--format", "--out", "--band", "--unknown", "--median-of"),
    ):
        assert option in text


def test_every_group_and_every_number_is_shown_in_80_columns(shell, tmp_path, monkeypatch):
    names = ["American Indian or Alaska Native", "Black or African American", "White"]
    table = frame({name: (2500 + 40 * at, 5000) for at, name in enumerate(names)})
    table.loc[::5, "group"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setenv("COLUMNS", "80")
    answer = shell("audit", "t.csv", "--protected", "group", "--outcome", "hired")
    first_table = answer.out.partition("tests and sizes")[0].partition("\n\n")[2]
    assert "…" not in answer.out
    for word in " ".join(names).split():
        assert word in first_table


@pytest.mark.slow
def test_the_real_command_answers_from_another_folder(tmp_path):
    done = subprocess.run(
        [COMMAND, "audit", "ricci", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONWARNINGS": "error"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == 118
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_plot_draws_the_audit_and_shows_it_as_well(teal, tmp_path, ending, start):
    answer = teal(*AUDIT, "--plot", f"audit.{ending}")
    assert (answer.code, answer.err) == (0, f"wrote audit.{ending}\n")
    assert "0.681 <" in answer.out
    assert (tmp_path / f"audit.{ending}").read_bytes().startswith(start)


def test_plot_and_out_together(teal, tmp_path):
    answer = teal(*AUDIT, "--plot", "audit.png", "--out", "audit.json")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "wrote audit.png\nwrote audit.json\n"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--plot", "audit.pdf"), "--plot audit.pdf: expected a name ending in .png or .svg"),
        (("--plot", "no/audit.png"), "--plot no/audit.png: there is no folder"),
        (("--plot", "folder.png"), "--plot folder.png: cannot be written: it is a folder"),
        (("--plot", "a.svg", "--out", "./a.svg", "--format", "json"), "is the name of --out too"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_before_the_table_is_read(
    shell, tmp_path, more, says
):
    (tmp_path / "folder.png").mkdir()
    # The table does not exist: that would be said if it were read first.
    answer = shell("audit", "nothing.csv", *more)
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err


def test_a_failure_while_drawing_leaves_the_picture_that_was_there(teal, tmp_path, monkeypatch):
    def fail(self, target):
        raise OSError(28, "No space left on device")

    (tmp_path / "audit.png").write_text("as it was")
    monkeypatch.setattr(Path, "replace", fail)
    answer = teal(*AUDIT, "--plot", "audit.png")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "fourfifths: audit.png: cannot be written: No space left on device\n"
    assert (tmp_path / "audit.png").read_text() == "as it was"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["audit.png", "teal.csv"]


def test_the_help_says_where_the_rules_are_listed(shell):
    words = " ".join(shell("audit", "--help").out.split())
    assert "'fourfifths rules' lists them. [default: ugesp]" in words


@pytest.mark.parametrize("rule", fourfifths.RULES)
def test_every_rule_can_be_named(teal, rule):
    answer = teal(*AUDIT, "--rule", rule, "--reference", "group=White", "--format", "json")
    assert json.loads(answer.out)["rule"] == rule


def test_a_reference_needs_no_column_where_there_is_one(teal):
    answer = teal(*AUDIT, "--reference", "Black")
    assert answer.code == 0
    assert "group, compared with Black" in answer.out


def test_a_band_needs_no_column_where_there_is_one(shell, tmp_path):
    ages = "\n".join(f"{age},{int(age < 45)}" for age in range(20, 70))
    (tmp_path / "t.csv").write_text(f"age,hired\n{ages}\n")
    answer = shell("audit", "t.csv", "--protected", "age", "--outcome", "hired", "--band", "50")
    assert (answer.code, answer.err) == (0, "")
    assert "50" in answer.out


# 26/48 and 206/259 of Connecticut v. Teal are indicated; 9/20 and 10/20 cannot be told apart.
@pytest.mark.parametrize(
    ("groups", "fail_on", "code"),
    [
        ({"Black": (26, 48), "White": (206, 259)}, "indicated", 3),
        ({"Black": (26, 48), "White": (206, 259)}, "inconclusive", 3),
        ({"Black": (9, 20), "White": (10, 20)}, "indicated", 0),
        ({"Black": (9, 20), "White": (10, 20)}, "inconclusive", 3),
        ({"Black": (5000, 10000), "White": (5000, 10000)}, "inconclusive", 0),
    ],
)
def test_fail_on(shell, tmp_path, groups, fail_on, code):
    frame(groups).to_csv(tmp_path / "t.csv", index=False)
    answer = shell(
        "audit", "t.csv", "--protected", "group", "--outcome", "hired", "--fail-on", fail_on
    )
    assert (answer.code, answer.err) == (code, "")


@pytest.mark.parametrize("fail_on", ["indicated", "inconclusive"])
def test_fail_on_a_checklist_neither_fails_nor_passes(teal, fail_on):
    answer = teal(*AUDIT, "--rule", "uk-ea-19", "--fail-on", fail_on)
    assert (answer.code, answer.out) == (2, "")
    assert "uk-ea-19 has no number; it gives a checklist and never a finding" in answer.err
    assert answer.err.count("\n") == 1


MINORITIES = {"Asian": (38, 100), "Black": (38, 100), "White": (50, 100)}


def test_total_minority(shell, tmp_path):
    frame(MINORITIES).to_csv(tmp_path / "t.csv", index=False)
    audit = ("audit", "t.csv", "--protected", "group", "--outcome", "hired", "--rule", "ofccp")
    audit = (*audit, "--reference", "White")
    attribute = json.loads(shell(*audit, "--format", "json").out)["attributes"][0]
    # z of 76 of 200 against 50 of 100, by hand: -.12 / sqrt(.42 * .58 * .015) = -1.985.
    assert attribute["total"]["z"] == printed("-1.985")
    assert shell(*audit, "--fail-on", "indicated").code == 0
    off = json.loads(shell(*audit, "--no-total-minority", "--format", "json").out)
    assert off["attributes"][0]["total"] is None


def test_a_total_can_be_what_a_command_fails_on(shell, tmp_path):
    # Each is 1.85 standard deviations below White, and both as one are 2.15.
    groups = {"Asian": (37, 100), "Black": (37, 100), "White": (50, 100)}
    frame(groups).to_csv(tmp_path / "t.csv", index=False)
    audit = ("audit", "t.csv", "--protected", "group", "--outcome", "hired", "--rule", "ofccp")
    audit = (*audit, "--reference", "White", "--fail-on", "indicated")
    assert shell(*audit).code == 3
    assert shell(*audit, "--no-total-minority").code == 0


def test_fail_on_means_nothing_without_a_line(teal):
    answer = teal(*AUDIT, "--rule", "nyc-ll144", "--fail-on", "indicated")
    assert (answer.code, answer.out) == (2, "")
    assert "nyc-ll144 draws no line, so that nothing can fail" in answer.err


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_the_page_says_how_it_came_about(teal, form):
    text = teal(*AUDIT, "--format", form).out
    for line in ("Command: fourfifths audit teal.csv", "UTC; fourfifths", "has the SHA-256"):
        assert line in text
    assert hashlib.sha256(Path("teal.csv").read_bytes()).hexdigest() in text


def test_every_pair_is_compared_if_asked_for(shell, tmp_path):
    frame({"A": (30, 50), "B": (14, 46), "C": (2, 2)}).to_csv(tmp_path / "t.csv", index=False)
    audit = ("audit", "t.csv", "--protected", "group", "--outcome", "hired")
    plain = shell(*audit)
    assert "every pair" not in plain.out
    assert "C has under 10 rows; --pairs all compares every two groups." in " ".join(
        plain.out.split()
    )
    answer = shell(*audit, "--pairs", "all")
    assert (answer.code, answer.err) == (0, "")
    assert "group: every pair" in answer.out


def test_small_groups_are_excluded_if_asked_for(shell, tmp_path):
    groups = {"few": (9, 10), "men": (300, 500), "women": (250, 490)}
    frame(groups).to_csv(tmp_path / "t.csv", index=False)
    audit = ("audit", "t.csv", "--protected", "group", "--outcome", "hired")
    included = shell(*audit, "--rule", "nyc-ll144")
    assert "(--small-groups exclude)" in included.out
    excluded = shell(*audit, "--rule", "nyc-ll144", "--small-groups", "exclude", "--format", "json")
    assert only_group(excluded, "few")["impact_ratio"] is None
    wrong = shell(*audit, "--small-groups", "exclude")
    assert wrong.code == 2
    assert wrong.err.startswith("fourfifths: --small-groups exclude: rule 'ugesp' treats small")
