"""`certify`: whether any rule that uses only these columns can have disparate impact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from fourfifths.audit_plan import Plan, check_options, make_plan
from fourfifths.auditors import panel
from fourfifths.certificate import Certificate, PairCertificate
from fourfifths.evidence import Verdict
from fourfifths.features import Features, read_features
from fourfifths.leaks import Leak, losses, single_column
from fourfifths.pairs import Pair, certify_pair, stratified_folds
from fourfifths.progress import Steps, steps
from fourfifths.reasoning import certificate_notes
from fourfifths.table import TableLike

MAX_ROWS = 100_000
SEVERITY: Mapping[Verdict, int] = {"not certified": 0, "inconclusive": 1, "certified": 2}


def certify(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    features: Sequence[str] | None = None,
    beta: float | tuple[float, float] | None = None,
    threshold: float = 0.8,
    auditors: Sequence[str] | Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    folds: int = 5,
    max_rows: int = MAX_ROWS,
    bands: Mapping[str, Sequence[float]] | None = None,
    unknown: str | Sequence[Any] = (),
    random_state: int = 0,
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
    features : sequence of str, optional
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
        features=features,
        beta=beta,
        bands=bands,
        unknown=(unknown,) if isinstance(unknown, str) else tuple(unknown),
        folds=folds,
    )
    read = _read(plan, max_rows // 2, random_state)
    pairs = _pairs(plan, read, max_rows // 2, confidence, random_state)
    chosen = panel(auditors, read.is_category, random_state)
    total = len(pairs) * len(chosen) * folds + len(plan.features) + 1
    with steps("auditing", total) as done:
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
        plan.protected,
        plan.groups,
        [quota] * len(plan.groups),
        plan.sizes,
        random_state,
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
        pairs.append(Pair(name, both, is_reference, plan.betas(members, confidence)))
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
        found.append(Leak(name, kind, error, floor, next(lost)))
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
