"""Values as people write them: each column is read rightly, or refused in one clear sentence.

The truth of every table is what was counted by hand when it was made.
"""

from __future__ import annotations

import datetime
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from kinds_of_tables import EVERY_KIND, in_memory

import fourfifths
from fourfifths._json import sealed
from fourfifths._tables.bands import completed_years
from fourfifths._tables.values import NumberText, date_readings, folded, means_not_known
from fourfifths.errors import (
    ColumnError,
    FourfifthsError,
    GroupError,
    OptionError,
    OutcomeError,
    ReadingWarning,
    WeightsError,
)

KINDS = ["pandas", "polars", "pyarrow", "duckdb", "csv"]
# 24 of 40 women and 37 of 50 men were hired: 61 of 90. Three women's and two men's rows have an
# odd spelling of their group, and 14 of the 61 an odd spelling of "Yes".
WOMEN = ["Female"] * 37 + ["female", "Female ", "FEMALE"]
MEN = ["Male"] * 48 + ["male", "Male\N{NO-BREAK SPACE}"]
HIRED_WOMEN = ["Yes"] * 20 + ["yes ", "YES", "yes", " Yes"] + ["No"] * 15 + ["no"]
HIRED_MEN = ["Yes"] * 27 + ["yes"] * 10 + ["No"] * 13
PEOPLE = {"sex": [*WOMEN, *MEN], "hired": [*HIRED_WOMEN, *HIRED_MEN]}
SCORES = [float(row % 9 + (row >= 40)) for row in range(90)]


def groups(result):
    return {group.group: (group.selected, group.n) for group in result.attributes[0].groups}


def audit(table, *, protected="sex", outcome="hired", **options):
    return fourfifths.impact(table, protected=protected, outcome=outcome, **options)


def note_of(result, text):
    notes = [note for note in result.notes if text in note]
    assert len(notes) == 1, result.notes
    return notes[0]


# ---------------------------------------------------------------- spellings


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_differ_in_case_or_spaces_are_one_in_an_audit(kind, tmp_path):
    result = audit(EVERY_KIND[kind](PEOPLE, tmp_path))
    assert groups(result) == {"Female": (24, 40), "Male": (37, 50)}
    assert result.favorable == "Yes"
    assert "(5 rows)" in note_of(result, "column 'sex'")
    # Four of the women's and ten of the men's "Yes", and one "no".
    assert "(15 rows)" in note_of(result, "column 'hired'")
    assert "exact_values=True keeps them apart" in note_of(result, "column 'hired'")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_values_are_one_in_a_certificate_a_repair_and_a_tradeoff(kind, tmp_path):
    table = EVERY_KIND[kind](PEOPLE | {"score": SCORES}, tmp_path)
    certificate = fourfifths.certify(
        table,
        protected="sex",
        outcome="hired",
        auditors=["naive-bayes"],
        folds=2,
        leaks=False,
        progress=False,
    )
    assert certificate.rows == 90
    assert {certificate.worst.group, certificate.worst.reference} == {"Female", "Male"}
    assert any("column 'sex'" in note for note in certificate.notes)
    frame = in_memory(table)
    repairer = fourfifths.Repairer("sex", columns=["score"], scope="column")
    with pytest.warns(ReadingWarning, match="'FEMALE', 'Female ', 'female' are taken for 'Female'"):
        repairer.fit(frame)
    assert repairer.strata_.groups == (("Female",), ("Male",))
    assert repairer.strata_.rows == (40, 50)
    curve = fourfifths.tradeoff(
        table,
        protected="sex",
        outcome="hired",
        columns=["score"],
        models=["GNB"],
        amounts=[0, 1],
        repeats=1,
        auditors=["naive-bayes"],
        progress=False,
    )
    assert (curve.rows, curve.favorable) == (90, "Yes")
    assert len([note for note in curve.notes if "column 'hired'" in note]) == 1


def test_exact_values_are_kept_apart_and_pairs_are_then_not_obvious():
    table = fourfifths.read_table(pd.DataFrame(PEOPLE), exact_values=True)
    result = audit(table, favorable="Yes")
    assert groups(result)["FEMALE"] == (0, 1)
    assert len(groups(result)) == 7
    assert not any("exact_values" in note for note in result.notes)
    with pytest.raises(OutcomeError, match="holds 7 values"):
        audit(table)


