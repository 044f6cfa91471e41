"""`tradeoff`: every model on every version of the data."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from importlib import metadata
from itertools import product
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, get_args

import numpy as np
from joblib import Parallel, delayed

from fourfifths._certify.auditors import PLAIN_AUDITORS, AuditorName
from fourfifths._progress import steps
from fourfifths._repair.columns.ordered import Method
from fourfifths._repair.fitted import Scope
from fourfifths._repair.proof import MAX_STRATA
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.groups import (
    check_seed,
    check_share,
    check_whole,
    days_of_ages,
    edges_of,
    favorable_names,
    is_share,
)
from fourfifths._tables.table import TableLike
from fourfifths._text import listed
from fourfifths._tradeoff.data import Data, Split, read_data
from fourfifths._tradeoff.models import ModelName, chosen_models
from fourfifths._tradeoff.points import make_point
from fourfifths._tradeoff.result import THRESHOLD, Tradeoff
from fourfifths._tradeoff.store import Record, ResultsFile, cell_key
from fourfifths._tradeoff.versions import SweepRows, Version, run_version
from fourfifths.errors import OptionError, ReadingWarning

# Rounded, because 3 * 0.1 is not 0.3 in floating point.
AMOUNTS = tuple(round(0.1 * step, 1) for step in range(11))
TEST_SHARE = 1 / 3
REPEATS = 10


def tradeoff(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    columns: Sequence[str] | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: Any = (),
    stratify_by: str | Sequence[str] = (),
    models: Sequence[str] | Mapping[str, Any] | None = None,
    methods: Sequence[Method] = ("random",),
    scopes: Sequence[Scope] = ("blocks",),
    amounts: Sequence[float] = AMOUNTS,
    split: Split = None,
    repeats: int | None = None,
    auditors: Sequence[AuditorName | ModelName] = PLAIN_AUDITORS,
    confidence: float = 0.95,
    results: str | PathLike[str] | None = None,
    n_jobs: int = 1,
    random_state: int = 0,
    progress: bool = True,
) -> Tradeoff:
    """Measure what each amount of repair does to models of the outcome.

    In each split, the repair is fitted on the training rows and applied to all rows. Models and
    auditors are fitted on the repaired training rows. Every figure is measured on the repaired
    test rows.

    Parameters
    ----------
    table, protected, outcome, favorable, reference, columns, bands, ages, unknown
        As in `certify`. The columns are those that are repaired and that the models use. By default
        these are all but identifiers, dates, and columns called like a protected attribute.
    stratify_by : str or sequence of str, optional
        Columns to stratify the repair by instead of the protected ones. Small strata are pooled;
        rows of a stratum that is not among the training rows stay as they are.
    models : sequence of str or mapping of str to classifier, optional
        The paper's models by name: "LR", "SVM", "GNB", all three by default. A mapping may hold
        scikit-learn classifiers or pipelines of your own, which get a dataframe of the features.
    methods, scopes, amounts
        As in `Repairer`; every combination that exists is tried. By blocks a share of the rows is
        repaired, so their method is "random"; the paper's two methods repair by column. A repair by
        blocks keeps the outcome of the training rows, in as many blocks as can be proven.
    split : float or str, optional
        The share of test rows, a third by default, or a column with the values "train" and "test".
        A shipped data set that has such a column is split by it.
    repeats : int, optional
        The number of random splits, 10 by default. A split column is one split.
    auditors : sequence of str
        The classifiers that predict the protected attribute: those of `certify`, or "LR", "SVM",
        "GNB" for the paper's, which are the models above.
    confidence : float
        The confidence of the intervals, and of what is proven.
    results : path, optional
        A file that keeps each finished cell on a line. A run that was stopped resumes from it.
    n_jobs : int
        The number of processes, -1 for all cores. The numbers do not depend on it.
    random_state : int
        The seed.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Tradeoff

    Examples
    --------
    >>> import fourfifths
    >>> curve = fourfifths.tradeoff(
    ...     "ricci", models=["GNB"], amounts=[0, 1], repeats=2, auditors=["logistic"]
    ... )
    >>> [(point.method, point.amount) for point in curve.points]
    [('none', 0.0), ('random', 1.0)]
    """
    check_options(
        methods,
        scopes,
        amounts=amounts,
        confidence=confidence,
        repeats=repeats,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    confidence, random_state = float(confidence), int(random_state)
    data = read_data(
        table,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        columns=columns,
        bands=bands,
        ages=ages,
        unknown=unknown,
        stratify_by=(stratify_by,) if isinstance(stratify_by, str) else stratify_by,
        split=split,
    )
    repeats = 1 if data.side is not None else repeats or REPEATS
    splits = data.splits(TEST_SHARE if split is None else split, repeats, random_state)
    combinations, skipped = existing_combinations(scopes, methods)
    # By key, because unrepaired data are the same whatever the method and scope: one version.
    versions = {
        version.key: version
        for version in (
            Version(repeat=repeat, scope=scope, method=method, amount=float(amount))
            for repeat, (scope, method), amount in product(range(repeats), combinations, amounts)
        )
    }

    @cache
    def repairer_of(repeat: int, scope: Scope) -> Repairer:
        train, _ = splits[repeat]
        repairer = make_repairer(
            data, scope=scope, confidence=confidence, random_state=random_state + repeat
        )
        with warnings.catch_warnings():
            # That too little is proven is said in a note, of all splits together.
            warnings.filterwarnings("ignore", "blocks='certified'")
            # So is what was assumed about values, of all rows.
            warnings.simplefilter("ignore", ReadingWarning)
            return repairer.fit(data.frame[train].to_native(), data.selected[train])

    is_category = [column.kind == "category" for column in data.column_types]
    classifiers = chosen_models(models, is_category, random_state=random_state)
    results_file = ResultsFile(
        path=None if results is None else Path(results),
        fingerprint=fingerprint(
            data,
            splits,
            auditors=auditors,
            models=classifiers,
            confidence=confidence,
            random_state=random_state,
        ),
    )
    records = {cell_key(record): record for record in results_file.load()}
    unfinished = [
        version
        for key, version in versions.items()
        if not all((*key, name) in records for name in classifiers)
    ]
    rows = SweepRows(
        frame=data.frame.to_native(),
        group=data.group,
        selected=data.selected,
        reference=data.reference,
        groups=len(data.strata.groups),
        column_types=data.column_types,
    )
    # A generator, so that a repairer is fitted only when a process is free to use it.
    jobs = (
        delayed(run_version)(
            version,
            repairer_of(version.repeat, version.scope) if version.amount > 0 else None,
            rows=rows,
            split=splits[version.repeat],
            models=classifiers,
            auditors=auditors,
            random_state=random_state,
        )
        for version in unfinished
    )
    with steps("sweeping", len(unfinished), enabled=progress) as finished:
        for cells in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            results_file.add(cells)
            records |= {cell_key(record): record for record in cells}
            finished.advance(f"{cells[0]['method']} {cells[0]['amount']:g}")

    labels = data.strata.labels
    repairs = dict.fromkeys((scope, method, amount) for _, scope, method, amount in versions)
    points = tuple(
        make_point(
            [records[repeat, *repair, name] for repeat in range(repeats)],
            labels,
            reference=data.reference,
            confidence=confidence,
            random_state=random_state,
        )
        for name, repair in product(classifiers, repairs)
    )
    return Tradeoff(
        table=data.name,
        protected=tuple(data.roles.protected),
        reference=labels[data.reference],
        outcome=str(data.roles.outcome),
        favorable=favorable_names(data.roles.favorable),
        points=points,
        repeats=repeats,
        intervals="over repeats" if repeats > 1 else "bootstrap",
        confidence=confidence,
        rows=len(data.frame),
        test_rows=int(splits[0][1].size),
        notes=(
            *data.notes,
            *skipped_notes(skipped),
            *proof_notes(list(records.values()), stratify_by=data.stratify_by),
        ),
    )


def fingerprint(
    data: Data,
    splits: Sequence[Any],
    *,
    auditors: Sequence[str],
    models: Mapping[str, Any],
    confidence: float,
    random_state: int,
) -> str:
    """Return a hash of everything that a cell's counts depend on, except which cell it is."""
    split_digest = hashlib.sha256()
    for train, test in splits:
        split_digest.update(train.tobytes() + b"|" + test.tobytes())
    inputs = (
        data.sha256(),
        split_digest.hexdigest(),
        list(auditors),
        repr(models),
        # As many blocks are made as are proven at this confidence.
        confidence,
        random_state,
        # Another version may count otherwise.
        metadata.version("fourfifths"),
    )
    return hashlib.sha256(repr(inputs).encode()).hexdigest()


