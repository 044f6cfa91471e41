"""A page, and how a result becomes one."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass

import pytest

from fourfifths._report import document_markdown, document_text, to_document
from fourfifths._report.document import Document, Sentence, Sheet
from fourfifths._results import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(Result):
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


@dataclass(frozen=True, kw_only=True, repr=False)
class Speechless(Result):
    figure: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Measured(Result):
    figure: float


def test_a_result_of_a_few_lines_is_a_headline_and_sentences():
    document = to_document(Answer(lines=("verified", "the same data", "the same figures")))
    assert document.headline == "verified"
    assert document.sections[0].sentences == (
        Sentence(text="the same data"),
        Sentence(text="the same figures"),
    )
    assert document_markdown(document) == "# verified\n\n- the same data\n- the same figures\n"


def test_a_result_with_neither_a_page_nor_a_text_is_a_mistake_of_its_maker():
    with pytest.raises(TypeError, match="Speechless has neither a page nor a text of its own"):
        str(Speechless(figure=0.5))


def test_a_page_of_another_kind_of_result_can_be_registered():
    @to_document.register
    def _(result: Measured) -> Document:
        return Document(headline=f"the figure is {result.figure}")

    assert document_text(to_document(Measured(figure=0.5))) == "the figure is 0.5"
    assert str(Measured(figure=0.25)) == "the figure is 0.25"


def test_a_page_does_not_change():
    with pytest.raises(FrozenInstanceError, match="title"):
        Sheet(title="a", headers=("x",), rows=()).title = "b"