def test_reference_and_favorable_may_be_spelled_otherwise():
    result = audit(pd.DataFrame(PEOPLE), favorable="YES ", reference="male")
    assert (result.favorable, result.attributes[0].reference) == ("Yes", "Male")


def test_values_that_are_not_text_stay_what_they_are():
    table = pd.DataFrame({"sex": pd.Series([1, True, "1", "1 "] * 5, dtype=object)})
    result = audit(table.assign(hired=["yes", "no"] * 10))
    # pandas groups 1 and True as one value; the texts are one by their spaces.
    assert sorted(group.n for group in result.attributes[0].groups) == [10, 10]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Straße", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("a  b", "A B"),
        ("x\u200b", "X"),
        ("I don\u2019t", "i don't"),
    ],
)
def test_letters_that_are_the_same_to_people(first, second):
    assert folded(first) == folded(second)


def test_a_saved_repair_looks_values_up_by_the_same_rule(tmp_path):
    frame = pd.DataFrame(PEOPLE | {"score": SCORES})
    repairer = fourfifths.Repairer("sex", columns=["score"], scope="column")
    with pytest.warns(ReadingWarning, match="column 'sex'"):
        repairer.fit(frame)
    repairer.save(tmp_path / "repair.json")
    loaded = fourfifths.Repairer.load(tmp_path / "repair.json")
    new = pd.DataFrame({"sex": ["feMALE", " Male "], "hired": ["Yes", "No"], "score": [3.0, 3.0]})
    plain = new.assign(sex=["Female", "Male"])
    assert loaded.transform(new)["score"].tolist() == loaded.transform(plain)["score"].tolist()
    with pytest.raises(GroupError, match="'Femal' in row 0 is not one of the strata"):
        loaded.transform(new.assign(sex=["Femal", "Male"]))
    # A file of before values were merged may have "M" and "m" as two strata.
    document = json.loads((tmp_path / "repair.json").read_text())
    document["strata"]["groups"] = [["Male"], ["male"]]
    (tmp_path / "old.json").write_text(json.dumps(sealed(document)))
    old = fourfifths.Repairer.load(tmp_path / "old.json").strata_
    codes = old.renumber([("Male",), ("male",), ("MALE",)], np.array([0, 1, 2]))
    assert codes.tolist() == [0, 1, -1]


def test_an_exact_repair_does_not_know_another_spelling():
    frame = pd.DataFrame({"g": ["a", "A"] * 8, "x": np.arange(16.0)})
    repairer = fourfifths.Repairer("g", columns=["x"], scope="column", exact_values=True)
    assert repairer.fit(frame).strata_.groups == (("A",), ("a",))
    with pytest.raises(GroupError, match="'a ' in row 0 is not one of the strata"):
        repairer.transform(frame.assign(g=["a ", *frame["g"][1:]]))


# ---------------------------------------------------------------- not known


@pytest.mark.parametrize(
    "text",
    [
        "Prefer not to say",
        "prefer not to answer",
        "I prefer not to disclose",
        "Decline to State",
        "Declined to self-identify",
        "I do not wish to answer",
        "I don\u2019t wish to self-identify",
        "I do not wish to disclose my race",
        "Not disclosed",
        "Undisclosed",
        "Not Specified",
        "N/A",
        "#N/A",
        "Unknown",
        "?",
        "-",
        "--",
        "null",
        "Choose not to identify",
        "I would rather not say",
    ],
)
def test_texts_that_mean_not_known(text):
    assert means_not_known(text, "group")
    assert means_not_known(f" {text.upper()} ", "group")
    assert not means_not_known(text, "group", [text.lower()])
    people = pd.DataFrame({"sex": ["a", "b", text] * 8, "hired": ["yes", "no"] * 12})
    result = audit(people)
    assert set(groups(result)) == {"a", "b"}
    assert result.attributes[0].unknown == 8
    assert f"known=[{text!r}]" in note_of(result, "is taken for not known (8 rows)")
    kept = audit(fourfifths.read_table(people, known=text.lower()))
    assert groups(kept)[text] == (4, 8)


