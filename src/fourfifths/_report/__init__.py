"""How a result is shown: Result -> Document -> terminal, Markdown, HTML; Result -> Chart -> SVG."""

from __future__ import annotations

from fourfifths._report.charts import to_charts
from fourfifths._report.document import to_document
from fourfifths._report.html.page import document_fragment, document_page
from fourfifths._report.markdown import document_markdown
from fourfifths._report.terminal import document_text, print_document

__all__ = [
    "document_fragment",
    "document_markdown",
    "document_page",
    "document_text",
    "print_document",
    "to_charts",
    "to_document",
]
