"""The rows of the comparison figure: repairs beside other methods, on Adult and on German."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from joblib import Parallel, delayed

from fourfifths._paper.experiments import TEST_SHARE, Experiment, Settings, experiments
from fourfifths._paper.others import METHODS, Method, Sample, predicted_by
from fourfifths._paper.panels import OTHER_METHOD, Curves, Row, point_rows
from fourfifths._tables.types import to_numbers

SEEDS = 3  # how often a method that draws is run on Adult's one split
COMPARED = ("adult", "german")
COLUMNS = ("sweep", "model", "scope", "method", "amount", "parity", "accuracy")


def comparison_rows(
    curves: Curves,
    settings: Settings,
    *,
    seeds: int | None = None,
    methods: Mapping[str, Method] = METHODS,
) -> list[Row]:
    """Return the points of the sweeps, and those of the other methods on the same splits.

    Parameters
    ----------
    curves : mapping of str to Tradeoff
    settings : Settings
        How many splits of German there are.
    seeds : int, optional
        How often a method that draws is run on Adult's split, 3 times by default and once in a
        quick run; any other method is run once.
    methods : mapping of str to Method
    """
    seeds = seeds or (1 if settings.is_quick else SEEDS)
    rows = [{name: row[name] for name in COLUMNS} | {"seed": 0} for row in point_rows(curves)]
    sweeps, jobs = experiments(), settings.n_jobs
    for name in COMPARED:
        if name not in curves:
            continue
        samples = sweep_samples(sweeps[name], repeats=settings.repeats)
        if len(samples) == 1:
            for seed in range(seeds):
                drawn = {key: method for key, method in methods.items() if method.draws or not seed}
                rows += other_rows(name, samples, methods=drawn, first_seed=seed, n_jobs=jobs)
        else:
            rows += other_rows(name, samples, methods=methods, first_seed=0, n_jobs=jobs)
    return rows


def other_rows(
    name: str,
    samples: list[tuple[Sample, Sample]],
    *,
    methods: Mapping[str, Method],
    first_seed: int,
    n_jobs: int,
) -> list[Row]:
    """Return one row for each method, over all splits together, as those of a sweep.

    Parameters
    ----------
    name : str
        The sweep.
    samples : list of (training rows, test rows)
        A method that draws has another seed in each split.
    methods : mapping of str to Method
    first_seed : int
    n_jobs : int
        The number of processes.
    """
    jobs = (
        delayed(predicted_by)(method, *sample, random_state=first_seed + index)
        for method in methods.values()
        for index, sample in enumerate(samples)
    )
    predictions = iter(Parallel(n_jobs=n_jobs)(jobs))
    truth = np.concatenate([test.selected for _, test in samples])
    is_reference = np.concatenate([test.is_reference for _, test in samples])
    rows: list[Row] = []
    for key in methods:
        predicted = np.concatenate([next(predictions) for _ in samples])
        reference_rate, group_rate = (
            float(predicted[is_reference == side].mean()) for side in (True, False)
        )
        rows.append(
            {
                "sweep": name,
                "model": OTHER_METHOD,
                "scope": "none",
                "method": key,
                "amount": float("nan"),
                "parity": 1 - (reference_rate - group_rate),
                "accuracy": float(np.mean(predicted == truth)),
                "seed": first_seed,
            }
        )
    return rows


def sweep_samples(experiment: Experiment, *, repeats: int) -> list[tuple[Sample, Sample]]:
    """Return the splits of a sweep as samples, with columns scaled by the training rows."""
    data = experiment.data()
    values = np.column_stack(
        [to_numbers(data.frame[column.name], column) for column in data.column_types]
    )
    is_reference = data.group == data.reference
    samples = []
    for train, test in data.splits(TEST_SHARE, repeats, 0):
        low, high = values[train].min(axis=0), values[train].max(axis=0)
        train_sample, test_sample = (
            Sample(
                values=(values[rows] - low) / np.where(high > low, high - low, 1),
                selected=data.selected[rows],
                is_reference=is_reference[rows],
            )
            for rows in (train, test)
        )
        samples.append((train_sample, test_sample))
    return samples
