from __future__ import annotations

import json
import math
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from counted import aggregated, frame, measure
from pyarrow import parquet
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

import fourfifths
from fourfifths._stats.proportions import ratio_interval
from fourfifths._tables.counts import PROBED_ROWS, WeightScale, cells_by_sums, count
from fourfifths._tables.table import open_table
from fourfifths.errors import ColumnError, OptionError, WeightsError

CASE = {"women": (12, 40), "men": (48, 80)}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
}


def audit(table, weights="w", **options):
    return fourfifths.impact(table, protected="group", outcome="hired", weights=weights, **options)


def weighted(w, frame_kind="pandas"):
    columns = {"group": ["A", "A", "B", "B"], "hired": ["yes", "no", "yes", "no"], "w": w}
    return FRAMES[frame_kind](columns)


def test_sampling_weights_make_weighted_rates():
    result = audit(weighted([1.0, 3.0, 2.0, 2.0]))
    assert result["A"].selection_rate == pytest.approx(1 / 4)
    assert result["B"].selection_rate == pytest.approx(1 / 2)
    assert result["A"].impact_ratio == pytest.approx(1 / 2)


def test_sampling_weights_leave_n_and_selected_as_rows():
    group = audit(weighted([10.0, 30.0, 2.0, 2.0]))["A"]
    assert (group.n, group.selected) == (2, 1)
    assert group.share == pytest.approx(40 / 44)


def test_the_effective_size_is_that_of_the_linearised_variance():
    group = audit(weighted([1.0, 3.0, 2.0, 2.0]))["A"]
    variance = ((1 - 1 / 4) ** 2 * 1**2 + (1 / 4) ** 2 * 3**2) / (1 + 3) ** 2
    assert group.effective_n == pytest.approx((1 / 4) * (3 / 4) / variance)


def test_tests_and_intervals_use_the_effective_size():
    table = frame(CASE)
    table["w"] = np.where(np.arange(len(table)) % 3 == 0, 2.0, 1.0)
    result = audit(table, reference="men")
    women, men = result["women"], result["men"]
    counts = [each.selection_rate * each.effective_n for each in (women, men)]
    sizes = [women.effective_n, men.effective_n]
    assert women.z == pytest.approx(proportions_ztest(counts, sizes)[0])
    assert women.selection_rate_interval == pytest.approx(
        proportion_confint(counts[0], sizes[0], method="beta")
    )
    low, high = ratio_interval(counts[0], sizes[0], counts[1], sizes[1])
    assert women.impact_ratio_interval == pytest.approx((float(low), float(high)))


def test_sampling_weights_leave_out_what_needs_whole_counts_and_say_so():
    result = audit(weighted([1.0, 3.0, 2.0, 2.0]))
    for figure in ("fisher_p", "fisher_p_less", "mid_p", "flip"):
        assert math.isnan(getattr(result["A"], figure))
        assert "sampling weights" in result["A"].why[figure]
    assert any("taken as sampling weights" in note for note in result.notes)


def test_with_sampling_weights_holm_adjusts_the_p_of_z():
    group = audit(weighted([1.0, 3.0, 2.0, 2.0]))["A"]
    assert group.holm_p == pytest.approx(group.z_p)


def test_strata_are_left_out_with_sampling_weights():
    table = weighted([1.0, 3.0, 2.0, 2.0]).assign(job="clerk")
    assert audit(table, within="job")["A"].stratified is None


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("numbers", [[1, 3, 2, 2], [1.0, 3.0, 2.0, 2.0], ["1", "3", "2", "2.0"]])
def test_weights_may_be_numbers_of_any_type_or_text(kind, numbers):
    result = audit(weighted(numbers, kind))
    assert result["A"].selection_rate == pytest.approx(1 / 4)


@pytest.mark.parametrize("kind", FRAMES)
def test_weights_as_text_may_be_padded(kind):
    assert audit(weighted([" 1", "3 ", "2", "2"], kind))["A"].selection_rate == pytest.approx(1 / 4)


