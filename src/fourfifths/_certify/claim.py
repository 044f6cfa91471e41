"""What a certificate claims, and whether that is what somebody who relies on it requires.

The settings of a certificate are those of whoever made it. A low threshold or a single weak auditor
makes an easy certificate. So the reader says what is required, and the claim is compared with that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from fourfifths._certify.auditors import AuditorName
from fourfifths._certify.result import Certificate
from fourfifths._certify.verification import Claim
from fourfifths._text import listed, nearest
from fourfifths.errors import OptionError


def claim_of(certificate: Certificate, columns: Sequence[str], *, same_file: bool | None) -> Claim:
    """Return what a certificate claims of a table with these columns."""
    settings = certificate.settings
    auditors = tuple(settings["auditors"])
    with_role = {*certificate.features, *certificate.left_out}
    return Claim(
        verdict=certificate.verdict,
        threshold=certificate.threshold,
        confidence=certificate.confidence,
        beta=max(rate for pair in certificate.pairs for rate in (pair.beta, pair.reverse_beta)),
        auditors=auditors,
        auditors_not_asked=tuple(name for name in get_args(AuditorName) if name not in auditors),
        features=tuple(certificate.features),
        columns_not_audited=tuple(column for column in columns if column not in with_role),
        protected=certificate.protected,
        outcome=settings["outcome"],
        favorable=settings["favorable"],
        unknown=tuple(settings["unknown"]),
        rows_audited=certificate.rows_audited,
        rows_of_known_group=certificate.rows,
        rows_in_table=certificate.rows_in_table,
        same_file=same_file,
    )


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """What may be required of a claim.

    Attributes
    ----------
    expected : str
        Which values it may have.
    is_value : callable
        Whether a value is one of them.
    shortfall : callable
        From the value and the claim, why it is not met, or nothing.
    """

    expected: str
    is_value: Callable[[Any], bool]
    shortfall: Callable[[Any, Claim], str]


def is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1


def is_row_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def are_names(value: Any) -> bool:
    return (
        isinstance(value, list | tuple) and bool(value) and all(isinstance(v, str) for v in value)
    )


def are_auditors(value: Any) -> bool:
    return value == "all" or (are_names(value) and {*value} <= {*get_args(AuditorName)})


def at_least(name: str) -> Callable[[Any, Claim], str]:
    def shortfall(value: Any, claim: Claim) -> str:
        claimed = getattr(claim, name)
        if claimed >= value:
            return ""
        return f"{name} is {claimed:g}, but at least {value:g} is required"

    return shortfall


def missing_names(value: Any, present: Sequence[str], not_present: Sequence[str]) -> list[str]:
    names = [*present, *not_present] if value == "all" else value
    return [name for name in names if name not in present]


def auditors_shortfall(value: Any, claim: Claim) -> str:
    missing = missing_names(value, claim.auditors, claim.auditors_not_asked)
    return f"auditors: {listed(missing)} required, but not asked" if missing else ""


def features_shortfall(value: Any, claim: Claim) -> str:
    missing = missing_names(value, claim.features, claim.columns_not_audited)
    return f"features: {listed(missing)} required, but not audited" if missing else ""


def rows_shortfall(value: Any, claim: Claim) -> str:
    least = claim.rows_of_known_group if value == "all" else value
    if claim.rows_audited >= least:
        return ""
    return f"rows: {claim.rows_audited:,} were audited, but {least:,} are required"


REQUIREMENTS: Mapping[str, Requirement] = {
    "verdict": Requirement(
        expected="'certified'",
        is_value=lambda value: value == "certified",
        shortfall=lambda value, claim: (
            "" if claim.verdict == value else f"verdict is {claim.verdict}, but {value} is required"
        ),
    ),
    "threshold": Requirement(
        expected="a number above 0 and up to 1",
        is_value=is_share,
        shortfall=at_least("threshold"),
    ),
    "confidence": Requirement(
        expected="a number above 0 and up to 1",
        is_value=is_share,
        shortfall=at_least("confidence"),
    ),
    "beta": Requirement(
        expected="a number above 0 and up to 1",
        is_value=is_share,
        shortfall=lambda value, claim: (
            ""
            if claim.beta <= value
            else f"beta is {claim.beta:g}, but at most {value:g} is required"
        ),
    ),
    "auditors": Requirement(
        expected=f"'all', or a list of {', '.join(get_args(AuditorName))}",
        is_value=are_auditors,
        shortfall=auditors_shortfall,
    ),
    "features": Requirement(
        expected="'all', or a list of columns",
        is_value=lambda value: value == "all" or are_names(value),
        shortfall=features_shortfall,
    ),
    "rows": Requirement(
        expected="'all', or a number of rows",
        is_value=lambda value: value == "all" or is_row_count(value),
        shortfall=rows_shortfall,
    ),
    "file": Requirement(
        expected="'same'",
        is_value=lambda value: value == "same",
        shortfall=lambda _, claim: (
            ""
            if claim.same_file
            else "file: the same bytes are required, but they differ or are not known"
        ),
    ),
}


def check_requirements(require: Mapping[str, Any]) -> None:
    """Raise for a requirement that does not exist, or that cannot have the value."""
    for name, value in require.items():
        if name not in REQUIREMENTS:
            raise OptionError(
                f"require: {name!r} cannot be required{nearest(name, REQUIREMENTS)} (expected "
                f"{listed(REQUIREMENTS)})"
            )
        if not REQUIREMENTS[name].is_value(value):
            raise OptionError(f"require: {name}={value!r}: expected {REQUIREMENTS[name].expected}")


def unmet_requirements(require: Mapping[str, Any], claim: Claim) -> tuple[str, ...]:
    """Return a sentence for each requirement that a claim does not meet."""
    shortfalls = (REQUIREMENTS[name].shortfall(value, claim) for name, value in require.items())
    return tuple(shortfall for shortfall in shortfalls if shortfall)
