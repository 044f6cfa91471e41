"""`certify`: whether any rule that uses only these columns can have disparate impact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from fourfifths._arrays import BoolArray, IntArray
from fourfifths._certify.auditors import Side, out_of_fold, panel
from fourfifths._certify.evidence import (
    AuditorEvidence,
    SideEvidence,
    paper_verdict,
    rows_needed,
    verdict_of,
    weigh,
)
from fourfifths._certify.leaks import losses, single_column
from fourfifths._certify.plan import Beta, Plan, check_options, make_plan
from fourfifths._certify.reasons import because, certificate_notes
from fourfifths._certify.result import (
    AuditorResult,
    Certificate,
    Leak,
    PairCertificate,
    Verdict,
    Witness,
)
from fourfifths._progress import Steps, steps
from fourfifths._stats.balanced_error import ber_threshold, impact_bound, posterior
from fourfifths._stats.intervals import ratio_interval
from fourfifths._tables.files import in_one_line
from fourfifths._tables.numbers import unknown_tokens
from fourfifths._tables.sample import Features, read_features
from fourfifths._tables.table import TableLike
from fourfifths.errors import GroupError, OptionError

MAX_ROWS = 100_000
SEVERITY: Mapping[Verdict, int] = {"not certified": 0, "inconclusive": 1, "certified": 2}


def certify(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    columns: Sequence[str] | None = None,
    beta: float | tuple[float, float] | None = None,
    threshold: float = 0.8,
    auditors: Sequence[str] | Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    folds: int = 5,
    max_rows: int = MAX_ROWS,
    bands: Mapping[str, Sequence[float]] | None = None,
    unknown: str | Sequence[Any] = (),
    random_state: int = 0,
    progress: bool = True,
) -> Certificate:
    """Certify that no rule on the features can have disparate impact, or show one that has.

    Auditors predict the protected attribute from the features, out of fold. If even the strongest
    can hardly do better than guess, no rule that uses only those columns can select the groups at
    rates that differ much: section 4 of the paper. Two tests are made. The paper's compares the
    balanced error rate with `ber_threshold`. The tight one uses the whole ROC curve: a rule that
    selects at least beta of the group has an impact ratio of at least beta / R(beta).

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        As for `impact`.
    protected : str or sequence of str
        Several are taken jointly.
    outcome, favorable : optional
        What beta, the group's selection rate, is read from.
    reference : optional
        The reference group; without it, the group with the highest selection rate.
    columns : sequence of str, optional
        The columns that a rule may use; without it, all but the protected ones and the outcome.
    beta : float or (low, high), optional
        The selection rate of the group, if it is not read from the outcome; of a range the lower
        end is used, as the paper says.
    threshold : float
        Of the impact ratio; both sides count, so a ratio above 1 / threshold is harm as well.
    auditors : sequence of names or mapping of name to classifier, optional
        Of "logistic", "svm", "naive-bayes" and "trees", all four by default. A mapping may hold
        scikit-learn classifiers of your own beside them, as in ``{"mine": RandomForestClassifier(),
        "trees": None}``, and names all that run.
    confidence : float
        With which the verdict of each pair of groups holds, corrected for having tried several
        auditors and both sides.
    folds : int
        Of the cross-validation.
    max_rows : int
        Rows audited of each pair, half of each group, chosen at random where there are more.
    bands, unknown : optional
        As for `impact`.
    random_state : int
        The seed; the same seed and table give the same certificate.

    Returns
    -------
    Certificate

    Notes
    -----
    The claim is about rules that the auditors can find: a stronger auditor may find more. It is
    made on the rows given; what is estimated, on which rows and with which interval, is in the
    certificate.

    Examples
    --------
    >>> import fourfifths
    >>> certificate = fourfifths.certify("ricci", auditors=["logistic", "naive-bayes"])
    >>> certificate.worst.strongest in ("logistic", "naive-bayes")
    True
    """
    check_options(beta, threshold, confidence, folds, max_rows, random_state)
    plan = make_plan(
        table,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        columns=columns,
        beta=beta,
        bands=bands,
        unknown=unknown_tokens(unknown),
        folds=folds,
    )
    read = _read(plan, max_rows // 2, random_state)
    pairs = _pairs(plan, read, max_rows // 2, confidence, random_state)
    chosen = panel(auditors, read.is_category, random_state)
    total = len(pairs) * len(chosen) * folds + len(plan.features) + 1
    with steps("auditing", total, enabled=progress) as done:
        found = [
            certify_pair(pair, plan, read, chosen, threshold, confidence, folds, random_state, done)
            for pair in pairs
        ]
        order = sorted(range(len(found)), key=lambda at: _severity(found[at]))
        worst = order[0]
        leaks = _leaks(
            pairs[worst], read, chosen[found[worst].strongest], random_state, folds, done
        )
    settings = {
        "threshold": threshold,
        "auditors": list(chosen),
        "confidence": confidence,
        "folds": int(folds),
        "max_rows": int(max_rows),
        "random_state": int(random_state),
    }
    return _wrap(plan, read, leaks, tuple(found[at] for at in order), settings)


def _read(plan: Plan, quota: int, random_state: int) -> Features:
    return read_features(
        plan.table,
        plan.features,
        protected=plan.protected,
        groups=plan.groups,
        quotas=[quota] * len(plan.groups),
        sizes=plan.sizes,
        random_state=random_state,
        also_hashed=[plan.outcome] if plan.outcome else [],
    )


def _wrap(
    plan: Plan,
    read: Features,
    leaks: tuple[Leak, ...],
    pairs: tuple[PairCertificate, ...],
    settings: dict[str, Any],
) -> Certificate:
    return Certificate(
        verdict=pairs[0].verdict,
        pairs=pairs,
        leaks=leaks,
        table=plan.table.name,
        rows=int(sum(plan.sizes)),
        protected=tuple(plan.protected),
        features=dict(zip(read.names, read.kinds, strict=True)),
        left_out=plan.left_out,
        threshold=settings["threshold"],
        confidence=settings["confidence"],
        settings=plan.settings | settings,
        data_sha256=read.sha256,
        random_state=settings["random_state"],
        versions={name: version(name) for name in ("fourfifths", "numpy", "scipy", "scikit-learn")},
        notes=certificate_notes(plan, read, leaks, pairs),
    )


def _pairs(
    plan: Plan, read: Features, quota: int, confidence: float, random_state: int
) -> list[Pair]:
    """Return each group against the reference and, if there are several, all of them together."""
    random = np.random.default_rng(random_state)
    others = [place for place in range(len(plan.groups)) if place != plan.reference]
    # In random order, so that the first so many of a group are a sample of it.
    rows = [
        random.permutation(np.flatnonzero(read.groups == place))
        for place in range(len(plan.groups))
    ]
    sets = [(plan.labels[place], [place]) for place in others]
    if len(others) > 1:
        sets.append((f"not {plan.labels[plan.reference]}", others))
    pairs = []
    for name, members in sets:
        # Together, each group has the share of the rows that it has in the table.
        total = sum(plan.sizes[place] for place in members)
        share = min(1.0, quota / total, *(rows[at].size / plan.sizes[at] for at in members))
        own = np.concatenate([rows[at][: round(share * plan.sizes[at])] for at in members])
        both = np.sort(np.concatenate([own, rows[plan.reference]]))
        is_reference = read.groups[both] == plan.reference
        pairs.append(
            Pair(
                group=name,
                rows=both,
                is_reference=is_reference,
                betas=plan.betas(members, confidence),
            )
        )
    return pairs


def _leaks(
    pair: Pair, read: Features, auditor: Any, random_state: int, folds: int, done: Steps
) -> tuple[Leak, ...]:
    fold = np.empty(pair.rows.size, dtype=np.int64)
    for place, (_, test) in enumerate(stratified_folds(pair.is_reference, folds, random_state)):
        fold[test] = place
    values = read.values[pair.rows]
    beta = pair.betas["group"].rate
    found = []
    lost = losses(auditor, values, pair.is_reference, random_state)
    for column, (name, kind) in enumerate(zip(read.names, read.kinds, strict=True)):
        error, floor = single_column(values[:, column], pair.is_reference, fold, beta)
        found.append(
            Leak(
                feature=name,
                kind=kind,
                balanced_error_rate=error,
                impact_floor=floor,
                loss=next(lost),
            )
        )
        done.advance(f"without {name}")
    return tuple(sorted(found, key=lambda leak: leak.balanced_error_rate))


def _severity(pair: PairCertificate) -> tuple[int, float]:
    """Return what sorts the worst first: the verdict, then the harm that is sure on either side."""
    limits = [
        limit
        for each in pair.auditors
        for limit in (each.impact_floor_interval[1], each.reverse_floor_interval[1])
    ]
    return SEVERITY[pair.verdict], min(limits)


@dataclass(frozen=True, kw_only=True)
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
        group=names[0],
        reference=names[1],
        n=errors.n,
        n_reference=errors.n_reference,
        sampling_error=float(1.96 * np.sqrt(0.25 / errors.n + 0.25 / errors.n_reference) / 2),
        beta=beta.rate,
        beta_interval=beta.interval,
        reverse_beta=pair.betas["reference"].rate,
        reverse_beta_interval=pair.betas["reference"].interval,
        ber_threshold=line,
        verdict=verdict,
        paper_verdict=paper,
        because=because(
            verdict, paper, evidence, witness, needed, pair.betas, threshold, confidence
        ),
        strongest=strongest,
        auditors=auditors,
        witness=witness,
        posterior=posterior(
            errors,
            beta.counts or beta.interval[0],
            threshold=threshold,
            confidence=confidence,
            random_state=random_state,
        ),
        rows_needed=needed,
        curve=evidence[strongest].group.curve,
    )


def _wrap_auditor(name: str, found: AuditorEvidence, beta: Beta) -> AuditorResult:
    ber = found.errors.balanced_error_rate
    return AuditorResult(
        name=name,
        balanced_error_rate=ber,
        interval=found.interval,
        impact_bound=float(impact_bound(ber, beta.rate)),
        impact_floor=found.group.floor,
        impact_floor_interval=_limits(found.group),
        reverse_floor=found.reference.floor,
        reverse_floor_interval=_limits(found.reference),
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
        auditor=auditor,
        harms=names[0] if side.side == "group" else names[1],
        rates={names[0]: group[0] / group[1], names[1]: reference[0] / reference[1]},
        impact_ratio=ratio,
        impact_ratio_interval=(float(low), float(high)),
        rule=(
            f"select the rows that {auditor} finds most like {toward}; a coin decides among equals"
        ),
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