def test_counts_are_persons():
    table = aggregated(CASE)
    result = audit(table, "count", weights_are="counts", reference="men")
    assert (result["women"].n, result["women"].selected) == (40, 12)
    assert result.rows == 120
    assert not math.isnan(result["women"].fisher_p)


def test_counts_may_be_split_over_rows_and_hold_zeros():
    whole = aggregated(CASE)
    split = pd.concat([whole.assign(count=whole["count"] - 1), whole.assign(count=1)])
    padded = pd.concat([split, whole.assign(count=0, group="nobody")])
    for table in (split, padded[padded["group"] != "nobody"]):
        result = audit(table, "count", weights_are="counts")
        assert [each.to_dict() for each in result] == [each.to_dict() for each in measure(CASE)]


def test_a_group_that_no_person_is_in_is_not_compared_and_noted():
    table = pd.concat([aggregated(CASE), aggregated({"nobody": (0, 0)})])
    result = audit(table, "count", weights_are="counts")
    assert "nobody" not in [group.group for group in result.attributes[0].groups]
    assert any("'nobody'" in note for note in result.notes)


def test_a_favorable_count_of_zero_still_names_the_favorable_value():
    result = audit(aggregated({"women": (0, 10), "men": (5, 10)}), "count", weights_are="counts")
    assert result["women"].selection_rate == 0


