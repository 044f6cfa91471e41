"""Numbers cut into groups: the same ones for an audit and for a repair."""

from __future__ import annotations

import polars as pl
import pytest
from kinds_of_tables import EVERY_KIND, in_memory

import fourfifths
from fourfifths._tables.bands import Bands, name_bands, with_bands
from fourfifths._tables.counts import count
from fourfifths._tables.groups import read_bands
from fourfifths._tables.table import open_table

AGES = Bands(column="age", edges=(26.0, 40.0))


@pytest.mark.parametrize(
    ("age", "band"),
    [(-1e9, 0), (25, 0), (25.999, 0), (26, 1), (39.999, 1), (40, 2), (1e9, 2)],
)
def test_an_edge_belongs_to_the_band_above_it(age, band):
    table = with_bands(open_table(pl.DataFrame({"age": [float(age)]})), {"age": AGES})
    assert table.rows(table.frame.select(table.names["age"])) == [(band,)]


def test_a_missing_number_is_in_no_band():
    table = with_bands(open_table(pl.DataFrame({"age": [None, 30.0]})), {"age": AGES})
    assert table.rows(table.frame.select(table.names["age"])) == [(None,), (1,)]


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        ((40,), ("under 40", "40 and over")),
        (
            (-1.5, 0, 1e6),
            ("under -1.5", "-1.5 to under 0", "0 to under 1000000", "1000000 and over"),
        ),
    ],
)
def test_bands_are_named_by_their_edges(edges, labels):
    bands = read_bands({"n": edges})["n"]
    assert bands.labels == labels


def test_banded_codes_get_their_names():
    table = with_bands(open_table(pl.DataFrame({"age": [20, 30, 50, 50]})), {"age": AGES})
    counts = name_bands(count(table, ["age"]), {"age": AGES})
    assert counts.values["age"] == AGES.labels


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_bands_make_the_same_groups_for_an_audit_and_for_a_repair(kind, tmp_path):
    columns = {
        "age": [20, 25, 26, 39, 40, 60] * 4,
        "x": list(range(24)),
        "hired": ["yes", "no", "no", "yes"] * 6,
    }
    table = EVERY_KIND[kind](columns, tmp_path)
    bands = {"age": [26, 40]}
    result = fourfifths.impact(table, protected="age", outcome="hired", bands=bands)
    repairer = fourfifths.Repairer("age", bands=bands, columns=["x"], scope="column")
    repairer.fit(in_memory(table))
    # Six ages, two in each band, four rows of each.
    expected = {"under 26": 8, "26 to under 40": 8, "40 and over": 8}
    assert {group.group: group.n for group in result.attributes[0].groups} == expected
    assert dict(zip(repairer.strata_.labels, repairer.strata_.rows, strict=True)) == expected
