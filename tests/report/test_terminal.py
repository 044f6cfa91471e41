"""A page on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fourfifths._report.document import Document, Section, Sentence, Sheet
from fourfifths._report.terminal import document_text, print_document, print_sheet, rich_table

RATES = Sheet(
    title="rates", headers=("group", "n", "rate"), rows=(("a", "10", "0.500"), ("b", "2", "-"))
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def page(*sheets: Sheet, **fields) -> Document:
    return Document(headline="t.csv", sections=(Section(sheets=sheets),), **fields)


def coloured(document: Document, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    print_document(document, stream, width=80)
    return stream.getvalue()


def test_the_first_column_is_text_and_the_others_are_flush_right():
    lines = document_text(page(RATES)).splitlines()
    assert " group   n   rate" in lines
    assert " a      10  0.500" in lines
    assert " b       2      -" in lines


def test_the_parts_come_in_order():
    document = Document(
        headline="headline",
        sections=(Section(sheets=(RATES,), sentences=(Sentence(text="a sentence."),)),),
        notes=("a note",),
        closing=("the end",),
    )
    text = document_text(document)
    found = [text.index(part) for part in ("headline", "rates", "a sentence.", "Note: a note.")]
    assert found == sorted(found)
    assert text.endswith("the end")


def test_details_are_left_out():
    detail = Sheet(title="further", headers=("group", "phi"), rows=(("a", "0.1"),), is_detail=True)
    text = document_text(page(RATES, detail, details=("Rule: of a paper.",)))
    assert "rates" in text
    assert "further" not in text
    assert "Rule" not in text


def test_a_long_name_is_folded_and_a_number_is_not():
    name = "American Indian or Alaska Native"
    sheet = Sheet(title="t", headers=("group", "n"), rows=((name, "1,234,567,890"),), name_width=12)
    text = document_text(page(sheet), width=20)
    assert "1,234,567,890" in text
    assert "…" not in text
    assert name not in text
    assert all(word in text for word in name.split())


WIDE = Sheet(
    title="wide",
    headers=("group", "amount", *(f"figure{index}" for index in range(6))),
    rows=tuple((name, "0.5", *(f"0.12345{index}" for index in range(6))) for name in "ab"),
    name_columns=2,
)


def test_a_table_too_wide_is_shown_in_parts_that_repeat_the_names():
    lines = document_text(page(WIDE), width=40).splitlines()
    assert max(map(len, lines)) <= 40
    heads = [line.split() for line in lines if line.split()[:1] == ["group"]]
    assert all(head[:2] == ["group", "amount"] for head in heads)
    assert [name for head in heads for name in head[2:]] == [f"figure{i}" for i in range(6)]
    rows = [line.split() for line in lines if line.split()[:1] == ["a"]]
    assert [number for row in rows for number in row[2:]] == [f"0.12345{i}" for i in range(6)]
    assert sum(line.strip() == "wide" for line in lines) == 1


def test_a_table_that_fits_is_in_one_part():
    assert document_text(page(WIDE), width=120).count("group") == 1


def test_a_part_is_never_narrower_than_its_numbers():
    text = document_text(page(WIDE), width=5)
    assert all(f"0.12345{index}" in text for index in range(6))


def test_nothing_in_a_cell_a_head_or_a_note_drives_the_terminal():
    sheet = Sheet(title="\x1b[31m", headers=("g", "\x1b[32m"), rows=(("\x1b[33m", "1"),))
    text = document_text(page(sheet, notes=("\x1b[34m",), closing=("\x1b[35m",)))
    assert "\x1b" not in text
    assert "\\x1b[33m" in text


def test_names_are_no_markup():
    sheet = Sheet(title="[bold]t[/]", headers=("g", "n"), rows=(("[red]x[/red]", "1"),))
    text = document_text(page(sheet))
    assert "[bold]t[/]" in text
    assert "[red]x[/red]" in text


@pytest.mark.parametrize(
    ("tone", "code"), [("plain", "1m"), ("good", "1;32m"), ("bad", "1;31m"), ("open", "1;33m")]
)
def test_the_headline_has_the_colour_of_its_tone(tone, code, monkeypatch):
    assert f"\x1b[{code}t.csv" in coloured(Document(headline="t.csv", tone=tone), monkeypatch)


def test_what_stands_out_is_red_on_a_terminal_and_nowhere_else(monkeypatch):
    sheet = Sheet(title="t", headers=("g", "n"), rows=(("a", "1"), ("b", "2")), marked=(1,))
    text = coloured(page(sheet), monkeypatch)
    red = [line for line in text.splitlines() if "\x1b[31m" in line]
    assert len(red) == 1
    assert "b" in red[0]
    assert "\x1b" not in document_text(page(sheet))


def test_a_sheet_leaves_the_width_of_the_console_as_it_was():
    console = Console(file=io.StringIO(), width=12)
    print_sheet(WIDE, console)
    assert console.width == 12
    assert console.file.getvalue().count("amount") == 6


def test_a_table_of_rich_has_the_columns_that_were_asked_for():
    table = rich_table(RATES, [0, 2], title="[b]rates")
    assert [str(column.header) for column in table.columns] == ["group", "rate"]
    assert [[str(cell) for cell in column.cells] for column in table.columns] == [
        ["a", "b"],
        ["0.500", "-"],
    ]
    assert [column.justify for column in table.columns] == ["left", "right"]
    assert str(table.title) == "[b]rates"


LONG_NAMES = tuple(letter + " of a name of sixty letters" + letter * 33 for letter in "AB")


def test_a_long_name_above_numbers_is_wrapped_at_80_columns():
    sheet = Sheet(
        title="steps",
        headers=("step", *LONG_NAMES),
        rows=(("a step with a name that is long", "0.724 *", "reference"),),
        name_width=40,
    )
    text = document_text(page(sheet), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "0.724 *" in text
    assert "reference" in text
    assert text.replace("\n", "").count("A") == LONG_NAMES[0].count("A")


def test_a_long_name_in_the_second_column_is_wrapped_at_80_columns():
    sheet = Sheet(
        title="pairs",
        headers=("group", "compared with", "95%"),
        rows=((*LONG_NAMES, "0.362 to 0.837"),),
        name_columns=2,
    )
    text = document_text(page(sheet), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "compared with             95%" in text
    assert "0.362 to 0.837" in text
    assert text.count("B") == LONG_NAMES[1].count("B")


def test_a_reader_that_has_gone_is_an_error_of_the_stream():
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError, match=r"^$"):
        print_document(Document(headline="three of four"), Gone())
