"""How the texts of options are read, and how a result is delivered."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from counted import measure

from fourfifths._cli.options import (
    MAX_BYTES_HASHED_FOR_SCREEN,
    Format,
    GroupingOptions,
    OutputOptions,
    PageFormat,
    PageOutputOptions,
    ReadingOptions,
    bands,
    check_writable,
    draw_plot,
    is_same_file,
    pairs,
    provenance_of,
    rates,
    shell_text,
)
from fourfifths._plot.style import families_for
from fourfifths.errors import OptionError, OutputError

TEAL = {"Black": (26, 48), "White": (206, 259)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(out=None, plot=None, form=None, kind=OutputOptions, source="t.csv"):
    output = kind(
        output_format=form,
        out=None if out is None else Path(out),
        plot=None if plot is None else Path(plot),
    )
    output.check(source)
    return output.form


@pytest.mark.parametrize(
    ("out", "form"),
    [
        (None, Format.TABLE),
        ("a", Format.TABLE),
        ("a.txt", Format.TABLE),
        ("a.json", Format.JSON),
        ("a.JSON", Format.JSON),
        ("a.csv", Format.CSV),
        ("a.md", Format.MARKDOWN),
    ],
)
def test_the_ending_names_the_format(out, form):
    assert check(out) is form


def test_a_format_that_is_named_counts_more_than_the_ending():
    assert check("a.json", form=Format.CSV) is Format.CSV


def test_an_ending_of_a_format_that_there_is_not_is_refused():
    with pytest.raises(
        OptionError, match=r"--out a\.csv: .* as csv; expected .*\.txt, \.json, \.md"
    ):
        check("a.csv", kind=PageOutputOptions)
    assert check("a.csv", form=PageFormat.JSON, kind=PageOutputOptions) == "json"


@pytest.mark.parametrize("name", ["a.html", "a.pdf", "a.docx", "a.jsonl"])
def test_an_ending_that_names_no_format_is_refused(name):
    with pytest.raises(OptionError, match=rf"--out {name}: cannot be written as .*name a --format"):
        check(name)
    assert check(name, form=Format.JSON) is Format.JSON


@pytest.mark.parametrize("ending", [".png", ".svg", ".PNG"])
def test_a_picture_of_a_known_ending(ending):
    assert check(plot=f"a{ending}") is Format.TABLE


@pytest.mark.parametrize("name", ["a.pdf", "a", "png"])
def test_a_picture_of_another_ending_is_refused(name):
    with pytest.raises(OptionError, match=f"--plot {name}: expected a name ending in .png or .svg"):
        check(plot=name)


@pytest.mark.parametrize("option", ["out", "plot"])
def test_the_table_itself_is_not_overwritten(folder, option):
    (folder / "t.svg").touch()
    with pytest.raises(OutputError, match=rf"--{option} t\.svg: is the file that is audited"):
        check(**{option: "./t.svg"}, source="t.svg", form=Format.TABLE)


def test_one_name_for_two_outputs_is_refused():
    with pytest.raises(OutputError, match=r"--plot a\.svg: is the name of --out too"):
        check(out="a.svg", plot="a.svg", form=Format.TABLE)


def test_a_folder_cannot_be_written(folder):
    with pytest.raises(OutputError, match=r"--save .*: cannot be written: it is a folder"):
        check_writable("--save", folder)
    with pytest.raises(OutputError, match=r"OUT no/a\.csv: there is no folder .*/no"):
        check_writable("OUT", Path("no/a.csv"))


def test_two_names_of_one_file(folder):
    (folder / "a").touch()
    (folder / "link").symlink_to(folder / "a")
    assert is_same_file(Path("link"), Path("a"))
    assert is_same_file(Path("new"), Path("./new"))
    assert not is_same_file(Path("a"), Path("new"))


@pytest.mark.parametrize("form", Format)
def test_a_result_in_each_format_ends_in_a_line_end(form):
    text = shell_text(measure(TEAL), form)
    assert "Black" in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_delivery_to_a_file_and_to_a_picture(folder, capsys):
    OutputOptions(out=Path("a.json"), plot=Path("a.png")).deliver(measure(TEAL), "ricci")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "wrote a.png\nwrote a.json\n")
    assert json.loads((folder / "a.json").read_text())["rule"] == "ugesp"
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "a.png"]


def test_delivery_to_the_terminal(capsys):
    result = measure(TEAL)
    OutputOptions(output_format=Format.CSV).deliver(result, "ricci")
    assert capsys.readouterr().out == shell_text(result, Format.CSV)


@pytest.mark.parametrize(
    ("texts", "protected", "expected"),
    [
        (None, None, {}),
        (["race=W"], None, {"race": "W"}),
        (["race=a=b"], None, {"race": "a=b"}),
        (["a=b=c"], ["a=b"], {"a=b": "c"}),
        (["a=b=c"], ["a", "a=b"], {"a=b": "c"}),
        (["race=W", "sex=M"], ["race"], {"race": "W", "sex": "M"}),
    ],
)
def test_pairs(texts, protected, expected):
    assert pairs(texts, "--reference", protected) == expected


@pytest.mark.parametrize("text", ["W", "race=", ""])
def test_what_is_no_pair(text):
    with pytest.raises(OptionError, match=f"--reference '{text}': expected COL=V"):
        pairs([text], "--reference", None)


def test_bands_are_numbers():
    assert bands(["age=25,40.5"], None) == {"age": [25.0, 40.5]}
    with pytest.raises(OptionError, match="--band age=a,b: expected numbers separated by commas"):
        bands(["age=a,b"], None)


@pytest.mark.parametrize(
    ("text", "expected"), [(None, None), ("0.2", 0.2), ("0.2,0.3", (0.2, 0.3))]
)
def test_a_rate_or_a_range(text, expected):
    assert rates(text) == expected


@pytest.mark.parametrize("text", ["x", "0.1,0.2,0.3", "0.1,", ""])
def test_what_is_no_rate(text):
    with pytest.raises(OptionError, match=f"--beta {text}: expected a rate, or two separated"):
        rates(text)


def test_dates_of_birth_are_protected_and_take_the_band():
    grouping = GroupingOptions(band=["40"], age_from=["born"], on="2026-01-01", unknown=["?"])
    assert grouping.protected(["sex", "born"]) == ["sex", "born"]
    assert grouping.protected(None) == ["born"]
    assert GroupingOptions().protected(None) is None
    assert grouping.arguments(["sex", "born"]) == {
        "bands": {"born": [40.0]},
        "ages": {"born": "2026-01-01"},
        "unknown": ["?"],
    }


def test_a_table_is_read_as_the_options_say(folder):
    (folder / "t.csv").write_text("sex,x\nF,1\nf ,2\n")
    is_one = {
        exact: ReadingOptions(exact_values=exact).open("t.csv").reading.exact_values
        for exact in (True, False)
    }
    assert is_one == {True: True, False: False}


def test_the_hash_of_a_large_file_is_left_to_pages_that_are_kept(folder, capsys):
    result = measure(TEAL)
    with Path("large.parquet").open("wb") as file:
        file.truncate(MAX_BYTES_HASHED_FOR_SCREEN + 1)  # no bytes on disk, and none is read
    OutputOptions().deliver(result, "large.parquet")
    assert (
        "large.parquet is large; --out writes a page with its SHA-256\n" in capsys.readouterr().out
    )
    Path("small.parquet").write_bytes(b"abc")
    # The SHA-256 of "abc" is the first example of FIPS 180-2.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert provenance_of("small.parquet", max_hashed_bytes=3).sha256 == digest
    assert provenance_of("small.parquet", max_hashed_bytes=2).sha256 is None
    OutputOptions(out=Path("page.txt")).deliver(result, "small.parquet")
    assert digest in Path("page.txt").read_text()


@pytest.mark.parametrize("command", ["audit", "certify"])
def test_names_of_folders_are_columns_if_asked(command, shell, folder):
    rows = {"hired": ["yes", "no"] * 40, "score": list(range(80))}
    for sex in "FM":
        path = folder / "days" / f"sex={sex}" / "a.parquet"
        path.parent.mkdir(parents=True)
        pl.DataFrame(rows).write_parquet(path)
    roles = ("--protected", "sex", "--outcome", "hired", "--favorable", "yes")
    answer = shell(command, "days", *roles, "--hive", "--format", "json")
    assert json.loads(answer.out)["rows"] == 160
    if command == "certify":
        assert shell(command, "days", *roles, "--hive", "--out", "c.json").code == 0
        assert shell("verify", "c.json", "days", "--hive").code == 0
    answer = shell(command, "days", *roles)
    assert answer.code == 2
    assert "the names of its folders are columns, as in sex=F; say --hive to read" in answer.err


def test_letters_that_no_font_has_are_one_plain_note(folder, capsys, recwarn):
    cuneiform = "\U00012000\U00012001"
    draw_plot(measure({cuneiform: (26, 48), "White": (206, 259)}), folder / "p.png")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"wrote {folder / 'p.png'}"
    expected = f"note: {folder / 'p.png'}: no installed font has these letters, which are drawn as"
    assert [line.partition(" boxes: ")[0] for line in lines[1:]] == (
        [] if families_for(cuneiform) else [expected]
    )
    assert not recwarn.list