@pytest.mark.parametrize(
    "text", ["NA", "None", "Other", "Not applicable", "Two or more", "Nonbinary", "No", "Multi"]
)
def test_texts_that_may_be_a_group_are_one(text):
    assert not means_not_known(text, "group")


@pytest.mark.parametrize("text", ["Declined", "Refused", "None", "Pending"])
def test_an_outcome_may_be_declined(text):
    assert not means_not_known(text, "outcome")


@pytest.mark.parametrize("kind", KINDS)
def test_not_known_is_no_group_of_a_certificate_nor_stratum_of_a_repair(kind, tmp_path):
    columns = {
        "g": ["a", "b", "Prefer not to say"] * 20,
        "hired": ["yes", "no", "no", "yes"] * 15,
        "x": [float(row) for row in range(60)],
    }
    table = EVERY_KIND[kind](columns, tmp_path)
    certificate = fourfifths.certify(
        table,
        protected="g",
        outcome="hired",
        auditors=["naive-bayes"],
        folds=2,
        leaks=False,
        progress=False,
    )
    assert certificate.rows == 40
    repairer = fourfifths.Repairer("g", columns=["x"], scope="column")
    frame = in_memory(table)
    with pytest.raises(GroupError, match=r"20 rows have no value; .*'Prefer not to say' is taken"):
        repairer.fit(frame)
    with pytest.warns(ReadingWarning, match="not known"):
        kept = repairer.set_params(unseen="keep").fit(frame)
    assert kept.strata_.rows == (20, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        repairer.set_params(unseen="error", known="prefer not to say").fit(frame)
    assert repairer.strata_.rows == (20, 20, 20)


def test_not_known_stays_a_category_of_a_feature():
    words = ["u", "N/A", "v", "u"] * 25
    table = pd.DataFrame({"g": ["a", "b"] * 50, "hired": ["yes", "no", "no"] * 33 + ["no"]})
    repairer = fourfifths.Repairer("g", columns=["x"], scope="column").fit(table.assign(x=words))
    assert repairer.column_types_[0].categories == ("N/A", "u", "v")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_value_that_never_occurs_is_an_error(kind, tmp_path):
    table = EVERY_KIND[kind](PEOPLE | {"score": SCORES}, tmp_path)
    with pytest.raises(
        OptionError, match=r"unknown='Femal': never occurs .*did you mean '[Ff]emale"
    ):
        audit(table, unknown=["Femal"])
    with pytest.raises(OptionError, match="unknown=-1: never occurs"):
        fourfifths.certify(table, protected="sex", outcome="hired", unknown=-1)
    # It may be in any column that is used: 3 is a score.
    certificate = fourfifths.certify(
        table,
        protected="sex",
        outcome="hired",
        unknown=3,
        auditors=["naive-bayes"],
        progress=False,
    )
    assert certificate.rows == 90


@pytest.mark.parametrize("kind", KINDS)
def test_not_known_numbers_are_missing_with_a_note(kind, tmp_path):
    ages = [str(20 + row % 40) for row in range(90)]
    ages[:6] = ["N/A", "n/a", "Unknown", "-", "#N/A", "none"]
    table = EVERY_KIND[kind](PEOPLE | {"age": ages}, tmp_path)
    result = audit(table, protected="age", bands={"age": [40]})
    # Ages 20 to 59 from row 6 on: rows 6 to 19, 40 to 59 and 80 to 89 are under 40.
    assert {name: n for name, (_, n) in groups(result).items()} == {
        "under 40": 44,
        "40 and over": 40,
    }
    assert "(6 rows)" in note_of(result, "taken for missing")


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1.500", {".": 1.5, ",": 1500}),
        ("1,200", {".": 1200, ",": 1.2}),
        ("83,3%", {",": 83.3}),
        ("83.3 %", {".": 83.3}),
        ("$1,200.50", {".": 1200.5}),
        ("1.234,56 €", {",": 1234.56}),
        ("(1,200.00)", {".": -1200}),
        ("-$5", {".": -5, ",": -5}),
        ("$-5", {".": -5, ",": -5}),
        ("1 200", {".": 1200, ",": 1200}),
        ("1\N{NARROW NO-BREAK SPACE}200,5", {",": 1200.5}),
        ("1'200.5", {".": 1200.5}),
        ("1,234,567", {".": 1234567}),
        ("1.234.567", {",": 1234567}),
        ("0.125", {".": 0.125}),
        ("0,125", {",": 0.125}),
        ("\N{MINUS SIGN}7", {".": -7, ",": -7}),
        ("USD 5", {".": 5, ",": 5}),
        ("12,34", {",": 12.34}),
    ],
)
def test_what_a_text_means_as_a_number(text, readings):
    assert NumberText.of(text).readings == readings


