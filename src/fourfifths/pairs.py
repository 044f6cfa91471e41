"""One group against the reference: the auditors' answers, weighed and wrapped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from fourfifths.audit_plan import Plan
from fourfifths.auditors import Side, out_of_fold
from fourfifths.balanced_error import ber_threshold, impact_bound, posterior
from fourfifths.certificate import AuditorResult, PairCertificate, Witness
from fourfifths.counts import BoolArray, IntArray
from fourfifths.errors import GroupError, OptionError
from fourfifths.evidence import (
    AuditorEvidence,
    Beta,
    SideEvidence,
    paper_verdict,
    rows_needed,
    verdict_of,
    weigh,
)
from fourfifths.features import Features
from fourfifths.files import in_one_line
from fourfifths.intervals import ratio_interval
from fourfifths.progress import Steps
from fourfifths.reasoning import because


@dataclass(frozen=True)
class Pair:
    """The rows of one comparison."""

    group: str
    rows: IntArray
    is_reference: BoolArray
    betas: Mapping[Side, Beta]


def certify_pair(
    pair: Pair,
    plan: Plan,
    read: Features,
    chosen: Mapping[str, Any],
    threshold: float,
    confidence: float,
    folds: int,
    random_state: int,
    done: Steps,
) -> PairCertificate:
    """Let every auditor answer for every row, and weigh the answers."""
    corrected = 1 - (1 - confidence) / len(chosen)
    splits = stratified_folds(pair.is_reference, folds, random_state)
    rates = (pair.betas["group"].rate, pair.betas["reference"].rate)
    evidence = {}
    for name, auditor in chosen.items():
        told = partial(done.advance, f"{name} on {pair.group}")
        try:
            answer = out_of_fold(
                auditor, read.values[pair.rows], pair.is_reference, splits, rates, told
            )
        except Exception as error:  # a classifier has errors of its own
            raise OptionError(f"auditors: {name!r} failed: {in_one_line(error)}") from error
        evidence[name] = weigh(answer, pair.is_reference, pair.betas, corrected)
    return _wrap_pair(pair, plan, evidence, threshold, confidence, corrected, random_state)


def _wrap_pair(
    pair: Pair,
    plan: Plan,
    evidence: Mapping[str, AuditorEvidence],
    threshold: float,
    confidence: float,
    corrected: float,
    random_state: int,
) -> PairCertificate:
    beta = pair.betas["group"]
    strongest = min(evidence, key=lambda name: evidence[name].errors.balanced_error_rate)
    errors = evidence[strongest].errors
    verdict = verdict_of(evidence, threshold)
    paper = paper_verdict(evidence, pair.betas, threshold, corrected)
    names = (pair.group, plan.labels[plan.reference])
    auditors = tuple(_wrap_auditor(name, each, beta) for name, each in evidence.items())
    witness = _witness(evidence, names, corrected)
    needed = None
    if verdict == "inconclusive":
        needed = rows_needed(evidence, pair.betas, threshold, corrected)
    line = float(ber_threshold(beta.interval[0], threshold))
    return PairCertificate(
        *names,
        errors.n,
        errors.n_reference,
        float(1.96 * np.sqrt(0.25 / errors.n + 0.25 / errors.n_reference) / 2),
        beta.rate,
        beta.interval,
        pair.betas["reference"].rate,
        pair.betas["reference"].interval,
        line,
        verdict,
        paper,
        because(verdict, paper, evidence, witness, needed, pair.betas, threshold, confidence),
        strongest,
        auditors,
        witness,
        posterior(
            errors,
            beta.counts or beta.interval[0],
            threshold=threshold,
            confidence=confidence,
            random_state=random_state,
        ),
        needed,
        evidence[strongest].group.curve,
    )


def _wrap_auditor(name: str, found: AuditorEvidence, beta: Beta) -> AuditorResult:
    ber = found.errors.balanced_error_rate
    return AuditorResult(
        name,
        ber,
        found.interval,
        float(impact_bound(ber, beta.rate)),
        found.group.floor,
        _limits(found.group),
        found.reference.floor,
        _limits(found.reference),
    )


def _limits(side: SideEvidence) -> tuple[float, float]:
    return min(side.least, side.floor), max(side.most, side.floor)


def _witness(
    evidence: Mapping[str, AuditorEvidence], names: tuple[str, str], corrected: float
) -> Witness:
    """Return the rule with the lowest upper limit, over auditors and sides."""
    auditor, side = min(
        ((name, side) for name, each in evidence.items() for side in (each.group, each.reference)),
        key=lambda found: found[1].most,
    )
    own, other = (side.selected, side.n), (side.selected_other, side.n_other)
    group, reference = (own, other) if side.side == "group" else (other, own)
    low, high = ratio_interval(*group, *reference, corrected)
    ratio = group[0] * reference[1] / (group[1] * reference[0]) if reference[0] else float("nan")
    toward = names[1] if side.side == "group" else names[0]
    return Witness(
        auditor,
        names[0] if side.side == "group" else names[1],
        {names[0]: group[0] / group[1], names[1]: reference[0] / reference[1]},
        ratio,
        (float(low), float(high)),
        f"select the rows that {auditor} finds most like {toward}; a coin decides among equals",
    )


def stratified_folds(
    is_reference: BoolArray, folds: int, random_state: int
) -> list[tuple[IntArray, IntArray]]:
    """Return the training and test rows of each fold, both groups in each."""
    few = int(min(is_reference.sum(), (~is_reference).sum()))
    if few < folds:
        raise GroupError(f"folds={folds}: a group has only {few} rows; expected at least {folds}")
    split = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    return list(split.split(is_reference, is_reference))