BAD = {
    "negative": ([1.0, -3.0, 2.0, 2.0], r"weights='w': 1 weight is negative"),
    "missing": ([1.0, None, 2.0, 2.0], r"weights='w': 1 weight is missing"),
    "not a number": ([1.0, float("nan"), 2.0, 2.0], r"weights='w': 1 weight is missing"),
    "infinite": ([1.0, float("inf"), 2.0, 2.0], r"weights='w': expected finite numbers"),
    "all zero": ([0.0, 0.0, 0.0, 0.0], r"weights='w': every weight is 0"),
    "a group of zeros": ([0.0, 0.0, 1.0, 1.0], r"the weights of group 'A' sum to 0"),
    "too large to be squared": ([1e200, 1.0, 1.0, 1.0], r"weights='w'"),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(("weights", "match"), BAD.values(), ids=BAD)
def test_bad_weights_are_an_error(kind, weights, match):
    with pytest.raises(WeightsError, match=match):
        audit(weighted(weights, kind))


@pytest.mark.parametrize("kind", FRAMES)
def test_counts_are_whole_numbers(kind):
    with pytest.raises(WeightsError, match=r"weights_are='counts' takes whole numbers.* 2 are not"):
        audit(weighted([1.5, 2.5, 2.0, 2.0], kind), weights_are="counts")


@pytest.mark.parametrize("kind", FRAMES)
def test_weights_that_are_words_are_an_error(kind):
    with pytest.raises(ColumnError, match=r"weights='w': expected numbers, found 'heavy'"):
        audit(weighted(["1", "heavy", "2", "2"], kind))


def test_weights_are_one_of_two_things():
    with pytest.raises(OptionError, match=r"weights_are='rows': expected one of 'sampling'"):
        audit(weighted([1, 1, 1, 1]), weights_are="rows")


def test_unknown_membership_is_bounded_by_weight():
    table = pd.DataFrame(
        {
            "group": ["A", "A", "B", "B", None, None],
            "hired": ["yes", "no", "yes", "no", "yes", "no"],
            "w": [1.0, 3.0, 2.0, 2.0, 4.0, 5.0],
        }
    )
    low, high = audit(table, reference="B")["A"].impact_ratio_bounds
    assert low == pytest.approx((1 / (4 + 5)) / ((2 + 4) / (4 + 4)))
    assert high == pytest.approx(((1 + 4) / (4 + 4)) / (2 / (4 + 5)))


# --- a key that is 0 or 1 ---


@pytest.fixture
def cells_of(tmp_path):
    """The cells by sums, as a mapping of their values to their rows; None if they are not so."""

    def cells_of(keys, columns, *, max_cells=100):
        parquet.write_table(pa.table(columns), tmp_path / "table.parquet")
        table = open_table(tmp_path / "table.parquet")
        cells = cells_by_sums(table, keys, max_cells=max_cells)
        return None if cells is None else {cell[:-1]: cell[-1] for cell in cells}

    return cells_of


def test_cells_of_zeros_and_ones_are_sums(cells_of):
    columns = {"g": ["a", "a", "a", "b", "b", None], "hired": [0, 1, 1, None, 0, None]}
    expected = {("a", 0): 1, ("a", 1): 2, ("b", 0): 1, ("b", None): 1, (None, None): 1}
    assert cells_of(["g", "hired"], columns) == expected
    swapped = {(hired, group): rows for (group, hired), rows in expected.items()}
    assert cells_of(["hired", "g"], columns) == swapped


def test_of_two_such_keys_the_last_is_summed(cells_of):
    columns = {"age 40": [0, 1, 1], "x": [7, 7, 8], "hired": [1, 0, 0]}
    assert cells_of([*columns], columns) == {(0, 7, 1): 1, (1, 7, 0): 1, (1, 8, 0): 1}


@pytest.mark.parametrize("late", [2, -1, 3, 2**40])
def test_another_number_after_the_first_rows_is_seen(late, cells_of, tmp_path):
    hired = [0, 1] * PROBED_ROWS
    columns = {"g": ["a", "b"] * PROBED_ROWS, "hired": [*hired[:-1], late]}
    assert cells_of(["g", "hired"], columns | {"hired": hired}) is not None
    assert cells_of(["g", "hired"], columns) is None
    audit = fourfifths.impact(
        tmp_path / "table.parquet", protected="g", outcome="hired", favorable=late
    )
    assert [(group.group, group.selected) for group in audit["g"].groups] == [("a", 0), ("b", 1)]


def test_cells_are_grouped_where_no_key_is_zero_or_one(cells_of):
    assert cells_of(["g", "hired"], {"g": ["a", "b"], "hired": [1.0, 0.0]}) is None
    assert cells_of(["g", "hired"], {"g": ["a", "b"], "hired": [1, 2]}) is None
    assert cells_of(["hired"], {"hired": [1, 0]}) is None


def test_more_groups_than_cells_may_be_are_left_to_the_error(cells_of):
    columns = {"g": [str(index) for index in range(40)], "hired": [0, 1] * 20}
    assert cells_of(["g", "hired"], columns, max_cells=120) is not None
    assert cells_of(["g", "hired"], columns, max_cells=119) is None


@pytest.mark.parametrize("type_name", ["int8", "uint8", "int64", "uint64"])
def test_whole_numbers_of_any_width_are_summed(type_name, cells_of):
    hired = pa.array([1, 0, 1, 1] * 100, type=type_name)
    columns = {"a'b \"c": ["x", "y", "x", "x"] * 100, "hired": hired}
    assert cells_of([*columns], columns) == {("x", 1): 300, ("y", 0): 100}


def test_a_relation_that_can_be_read_only_once_is_read_once():
    table = pa.table({"g": ["a", "b"] * 2_500, "hired": [0, 0, 1, 1] * 1_250})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(500))
    audit = fourfifths.impact(
        duckdb.connect().from_arrow(reader), protected="g", outcome="hired", favorable=1
    )
    assert [(group.group, group.selected) for group in audit["g"].groups] == [
        ("a", 1_250),
        ("b", 1_250),
    ]


def test_cells_are_ordered_by_their_values():
    columns = {"g": ["b", "a", None, "b", "a"], "n": [2, 2, 1, 1, 1]}
    for to_frame in FRAMES.values():
        counts = count(open_table(to_frame(columns)), ["g", "n"]).in_order()
        assert counts.values == {"g": ("a", "b"), "n": (1, 2)}
        assert counts.codes["g"].tolist() == [-1, 0, 0, 1, 1]
        assert counts.codes["n"].tolist() == [0, 0, 1, 0, 1]
        assert counts.rows.tolist() == [1, 1, 1, 1, 1]


