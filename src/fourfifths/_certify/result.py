"""The certificate: whether a rule on these columns can have disparate impact, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from fourfifths._arrays import Interval
from fourfifths._json import sealed
from fourfifths._results import Record, Result, Verdict, flat, plain
from fourfifths._stats.balanced_error import Posterior
from fourfifths._stats.roc import FloorLimit

# What the claim rests on: auditors that looked for a rule.
CertificateKind = Literal["found"]
# Who a rule harms: the group that is compared, or the reference.
Side = Literal["group", "reference"]
SCHEMA = "fourfifths/certificate/1"


@dataclass(frozen=True, kw_only=True)
class AuditorResult:
    """What one auditor showed about one pair of groups.

    Attributes
    ----------
    name : str
    balanced_error_rate, interval
        Of predicting the group out of fold, in [0, 1]. The interval has the stated confidence
        after correction for the number of auditors and pairs.
    impact_bound : float
        The paper's lower bound of the impact ratio: beta / (beta + 1 - 2 BER).
    impact_floor, impact_floor_interval
        The tight lower bound, beta / R(beta), from the out-of-fold ROC curve, and its limits. The
        upper limit is corrected for the number of auditors, sides and pairs; the lower one needs no
        correction, because all of them must pass for a table to be certified.
    reverse_floor, reverse_floor_interval
        The same for rules that harm the reference.
    """

    name: str
    balanced_error_rate: float
    interval: Interval
    impact_bound: float
    impact_floor: float
    impact_floor_interval: Interval
    reverse_floor: float
    reverse_floor_interval: Interval


@dataclass(frozen=True, kw_only=True)
class Witness:
    """The most harmful rule that an auditor found; its cut was set on other rows.

    Attributes
    ----------
    auditor : str
    harms : str
        The group that the rule selects at the lower rate.
    rates : mapping of str to float
        The selection rate of each group.
    impact_ratio, impact_ratio_interval
        The rate of the group over the rate of the reference, whichever of them is harmed.
    rule : str
        The rule in words.
    """

    auditor: str
    harms: str
    rates: Mapping[str, float]
    impact_ratio: float
    impact_ratio_interval: Interval
    rule: str


@dataclass(frozen=True, kw_only=True)
class PairCertificate:
    """The certificate of one pair of groups.

    Attributes
    ----------
    group, reference : str
    n, n_reference : int
        Rows audited.
    sampling_error : float
        Half the width of a 95% interval of a balanced error rate of 0.5 with this many rows.
    beta, beta_interval
        The selection rate of the group. The verdict covers rules that select at least this share.
    reverse_beta, reverse_beta_interval
        The selection rate of the reference, for rules that harm the reference.
    ber_threshold : float
        1/2 - beta (1/threshold - 1)/2, at the lower limit of beta.
    verdict : {"certified", "not certified", "inconclusive"}
    paper_verdict : {"certified", "not certified", "inconclusive"}
        The verdict of the paper's test alone.
    because : str
        The reason for the verdict, in words.
    strongest : str
        The auditor with the lowest balanced error rate.
    auditors : tuple of AuditorResult
    witness : Witness
    posterior : Posterior
        Posterior distributions for the strongest auditor.
    rows_needed : int or None
        For an inconclusive verdict: how many rows like these would settle it, or None if not even
        100 times as many would.
    floor_limit : FloorLimit
        The concave hull of the strongest auditor's ROC curve, and the line that R lies under.
    """

    group: str
    reference: str
    n: int
    n_reference: int
    sampling_error: float
    beta: float
    beta_interval: Interval
    reverse_beta: float
    reverse_beta_interval: Interval
    ber_threshold: float
    verdict: Verdict
    paper_verdict: Verdict
    because: str
    strongest: str
    auditors: tuple[AuditorResult, ...]
    witness: Witness
    posterior: Posterior
    rows_needed: int | None
    floor_limit: FloorLimit

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the curve, ready for JSON."""
        names = [field.name for field in fields(self) if field.name != "floor_limit"]
        return {name: plain(getattr(self, name)) for name in names}


@dataclass(frozen=True, kw_only=True)
class Leak:
    """How well one feature predicts the protected attribute.

    Attributes
    ----------
    feature, kind : str
    balanced_error_rate : float
        Of the best rule on this column alone, out of fold.
    impact_floor : float
        At beta, for rules on this column alone.
    loss : float
        How much the balanced error rate of the strongest auditor grows without this column.
    """

    feature: str
    kind: str
    balanced_error_rate: float
    impact_floor: float
    loss: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Result):
    """Whether a rule that uses only these columns can have disparate impact.

    Attributes
    ----------
    kind : {"found"}
        "found": the claim covers the rules that the auditors found.
    verdict : {"certified", "not certified", "inconclusive"}
        The verdict of the worst pair.
    pairs : tuple of PairCertificate
        The worst pair first.
    leaks : tuple of Leak
        The features of the worst pair; the one that predicts the group best comes first.
    table : str
    rows : int
        Rows of the table whose group is known.
    rows_audited : int
        How many of them were read; the others are neither audited nor part of `data_sha256`.
    rows_in_table : int
        All rows, those of unknown group too.
    protected : tuple of str
    features : mapping of str to str
        Each feature, and whether it is a number or a category.
    left_out : tuple of str
        Columns that are not features, because they are protected attributes or the outcome.
    threshold, confidence : float
    settings : mapping
        The arguments with which `verify` runs `certify` again.
    data_sha256 : str
        The hash of the features, groups and outcomes of the audited rows, in the table's order.
    random_state : int
    versions : mapping of str to str
    notes : tuple of str
    """

    kind: CertificateKind
    verdict: Verdict
    pairs: tuple[PairCertificate, ...]
    leaks: tuple[Leak, ...]
    table: str
    rows: int
    rows_audited: int
    rows_in_table: int
    protected: tuple[str, ...]
    features: Mapping[str, str]
    left_out: tuple[str, ...]
    threshold: float
    confidence: float
    settings: Mapping[str, Any]
    data_sha256: str
    random_state: int
    versions: Mapping[str, str]
    notes: tuple[str, ...]

    _schema: ClassVar[str | None] = SCHEMA
    # `to_dict` writes the pairs itself: their curves are too long for JSON.
    _not_in_json: ClassVar[tuple[str, ...]] = ("pairs",)

    @property
    def worst(self) -> PairCertificate:
        """The pair that decides the verdict."""
        return self.pairs[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; docs/schema/certificate.schema.json describes it.

        The figures of the worst pair are at the top level, those of all pairs under "pairs". The
        last entry is a hash of all others, by which `verify` notices damage.
        """
        worst = self.worst.to_dict()
        del worst["verdict"]
        pairs = [pair.to_dict() for pair in self.pairs]
        shared = super().to_dict()
        first = {name: shared.pop(name) for name in ("schema", "kind", "verdict")}
        return sealed({**first, **worst, "pairs": pairs, **shared})

    def to_records(self) -> list[Record]:
        """Return one flat record per pair of groups and auditor."""
        shared = ("group", "reference", "n", "n_reference", "beta", "ber_threshold", "verdict")
        records = []
        for pair in self.pairs:
            for auditor in pair.auditors:
                figures = plain(auditor)
                record = {"threshold": self.threshold}
                record |= {name: plain(getattr(pair, name)) for name in shared}
                record |= {
                    "auditor": figures.pop("name"),
                    "balanced_error_rate": figures.pop("balanced_error_rate"),
                    "balanced_error_rate_interval": figures.pop("interval"),
                }
                records.append(flat(record | figures))
        return records