@pytest.mark.parametrize(
    "text", ["1,2,3", "1,20,0", "(-5)", "--5", "5 -", "$5 EUR", "1.2.3", "12-5", "5kg", "", "1 2"]
)
def test_what_is_no_number(text):
    assert NumberText.of(text) is None


def doors(columns, kind, folder):
    """Yield what each door reads a feature as: the mean of its numbers."""
    table = EVERY_KIND[kind](columns, folder)
    certificate = fourfifths.certify(
        table,
        protected="g",
        beta=0.5,
        columns=["x"],
        auditors=["naive-bayes"],
        folds=2,
        leaks=False,
        progress=False,
    )
    assert certificate.features == {"x": "number"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        repairer = fourfifths.Repairer("g", columns=["x"], scope="column").fit(in_memory(table))
    return certificate, repairer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("texts", "highest"),
    [
        (["1.234,56", "1.500", "900,5"], 1500),
        (["83,3%", "12,5%", "100%"], 100),
        (["$1,200", "$900.50", "($20)"], 1200),
        (["1 200", "900", "12,5"], 1200),
        (["1'200", "900", "N/A"], 1200),
        (["0.5", "1,200.5", "3"], 1200.5),
    ],
)
def test_numbers_by_one_convention_are_numbers(texts, highest, kind, tmp_path):
    columns = {"g": ["a", "b"] * 15, "x": (texts * 10)}
    certificate, repairer = doors(columns, kind, tmp_path)
    assert max(repairer.model_.columns[0].values) == highest
    assert any("column 'x'" in note for note in certificate.notes)
    table = EVERY_KIND[kind](columns | {"y": ["yes", "no"] * 15}, tmp_path)
    result = audit(table, protected="x", outcome="y", bands={"x": [highest]})
    assert groups(result)[f"{highest:g} and over"][1] == 10


@pytest.mark.parametrize("text", ["1.500", "1,200", "$1,200", "(1,200)"])
def test_a_column_that_can_be_read_in_two_ways_is_an_error_that_shows_both(text):
    frame = pd.DataFrame({"g": ["a", "b"] * 8, "x": [text, "900"] * 8, "y": ["yes", "no"] * 8})
    match = r"column 'x': .* may be -?(1.5|1200) or -?(1500|1.2), .*give decimal='\.'"
    asked = (
        lambda table: audit(table, protected="x", outcome="y", bands={"x": [5]}),
        lambda table: fourfifths.certify(table, protected="g", beta=0.5, columns=["x"]),
        lambda table: fourfifths.Repairer("g", columns=["x"], scope="column").fit(frame),
        lambda table: fourfifths.tradeoff(table, protected="g", outcome="y", columns=["x"]),
    )
    for ask in asked:
        with pytest.raises(ColumnError, match=match):
            ask(frame)
    thousands = "," if text.startswith("1.") else "."
    repairer = fourfifths.Repairer("g", columns=["x"], scope="column", decimal=thousands)
    with pytest.warns(ReadingWarning, match="is read as -?1[25]00"):
        repairer.fit(frame)


@pytest.mark.parametrize(
    ("texts", "match"),
    [
        (["0.5", "0,5"], r"'0.5' has a decimal point and '0,5' a decimal comma"),
        (["1,234.5", "1.234,5"], "has a decimal point and '1.234,5' a decimal comma"),
        (["50%", "0.5"], "are in different units"),
        (["$5", "€5"], "are in different units"),
    ],
)
def test_a_conflict_within_a_column_names_two_cells(texts, match):
    frame = pd.DataFrame({"g": ["a", "b"] * 8, "x": texts * 8})
    with pytest.raises(ColumnError, match=match):
        fourfifths.Repairer("g", columns=["x"], scope="column").fit(frame)
    with pytest.raises(ColumnError, match=match):
        fourfifths.certify(frame, protected="g", beta=0.5, columns=["x"])