def existing_combinations(
    scopes: Sequence[Scope], methods: Sequence[Method]
) -> tuple[list[tuple[Scope, Method]], list[tuple[Scope, Method]]]:
    """Return the combinations that can be tried, and those that do not exist."""
    existing: list[tuple[Scope, Method]] = []
    skipped: list[tuple[Scope, Method]] = []
    for scope, method in product(scopes, methods):
        is_existing = scope == "column" or method == "random"
        (existing if is_existing else skipped).append((scope, method))
    if not existing:
        raise OptionError(
            f"methods={list(methods)!r}: the paper's methods repair columns one by one; give "
            "scopes=['column'] too"
        )
    return existing, skipped


def skipped_notes(skipped: Sequence[tuple[Scope, Method]]) -> list[str]:
    """Return a note on combinations that do not exist."""
    if not skipped:
        return []
    names = ", ".join(f"{scope} with {method}" for scope, method in skipped)
    return [f"not tried: {names}; the paper's methods repair columns one by one"]


def proof_notes(records: Sequence[Record], *, stratify_by: Sequence[str]) -> list[str]:
    """Return a note where a full repair by blocks is not proven to keep four fifths."""
    floors = {
        record["repeat"]: record["proven_floor"]
        for record in records
        if record["scope"] == "blocks" and record["amount"] == 1
    }
    if not floors:
        return []
    if stratify_by:
        return [
            f"the repair by blocks is stratified by {listed(stratify_by)}, so nothing is proven "
            "about the groups"
        ]
    if np.isnan(list(floors.values())).any():
        return [f"pairs of more than {MAX_STRATA} groups are not proven"]
    below = sum(floor < THRESHOLD for floor in floors.values())
    if not below:
        return []
    splits = f" in {below} of {len(floors)} splits" if len(floors) > 1 else ""
    return [
        f"full repair by blocks is not proven to keep an impact ratio of {THRESHOLD:g}{splits}; "
        f"the proven floor is {min(floors.values()):.3f}, and more training rows would prove more"
    ]


