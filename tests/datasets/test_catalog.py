from __future__ import annotations

import re
import shutil
from dataclasses import fields
from pathlib import Path

import duckdb
import pytest
from counted import printed

import fourfifths
from fourfifths import datasets
from fourfifths.errors import OptionError


def answer(dataset: str, query: str):
    """Answer a query over the shipped rows, which it calls `t`."""
    return datasets.load(dataset).table.query("t", query).fetchall()


def test_the_three_data_sets_are_shipped_in_less_than_a_megabyte():
    assert datasets.names() == ("ricci", "german", "adult")
    assert sum(datasets.load(name).path.stat().st_size for name in datasets.names()) < 1_000_000


@pytest.mark.parametrize(("name", "rows"), [("ricci", 118), ("german", 1_000), ("adult", 48_842)])
def test_a_data_set_has_as_many_rows_as_it_says(name, rows):
    assert datasets.load(name).rows == rows
    assert answer(name, "select count(*) from t") == [(rows,)]


@pytest.mark.parametrize(("race", "n", "passed"), [("W", 68, 41), ("B", 27, 9), ("H", 23, 6)])
def test_ricci_passed_by_race(race, n, passed):
    assert answer("ricci", f"select count(*) from t where race = '{race}'") == [(n,)]
    assert answer("ricci", f"select count(*) from t where race = '{race}' and combined >= 70") == [
        (passed,)
    ]
    group = fourfifths.impact("ricci").attributes[0][race]
    assert (group.n, group.selected) == (n, passed)


def test_ricci_combined_is_six_tenths_written_and_four_tenths_oral():
    assert (
        answer("ricci", "select max(abs(combined - .6 * written - .4 * oral)) from t")[0][0] < 1e-3
    )


def test_ricci_passed_is_combined_of_at_least_70():
    assert answer("ricci", "select count(*) from t where (passed = 'yes') != (combined >= 70)") == [
        (0,)
    ]


@pytest.mark.parametrize(
    ("position", "race", "counts"),
    [
        ("captain", "B", (3, 8)),
        ("captain", "W", (16, 25)),
        ("lieutenant", "B", (6, 19)),
        ("lieutenant", "W", (25, 43)),
    ],
)
def test_ricci_by_exam_has_the_counts_of_the_case(position, race, counts):
    assert answer(
        "ricci",
        "select count(*) filter (passed = 'yes'), count(*) from t "
        f"where position = '{position}' and race = '{race}'",
    ) == [counts]


def test_ricci_within_exams_gives_the_golden_odds_ratio():
    within = fourfifths.impact("ricci", within="position")["B"].stratified
    assert within.odds_ratio == printed("0.33395")
    assert within.cmh == printed("5.348")


def test_german_has_700_good():
    assert answer("german", "select count(*) from t where credit = 'good'") == [(700,)]


def test_german_young_are_190_with_a_ratio_of_07948():
    young = fourfifths.impact("german")["under 26"]
    assert young.n == 190
    assert young.impact_ratio == printed("0.7948")
    assert answer("german", "select count(*) from t where age <= 25") == [(190,)]


def test_adult_has_its_split():
    assert answer("adult", "select split, count(*) from t group by 1 order by 1") == [
        ("test", 16_281),
        ("train", 32_561),
    ]
    assert datasets.load("adult").split == "split"


def test_adult_is_missing_in_three_columns_only():
    columns = datasets.load("adult").table.columns
    missing = answer(
        "adult", "select " + ", ".join(f'count(*) - count("{c}")' for c in columns) + " from t"
    )
    assert {column: n for column, n in zip(columns, missing[0], strict=True) if n} == {
        "workclass": 2_799,
        "occupation": 2_809,
        "native-country": 857,
    }


def test_adult_holds_no_question_mark_and_no_padding():
    table = datasets.load("adult").table
    texts = [
        name for name, kind in zip(table.columns, table.types, strict=True) if kind == "VARCHAR"
    ]
    odd = " or ".join(f'''"{name}" = '?' or "{name}" != trim("{name}")''' for name in texts)
    assert answer("adult", f"select count(*) from t where {odd}") == [(0,)]


def test_adult_labels_have_no_full_stop():
    assert answer("adult", "select distinct income from t order by 1") == [("<=50K",), (">50K",)]