def test_a_decimal_mark_that_is_declared_is_checked():
    frame = pd.DataFrame({"g": ["a", "b"] * 8, "x": ["0.5", "2.25"] * 8})
    for table in (frame, pl.DataFrame(frame.to_dict("list"))):
        with pytest.raises(ColumnError, match=r"decimal=',', but '(0.5|2.25)' is not a number"):
            fourfifths.certify(
                fourfifths.read_table(table, decimal=","), protected="g", beta=0.5, columns=["x"]
            )


def test_repaired_numbers_are_written_as_the_column_writes_them(tmp_path):
    # Two groups of 30: b has 40 more than a, so a full repair puts both 20 from where they were.
    numbers = [10.5 + 2 * row for row in range(30)] + [50.5 + 2 * row for row in range(30)]
    texts = [f"{number}".replace(".", ",") + "%" for number in numbers]
    frame = pd.DataFrame({"g": ["a"] * 30 + ["b"] * 30, "x": texts})
    repairer = fourfifths.Repairer("g", columns=["x"], scope="column")
    with pytest.warns(ReadingWarning, match="'100,5%' is read as 100.5"):
        repaired = repairer.fit_transform(frame)
    assert repaired["x"][:2].tolist() == ["30,5%", "32,5%"]
    repairer.save(tmp_path / "repair.json")
    loaded = fourfifths.Repairer.load(tmp_path / "repair.json")
    # A single row does not show the convention by itself: "10,500%" could be 10500.
    row = frame.head(1).assign(x="10,500%")
    assert loaded.transform(row)["x"].tolist() == ["30,5%"]
    with pytest.raises(ColumnError, match="are not in percent, but those that the repair was"):
        loaded.transform(row.assign(x="10,5"))


def test_decimals_of_a_csv_are_no_identifiers(tmp_path):
    numbers = [f"{row + 0.25:.2f}" for row in range(60)]
    frame = pd.DataFrame({"g": ["a", "b"] * 30, "x": numbers, "y": ["yes", "no", "no"] * 20})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        repairer = fourfifths.Repairer("g", keep="y", blocks=2).fit(frame)
    assert [column.name for column in repairer.column_types_] == ["x"]


# ---------------------------------------------------------------- counts

COUNTED = {"Race": ["White", "Black", "Asian"], "Applicants": [200, 100, 50], "Hired": [80, 20, 15]}
COUNTS = {"n": "Applicants", "selected": "Hired"}


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_per_group_may_be_entered(kind, tmp_path):
    table = EVERY_KIND[kind](COUNTED, tmp_path)
    result = fourfifths.impact(table, protected="Race", counts=COUNTS)
    assert groups(result) == {"Asian": (15, 50), "Black": (20, 100), "White": (80, 200)}
    assert (result.rows, result.outcome, result.favorable) == (350, "Hired", "selected")
    assert result["Black"].impact_ratio == 0.5
    rest = {name: values for name, values in COUNTED.items() if name != "Applicants"}
    rest["Not hired"] = [120, 80, 35]
    other = fourfifths.impact(
        EVERY_KIND[kind](rest, tmp_path),
        protected="Race",
        counts={"selected": "Hired", "not_selected": "Not hired"},
    )
    assert groups(other) == groups(result)


def test_counts_are_those_of_persons_in_rows():
    rows = [
        (race, "yes" if person < hired else "no")
        for race, n, hired in zip(*COUNTED.values(), strict=True)
        for person in range(n)
    ]
    people = pd.DataFrame(rows, columns=["Race", "Hired"])
    of_people = fourfifths.impact(people, protected="Race", outcome="Hired")
    of_counts = fourfifths.impact(pd.DataFrame(COUNTED), protected="Race", counts=COUNTS)
    people_page, counts_page = (
        str(result.attributes[0]).splitlines() for result in (of_people, of_counts)
    )
    assert people_page[0] == "the table: Hired = yes, Race, rule ugesp, 350 rows"
    assert counts_page[0] == "the table: Hired = selected, Race, rule ugesp, 350 rows"
    assert people_page[1:] == counts_page[1:]


