"""The worst subgroups of a search."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import hypergeom

import fourfifths
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError, WeightsError

SCHEMA = Path(__file__).parents[3] / "docs" / "schema" / "subgroups.schema.json"
# Both sexes are selected alike, and so are both ages: 100 of 200. Only in the intersections there
# is a difference: 10 of 100 against 90 of 100.
CROSSED = pd.DataFrame(
    {
        "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
        "age": ["older", "older", "younger", "younger"] * 2,
        "hired": ["yes", "no"] * 4,
        "n": [10, 90, 90, 10, 90, 10, 10, 90],
    }
)


def duckdb_table(columns):
    return duckdb.connect().from_arrow(pa.table(columns))


def crossed(**options):
    roles = {"protected": "sex", "columns": "age", "outcome": "hired", "persons": "n"}
    return fourfifths.subgroups(CROSSED, **roles | options)


def people(rows: int = 600, seed: int = 3) -> pd.DataFrame:
    """Return random rows; women of race B at site 2 are selected less often."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], rows),
            "race": rng.choice(["A", "B", None], rows, p=[0.5, 0.45, 0.05]),
            "site": rng.choice(["1", "2", "3"], rows),
            "years": rng.integers(0, 40, rows),
        }
    )
    is_target = (frame.sex == "F") & (frame.race == "B") & (frame.site == "2")
    frame["hired"] = np.where(rng.random(rows) < np.where(is_target, 0.05, 0.5), "yes", "no")
    return frame


def test_a_subgroup_that_no_column_shows_alone():
    result = crossed()
    worst, second = result.subgroups[:2]
    assert {worst.label, second.label} == {"sex F & age older", "sex M & age younger"}
    assert (worst.selected, worst.n, worst.selected_others, worst.n_others) == (10, 100, 190, 300)
    assert worst.ratio == pytest.approx((10 / 100) / (190 / 300))
    # sex F, sex M, and the four intersections; not the ages alone.
    assert (result.searched, result.too_small, result.repeated) == (6, 0, 0)
    assert [entry.ratio for entry in result if entry.columns == ("sex",)] == [1, 1]
    assert result.worst.ratio_limit < 0.8
    assert result.surely_below == 2
    # None of the permutations comes near: the observed table is the only one.
    assert worst.adjusted_p == 1 / 2000


def test_one_column_at_a_time_shows_nothing():
    result = crossed(depth=1)
    assert (result.searched, result.surely_below) == (2, 0)
    assert all(subgroup.adjusted_p > 0.5 for subgroup in result)


def test_the_limits_of_the_crossed_table_by_hand():
    """Exact limits at 4.5% / 6, and for all rows at 0.25%, from the definition."""
    from scipy.stats import beta

    high = beta.ppf(1 - 0.045 / 6, 11, 90)
    overall = beta.ppf(0.0025, 200, 201)
    others = max(beta.ppf(0.0025 / 6, 190, 111), (400 * overall - 100 * high) / 300)
    assert crossed().worst.ratio_limit == pytest.approx(high / others)


def test_every_subgroup_is_counted_as_pandas_counts_it():
    table = people()
    result = fourfifths.subgroups(
        table,
        protected=["sex", "race"],
        columns="site",
        outcome="hired",
        min_rows=20,
        show=1000,
    )
    expected = {}
    names = ("sex", "race", "site")
    for size in (1, 2, 3):
        for columns in itertools.combinations(names, size):
            if columns == ("site",):
                continue
            for values, rows in table.groupby(list(columns))["hired"]:
                if len(rows) >= 20:
                    expected[columns, values] = (len(rows), int((rows == "yes").sum()))
    assert {(s.columns, s.values): (s.n, s.selected) for s in result} == expected
    assert result.searched == len(expected)
    assert all(s.n + s.n_others == 600 for s in result)
    ratios = [s.ratio for s in result]
    assert ratios == sorted(ratios)
    assert result.worst.label == "sex F & race B & site 2"
    assert any("no known race: in no subgroup of this column" in note for note in result.notes)
    by_limit = fourfifths.subgroups(
        table, protected=["sex", "race"], columns="site", outcome="hired", order="limit"
    )
    limits = [s.ratio_limit for s in by_limit]
    assert limits == sorted(limits)


@pytest.mark.parametrize("kind", [pl.from_pandas, lambda table: table.sample(frac=1)])
def test_the_kind_and_the_order_of_the_rows_do_not_matter(kind):
    roles = {"protected": ["sex", "race"], "columns": ["site", "years"], "outcome": "hired"}
    expected = fourfifths.subgroups(people(), **roles)
    assert fourfifths.subgroups(kind(people()), **roles).to_records() == expected.to_records()


