"""Measure disparate impact, certify that a table cannot cause it, and repair one that can."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from fourfifths import datasets, errors
    from fourfifths.balanced_error import ber_threshold, impact_bound
    from fourfifths.certificate import Certificate
    from fourfifths.certification import certify
    from fourfifths.certified_amount import CertifiedAmount, least_certified_amount
    from fourfifths.errors import FourfifthsError
    from fourfifths.impact_result import AttributeImpact, GroupImpact, Impact
    from fourfifths.measure import impact
    from fourfifths.repair.repairer import Repairer
    from fourfifths.rules import RULES, Rule
    from fourfifths.significance import ShareTest, against_share
    from fourfifths.sweep.curve import Tradeoff
    from fourfifths.sweep.run import tradeoff
    from fourfifths.verification import verify

__all__ = [
    "RULES",
    "AttributeImpact",
    "Certificate",
    "CertifiedAmount",
    "FourfifthsError",
    "GroupImpact",
    "Impact",
    "Repairer",
    "Rule",
    "ShareTest",
    "Tradeoff",
    "against_share",
    "ber_threshold",
    "certify",
    "datasets",
    "errors",
    "impact",
    "impact_bound",
    "least_certified_amount",
    "tradeoff",
    "verify",
]

# Loaded when first used, so that `fourfifths --help` does not wait for numpy and scipy. A module
# may not have the name of a public function: once imported, it would stand in the function's place.
_HOMES = {
    "RULES": "rules",
    "AttributeImpact": "impact_result",
    "Certificate": "certificate",
    "CertifiedAmount": "certified_amount",
    "FourfifthsError": "errors",
    "GroupImpact": "impact_result",
    "Impact": "impact_result",
    "Repairer": "repair.repairer",
    "Rule": "rules",
    "ShareTest": "significance",
    "Tradeoff": "sweep.curve",
    "against_share": "significance",
    "ber_threshold": "balanced_error",
    "certify": "certification",
    "impact": "measure",
    "impact_bound": "balanced_error",
    "least_certified_amount": "certified_amount",
    "tradeoff": "sweep.run",
    "verify": "verification",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fourfifths")
    if name in ("datasets", "errors"):
        return import_module(f"fourfifths.{name}")
    if name in _HOMES:
        return getattr(import_module(f"fourfifths.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'fourfifths' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
