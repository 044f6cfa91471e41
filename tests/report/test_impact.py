"""What people see: text, Markdown, CSV, frames, pictures."""

from __future__ import annotations

import csv
import io
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from counted import frame, measure, measure_aggregated, printed, stratified
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import fourfifths
from fourfifths._plot.style import BELOW, OTHER
from fourfifths._report.impact import impact_csv, impact_markdown, impact_text
from fourfifths._report.markdown import escape_markdown
from fourfifths._text import interval, number, p_value, printable

TEAL = {"Black": (26, 48), "White": (206, 259)}
FORBIDDEN = re.compile(r"\b(fair|compliant|illegal|unbiased)\b", re.IGNORECASE)
NAN = float("nan")
UNDEFINED = {"women": (0, 40), "men": (0, 80)}
STRATA = {
    "captain": {"Black": (3, 8), "White": (16, 25)},
    "lieutenant": {"Black": (6, 19), "White": (25, 43)},
}


def row_of(text, group):
    """Return the cells of the first line of a table that begins with the group."""
    line = next(line for line in text.splitlines() if line.split()[:1] == [group])
    return line.split()


def audit_unknown():
    table = frame({"A": (3, 8), "B": (16, 25), "?": (2, 5)})
    return fourfifths.impact(table, protected="group", outcome="hired", unknown=["?"])


def audit_strata():
    return fourfifths.impact(stratified(STRATA), protected="group", outcome="hired", within="job")


def audit_joint():
    return fourfifths.impact("adult", protected=["sex", "race"])


AUDITS = {
    "Teal": lambda: measure(TEAL),
    "no one selected": lambda: measure_aggregated(UNDEFINED),
    "one side selected": lambda: measure({"women": (5, 40), "men": (0, 80)}, reference="men"),
    "unknown": audit_unknown,
    "strata": audit_strata,
    "joint": audit_joint,
    "scores": lambda: fourfifths.impact("ricci", score="combined", rule="nyc-ll144"),
} | {rule: lambda rule=rule: fourfifths.impact("german", rule=rule) for rule in fourfifths.RULES}


@pytest.fixture(scope="module", params=AUDITS)
def result(request):
    """One audit of each sort."""
    return AUDITS[request.param]()


def test_a_result_prints_itself():
    assert row_of(str(measure(TEAL)), "Black")[:4] == ["Black", "48", "26", "0.542"]


def test_what_falls_below_the_line_is_marked_and_the_mark_is_explained():
    text = str(measure(TEAL))
    assert "0.681 <" in text
    assert "< marks what falls below the line" in text


def test_what_is_exactly_on_the_line_of_ugesp_is_not_marked():
    text = str(measure({"group": (3, 5), "reference": (6, 8)}))
    assert "0.800" in text
    assert "<" not in text


def test_what_is_above_the_line_is_not_marked():
    assert "<" not in str(measure({"women": (45, 100), "men": (50, 100)}))


def test_undefined_is_a_dash_and_never_nan():
    text = str(measure_aggregated(UNDEFINED))
    assert "nan" not in text.lower()
    assert " - " in text


def test_an_interval_without_upper_limit_is_left_open():
    assert "to ..." in str(measure({"women": (5, 40), "men": (0, 80)}, reference="men"))


@pytest.mark.parametrize(
    ("confidence", "label"), [(0.9, "90%"), (0.975, "97.5%"), (0.999, "99.9%")]
)
def test_the_confidence_is_shown_as_it_is(confidence, label):
    header = next(
        line for line in str(measure(TEAL, confidence=confidence)).splitlines() if "rate" in line
    )
    assert header.split().count(label) == 2


def test_groups_of_which_the_same_is_said_share_a_sentence():
    text = str(measure({"A": (30, 100), "B": (30, 100), "C": (60, 100)}))
    assert "A, B: adverse impact is indicated under ugesp" in text


def test_text_keeps_to_its_width():
    lines = impact_text(audit_joint(), width=100).splitlines()
    assert max(map(len, lines)) <= 100


def test_text_shows_the_strata():
    text = str(audit_strata())
    assert "within job" in text
    assert "5.348" in text


def test_text_keeps_to_the_words(result):
    assert not FORBIDDEN.search(str(result))