def test_a_file_says_the_same(tmp_path):
    people().to_csv(tmp_path / "p.csv", index=False)
    roles = {"protected": ["sex", "race"], "columns": ["site", "years"], "outcome": "hired"}
    expected = fourfifths.subgroups(people(), **roles)
    result = fourfifths.subgroups(tmp_path / "p.csv", **roles)
    assert result.to_records() == expected.to_records()
    assert result.cuts == expected.cuts


def test_numbers_are_cut_at_quantiles_whatever_the_outcome():
    table = people()
    quartiles = tuple(np.quantile(table.years, [0.25, 0.5, 0.75]))
    result = fourfifths.subgroups(table, protected="sex", columns="years", outcome="hired")
    assert result.cuts == {"years": quartiles}
    assert any("chosen without looking at the outcome" in note for note in result.notes)
    swapped = table.assign(hired=table.hired.map({"yes": "no", "no": "yes"}))
    other = fourfifths.subgroups(swapped, protected="sex", columns="years", outcome="hired")
    assert other.cuts == result.cuts
    assert other.searched == result.searched
    named = fourfifths.subgroups(
        table, protected="sex", columns="years", outcome="hired", bands={"years": [10]}
    )
    assert named.cuts == {}
    assert {s.values[1] for s in named if len(s.values) == 2} == {"under 10", "10 and over"}


def test_many_equal_numbers_are_cut_off_from_the_rest():
    table = people().assign(gain=lambda frame: np.where(frame.index < 540, 0, frame.index))
    result = fourfifths.subgroups(table, protected="sex", columns="gain", outcome="hired")
    assert result.cuts == {"gain": (540,)}


def test_the_same_rows_are_searched_once():
    table = CROSSED.assign(title=CROSSED.sex.map({"F": "Ms", "M": "Mr"}))
    result = crossed(columns=["age"])
    doubled = fourfifths.subgroups(
        table, protected="sex", columns=["age", "title"], outcome="hired", persons="n"
    )
    # "F & Ms", "M & Mr", and the four intersections with age: all are there already.
    assert (doubled.searched, doubled.repeated) == (6, 6)
    assert doubled.worst.ratio_limit == result.worst.ratio_limit


def test_small_subgroups_and_small_complements_are_not_searched():
    table = pd.DataFrame(
        {"sex": ["F"] * 5 + ["M"] * 60 + ["X"] * 40, "hired": (["yes", "no", "no"] * 35)}
    )
    result = fourfifths.subgroups(table, protected="sex", outcome="hired")
    assert (result.searched, result.too_small) == (2, 1)
    assert {s.values[0] for s in result} == {"M", "X"}


def test_rows_without_an_outcome_are_left_out_and_counted():
    table = people()
    table.loc[:9, "hired"] = None
    result = fourfifths.subgroups(table, protected="sex", outcome="hired")
    assert (result.rows, result.outcome_missing) == (590, 10)
    assert "10 rows have no hired and could not be counted" in result.notes


def test_a_ratio_to_others_without_selections_is_undefined():
    table = pd.DataFrame({"sex": ["F"] * 40 + ["M"] * 40, "hired": ["yes"] * 20 + ["no"] * 60})
    result = fourfifths.subgroups(table, protected="sex", outcome="hired")
    men, women = result.subgroups
    assert (men.values, men.ratio) == (("M",), 0)
    assert math.isnan(women.ratio)
    assert result.to_dict()["subgroups"][1]["ratio"] is None


def test_too_many_combinations_are_counted_three_at_a_time():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 18, (130_000, 5))
    # Texts, so that they are not cut at quantiles.
    letters = np.array(list("abcdefghijklmnopqr"))
    table = pl.DataFrame({f"v{column}": letters[codes[:, column]] for column in range(5)})
    is_selected = rng.random(130_000) < np.where(codes[:, 0] == 3, 0.1, 0.5)
    table = table.with_columns(hired=pl.Series(is_selected))
    names = [f"v{column}" for column in range(5)]
    options = {"protected": "v0", "outcome": "hired", "depth": 2, "order": "limit"}
    result = fourfifths.subgroups(table, columns=names[1:], **options)
    assert (result.adjusted_by, result.permutations) == ("bonferroni", 0)
    assert result.worst.label == "v0 d"
    rows = table.filter(pl.col("v0") == "d")
    assert (result.worst.n, result.worst.selected) == (rows.height, rows["hired"].sum())
    pair = next(s for s in result if len(s.values) == 2)
    expected = hypergeom.cdf(pair.selected, result.rows, result.selected, pair.n)
    assert pair.adjusted_p == pytest.approx(min(1, expected * result.searched), abs=1e-12)
    assert any("Bonferroni" in note for note in result.notes)