def make_repairer(data: Data, *, scope: Scope, confidence: float, random_state: int) -> Repairer:
    """Return the repairer of a sweep, not yet fitted; it keeps who was selected.

    Strata of the protected columns were checked when the data were read. Other strata may be small
    or absent from the training rows, so these are pooled, and rows of unseen ones kept.
    """
    roles = data.roles
    strata: dict[str, Any] = {
        "protected": tuple(roles.protected),
        "bands": edges_of(roles.bands) or None,
        "ages": days_of_ages(roles.bands) or None,
    }
    if data.stratify_by:
        strata = {"stratify_by": data.stratify_by, "small": "pool", "unseen": "keep"}
    proof: dict[str, Any] = {}
    if scope == "blocks":
        proof = {"favorable": True, "threshold": THRESHOLD, "confidence": confidence}
    return Repairer(
        **strata,
        columns={column.name: column for column in data.column_types},
        unknown=roles.unknown,
        known=data.reading.known,
        exact_values=data.reading.exact_values,
        decimal=data.reading.decimal,
        scope=scope,
        **proof,
        random_state=random_state,
    )


def check_options(
    methods: Sequence[str],
    scopes: Sequence[str],
    *,
    amounts: Sequence[float],
    confidence: float,
    repeats: int | None,
    random_state: int,
    n_jobs: int,
) -> None:
    """Raise an error that names the first option that cannot be used."""
    for name, values, choices in (
        ("methods", methods, get_args(Method)),
        ("scopes", scopes, get_args(Scope)),
    ):
        if isinstance(values, str) or not values or any(value not in choices for value in values):
            raise OptionError(
                f"{name}={values!r}: expected a list of one or more of {listed(choices)}"
            )
    if not len(amounts) or not all(is_share(amount, "[0, 1]") for amount in amounts):
        raise OptionError(f"amounts={amounts!r}: expected a list of numbers from 0 to 1")
    check_share("confidence", confidence, "(0, 1)")
    if repeats is not None:
        check_whole("repeats", repeats, minimum=1)
    check_seed(random_state)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or int(n_jobs) == 0:
        raise OptionError(f"n_jobs={n_jobs!r}: expected a number of processes, or -1 for all cores")
