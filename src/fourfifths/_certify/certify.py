"""`certify`: whether auditors find a rule on these columns that has disparate impact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from importlib.metadata import version
from math import ceil
from typing import Any, Literal, get_args

import numpy as np

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._certify.auditors import (
    MIN_GROUP_ROWS_TO_HOLD_OUT,
    AuditorName,
    BalancedCut,
    find_details,
    out_of_fold,
    panel,
    quiet,
    stratified_folds,
)
from fourfifths._certify.evidence import (
    AuditorEvidence,
    Evidence,
    find_witness,
    is_settled,
    paper_verdict,
    reason_for,
    rows_needed,
    sides_of,
    stronger,
    verdict_of,
    weigh,
)
from fourfifths._certify.leaks import find_leaks
from fourfifths._certify.plan import (
    MAX_ROWS,
    MIN_AUDITED_ROWS,
    MIN_FOLDS,
    Beta,
    Pair,
    Plan,
    groups_of,
    make_plan,
    pairs_of_groups,
)
from fourfifths._certify.result import (
    AuditorResult,
    Certificate,
    Leak,
    PairCertificate,
    Side,
)
from fourfifths._certify.shared import (
    SHARED_AUDITORS,
    shared_answers,
    with_quick_trees,
)
from fourfifths._progress import steps
from fourfifths._results import Verdict
from fourfifths._stats.balanced_error import ber_threshold, impact_bound, posterior
from fourfifths._tables.files import in_one_line
from fourfifths._tables.groups import check_seed, check_share, check_whole, read_beta
from fourfifths._tables.sample import read_features
from fourfifths._tables.table import TableLike
from fourfifths._text import categories_note, listed
from fourfifths.errors import OptionError

VERSIONED_PACKAGES = ("fourfifths", "numpy", "scipy", "scikit-learn")
CLAIM = (
    "the claim covers rules found by these auditors; it does not exclude rules that none of them "
    "looks for, such as a code made of several columns at once (a hash, or a small difference of "
    "two large numbers), a remainder of a number other than by 7 and 10, or the parity of many "
    "columns that are not yes or no"
)
# Where pairs are judged together, these have trees of few rounds, and of all rounds in the pairs
# that are closest to harm.
JUDGED_TWICE = ("trees", "details")
# Groups that are judged together have at least this share of the rows of the largest.
MIN_SHARE_OF_LARGEST = 0.5
# How many of the pairs that are judged together are judged in full as well.
PAIRS_IN_FULL_PER_GROUP = 0.1
# What is left to do for a pair that was judged together with others.
Effort = Literal["none", "quick", "in full"]
SEVERITY: Mapping[Verdict, int] = {"not certified": 0, "inconclusive": 1, "certified": 2}
PROTECTED_WORDS = {
    *("age", "citizenship", "color", "colour", "disability", "ethnicity", "gender", "race"),
    *("national_origin", "nationality", "religion", "sex", "veteran"),
}


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
    ages: Mapping[str, date | str] | None = None,
    unknown: str | Sequence[Any] = (),
    leaks: bool = True,
    random_state: int = 0,
    progress: bool = True,
) -> Certificate:
    """Certify that auditors find no rule with disparate impact, or show one that they find.

    Auditors predict the protected attribute from the features, out of fold. If even the strongest
    auditor is hardly better than guessing, no rule that these auditors find selects the groups at
    very different rates: section 4 of the paper. There are two tests. The paper's test compares
    the balanced error rate with `ber_threshold`. The tight test uses the whole ROC curve: a rule
    that selects at least beta of the group has an impact ratio of at least beta / R(beta), where
    R(beta) is the best rate on the reference at rate beta on the group. All pairs of groups are
    tested, and one verdict holds for all of them.

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        As for `impact`.
    protected : str or sequence of str
        Several columns are taken jointly.
    outcome, favorable : optional
        The outcome column and its favorable value, from which beta is estimated.
    reference : optional
        The reference group; by default, the group with the highest selection rate.
    columns : sequence of str, optional
        The columns that a rule may use; by default, all but the protected ones and the outcome.
    beta : float or (low, high), optional
        The selection rate of the group, if it is not estimated from the outcome. Of a range, the
        lower end is used, as in the paper.
    threshold : float
        Of the impact ratio. Both sides count: a ratio above 1 / threshold is harm as well.
    auditors : sequence of names or mapping of name to classifier, optional
        Names are "logistic", "svm", "naive-bayes", "trees", "forest" and "details"; by default,
        all are used. A mapping may add your own scikit-learn classifiers, as in
        ``{"mine": RandomForestClassifier(), "trees": None}``; only the auditors in it are used, and
        `verify` cannot run the certificate again.
    confidence : float
        Of the verdict over all auditors, both sides and all pairs of groups.
    folds : int
        Of the cross-validation.
    max_rows : int
        The most rows that are audited in each pair, half from each group; they are sampled at
        random if there are more.
    bands, ages : mapping, optional
        As for `impact`.
    unknown : str or sequence, optional
        Values that mean missing, in every column, beside null, NaN and empty text; like "?".
    leaks : bool
        Whether to measure what each column predicts, alone and beside the others. It decides no
        verdict.
    random_state : int
        The seed. The same seed and table give the same certificate.
    progress : bool
        Whether to show a progress bar on a terminal or in a notebook.

    Returns
    -------
    Certificate

    Notes
    -----
    The claim covers the rules that the auditors can find; a stronger auditor may find others. It is
    an estimate from the rows of this table: the certificate states the intervals and how many rows
    they rest on.

    Examples
    --------
    >>> import fourfifths
    >>> certificate = fourfifths.certify("ricci", auditors=["logistic", "naive-bayes"])
    >>> certificate.worst.strongest in ("logistic", "naive-bayes")
    True
    """
    threshold = check_share("threshold", threshold, "(0, 1)")
    confidence = check_share("confidence", confidence, "(0, 1)")
    folds = check_whole("folds", folds, minimum=MIN_FOLDS)
    max_rows = check_whole("max_rows", max_rows, minimum=MIN_AUDITED_ROWS)
    random_state = check_seed(random_state)
    beta = read_beta(beta)
    plan = make_plan(
        table,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        columns=columns,
        beta=beta,
        bands=bands,
        ages=ages,
        unknown=unknown,
        folds=folds,
    )

    rows_per_group = max_rows // 2
    features = read_features(
        plan.table,
        plan.features,
        protected=plan.protected,
        groups=plan.groups,
        quotas=[rows_per_group] * len(plan.groups),
        sizes=plan.sizes,
        random_state=random_state,
        also_hashed=[plan.outcome] if plan.outcome else [],
    )
    pairs = pairs_of_groups(
        plan,
        features,
        rows_per_group=rows_per_group,
        confidence=confidence,
        random_state=random_state,
    )
    chosen_auditors = panel(auditors, features.is_category, random_state=random_state)
    custom = [name for name in chosen_auditors if name not in get_args(AuditorName)]
    details = find_details(features)
    values = np.hstack([features.values, details.codes])

    is_shared = can_share(pairs, chosen_auditors, folds=folds)
    shared_count = len(set(SHARED_AUDITORS) & set(chosen_auditors)) if any(is_shared) else 0
    fits = len(pairs) * len(chosen_auditors) + shared_count - shared_count * sum(is_shared)
    total = folds * fits + len(plan.features) * leaks
    with quiet(), steps("auditing", total, enabled=progress) as bar:
        certificates, judged_in_full = certify_pairs(
            values,
            features.groups,
            pairs=pairs,
            is_shared=is_shared,
            auditors=chosen_auditors,
            threshold=threshold,
            confidence=confidence,
            folds=folds,
            random_state=random_state,
            advance=bar.advance,
        )
        order = sorted(range(len(pairs)), key=lambda index: severity(certificates[index]))
        worst = pairs[order[0]]
        measured_leaks: tuple[Leak, ...] = ()
        if leaks:
            measured_leaks = find_leaks(
                values[worst.rows],
                worst.is_reference,
                names=features.names,
                kinds=features.kinds,
                detail_sources=details.sources,
                auditor=chosen_auditors[certificates[order[0]].strongest],
                beta=worst.betas["group"].rate,
                folds=folds,
                random_state=random_state,
                advance=bar.advance,
            )

    ordered = tuple(certificates[index] for index in order)
    settings = {
        "threshold": threshold,
        "auditors": list(chosen_auditors),
        "confidence": confidence,
        "folds": folds,
        "max_rows": max_rows,
        "leaks": bool(leaks),
        "random_state": random_state,
    }
    return Certificate(
        kind="found",
        verdict=ordered[0].verdict,
        pairs=ordered,
        leaks=measured_leaks,
        table=plan.table.name,
        rows=int(sum(plan.sizes)),
        rows_audited=features.groups.size,
        rows_in_table=plan.rows_in_table,
        protected=tuple(plan.protected),
        features=dict(zip(features.names, features.kinds, strict=True)),
        left_out=plan.left_out,
        threshold=threshold,
        confidence=confidence,
        settings=plan.settings | settings,
        data_sha256=features.sha256,
        random_state=random_state,
        versions={
            name: version(name)
            for name in (*VERSIONED_PACKAGES, *(["lightgbm"] if any(is_shared) else []))
        },
        notes=(
            *plan.notes,
            *features.notes,
            *certificate_notes(
                plan,
                ordered,
                leaks=measured_leaks,
                audited=features.groups.size,
                mixed=features.mixed,
                custom=custom,
                auditor_count=len(chosen_auditors),
                judged_in_full=judged_in_full,
            ),
        ),
    )


def can_share(pairs: Sequence[Pair], auditors: Iterable[str], *, folds: int) -> list[bool]:
    """Return which pairs are judged by auditors that are fitted for all of them together.

    Both groups need rows enough to hold some out for the cut, and not many fewer than the largest
    group, which a forest would otherwise see everywhere. There have to be more such pairs than
    groups in them: otherwise nothing is gained.
    """
    smaller = [min(pair.is_reference.sum(), (~pair.is_reference).sum()) for pair in pairs]
    least = max(
        MIN_GROUP_ROWS_TO_HOLD_OUT * folds / (folds - 1), MIN_SHARE_OF_LARGEST * max(smaller)
    )
    is_large = [
        pair.codes is not None and rows >= least for pair, rows in zip(pairs, smaller, strict=True)
    ]
    large = [pair for pair, large in zip(pairs, is_large, strict=True) if large]
    serves = len(large) > len(groups_of(large)) and not set(SHARED_AUDITORS).isdisjoint(auditors)
    return is_large if serves else [False] * len(pairs)


def certify_pairs(
    values: FloatArray,
    groups: IntArray,
    *,
    pairs: Sequence[Pair],
    is_shared: Sequence[bool],
    auditors: Mapping[str, BalancedCut],
    threshold: float,
    confidence: float,
    folds: int,
    random_state: int,
    advance: Callable[[str], None],
) -> tuple[list[PairCertificate], int]:
    """Certify every pair, and return how many of them were judged in full.

    Many pairs are judged together, by trees of few rounds and by a forest of all groups. Those that
    come closest to harm, one for ten groups, are judged in full as well, by the trees that two
    groups have, and so is the pair that decides the verdict. Pairs with few rows, and several
    groups against the reference, are judged in full only.

    Parameters
    ----------
    values : float array, rows by features and details
    groups : int array
        The code of each row's group.
    pairs : sequence of Pair
    is_shared : sequence of bool
        Which pairs are judged together.
    auditors : mapping of name to BalancedCut
    threshold, confidence : float
    folds, random_state : int
    advance : callable
        Called with a description after each fold of each auditor.
    """
    shared_names = [name for name in auditors if name in SHARED_AUDITORS]
    # Bonferroni: the rule of any auditor in any pair, by either fit, may be the one that shows harm
    # where there is none.
    second_fits = sum(name in JUDGED_TWICE for name in auditors) * sum(is_shared)
    rules = len(auditors) * len(pairs) + second_fits
    corrected = 1 - (1 - confidence) / rules
    evidence = ask_together(
        values,
        groups,
        pairs=pairs,
        is_shared=is_shared,
        auditors={name: auditors[name] for name in shared_names},
        threshold=threshold,
        confidence=confidence,
        corrected=corrected,
        folds=folds,
        random_state=random_state,
        advance=advance,
    )
    efforts = efforts_left(pairs, evidence, shared_count=len(shared_names), threshold=threshold)

    def certified(index: int, effort: Effort, *, until_harm: bool) -> PairCertificate:
        pair = pairs[index]
        asked = {
            name: with_quick_trees(auditor) if effort == "quick" else auditor
            for name, auditor in auditors.items()
            if name not in evidence[index] or (effort == "in full" and name in JUDGED_TWICE)
        }
        return certify_pair(
            values[pair.rows],
            pair.is_reference,
            group=pair.group,
            reference=pair.reference,
            betas=pair.betas,
            auditors={} if effort == "none" else asked,
            shared=evidence[index],
            threshold=threshold,
            confidence=confidence,
            corrected=corrected,
            until_harm=until_harm,
            folds=folds,
            random_state=random_state,
            advance=advance,
        )

    certificates = [
        certified(index, effort, until_harm=len(pairs) > 1) for index, effort in enumerate(efforts)
    ]
    worst = min(range(len(pairs)), key=lambda index: severity(certificates[index]))
    if efforts[worst] != "in full" or len(certificates[worst].auditors) < len(auditors):
        efforts[worst] = "in full"
        certificates[worst] = certified(worst, "in full", until_harm=False)
    if {*JUDGED_TWICE, "forest"}.isdisjoint(auditors):
        return certificates, len(pairs)
    return certificates, efforts.count("in full")


def ask_together(
    values: FloatArray,
    groups: IntArray,
    *,
    pairs: Sequence[Pair],
    is_shared: Sequence[bool],
    auditors: Mapping[str, BalancedCut],
    threshold: float,
    confidence: float,
    corrected: float,
    folds: int,
    random_state: int,
    advance: Callable[[str], None],
) -> list[dict[str, AuditorEvidence]]:
    """Return what auditors show of the pairs that they judge together.

    A pair in which one has shown harm is not asked about again. Once too few pairs are left for it
    to be any quicker, no further auditor is asked. Parameters as in `certify_pairs`.
    """
    evidence: list[dict[str, AuditorEvidence]] = [{} for _ in pairs]
    for name, auditor in auditors.items():
        asked = [
            index
            for index, pair in enumerate(pairs)
            if is_shared[index] and not is_settled(evidence[index], pair.betas, threshold=threshold)
        ]
        if len(asked) <= len(groups_of([pairs[index] for index in asked])):
            break
        answers = shared_answers(
            name,
            with_quick_trees(auditor),
            values,
            groups,
            pairs=[pairs[index] for index in asked],
            folds=folds,
            random_state=random_state,
            advance=partial(advance, f"{name} on all pairs"),
        )
        for index, answer in zip(asked, answers, strict=True):
            evidence[index][name] = weigh(
                answer,
                pairs[index].is_reference,
                betas=pairs[index].betas,
                threshold=threshold,
                confidence=confidence,
                corrected=corrected,
            )
    return evidence


def efforts_left(
    pairs: Sequence[Pair],
    evidence: Sequence[Evidence],
    *,
    shared_count: int,
    threshold: float,
) -> list[Effort]:
    """Return what is left to do for each pair.

    Parameters
    ----------
    pairs : sequence of Pair
    evidence : sequence of Evidence
        What is known of each pair that is judged together with others.
    shared_count : int
        How many auditors judge pairs together.
    threshold : float

    Returns
    -------
    list of {"none", "quick", "in full"}
        "none" if harm is shown. "quick" if all that judge pairs together have judged this one: the
        others are asked, with trees of few rounds.
    """
    efforts: list[Effort] = []
    for pair, shown in zip(pairs, evidence, strict=True):
        if is_settled(shown, pair.betas, threshold=threshold):
            efforts.append("none")
        else:
            efforts.append("quick" if 0 < len(shown) == shared_count else "in full")
    judged = [index for index, effort in enumerate(efforts) if effort == "quick"]
    group_count = len(groups_of([pairs[index] for index in judged]))
    closest = sorted(judged, key=lambda index: lowest_limit(evidence[index]))
    for index in closest[: ceil(PAIRS_IN_FULL_PER_GROUP * group_count)]:
        efforts[index] = "in full"
    return efforts


def certify_pair(
    values: FloatArray,
    is_reference: BoolArray,
    *,
    group: str,
    reference: str,
    betas: Mapping[Side, Beta],
    auditors: Mapping[str, BalancedCut],
    shared: Evidence,
    threshold: float,
    confidence: float,
    corrected: float,
    until_harm: bool,
    folds: int,
    random_state: int,
    advance: Callable[[str], None],
) -> PairCertificate:
    """Ask auditors about every row of a pair, weigh the answers, and reach a verdict.

    Parameters
    ----------
    values : float array, rows by features and details
    is_reference : bool array
    group, reference : str
        Their names.
    betas : mapping of {"group", "reference"} to Beta
    auditors : mapping of name to BalancedCut
        They are fitted to this pair alone.
    shared : mapping of auditor to AuditorEvidence
        What is known of this pair, which was judged together with others.
    threshold, confidence : float
    corrected : float
        `confidence` corrected for the number of auditors, fits and pairs.
    until_harm : bool
        Whether to stop at the first auditor that shows harm by both tests. The verdict is then the
        same whatever the others find: limits are corrected for all auditors.
    folds, random_state : int
    advance : callable
        Called with a description after each fold of each auditor.
    """
    evidence = dict(shared)
    splits = stratified_folds(is_reference, folds, random_state=random_state) if auditors else []
    for name, auditor in auditors.items():
        description = f"{name} on {group} and {reference}"
        try:
            answers = out_of_fold(
                auditor,
                values,
                is_reference=is_reference,
                folds=splits,
                rates={side: beta.rate for side, beta in betas.items()},
                advance=partial(advance, description),
            )
        except Exception as error:  # a user's classifier may raise anything
            raise OptionError(f"auditors: {name!r} failed: {in_one_line(error)}") from error
        own = weigh(
            answers,
            is_reference,
            betas=betas,
            threshold=threshold,
            confidence=confidence,
            corrected=corrected,
        )
        evidence[name] = stronger(own, shared[name]) if name in shared else own
        if until_harm and is_settled(evidence, betas, threshold=threshold):
            break

    verdict = verdict_of(evidence, threshold)
    paper = paper_verdict(evidence, betas, threshold=threshold)
    witness = find_witness(evidence, group=group, reference=reference, confidence=corrected)
    rows = None
    if verdict == "inconclusive":
        rows = rows_needed(
            evidence, betas, threshold=threshold, confidence=confidence, corrected=corrected
        )
    strongest = min(evidence, key=lambda name: evidence[name].errors.balanced_error_rate)
    errors = evidence[strongest].errors
    beta, reverse_beta = betas["group"], betas["reference"]
    return PairCertificate(
        group=group,
        reference=reference,
        n=errors.n,
        n_reference=errors.n_reference,
        # The BER is the mean of two rates, whose variance is largest, .25 / n, at a half.
        sampling_error=float(1.96 * np.sqrt(0.25 / errors.n + 0.25 / errors.n_reference) / 2),
        beta=beta.rate,
        beta_interval=beta.interval,
        reverse_beta=reverse_beta.rate,
        reverse_beta_interval=reverse_beta.interval,
        ber_threshold=float(ber_threshold(beta.interval[0], threshold)),
        verdict=verdict,
        paper_verdict=paper,
        because=reason_for(
            verdict,
            evidence,
            paper=paper,
            witness=witness,
            rows=rows,
            betas=betas,
            threshold=threshold,
            confidence=confidence,
        ),
        strongest=strongest,
        auditors=tuple(
            AuditorResult(
                name=name,
                balanced_error_rate=auditor_evidence.errors.balanced_error_rate,
                interval=auditor_evidence.interval,
                impact_bound=float(
                    impact_bound(auditor_evidence.errors.balanced_error_rate, beta.rate)
                ),
                impact_floor=auditor_evidence.group.floor,
                impact_floor_interval=auditor_evidence.group.floor_interval,
                reverse_floor=auditor_evidence.reference.floor,
                reverse_floor_interval=auditor_evidence.reference.floor_interval,
            )
            for name, auditor_evidence in evidence.items()
        ),
        witness=witness,
        posterior=posterior(
            errors,
            beta.counts or beta.interval[0],
            threshold=threshold,
            confidence=confidence,
        ),
        rows_needed=rows,
        floor_limit=evidence[strongest].group.limit,
    )


def certificate_notes(
    plan: Plan,
    pairs: Sequence[PairCertificate],
    *,
    leaks: Sequence[Leak],
    audited: int,
    mixed: Sequence[str],
    custom: Sequence[str],
    auditor_count: int,
    judged_in_full: int | None,
) -> tuple[str, ...]:
    """Return what a reader must know besides the figures.

    Parameters
    ----------
    plan : Plan
    pairs : sequence of PairCertificate
    leaks : sequence of Leak
    audited : int
        The number of rows that were read.
    mixed : sequence of str
        The features that hold both numbers and words.
    custom : sequence of str
        The auditors that are classifiers of the user's own.
    auditor_count : int
        How many auditors were chosen.
    judged_in_full : int, optional
        How many pairs were judged as those of a table of two groups; by default, all.
    """
    notes = []
    copies = [leak.feature for leak in leaks if leak.balanced_error_rate == 0]
    if copies:
        notes.append(f"{listed(copies)} alone predicts the protected attribute without error")
    if plan.left_out:
        notes.append(f"not used as features: {', '.join(map(repr, plan.left_out))}")
    suspects = [name for name in plan.features if name.lower() in PROTECTED_WORDS]
    if suspects:
        notes.append(
            "features that may be protected attributes themselves: "
            f"{', '.join(map(repr, suspects))}; if a rule may not use them, name the columns that "
            "it may use (columns=)"
        )
    notes += [categories_note(name, "is taken") for name in mixed]
    rows = sum(plan.sizes)
    if audited < rows:
        sampling_error = max(pair.sampling_error for pair in pairs)
        notes.append(
            f"{audited:,} of {rows:,} rows were audited, sampled at random within each group; this "
            f"sampling alone makes the BER uncertain by {sampling_error:.4f}"
        )
    if len(pairs) > 1:
        notes.append("the stated confidence holds for the verdicts of all pairs together")
        settled = sum(len(pair.auditors) < auditor_count for pair in pairs)
        if settled:
            notes.append(
                f"in {settled} of {len(pairs)} pairs an auditor showed a rule with disparate "
                "impact before all auditors were asked, and the remaining ones were not asked: "
                "they could not change the verdict, but might have found rules with a ratio "
                "further from 1"
            )
    if judged_in_full is not None and judged_in_full < len(pairs):
        notes.append(
            "many pairs were judged together: trees had few rounds, and one forest was fitted to "
            f"all groups; in {judged_in_full} of {len(pairs)} pairs, among them those that came "
            "closest to harm, trees with all their rounds were fitted as well, and each figure is "
            "that of the stronger fit"
        )
    if custom:
        notes.append(
            f"the auditors {listed(custom)} are classifiers of your own, which a file cannot hold: "
            "this certificate cannot be run again by verify"
        )
    notes.append(CLAIM)
    return tuple(notes)


def lowest_limit(evidence: Evidence) -> float:
    """Return the lowest of the lower limits of the floor, over auditors and sides."""
    return min(side.lower_limit for side in sides_of(evidence))


def severity(pair: PairCertificate) -> tuple[int, float, float]:
    """Return the sort key of a pair: the worst verdict, then the limit that this verdict rests on.

    Harm is shown by upper limits. Where none is shown, the lowest lower limit is the least that the
    certificate says of all pairs.
    """
    limits = [
        limits
        for auditor in pair.auditors
        for limits in (auditor.impact_floor_interval, auditor.reverse_floor_interval)
    ]
    lower, upper = (min(side) for side in zip(*limits, strict=True))
    decisive = (upper, lower) if pair.verdict == "not certified" else (lower, upper)
    return SEVERITY[pair.verdict], *decisive