def test_numbers_of_one_group_are_added_up_with_a_note():
    table = pd.DataFrame({"Race": ["A", "B", "a ", "B"], "n": [10, 20, 30, 40], "k": [1, 2, 3, 4]})
    result = fourfifths.impact(table, protected="Race", counts={"n": "n", "selected": "k"})
    assert groups(result) == {"B": (6, 60), "a ": (4, 40)}
    assert "2 rows of the table" in note_of(result, "added up")


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"Hired": [80, 20, 51]}, WeightsError, "1 row has more selected than there are"),
        ({"Hired": [80, 20, 1.5]}, WeightsError, "1 row has a number that is not whole"),
        ({"Hired": [80, 20, -1]}, WeightsError, "1 row has a negative number"),
        ({"Hired": [80, None, 1]}, WeightsError, "1 row has no number"),
        ({"Race": ["White", "Black", "Total"]}, GroupError, "looks like a total .*are not their"),
        (
            {"Race": ["White", "Black", "ALL "], "Applicants": [9, 8, 17], "Hired": [4, 2, 6]},
            GroupError,
            r"'ALL ' looks like a total of the other rows \(its numbers are their sum\); remove it",
        ),
    ],
)
def test_counts_that_cannot_be(change, error, match):
    with pytest.raises(error, match=match):
        fourfifths.impact(pd.DataFrame(COUNTED | change), protected="Race", counts=COUNTS)


def test_counts_and_an_outcome_exclude_each_other():
    table = pd.DataFrame(COUNTED)
    with pytest.raises(OptionError, match="the counts say who was selected; leave outcome out"):
        fourfifths.impact(table, protected="Race", counts=COUNTS, outcome="Hired")
    with pytest.raises(OptionError, match=r"counts=.*expected the columns of two numbers"):
        fourfifths.impact(table, protected="Race", counts={"n": "Applicants"})
    with pytest.raises(OutcomeError, match=r"give counts=\{'n': ..., 'selected': 'Hired'\}"):
        audit(table[["Race", "Hired"]], protected="Race", outcome="Hired")


@pytest.mark.parametrize("name", ["Count", "n", "N", "Freq", "number_of_applicants", "Headcount"])
def test_a_number_of_persons_that_nobody_mentions_is_an_error(name):
    table = pd.DataFrame(
        {"g": ["a", "a", "b", "b"], "hired": ["yes", "no"] * 2, name: [9, 8, 7, 6]}
    )
    with pytest.raises(WeightsError, match=rf"column '{name}' .*weights='{name}', weights_are="):
        audit(table, protected="g")
    by_job = pd.concat([table.assign(job=job) for job in ("cook", "clerk", "guard")])
    with pytest.raises(WeightsError, match="no two rows are alike"):
        audit(by_job, protected="g")
    result = audit(table, protected="g", weights=name, weights_are="counts")
    assert groups(result) == {"a": (9, 17), "b": (7, 13)}


def test_a_column_called_n_of_persons_is_no_weight():
    people = pd.DataFrame({"g": ["a", "b"] * 20, "hired": ["yes", "no", "no", "yes"] * 10})
    assert audit(people.assign(n=range(40)), protected="g").rows == 40
    scored = people.assign(n=[3] * 40, score=range(40), job=["x", "y"] * 20)
    assert audit(scored, protected="g").rows == 40


# ---------------------------------------------------------------- dates of birth

BORN = ["1986-01-01", "1986-01-02", "1980-02-29", "2000-12-31"] * 3
DAYS = [datetime.date.fromisoformat(day) for day in BORN]
SELECTED = ["yes", "no", "no"] * 4


@pytest.mark.parametrize(
    ("born", "on", "years"),
    [
        ("1986-01-01", "2026-01-01", 40),
        ("1986-01-02", "2026-01-01", 39),
        ("1984-02-29", "2024-02-29", 40),
        ("1984-02-29", "2023-02-28", 38),
        ("1984-02-29", "2023-03-01", 39),
        ("2026-01-01", "2026-01-01", 0),
    ],
)
def test_ages_are_completed_years(born, on, years):
    day, other = map(datetime.date.fromisoformat, (born, on))
    assert completed_years(day, other) == years