def test_adult_female_to_male_ratio_is_03597():
    assert fourfifths.impact("adult")["Female"].impact_ratio == printed("0.3597")


@pytest.mark.parametrize("name", datasets.names())
def test_roles_name_columns_and_values_that_occur(name):
    data = datasets.load(name)
    columns = data.table.columns
    assert {*data.protected, *data.other_protected, data.outcome, *data.orders} <= set(columns)
    assert (data.favorable,) in answer(name, f'select distinct "{data.outcome}" from t')


@pytest.mark.parametrize("name", datasets.names())
def test_orders_hold_every_value_that_occurs_and_no_other(name):
    for column, order in datasets.load(name).orders.items():
        values = answer(name, f'select distinct "{column}" from t where "{column}" is not null')
        assert {value for (value,) in values} == set(order), column


def test_adult_education_is_in_the_order_of_its_own_numbers():
    numbered = answer("adult", 'select education from t group by 1 order by min("education-num")')
    assert tuple(value for (value,) in numbered) == datasets.load("adult").orders["education"]


@pytest.mark.parametrize("name", datasets.names())
def test_a_data_set_supplies_its_roles(name):
    data = datasets.load(name)
    result = fourfifths.impact(name, rule="feldman2015")
    assert [attribute.protected for attribute in result] == [data.protected]
    assert result.attributes[0].reference in data.reference.values()
    assert (result.table, result.outcome, result.favorable) == (name, data.outcome, data.favorable)


def test_a_data_set_may_be_passed_itself():
    by_name, itself = fourfifths.impact("ricci"), fourfifths.impact(datasets.load("ricci"))
    assert by_name.to_dict() == itself.to_dict()


def test_roles_that_are_named_replace_those_supplied():
    result = fourfifths.impact("adult", protected="race", reference="White")
    assert result.attributes[0].protected == ("race",)
    assert result.attributes[0].reference == "White"


def test_bands_that_are_named_replace_those_supplied():
    groups = fourfifths.impact("german", bands={"age": [30, 50]}).attributes[0].groups
    assert [group.group for group in groups] == ["under 30", "30 to under 50", "50 and over"]


@pytest.mark.parametrize("name", ["german", "adult"])
def test_the_licence_of_uci_is_named(name):
    assert "CC BY 4.0" in datasets.load(name).licence
    assert "UCI" in datasets.load(name).source


@pytest.mark.parametrize("name", datasets.names())
def test_to_dict_holds_the_roles_and_a_dated_source(name):
    roles = datasets.load(name).to_dict()
    assert roles["name"] == name
    assert roles["rows"] == datasets.load(name).rows
    assert re.search(r"\d{4}", roles["source"])


def test_an_unknown_data_set_suggests_the_nearest():
    with pytest.raises(OptionError, match=r"name='adlut' is not a shipped .*did you mean 'adult'"):
        datasets.load("adlut")


class Elsewhere(datasets.Dataset):
    """A data set whose file lies in another folder."""

    folder: Path

    @property
    def path(self) -> Path:
        return self.folder / "ricci.parquet"


@pytest.mark.parametrize("folder", ["a[b]c", "a*c", "a?c", "it's"])
def test_a_folder_with_the_letters_of_a_glob_pattern_is_read_literally(tmp_path, folder):
    ricci = datasets.load("ricci")
    (tmp_path / folder).mkdir()
    shutil.copy(ricci.path, tmp_path / folder)
    (tmp_path / "abc").mkdir()  # what the pattern would match
    shutil.copy(datasets.load("german").path, tmp_path / "abc" / "ricci.parquet")
    moved = Elsewhere(**{field.name: getattr(ricci, field.name) for field in fields(ricci)})
    object.__setattr__(moved, "folder", tmp_path / folder)
    assert moved.table.fetchall() == ricci.table.fetchall()


def test_the_table_is_a_relation_that_does_not_touch_the_callers_connection():
    duckdb.sql("SET VARIABLE mine = 1")
    try:
        query = "select getvariable('mine')"
        assert isinstance(datasets.load("ricci").table, duckdb.DuckDBPyRelation)
        assert duckdb.sql(query).fetchall() == [(1,)]
        assert answer("ricci", query) == [(None,)]
    finally:
        duckdb.sql("RESET VARIABLE mine")