def test_the_json_keeps_to_its_schema():
    schema = json.loads(SCHEMA.read_text())
    for result in (
        crossed(),
        fourfifths.subgroups(people(), protected="sex", columns="years", outcome="hired"),
        fourfifths.subgroups(people(), protected="sex", outcome="hired"),
    ):
        jsonschema.validate(json.loads(result.to_json()), schema)


def test_the_same_seed_gives_the_same_answer():
    roles = {"protected": "sex", "columns": ["race", "site"], "outcome": "hired"}
    first, second = (fourfifths.subgroups(people(), **roles) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"depth": 4}, OptionError, "depth=4: expected a whole number from 1 to 3"),
        ({"min_rows": 0}, OptionError, "min_rows=0: expected a whole number, 1 or more"),
        ({"show": True}, OptionError, "show=True: expected a whole number"),
        ({"order": "p"}, OptionError, "order='p': expected one of"),
        ({"confidence": 0.7}, OptionError, "confidence=0.7: expected a number from 0.8"),
        ({"threshold": 2}, OptionError, "threshold=2: expected a number above 0"),
        ({"columns": "sex"}, ColumnError, "columns='sex': is searched already"),
        ({"columns": "Age"}, ColumnError, "columns='Age': no such column"),
        ({"columns": "hired"}, ColumnError, "columns='hired': is the outcome; leave it out"),
        ({"min_rows": 300}, GroupError, "min_rows=300: no subgroup has that many rows"),
        ({"favorable": "maybe"}, OutcomeError, "favorable='maybe': never occurs"),
        ({"persons": None}, WeightsError, "looks like a number of persons"),
    ],
)
def test_an_error_says_what_to_do(options, error, message):
    with pytest.raises(error, match=message):
        crossed(**options)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["x"] * 8, "holds only 'x'; leave it out"),
        (pd.date_range("2026-01-01", periods=8), "holds dates"),
        ([[1]] * 8, "expected plain values"),
    ],
)
def test_columns_that_make_no_subgroups(column, message):
    with pytest.raises((ColumnError, GroupError), match=message):
        fourfifths.subgroups(
            CROSSED.assign(x=column), protected="sex", columns="x", outcome="hired", persons="n"
        )


def test_a_column_of_names_is_refused():
    table = people().assign(name=[f"person {index}" for index in range(600)])
    with pytest.raises(ColumnError, match="'name' has 600 different values; expected 50 at most"):
        fourfifths.subgroups(table, protected="sex", columns="name", outcome="hired")


def test_everyone_selected_leaves_nothing_to_compare():
    with pytest.raises(GroupError, match="every row has the favorable value 'yes'"):
        fourfifths.subgroups(
            people().assign(hired="yes"), protected="sex", outcome="hired", favorable="yes"
        )


def test_more_rows_than_can_be_permuted():
    result = fourfifths.subgroups(
        CROSSED.assign(n=CROSSED.n * 10**7),
        protected="sex",
        columns="age",
        outcome="hired",
        persons="n",
    )
    assert result.adjusted_by == "bonferroni"
    assert (result.worst.n, result.worst.adjusted_p) == (10**9, 0)
    assert result.worst.ratio == pytest.approx(0.1 / (19 / 30))


def test_the_adjusted_p_is_that_of_permuted_rows():
    """Against permutations of the rows themselves, with scipy's tails; 1,000 of them."""
    table = people(rows=300, seed=11).assign(hired=np.tile(["yes", "no", "no"], 100))
    result = fourfifths.subgroups(
        table, protected=["sex", "race"], columns="site", outcome="hired", min_rows=20, show=1000
    )
    members = np.array(
        [
            (table[list(s.columns)] == pd.Series(s.values, index=s.columns)).all(axis=1)
            for s in result
        ],
        dtype=int,
    )
    rng = np.random.default_rng(2)
    is_hired = (table.hired == "yes").to_numpy().astype(int)
    permuted = np.array([rng.permutation(is_hired) for _ in range(1000)])
    n = members.sum(axis=1)
    smallest = hypergeom.cdf(permuted @ members.T, 300, 100, n).min(axis=1)
    observed = hypergeom.cdf(members @ is_hired, 300, 100, n)
    is_low = members @ is_hired <= n / 3
    expected = (smallest <= observed[:, None] * (1 + 1e-9)).mean(axis=1)
    adjusted = np.array([s.adjusted_p for s in result])
    assert is_low.sum() > 5
    assert adjusted[is_low] == pytest.approx(expected[is_low], abs=4 * math.sqrt(0.25 / 650))
    assert np.ptp(expected[is_low]) > 0.3  # p-values of many sizes are compared


# Ages of 20 to 59, 25 rows of each: the quartiles are 29.75, 39.5 and 49.25. Older women are hardly
# hired.
AGES = np.repeat(np.arange(20, 60), 25)