WRITTEN = {
    "dates": DAYS,
    "moments": [datetime.datetime(day.year, day.month, day.day, 23, 59) for day in DAYS],
    "ISO text": BORN,
    "ISO moments": [f"{day} 00:00:00" for day in BORN],
    "day first": [f"{day.day}.{day.month}.{day.year}" for day in DAYS],
    "month first": [f"{day:%m/%d/%Y}" for day in DAYS],
    "names": [f"{day:%d-%b-%Y}" for day in DAYS],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("written", WRITTEN)
def test_dates_of_birth_become_ages(written, kind, tmp_path):
    columns = {"DOB": WRITTEN[written], "hired": SELECTED, "x": [float(row) for row in range(12)]}
    table = EVERY_KIND[kind](columns, tmp_path)
    options = {"bands": {"DOB": [40]}, "ages": {"DOB": "2026-01-01"}}
    result = audit(table, protected="DOB", **options)
    assert {name: n for name, (_, n) in groups(result).items()} == {
        "under 40": 6,
        "40 and over": 6,
    }
    repairer = fourfifths.Repairer("DOB", columns=["x"], scope="column", **options)
    repairer.fit(in_memory(table))
    assert dict(zip(repairer.strata_.labels, repairer.strata_.rows, strict=True)) == {
        "under 40": 6,
        "40 and over": 6,
    }
    certificate = fourfifths.certify(
        table,
        protected="DOB",
        outcome="hired",
        auditors=["naive-bayes"],
        folds=2,
        leaks=False,
        progress=False,
        **options,
    )
    assert certificate.settings["ages"] == {"DOB": "2026-01-01"}


def test_a_repair_by_age_is_saved_with_its_day(tmp_path):
    frame = pd.DataFrame({"DOB": BORN, "x": np.arange(12.0)})
    repairer = fourfifths.Repairer(
        "DOB",
        columns=["x"],
        scope="column",
        bands={"DOB": [40]},
        ages={"DOB": datetime.date(2026, 1, 1)},
    ).fit(frame)
    repairer.save(tmp_path / "repair.json")
    loaded = fourfifths.Repairer.load(tmp_path / "repair.json")
    assert loaded.transform(frame).equals(repairer.transform(frame))


@pytest.mark.parametrize(
    ("born", "match"),
    [
        (["03/04/1980", "05/06/1990"], "may be 3 April 1980 or 4 March 1980"),
        (["13/04/1980", "04/13/1980"], "the day comes first in '13/04/1980', and the month in"),
        (["1980-01-01", "2026-01-02"], "1 dates of birth are after 2026-01-01"),
        (["1980-01-01", "1900-01-02"], "1 dates of birth are over 120 years before 2026-01-01"),
        (["1980-01-01", "04/05/80"], "holds '04/05/80'; expected dates with a year of four"),
        (["1980-01-01", "1980-02-30"], "holds '1980-02-30'; expected dates"),
        ([1980, 1990], "holds Int64; expected dates of birth"),
    ],
)
def test_dates_of_birth_that_cannot_be(born, match):
    table = pd.DataFrame({"DOB": born, "hired": ["yes", "no"]})
    with pytest.raises(ColumnError, match=match):
        audit(table, protected="DOB", bands={"DOB": [40]}, ages={"DOB": "2026-01-01"})


def test_a_date_of_birth_may_be_missing():
    table = pd.DataFrame({"DOB": ["1980-01-01", "2000-01-01", "N/A", None], "hired": [1, 0, 1, 0]})
    result = audit(table, protected="DOB", bands={"DOB": [40]}, ages={"DOB": "2026-01-01"})
    assert result.attributes[0].unknown == 2
    assert "'N/A'" in note_of(result, "taken for missing")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"ages": {"DOB": "2026-01-01"}}, "ages: 'DOB' has no bands; say where"),
        ({"bands": {"DOB": [40]}}, "bands: 'DOB' holds dates; if they are dates of birth"),
        ({}, "protected='DOB': the column holds dates; .*ages="),
        ({"ages": {"DOB": "1/1/26"}, "bands": {"DOB": [40]}}, "ages: the day of 'DOB' is '1/1/26'"),
        ({"ages": "DOB"}, "ages='DOB': expected a mapping of column to a day"),
    ],
)
def test_what_is_needed_for_ages(options, match):
    with pytest.raises(FourfifthsError, match=match):
        audit(pl.DataFrame({"DOB": DAYS, "hired": SELECTED}), protected="DOB", **options)


