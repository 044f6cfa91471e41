"""Measure disparate impact, certify that a table cannot cause it, and repair one that can."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from fourfifths import datasets, errors
    from fourfifths._certify.certify import certify
    from fourfifths._certify.result import Certificate
    from fourfifths._certify.verify import verify
    from fourfifths._effect.amount import CertifiedAmount, least_certified_amount
    from fourfifths._evidence.compose import report
    from fourfifths._evidence.filed import FiledVerification, sign, verify_file
    from fourfifths._evidence.report import Report
    from fourfifths._evidence.signing import make_keys
    from fourfifths._impact.analyses.adjusted import (
        Adjusted,
        AttributeAdjusted,
        GroupAdjusted,
        adjusted,
    )
    from fourfifths._impact.analyses.check import Check, check
    from fourfifths._impact.analyses.cuts import AttributeCuts, Cuts, GroupCuts, cuts
    from fourfifths._impact.analyses.monitor import Monitor, add_batch, monitor
    from fourfifths._impact.analyses.share import ShareTest, against_share
    from fourfifths._impact.analyses.stages import StageImpact, Stages, stages
    from fourfifths._impact.analyses.subgroups import Subgroup, Subgroups, subgroups
    from fourfifths._impact.impact import impact
    from fourfifths._impact.profiles import RULES
    from fourfifths._impact.result import AttributeImpact, GroupImpact, Impact
    from fourfifths._impact.rules import Rule
    from fourfifths._repair.proof import Proof
    from fourfifths._repair.repairer import Repairer
    from fourfifths._stats.balanced_error import ber_threshold, impact_bound
    from fourfifths._tables.table import read_table
    from fourfifths._tradeoff.result import Tradeoff
    from fourfifths._tradeoff.tradeoff import tradeoff
    from fourfifths.errors import FourfifthsError

__all__ = [
    "RULES",
    "Adjusted",
    "AttributeAdjusted",
    "AttributeCuts",
    "AttributeImpact",
    "Certificate",
    "CertifiedAmount",
    "Check",
    "Cuts",
    "FiledVerification",
    "FourfifthsError",
    "GroupAdjusted",
    "GroupCuts",
    "GroupImpact",
    "Impact",
    "Monitor",
    "Proof",
    "Repairer",
    "Report",
    "Rule",
    "ShareTest",
    "StageImpact",
    "Stages",
    "Subgroup",
    "Subgroups",
    "Tradeoff",
    "add_batch",
    "adjusted",
    "against_share",
    "ber_threshold",
    "certify",
    "check",
    "cuts",
    "datasets",
    "errors",
    "impact",
    "impact_bound",
    "least_certified_amount",
    "make_keys",
    "monitor",
    "read_table",
    "report",
    "sign",
    "stages",
    "subgroups",
    "tradeoff",
    "verify",
    "verify_file",
]

# Loaded when first used, so that `fourfifths --help` does not wait for numpy and scipy.
_HOMES = {
    "RULES": "_impact.profiles",
    "Adjusted": "_impact.analyses.adjusted",
    "AttributeAdjusted": "_impact.analyses.adjusted",
    "AttributeCuts": "_impact.analyses.cuts",
    "AttributeImpact": "_impact.result",
    "Certificate": "_certify.result",
    "CertifiedAmount": "_effect.amount",
    "Cuts": "_impact.analyses.cuts",
    "Check": "_impact.analyses.check",
    "FourfifthsError": "errors",
    "GroupAdjusted": "_impact.analyses.adjusted",
    "GroupCuts": "_impact.analyses.cuts",
    "GroupImpact": "_impact.result",
    "Impact": "_impact.result",
    "Monitor": "_impact.analyses.monitor",
    "Proof": "_repair.proof",
    "Repairer": "_repair.repairer",
    "Report": "_evidence.report",
    "Rule": "_impact.rules",
    "StageImpact": "_impact.analyses.stages",
    "Stages": "_impact.analyses.stages",
    "Subgroup": "_impact.analyses.subgroups",
    "Subgroups": "_impact.analyses.subgroups",
    "ShareTest": "_impact.analyses.share",
    "Tradeoff": "_tradeoff.result",
    "add_batch": "_impact.analyses.monitor",
    "adjusted": "_impact.analyses.adjusted",
    "against_share": "_impact.analyses.share",
    "ber_threshold": "_stats.balanced_error",
    "certify": "_certify.certify",
    "cuts": "_impact.analyses.cuts",
    "check": "_impact.analyses.check",
    "impact": "_impact.impact",
    "impact_bound": "_stats.balanced_error",
    "least_certified_amount": "_effect.amount",
    "monitor": "_impact.analyses.monitor",
    "read_table": "_tables.table",
    "report": "_evidence.compose",
    "stages": "_impact.analyses.stages",
    "subgroups": "_impact.analyses.subgroups",
    "tradeoff": "_tradeoff.tradeoff",
    "verify": "_certify.verify",
    "verify_file": "_evidence.filed",
    "sign": "_evidence.filed",
    "make_keys": "_evidence.signing",
    "FiledVerification": "_evidence.filed",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("fourfifths")
    if name in ("datasets", "errors"):
        return import_module(f"fourfifths.{name}")
    if name in _HOMES:
        # Kept, so that the second use is an ordinary attribute.
        return globals().setdefault(
            name, getattr(import_module(f"fourfifths.{_HOMES[name]}"), name)
        )
    raise AttributeError(f"module 'fourfifths' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
