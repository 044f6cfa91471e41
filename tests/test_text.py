"""Numbers and names as people read them."""

from __future__ import annotations

import pytest

from fourfifths._text import interval, listed, nearest, number, number_text, p_value, printable

NAN = float("nan")


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
    ("value", "digits", "text"), [(0.5, 1, "0.5"), (1234.56, 1, "1,234.6"), (2.0, 0, "2")]
)
def test_numbers_have_as_many_digits_as_asked_for(value, digits, text):
    assert number(value, digits) == text


def test_the_smallest_p_that_is_written_out():
    assert p_value(0.0001) == "0.0001"


@pytest.mark.parametrize(
    ("value", "text"), [(25.0, "25"), (0.1, "0.1"), (-3.5, "-3.5"), (1e22, "1e+22")]
)
def test_the_shortest_text_of_a_number_reads_back_as_the_same_number(value, text):
    assert number_text(value) == text
    assert float(number_text(value)) == value


@pytest.mark.parametrize(
    ("word", "choices", "hint"),
    [
        ("Rcae", ["sex", "RACE"], "; did you mean 'RACE'?"),
        ("sex", ["race", "age"], ""),
        (40, ["41", "x"], ""),
        (1234, [1235, "x"], "; did you mean '1235'?"),
        ("anything", [], ""),
    ],
)
def test_the_nearest_choice_is_suggested_as_it_is_spelled(word, choices, hint):
    assert nearest(word, choices) == hint


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([], ""),
        (["it's"], '"it\'s"'),
        ([1, None], "'1', 'None'"),
        (range(10), ", ".join(f"'{number}'" for number in range(10))),
        (range(12), ", ".join(f"'{number}'" for number in range(10)) + ", and 2 more"),
    ],
)
def test_values_are_quoted_and_cut_after_ten(values, text):
    assert listed(values) == text