def four_fifths_rows(order):
    """Return rows whose weights of tenths make 4 of 10 against 5 of 10: exactly four fifths."""
    columns = {
        "group": ["a"] * 30 + ["b"] * 30,
        "hired": ["yes"] * 12 + ["no"] * 18 + ["yes"] * 15 + ["no"] * 15,
        "w": [0.1, 0.2, 0.3] * 20,
    }
    return {name: [values[row] for row in order] for name, values in columns.items()}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("seed", range(4))
def test_a_ratio_of_four_fifths_in_decimals_is_not_below_it(seed, kind):
    order = np.random.default_rng(seed).permutation(60)
    group = audit(FRAMES[kind](four_fifths_rows(order)))["a"]
    # 12 rows of .1, .2, .3 are 2.4 of 6; 15 rows are 3 of 6.
    assert (group.a, group.b, group.c, group.d) == (3.6, 3.0, 2.4, 3.0)
    assert group.impact_ratio == 0.8
    assert not group.below_line
    assert group.because.startswith("ratio 0.800, not below 4/5")
    assert group.shortfall.to_reference == 0.6  # 3 - 2.4


WEIGHTS = {
    "tenths": lambda generator, n: generator.choice([0.1, 0.2, 0.3], n),
    "whole": lambda generator, n: generator.integers(1, 10**9, n).astype(float),
    "four decimals": lambda generator, n: generator.lognormal(size=n).round(4),
    "calibrated": lambda generator, n: generator.lognormal(size=n),
    "of all sizes": lambda generator, n: np.exp(15 * generator.normal(size=n)),
    "tiny": lambda generator, n: 1e-150 * generator.random(n),
    "huge": lambda generator, n: 1e150 * generator.random(n),
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weighted_figures_depend_neither_on_the_order_of_rows_nor_on_the_kind_of_table(name):
    generator, n = np.random.default_rng(7), 600
    weights = WEIGHTS[name](generator, n)
    group = generator.choice(["A", "B", "C"], n)
    hired = generator.choice(["yes", "no"], n)
    results = set()
    for table_of in FRAMES.values():
        order = generator.permutation(n)
        columns = {"group": group[order], "hired": hired[order], "w": weights[order]}
        result = audit(table_of(columns)).to_dict()
        results.add(json.dumps({key: result[key] for key in ("attributes", "notes")}))
    assert len(results) == 1


@pytest.mark.parametrize("name", WEIGHTS)
def test_sums_of_weights_are_rounded_once(name):
    generator, n = np.random.default_rng(8), 400
    weights, group = WEIGHTS[name](generator, n), generator.choice(["A", "B"], n)
    table = open_table(pa.table({"group": group, "w": weights}))
    scale = WeightScale.of(table, "w", "sampling")
    counts = count(table, ["group"], weights="w")
    for code, value in enumerate(counts.values["group"]):
        (cell,) = np.flatnonzero(counts.codes["group"] == code)
        # Weights of few decimals are these decimals, others are the floats.
        exact = [
            Fraction(repr(weight)) if scale.is_whole else Fraction(weight)
            for weight in weights[group == value].tolist()
        ]
        unit = Fraction(scale.unit)
        assert counts.weight[cell] == float(sum(exact) * unit)
        squares = sum(weight**2 for weight in exact) * unit**2
        assert counts.weight_squared[cell] == pytest.approx(float(squares), rel=1e-15)


@pytest.mark.parametrize(
    ("weights", "unit"),
    [
        ([1.0, 2.0], 1),
        ([0.5, 1.25], 100),
        ([1e-12, 2.0], 1e12),
        # The sum in units would have more than 15 digits.
        ([1e-12, 2e6], 2.0**-21),
        ([1 / 3, 0.5], 1),  # the largest is below 1 and not below 1/2
        ([4 / 3, 0.5], 0.5),
    ],
)
def test_weights_are_summed_in_units_of_their_last_decimal(weights, unit):
    table = open_table(pa.table({"w": weights}))
    scale = WeightScale.of(table, "w", "sampling")
    assert scale.unit == unit
    assert scale.is_whole is (unit >= 1 and weights[0] != 1 / 3)