def aged(written=AGES):
    sex = np.tile(["F", "M"], AGES.size // 2)
    hired = np.where((sex == "F") & (AGES >= 50), AGES % 7 == 0, np.arange(AGES.size) % 3 > 0)
    return pd.DataFrame({"sex": sex, "age": written, "hired": np.where(hired, "yes", "no")})


def by_age(table, **options):
    return fourfifths.subgroups(table, protected="sex", columns="age", outcome="hired", **options)


@pytest.mark.parametrize(
    ("written", "shift"),
    [("{}", 0), ("{}%", 0), ("{},5", 0.5), ("${}", 0), ("{}e0", 0)],
)
def test_numbers_as_people_write_them_are_cut_like_numbers(written, shift):
    texts = [written.format(age) for age in AGES]
    result = by_age(aged(texts))
    assert result.cuts == {"age": (29.75 + shift, 39.5 + shift, 49.25 + shift)}
    plain = by_age(aged())
    assert [group.n for group in result] == [group.n for group in plain]
    assert [group.selected for group in result] == [group.selected for group in plain]


@pytest.mark.parametrize("cell", [None, "n/a", "?", "absent"])
@pytest.mark.parametrize("kind", ["pandas object", "pandas string", "polars", "csv"])
def test_one_missing_number_leaves_the_column_numbers(cell, kind, tmp_path):
    texts = list(map(str, AGES))
    texts[0] = cell
    table = aged(pd.Series(texts, dtype="string" if kind == "pandas string" else object))
    if kind == "polars":
        table = pl.from_pandas(table)
    if kind == "csv":
        table.to_csv(tmp_path / "t.csv", index=False)
        table = tmp_path / "t.csv"
    result = by_age(table, unknown=["absent"] if cell == "absent" else ())
    quartiles = np.quantile(AGES[1:], [0.25, 0.5, 0.75])
    assert result.cuts == {"age": tuple(quartiles)}
    assert any("1 row has no known age" in note for note in result.notes)


def test_ten_numbers_and_a_missing_one_are_ten_groups():
    ages = np.where(AGES == 20, np.nan, AGES % 10)
    result = by_age(aged(ages))
    assert result.cuts == {}
    assert {s.values[1] for s in by_age(aged(ages), show=99) if len(s.values) == 2} == {
        f"{age}.0" for age in range(10)
    }


def test_a_word_among_numbers_is_named_and_not_one_more_subgroup():
    table = aged(["oops", *map(str, AGES[1:])])
    with pytest.raises(ColumnError, match=r"'age': 999 of 1,000 values are numbers, but 'oops'"):
        by_age(table)
    many = aged(["oops", *map(str, np.arange(1, AGES.size))])
    with pytest.raises(ColumnError, match=r"'age': 999 of 1,000 values are numbers, but 'oops'"):
        by_age(many)


def test_protected_values_are_groups_whatever_they_look_like():
    """A code of a group may be a word among numbers; more than ten of them may not."""
    codes = np.array(list("1234567"))[AGES % 7]
    codes[:20] = "X"
    table = aged().assign(race=codes)
    result = fourfifths.subgroups(table, protected="race", outcome="hired", min_rows=5, show=99)
    assert {group.values[0] for group in result} == {*"1234567X"}


def test_an_infinite_number_cannot_be_cut():
    with pytest.raises(ColumnError, match="columns='age': expected finite numbers, found -inf"):
        by_age(aged([-np.inf, *AGES[1:]]))


def test_codes_with_leading_zeros_are_subgroups_with_a_note():
    result = by_age(aged([f"0{age}" for age in AGES]), min_rows=5, show=99)
    assert result.cuts == {}
    assert any("'age' holds codes with leading zeros" in note for note in result.notes)
    assert {s.values[1] for s in result if len(s.values) == 2} <= {f"0{age}" for age in AGES}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table, duckdb_table])
def test_numbers_are_cut_alike_in_every_kind_of_table(library):
    hundredths = np.random.default_rng(5).integers(-10_000, 10_000, 300)
    columns = {
        "sex": ["F", "M"] * 150,
        "balance": [float(f"{number / 100:.2f}") for number in hundredths],
        "hired": ["yes", "no", "no"] * 100,
    }
    result = fourfifths.subgroups(
        library(columns), protected="sex", columns="balance", outcome="hired", favorable="yes"
    )
    # By fractions of hundredths: a quarter of the 299 steps, and so on.
    ordered = sorted(int(number) for number in hundredths)
    expected = []
    for quarter in (1, 2, 3):
        whole, rest = divmod(299 * quarter, 4)
        mark = Fraction(ordered[whole]) + Fraction(rest, 4) * (ordered[whole + 1] - ordered[whole])
        expected.append(float(mark / 100))
    assert result.cuts["balance"] == tuple(expected)
