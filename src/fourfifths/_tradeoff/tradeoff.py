"""`tradeoff`: every method, scope, amount and model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import product
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from joblib import Parallel, delayed
from sklearn.base import clone

from fourfifths._certify.auditors import AuditorName
from fourfifths._progress import steps
from fourfifths._repair.model import Scope
from fourfifths._repair.ordered import Method
from fourfifths._repair.repairer import Repairer
from fourfifths._tables.table import TableLike
from fourfifths._tradeoff.data import Data, Split, read_data
from fourfifths._tradeoff.models import chosen_models
from fourfifths._tradeoff.points import make_point
from fourfifths._tradeoff.result import Record, Tradeoff
from fourfifths._tradeoff.store import Results, is_done, key_of
from fourfifths._tradeoff.versions import Rows, Version, run_version
from fourfifths.errors import OptionError, listed

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
    unknown: Any = (),
    stratify_by: str | Sequence[str] = (),
    models: Sequence[str] | Mapping[str, Any] | None = None,
    methods: Sequence[Method] = ("random",),
    scopes: Sequence[Scope] = ("joint",),
    amounts: Sequence[float] = AMOUNTS,
    split: Split = None,
    repeats: int | None = None,
    auditors: Sequence[AuditorName] = get_args(AuditorName),
    confidence: float = 0.95,
    results: str | PathLike[str] | None = None,
    n_jobs: int = 1,
    random_state: int = 0,
) -> Tradeoff:
    """Measure what each amount of repair does to models of the outcome.

    For every split the repair is fitted on the training rows, once for each scope, and applied to
    both sides; models and auditors are fitted on the repaired training rows; every figure is of the
    repaired test rows.

    Parameters
    ----------
    table, protected, outcome, favorable, reference, columns, bands, unknown
        As for `certify`; the columns are what is repaired, and what models use.
    stratify_by : str or sequence of str, optional
        Columns to repair by instead of the protected ones; small strata are pooled, and rows of
        strata that no training row has are kept as they are.
    models : sequence of names or mapping of name to classifier, optional
        Of "LR", "SVM" and "GNB", the paper's, all three by default. A mapping may hold scikit-learn
        classifiers or pipelines of your own, which get a dataframe of the features.
    methods, scopes, amounts
        As for `Repairer`.
    split : float or str, optional
        The share of test rows, a third by default; or a column that says "train" or "test".
    repeats : int, optional
        How many random splits, 10 by default.
    auditors : sequence of names
        Who predicts the protected attribute.
    confidence : float
    results : path, optional
        A file that keeps finished cells, a line each: a run that was stopped goes on from there.
    n_jobs : int
        How many processes; the numbers do not depend on it.
    random_state : int

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
    _check(methods, scopes, amounts, repeats, confidence, n_jobs, random_state)
    data = read_data(
        table,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        columns=columns,
        bands=bands,
        unknown=unknown,
        stratify_by=(stratify_by,) if isinstance(stratify_by, str) else stratify_by,
        split=split,
    )
    repeats = 1 if data.side is not None else repeats or REPEATS
    splits = data.splits(TEST_SHARE if split is None else split, repeats, random_state)
    versions = _versions(repeats, scopes, methods, amounts)
    repairers = _Repairers(data, splits, random_state)
    is_category = repairers.is_category
    chosen = chosen_models(models, is_category, random_state)
    rests_on = (data.sha256(), splits_of(splits), list(auditors), repr(chosen), random_state)
    made = repr((*rests_on, version("fourfifths"))).encode()
    path = None if results is None else Path(results)
    kept = Results(path=path, fingerprint=hashlib.sha256(made).hexdigest())
    records = _run(versions, repairers, data, splits, chosen, auditors, random_state, kept, n_jobs)
    return _wrap(data, records, versions, list(chosen), splits, confidence, random_state)


def splits_of(splits: Sequence[Any]) -> str:
    """Return a hash of which rows are on which side."""
    digest = hashlib.sha256()
    for train, test in splits:
        digest.update(train.tobytes() + b"|" + test.tobytes())
    return digest.hexdigest()