def test_markdown_keeps_to_the_words_outside_of_citations(result):
    text = impact_markdown(result)
    for cited in (result.rule.source, result.rule.status):
        text = text.replace(escape_markdown(cited), "")
    assert not FORBIDDEN.search(text)


def test_csv_keeps_to_the_words(result):
    assert not FORBIDDEN.search(impact_csv(result))


def test_no_rendering_says_nan(result):
    for text in (str(result), impact_markdown(result), impact_csv(result), result.to_json()):
        assert not re.search(r"\b(nan|NaN|None|inf|Infinity)\b", text)


def test_markdown_tables_have_as_many_cells_in_each_row(result):
    tables = re.findall(r"(?:^\|.*\n)+", impact_markdown(result), flags=re.MULTILINE)
    assert tables
    for table in tables:
        cells = [len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()]
        assert len(set(cells)) == 1


def test_markdown_holds_the_figures_the_finding_and_the_source():
    text = impact_markdown(measure(TEAL))
    assert "| Black | 48 | 26 | 0.542 |" in text
    assert "0.681" in text
    assert "- Black: adverse impact is indicated under ugesp" in text
    assert "29 CFR 1607.4(D)" in text


def test_csv_has_one_record_per_group_and_the_same_columns(result):
    records = list(csv.DictReader(io.StringIO(impact_csv(result))))
    assert len(records) == sum(len(attribute.groups) for attribute in result)
    assert all(None not in record and None not in record.values() for record in records)


def test_csv_holds_every_figure_in_full():
    result = measure(TEAL)
    record = next(csv.DictReader(io.StringIO(impact_csv(result))))
    black = result["Black"]
    for figure in ("impact_ratio", "z", "fisher_p", "phi", "h", "detectable_ratio"):
        assert float(record[figure]) == getattr(black, figure)
    low, high = black.impact_ratio_interval
    assert (
        float(record["impact_ratio_interval_low"]),
        float(record["impact_ratio_interval_high"]),
    ) == (low, high)
    assert float(record["shortfall_to_pooled"]) == printed("10.274")


def test_csv_leaves_undefined_figures_empty():
    record = next(csv.DictReader(io.StringIO(impact_csv(measure_aggregated(UNDEFINED)))))
    assert record["z"] == ""
    assert "z: " in record["why"]


@pytest.mark.parametrize(
    ("kind", "type_"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_a_frame_of_each_kind(kind, type_, result):
    found = result.to_frame(kind)
    assert isinstance(found, type_)
    assert len(found) == sum(len(attribute.groups) for attribute in result)


def test_another_kind_of_frame_is_an_error():
    with pytest.raises(fourfifths.FourfifthsError, match="kind='xlsx'"):
        measure(TEAL).to_frame("xlsx")


@pytest.mark.parametrize(
    ("value", "shown"), [(NAN, "-"), (0.12345, "0.123"), (1234.5, "1,234.500"), (-1.5, "-1.500")]
)
def test_numbers_for_people(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(("p", "shown"), [(NAN, "-"), (0.0404, "0.0404"), (0.00009, "< 0.0001")])
def test_p_values_for_people(p, shown):
    assert p_value(p) == shown


@pytest.mark.parametrize(
    ("limits", "shown"),
    [((NAN, NAN), "-"), ((0.1, 0.2), "0.100 to 0.200"), ((0.1, NAN), "0.100 to ...")],
)
def test_intervals_for_people(limits, shown):
    assert interval(limits) == shown


@pytest.mark.parametrize("letter", ["\x1b", "\n", "\r", "\x00", "\x9b", "\u202e", "\u2028"])
def test_nothing_that_drives_a_terminal_is_printed(letter):
    assert letter not in printable(f"a{letter}b")


def test_printable_text_stays_as_it_is():
    assert printable("Señora 李 <b> $x$ 50%") == "Señora 李 <b> $x$ 50%"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a|b", r"a\|b"),
        ("<script>", "&lt;script&gt;"),
        ("**b**", r"\*\*b\*\*"),
        ("[a](b)", r"\[a\](b)"),
        ("a_b_", r"a\_b\_"),
        ("`x`", r"\`x\`"),
        ("a & b", "a &amp; b"),
        ("a\\|b", r"a\\\|b"),
    ],
)
def test_markdown_is_escaped(text, escaped):
    assert escape_markdown(text) == escaped


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
