"""How a result is shown as text: Result -> Document -> terminal, Markdown."""

from __future__ import annotations

# Importing a page registers it with `to_document`.
from fourfifths._report import certificate, effect, impact, proof, tradeoff
from fourfifths._report.analyses import adjusted, check, cuts, monitor, share, stages, subgroups
from fourfifths._report.document import to_document
from fourfifths._report.markdown import document_markdown
from fourfifths._report.terminal import document_text, print_document

__all__ = [
    "adjusted",
    "certificate",
    "check",
    "cuts",
    "document_markdown",
    "document_text",
    "effect",
    "impact",
    "monitor",
    "print_document",
    "proof",
    "share",
    "stages",
    "subgroups",
    "to_document",
    "tradeoff",
]