class _Repairers:
    """Repairers, fitted when first asked for, once for each split and scope."""

    def __init__(self, data: Data, splits: Sequence[Any], random_state: int) -> None:
        self.data, self.splits, self.random_state = data, splits, random_state
        self.fitted: dict[tuple[int, str], Repairer] = {}
        self.whole: Repairer | None = None  # knows the categories of all rows

    def of(self, repeat: int, scope: Any) -> Repairer:
        if (repeat, scope) not in self.fitted:
            data, roles = self.data, self.data.roles
            strata: dict[str, Any] = {
                "protected": tuple(roles.protected),
                "bands": {name: cut.edges for name, cut in roles.bands.items()} or None,
            }
            if data.stratify_by:
                strata = {"stratify_by": data.stratify_by, "small": "pool", "unseen": "keep"}
            repairer = Repairer(
                **strata,
                columns=dict(data.columns),
                scope=scope,
                random_state=self.random_state + repeat,
            )
            train = data.frame[self.splits[repeat][0]].to_native()
            if self.whole is None:
                every = clone(repairer).set_params(scope="column")
                self.whole = every.fit(data.frame.to_native())
            # A part of the rows may lack a category that the others have.
            types = {column.name: column for column in self.whole.column_types_}
            self.fitted[repeat, scope] = repairer.set_params(columns=types).fit(train)
        return self.fitted[repeat, scope]

    @property
    def is_category(self) -> list[bool]:
        return [each.kind == "category" for each in self.of(0, "column").column_types_]


def _versions(
    repeats: int, scopes: Sequence[str], methods: Sequence[Method], amounts: Sequence[float]
) -> list[Version]:
    """Return every version once: without repair, method and scope do not matter."""
    every = [
        Version(repeat=repeat, scope=scope, method=method, amount=float(amount))
        for repeat, scope, method, amount in product(range(repeats), scopes, methods, amounts)
    ]
    return list({each.key: each for each in every}.values())


def _run(
    versions: Sequence[Version],
    repairers: _Repairers,
    data: Data,
    splits: Sequence[Any],
    models: Mapping[str, Any],
    auditors: Sequence[str],
    random_state: int,
    kept: Results,
    n_jobs: int,
) -> dict[tuple[Any, ...], Record]:
    """Run what is not yet done, and keep each version as soon as it is."""
    records = {key_of(record): record for record in kept.load()}
    todo = [each for each in versions if not is_done(each, models, set(records))]
    rows = Rows(
        frame=data.frame.to_native(),
        group=data.group,
        selected=data.selected,
        reference=data.reference,
        groups=len(data.strata.groups),
    )

    def jobs() -> Iterator[Any]:
        for each in todo:
            scope = "column" if each.amount == 0 else each.scope
            yield delayed(run_version)(
                each,
                repairers.of(each.repeat, scope),
                rows,
                splits[each.repeat],
                models,
                auditors,
                random_state,
            )

    with steps("sweeping", len(todo)) as done:
        for found in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs()):
            kept.add(found)
            records |= {key_of(record): record for record in found}
            done.advance(f"{found[0]['method']} {found[0]['amount']:g}")
    return records


def _wrap(
    data: Data,
    records: Mapping[tuple[Any, ...], Record],
    versions: Sequence[Version],
    models: Sequence[str],
    splits: Sequence[Any],
    confidence: float,
    random_state: int,
) -> Tradeoff:
    kinds = dict.fromkeys(each.key[1:] for each in versions)
    labels = data.strata.labels
    points = [
        make_point(
            [records[repeat, *kind, model] for repeat in range(len(splits))],
            labels,
            data.reference,
            confidence,
            random_state,
        )
        for model, kind in product(models, kinds)
    ]
    return Tradeoff(
        table=data.name,
        protected=tuple(data.roles.protected),
        reference=labels[data.reference],
        outcome=str(data.roles.outcome),
        favorable=str(data.roles.favorable),
        points=tuple(points),
        repeats=len(splits),
        intervals="over repeats" if len(splits) > 1 else "bootstrap",
        confidence=confidence,
        rows=len(data.frame),
        test_rows=int(splits[0][1].size),
        notes=data.notes,
    )


def _check(
    methods: Any,
    scopes: Any,
    amounts: Any,
    repeats: Any,
    confidence: Any,
    n_jobs: Any,
    random_state: Any,
) -> None:
    for name, given, kind in (("methods", methods, Method), ("scopes", scopes, Scope)):
        if isinstance(given, str) or not given or any(e not in get_args(kind) for e in given):
            raise OptionError(f"{name}={given!r}: expected some of {listed(get_args(kind))}")
    if not len(amounts) or not all(isinstance(a, Real) and 0 <= float(a) <= 1 for a in amounts):
        raise OptionError(f"amounts={amounts!r}: expected numbers from 0 to 1")
    if not isinstance(confidence, Real) or not 0 < float(confidence) < 1:
        raise OptionError(f"confidence={confidence!r}: expected a number between 0 and 1")
    for name, value, least in (("repeats", repeats, 1), ("random_state", random_state, 0)):
        if value is not None and (not isinstance(value, Integral) or int(value) < least):
            raise OptionError(f"{name}={value!r}: expected a whole number, {least} or more")
    if not isinstance(n_jobs, Integral) or int(n_jobs) == 0:
        raise OptionError(f"n_jobs={n_jobs!r}: expected a number of processes, or -1 for all cores")
