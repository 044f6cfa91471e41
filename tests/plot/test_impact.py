"""The picture of an audit."""

from __future__ import annotations

import pytest
from counted import frame, measure, measure_aggregated
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import fourfifths
from fourfifths._plot.style import BELOW, OTHER
from fourfifths.errors import OptionError

TEAL = {"Black": (26, 48), "White": (206, 259)}


def two_attributes():
    table = frame({"Black": (26, 48), "White": (206, 259)})
    table["sex"] = ["F", "M"] * 153 + ["F"]
    return fourfifths.impact(table, protected=["group", "sex"], outcome="hired")


AUDITS = {
    "Teal": lambda: measure(TEAL),
    "no one selected": lambda: measure_aggregated({"women": (0, 40), "men": (0, 80)}),
    "one side selected": lambda: measure({"women": (5, 40), "men": (0, 80)}, reference="men"),
    "two attributes and both": two_attributes,
    "no line": lambda: measure(TEAL, rule="nyc-ll144"),
}


@pytest.fixture(scope="module", params=AUDITS)
def result(request):
    """One audit of each sort."""
    return AUDITS[request.param]()


def panel():
    return Figure().add_subplot()


def points(axis):
    return [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"]


def drawn(result):
    figure = result.plot()
    figure.canvas.draw()
    return figure


def test_every_audit_can_be_drawn(result):
    figure = drawn(result)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 2 * len(result.attributes)


def test_the_picture_holds_the_rates_the_ratios_and_the_line():
    rates, ratios = drawn(measure(TEAL)).axes
    points = [line.get_xdata()[0] for line in rates.lines if line.get_marker() == "o"]
    assert points == pytest.approx([26 / 48, 206 / 259])
    points = [line.get_xdata()[0] for line in ratios.lines if line.get_marker() == "o"]
    assert points == pytest.approx([(26 / 48) / (206 / 259), 1])
    dashed = [line for line in ratios.lines if line.get_linestyle() == "--"]
    assert [line.get_xdata()[0] for line in dashed] == [0.8]


def test_the_picture_holds_the_intervals():
    result = measure(TEAL)
    _, ratios = drawn(result).axes
    black = next(line for line in ratios.lines if line.get_linewidth() == 2)
    assert tuple(black.get_xdata()) == pytest.approx(result["Black"].impact_ratio_interval)


def test_the_rule_without_a_line_draws_none():
    _, ratios = drawn(measure(TEAL, rule="nyc-ll144")).axes
    assert not [line for line in ratios.lines if line.get_linestyle() == "--"]


@pytest.mark.parametrize(
    ("group", "colour"), [((3, 5), OTHER), ((2, 5), BELOW)], ids=["exactly 4/5", "below"]
)
def test_the_picture_colours_only_what_is_below_the_line(group, colour):
    _, ratios = drawn(measure({"group": group, "reference": (6, 8)})).axes
    first = next(line for line in ratios.lines if line.get_marker() == "o")
    assert to_hex(first.get_color()) == colour


def test_a_picture_can_be_saved(tmp_path):
    measure(TEAL).plot().savefig(tmp_path / "impact.png")
    assert (tmp_path / "impact.png").read_bytes().startswith(b"\x89PNG")


def test_with_an_axis_the_ratios_are_drawn_there_and_it_is_returned():
    result, axis = measure(TEAL), panel()
    assert result.plot(ax=axis) is axis
    axis.figure.canvas.draw()
    assert points(axis) == pytest.approx([(26 / 48) / (206 / 259), 1])
    assert [label.get_text() for label in axis.get_yticklabels()] == [
        "Black  26/48",
        "White (reference)  206/259",
    ]
    assert axis.get_title(loc="left") == "group, compared with White"


def test_an_axis_shows_one_attribute_and_the_error_says_which_to_take():
    with pytest.raises(OptionError, match=r"3 attributes.*use result\['group'\]\.plot\(ax=ax\)"):
        two_attributes().plot(ax=panel())


def test_one_attribute_of_several_is_drawn_alone():
    _, sex, _ = two_attributes().attributes
    figure = sex.plot()
    assert len(figure.axes) == 2
    axis = panel()
    assert sex.plot(ax=axis) is axis
    assert points(axis) == pytest.approx([group.impact_ratio for group in sex.groups])


def test_panels_of_one_figure_have_one_scale():
    _, first, _, second, _, third = two_attributes().plot().axes
    assert first.get_xlim() == second.get_xlim() == third.get_xlim()


def test_a_dollar_sign_is_no_mathematics():
    result = measure({"$50K": (3, 5), "$x$": (6, 8)})
    axis = panel()
    result.plot(ax=axis).figure.canvas.draw()
    assert axis.get_yticklabels()[0].get_text().startswith(r"\$50K")


def test_a_group_has_no_picture():
    with pytest.raises(OptionError, match="there is no picture of GroupImpact; there is one"):
        measure(TEAL)["Black"].plot()


def test_an_excluded_group_has_a_rate_and_no_ratio():
    groups = {"few": (9, 10), "men": (300, 500), "women": (250, 490)}
    result = measure(groups, rule="nyc-ll144", small_groups="exclude")
    rates, ratios = drawn(result).axes
    assert points(rates) == pytest.approx([0.9, 0.6, 250 / 490])
    assert points(ratios) == pytest.approx([1, (250 / 490) / 0.6])
    assert rates.get_yticklabels()[0].get_text() == "few (excluded)  9/10"


def test_all_others_as_one_are_set_apart_from_the_groups():
    result = measure(
        {"B": (9, 27), "H": (6, 23), "W": (41, 68)}, total_minority=True, reference="W"
    )
    rates, ratios = drawn(result).axes
    assert points(rates) == pytest.approx([9 / 27, 6 / 23, 41 / 68, 15 / 50])
    assert points(ratios)[-1] == pytest.approx((15 / 50) / (41 / 68))
    assert rates.get_yticklabels()[-1].get_text() == "(all others)  15/50"
    for axis in (rates, ratios):
        # The fourth row is below the line between rows 2 and 3.
        assert [line.get_ydata()[0] for line in axis.lines if line.get_linestyle() == ":"] == [2.5]
