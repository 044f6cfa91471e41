"""Which module shows which result: loaded when a result of its kind is first shown.

An audit at the shell would otherwise wait for the pages of all other results.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module

from fourfifths._results import Result

ANALYSES = ("adjusted", "check", "cuts", "monitor", "share", "stages", "subgroups")
# By the module that makes the result: what registers its page with `to_document`.
PAGES: Mapping[str, str] = {
    "_certify.result": "certificate",
    "_certify.verification": "verification",
    "_effect.result": "effect",
    "_impact.result": "impact",
    "_impact.rules": "impact",
    "_repair.proof": "proof",
    "_tradeoff.result": "tradeoff",
    **{f"_impact.analyses.{name}": f"analyses.{name}" for name in ANALYSES},
}
# And what registers its charts with `to_charts`, if it has any.
CHARTS: Mapping[str, str] = {
    "_certify.result": "charts.certificate",
    "_impact.analyses.cuts": "charts.cuts",
    "_impact.analyses.stages": "charts.stages",
    "_impact.result": "charts.impact",
    "_repair.proof": "charts.proof",
    "_tradeoff.result": "charts.tradeoff",
}


def is_loaded_now(result: Result, modules: Mapping[str, str]) -> bool:
    """Load the module for this kind of result; return False if there is none to load."""
    module = modules.get(type(result).__module__.removeprefix("fourfifths."))
    name = f"fourfifths._report.{module}"
    if module is None or name in sys.modules:
        return False
    import_module(name)
    return True
