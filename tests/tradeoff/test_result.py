"""The result of a sweep, on points made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from curves import curve, point

from fourfifths._tradeoff.result import distance_from_one, dominates
from fourfifths.errors import OptionError


@pytest.mark.parametrize(
    ("interval", "clear"),
    [((0.8, 1.25), True), ((0.79, 1.0), False), ((0.9, 1.26), False), ((0.85, 1.1), True)],
)
def test_a_point_clears_a_threshold_on_both_sides(
    interval: tuple[float, float], clear: bool
) -> None:
    assert point(impact_ratio_interval=interval).clears(0.8) is clear


def test_choose_takes_the_highest_utility_that_is_clear() -> None:
    best_but_not_clear = point(utility=0.9, impact_ratio_interval=(0.7, 1.0))
    clear = point(utility=0.8, impact_ratio_interval=(0.82, 1.0))
    worse = point(utility=0.7, impact_ratio_interval=(0.9, 1.0))
    assert curve([best_but_not_clear, worse, clear]).choose() is clear
    assert curve([best_but_not_clear, worse, clear]).choose(impact_ratio=0.85) is worse
    assert curve([best_but_not_clear]).choose() is None


@pytest.mark.parametrize("threshold", [0, 1, 1.25])
def test_a_threshold_that_is_no_ratio_below_one_is_refused(threshold: float) -> None:
    with pytest.raises(OptionError, match=rf"impact_ratio={threshold}: expected a number between"):
        curve([point()]).choose(impact_ratio=threshold)


def test_the_front_has_the_points_that_no_other_beats() -> None:
    accurate = point(impact_ratio=0.7, utility=0.80)
    even = point(impact_ratio=1.0, utility=0.70)
    between = point(impact_ratio=0.9, utility=0.75)
    beaten = point(impact_ratio=0.85, utility=0.75)
    over = point(impact_ratio=1.25, utility=0.76)  # as far from 1 as .8
    beaten_over = point(impact_ratio=1.5, utility=0.75)  # as far as 2/3
    points = [accurate, even, between, beaten, over, beaten_over]
    assert curve(points).front == (accurate, even, between, over)


def test_equal_points_are_both_on_the_front() -> None:
    assert len(curve([point(), point()]).front) == 2


def test_select_takes_points_by_their_attributes() -> None:
    points = [point("LR"), point("SVM"), point("SVM", "random", 0.5)]
    assert curve(points).select(model="SVM", method="none") == (points[1],)
    assert curve(points).select(amount=0.5) == (points[2],)
    assert curve(points).select() == tuple(points)


def test_json_has_the_schema_and_null_for_what_is_undefined() -> None:
    nan = float("nan")
    content = json.loads(curve([point(auc=nan, auc_interval=(nan, nan))]).to_json())
    assert content["schema"] == "fourfifths/tradeoff/1"
    assert content["points"][0]["auc"] is None
    assert content["points"][0]["impact_ratio"] == 0.7


def test_a_record_has_an_interval_as_two_columns_and_groups_in_one() -> None:
    nan = float("nan")
    made = point(
        utility_interval=(0.6, 0.8), auc_interval=(nan, nan), impact_ratios={"a": 0.7, "c": 0.9}
    )
    (record,) = curve([made]).to_records()
    assert (record["utility_low"], record["utility_high"]) == (0.6, 0.8)
    assert (record["auc_low"], record["auc_high"]) == (None, None)
    assert record["impact_ratios"] == "a: 0.7; c: 0.9"
    assert "utility_interval" not in record


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_for_each_point(kind) -> None:
    frame = curve([point("LR"), point("SVM")]).to_frame(kind)
    assert type(frame).__module__.startswith(kind)
    assert list(frame["model"].to_pylist() if kind == "pyarrow" else frame["model"]) == [
        "LR",
        "SVM",
    ]


def test_it_prints_and_draws(tmp_path: Path) -> None:
    sweep = curve([point("LR"), point("LR", "random", 1.0, impact_ratio=0.95)])
    assert "column, random" in str(sweep)
    sweep.plot().savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("ratio", "distance"), [(1.0, 0), (0.8, 0.2), (1.25, 0.2), (2.0, 0.5), (0.0, 1)]
)
def test_a_ratio_is_as_far_from_one_as_its_inverse(ratio: float, distance: float) -> None:
    assert distance_from_one(ratio) == pytest.approx(distance)


@pytest.mark.parametrize(
    ("ratio", "utility", "beats"),
    [
        (0.8, 0.71, True),  # as near to 1, and more useful
        (0.9, 0.70, True),  # as useful, and nearer
        (1.1, 0.70, True),  # 1 / 1.1 is .909
        (0.8, 0.70, False),  # the same
        (0.9, 0.69, False),  # nearer, but less useful
        (0.7, 0.90, False),  # more useful, but further away
    ],
)
def test_a_point_dominates_if_it_is_better_in_one_and_worse_in_neither(
    ratio: float, utility: float, beats: bool
) -> None:
    rival = point(impact_ratio=ratio, utility=utility)
    assert dominates(rival, point(impact_ratio=0.8, utility=0.7)) is beats
