"""The templates: which parts a report has, in which order, and what is said around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fourfifths._evidence.evidence import Evidence, PartName
from fourfifths._evidence.report import Field, Report, TemplateName
from fourfifths._evidence.templates.full import full_report
from fourfifths._evidence.templates.ll144 import ll144_report
from fourfifths._evidence.templates.model_card import model_card
from fourfifths._evidence.templates.ugesp import ugesp_memo

Builder = Callable[[Evidence, Mapping[str, str], tuple[Field, ...]], Report]
BUILDERS: Mapping[TemplateName, Builder] = {
    "full": full_report,
    "ll144": ll144_report,
    "ugesp": ugesp_memo,
    "model-card": model_card,
}
# The rule of a template that belongs to one, and what it adds to the audit unless told otherwise.
RULE_OF_TEMPLATE: Mapping[TemplateName, str] = {"ll144": "nyc-ll144", "ugesp": "ugesp"}
PARTS_OF_TEMPLATE: Mapping[TemplateName, tuple[PartName, ...]] = {
    "full": ("certificate", "repair"),
    "ll144": (),
    "ugesp": (),
    "model-card": (),
}