def test_a_day_that_does_not_exist_is_no_date():
    assert date_readings("31/02/1980") == {}
    assert date_readings("not a date") == {}


# ---------------------------------------------------------------- advice on bands


def test_ages_are_cut_at_40_and_salaries_are_not():
    hired = ["yes", "no"] * 20
    ages = pd.DataFrame({"applicant_age": range(20, 60), "hired": hired})
    with pytest.raises(ColumnError, match=r"bands=\{'applicant_age': \[40\]\} makes 'under 40'"):
        audit(ages, protected="applicant_age")
    pay = pd.DataFrame({"wage": range(30_000, 70_000, 1_000), "hired": hired})
    with pytest.raises(ColumnError, match=r"bands=\{'wage': \[50000\]\} makes 'under 50000'"):
        audit(pay, protected="wage")


# ---------------------------------------------------------------- the favorable value


@pytest.mark.parametrize(
    ("values", "favorable"),
    [
        (("Approved", "Denied"), "Approved"),
        (("Hired", "Not Hired"), "Hired"),
        (("accepted", "REJECTED"), "accepted"),
        (("Offered", "Not offered"), "Offered"),
        (("Selected", "not  selected"), "Selected"),
        (("Promoted", "Not promoted"), "Promoted"),
        (("Admitted", "Denied"), "Admitted"),
        (("Pass", "Fail"), "Pass"),
        (("Y", "N"), "Y"),
        ((1, 0), "1"),
    ],
)
def test_pairs_whose_favorable_value_is_plain(values, favorable):
    table = pd.DataFrame({"g": ["a", "b"] * 4, "result": [*values] * 2 + [*reversed(values)] * 2})
    assert audit(table, protected="g", outcome="result").favorable == favorable


@pytest.mark.parametrize(
    "name",
    [
        *("rejected", "Denied", "terminated", "two_year_recid", "loan_default", "Failed", "fired"),
        *("is_recid", "LoanDefault", "not_hired", "laid_off", "dismissed", "isRejected"),
    ],
)
@pytest.mark.parametrize("values", [(1, 0), ("Yes", "No"), (True, False)])
def test_an_outcome_that_is_bad_is_asked_about(name, values):
    table = pd.DataFrame({"g": ["a", "b"] * 4, name: [*values] * 2 + [*reversed(values)] * 2})
    with pytest.raises(OutcomeError, match=rf"outcome='{name}': .*say which value is favorable"):
        audit(table, protected="g", outcome=name)
    assert audit(table, protected="g", outcome=name, favorable=values[1]).favorable == str(
        values[1]
    )


@pytest.mark.parametrize("name", ["notified", "hired", "banking", "latest", "negotiated", "noted"])
def test_a_name_that_only_begins_alike_is_not_asked_about(name):
    table = pd.DataFrame({"g": ["a", "b"] * 4, name: [1, 0, 0, 1] * 2})
    assert audit(table, protected="g", outcome=name).favorable == "1"


@pytest.mark.parametrize("values", [("Good", "Bad"), ("A", "B"), ("Declined", "Accepted")])
def test_other_pairs_are_asked_about(values):
    table = pd.DataFrame({"g": ["a", "b"] * 4, "result": [*values] * 4})
    with pytest.raises(OutcomeError, match="say which one is favorable"):
        audit(table, protected="g", outcome="result")


def test_all_values_as_favorable_are_an_error():
    with pytest.raises(OutcomeError, match=r"favorable=\['Yes', 'No'\]: these are all values"):
        audit(pd.DataFrame(PEOPLE), favorable=["Yes", "No"])
