"""How a result is shown: Result -> Document -> terminal, Markdown, HTML; Result -> Chart -> SVG."""

from __future__ import annotations

# Importing a page registers it with `to_document`.
from fourfifths._report import certificate, effect, impact, proof, tradeoff, verification
from fourfifths._report.analyses import adjusted, check, cuts, monitor, share, stages, subgroups
from fourfifths._report.charts import to_charts
from fourfifths._report.document import to_document
from fourfifths._report.html.page import document_fragment, document_page
from fourfifths._report.markdown import document_markdown
from fourfifths._report.terminal import document_text, print_document

__all__ = [
    "adjusted",
    "certificate",
    "check",
    "cuts",
    "document_fragment",
    "document_markdown",
    "document_page",
    "document_text",
    "effect",
    "impact",
    "monitor",
    "print_document",
    "proof",
    "share",
    "stages",
    "subgroups",
    "to_charts",
    "to_document",
    "tradeoff",
    "verification",
]
