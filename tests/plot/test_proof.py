"""The picture of a proof."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from fourfifths._plot.style import BELOW, OTHER
from fourfifths._repair.proof import CurvePoint, PairProof, Proof

PROOF = Proof(
    verdict="certified",
    because="proven for every rule",
    beta=0.109,
    threshold=0.8,
    confidence=0.95,
    impact_floor=0.8123,
    table_floor=0.97,
    blocks=32,
    pairs=(
        PairProof(
            group="B",
            reference="W",
            impact_floor=0.8123,
            reverse_floor=0.83,
            table_floor=0.99,
            table_reverse_floor=0.97,
            total_variation=0.05,
            balanced_error_rate=0.475,
        ),
    ),
    strata=(),
    curve=(CurvePoint(beta=0.05, impact_floor=0.71), CurvePoint(beta=0.5, impact_floor=0.92)),
    rows_needed=None,
    columns=("score",),
    assumptions=(),
    versions={},
)
NAN = float("nan")
NOTHING = replace(
    PROOF, verdict="inconclusive", pairs=(), curve=(), impact_floor=NAN, table_floor=NAN
)


def drawn(proof):
    axis = Figure().add_subplot()
    assert proof.plot(ax=axis) is axis
    return axis


def words(axis):
    return " ".join([axis.get_title("left"), axis.get_xlabel(), axis.get_ylabel()]) + " ".join(
        text.get_text() for text in axis.texts
    )


def test_the_figure_is_drawn_whole():
    figure = PROOF.plot()
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    [axis] = figure.axes
    assert axis.get_title("left") == "certified, 32 blocks"
    assert axis.get_ylabel() == "lowest impact ratio of any rule"


def test_the_curve_is_that_of_the_proof():
    axis = drawn(PROOF)
    [line] = [line for line in axis.lines if line.get_label().startswith("proven floor")]
    assert list(line.get_xdata()) == [0.05, 0.5]
    assert list(line.get_ydata()) == [0.71, 0.92]


def test_beta_the_threshold_and_the_floor_at_beta_are_marked():
    axis = drawn(PROOF)
    [dashed] = [line for line in axis.lines if line.get_linestyle() == "--"]
    assert set(dashed.get_ydata()) == {0.8}
    [upright] = [line for line in axis.lines if list(line.get_ydata()) == [0, 1]]
    assert set(upright.get_xdata()) == {0.109}
    [point] = [line for line in axis.lines if line.get_markersize() == 8]
    assert (list(point.get_xdata()), list(point.get_ydata())) == ([0.109], [0.8123])
    assert {text.get_text() for text in axis.texts} == {"threshold 0.8", "beta 0.109", "0.812"}


@pytest.mark.parametrize(("verdict", "color"), [("certified", OTHER), ("inconclusive", BELOW)])
def test_the_point_says_whether_it_is_certified(verdict, color):
    axis = drawn(replace(PROOF, verdict=verdict))
    [point] = [line for line in axis.lines if line.get_markersize() == 8]
    assert to_hex(point.get_color()) == to_hex(color)
    assert axis.get_title("left") == f"{verdict}, 32 blocks"


def test_where_nothing_is_proven_no_floor_is_drawn():
    figure = NOTHING.plot()
    figure.canvas.draw()
    [axis] = figure.axes
    assert [line for line in axis.lines if line.get_markersize() == 8] == []
    assert "nan" not in words(axis)
    assert axis.get_title("left") == "inconclusive, nothing is proven"


@pytest.mark.slow
@pytest.mark.parametrize("proof", [PROOF, NOTHING])
def test_the_words_of_the_picture(proof):
    for word in ("fair", "compliant", "unbiased", "illegal"):
        assert word not in words(drawn(proof)).lower()
