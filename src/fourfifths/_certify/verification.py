"""What came of running a certificate again, and what it claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fourfifths._certify.result import Certificate
from fourfifths._results import Result, Verdict


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a certificate says, and of what.

    Attributes
    ----------
    verdict : {"certified", "not certified", "inconclusive"}
    threshold, confidence : float
    beta : float
        The largest beta of a pair, on either side. The verdict speaks of rules that select at least
        this share of each group.
    auditors, auditors_not_asked : tuple of str
        The second are those of the built-in ones that were not asked.
    features, columns_not_audited : tuple of str
        The second are columns that are neither features nor left out because of their role.
    protected : tuple of str
    outcome, favorable : str or None
    unknown : tuple of str
        Values that were taken for missing.
    rows_audited, rows_of_known_group, rows_in_table : int
    same_file : bool or None
        Whether the whole file has the SHA-256 that the certificate states. None if it states none,
        or if the table is not a file.
    """

    verdict: Verdict
    threshold: float
    confidence: float
    beta: float
    auditors: tuple[str, ...]
    auditors_not_asked: tuple[str, ...]
    features: tuple[str, ...]
    columns_not_audited: tuple[str, ...]
    protected: tuple[str, ...]
    outcome: str | None
    favorable: str | None
    unknown: tuple[str, ...]
    rows_audited: int
    rows_of_known_group: int
    rows_in_table: int
    same_file: bool | None

    @property
    def is_sample(self) -> bool:
        """Whether rows of known group were not audited, and so not hashed either."""
        return self.rows_audited < self.rows_of_known_group


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """Whether a certificate can be reproduced, and whether it claims what is required.

    Attributes
    ----------
    same_data : bool
        Whether the audited columns and rows have the hash that the certificate states.
    same_certificate : bool
        Whether every field is the same, figures to nine digits, and the content has the hash that
        it states; the name of the table and the versions of packages do not count.
    file_sha256 : str or None
        The SHA-256 of the whole file.
    claim : Claim
    require : mapping
        What was required.
    unmet : tuple of str
        The requirements that the claim does not meet.
    differences : tuple of str
        The first ten differences.
    remarks : tuple of str
        Whether the name of the table or the version of a package is another one now.
    certificate : Certificate
        The result of running `certify` now.
    """

    same_data: bool
    same_certificate: bool
    file_sha256: str | None
    claim: Claim
    require: Mapping[str, Any]
    unmet: tuple[str, ...]
    differences: tuple[str, ...]
    remarks: tuple[str, ...]
    certificate: Certificate

    _not_in_json: ClassVar[tuple[str, ...]] = ("certificate",)

    @property
    def is_verified(self) -> bool:
        """Whether the certificate is the same, and claims what is required."""
        return self.same_certificate and not self.unmet
