"""The full report: its order, its cover, and what it says where nothing was stated."""

from __future__ import annotations

import pytest

import fourfifths


@pytest.mark.slow
def test_the_order_is_that_in_which_a_reader_asks():
    report = fourfifths.report("ricci", parts=[], score="combined")
    assert [part.id for part in report.parts] == ["by-race", "tests", "cuts", "notes"]
    assert report.limits[-1] == (
        "This report is not legal advice and states no verdict on legality."
    )
    assert [term.name for term in report.terms] == sorted(
        (term.name for term in report.terms), key=str.lower
    )


def test_nothing_is_guessed_on_the_cover():
    report = fourfifths.report("ricci", parts=[], fields={"auditor": "Ann Lee"})
    cover = {field.key: field.text for field in report.cover}
    assert cover.pop("auditor") == "Ann Lee"
    assert {*cover.values()} == {"not stated"}


def test_an_analysis_says_what_it_asks_after_its_answer():
    report = fourfifths.report("ricci", parts=[], score="combined")
    (part,) = [part for part in report.parts if part.id == "cuts"]
    assert part.paragraphs[1].startswith("What if the cut were higher or lower?")


def test_the_file_and_its_hash_are_in_the_provenance_of_python_too():
    provenance = fourfifths.report("ricci", parts=[]).to_dict()["provenance"]
    # sha256sum of the shipped file, as docs/verifying.md has it.
    assert provenance["sha256"] == (
        "5f4ad4713478e581ad67c1055924f9150af223511eade93fa7894a41049e175c"
    )
    assert provenance["file"] == "ricci"
