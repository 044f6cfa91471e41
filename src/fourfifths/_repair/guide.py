"""The guide: a score of what is to be kept of the rows, learned without the group.

A repair by blocks orders rows by it. It is learned on planning rows from the columns that are
repaired, by gradient-boosted trees of LightGBM, which take categories and missing values as they
are. Their text form is a documented, readable format, so a saved repair needs no pickle. Rows are
scored from the text, to the bit as LightGBM scores them and faster (`trees`). A fitted
scikit-learn estimator may be given instead. Without an outcome, the columns themselves are the
scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import narwhals as nw
import numpy as np

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._lightgbm import lightgbm
from fourfifths._repair.trees.scores import TreeScores
from fourfifths._repair.trees.text import trees_only
from fourfifths._tables.load import Rows
from fourfifths._tables.types import ColumnType, to_numbers
from fourfifths._tables.values import (
    Reading,
    as_floats,
    is_date,
    is_text,
    known_values,
    numbers_and_format,
    with_spellings,
)
from fourfifths.errors import OptionError, OutcomeError

OutcomeKind = Literal["binary", "classes", "number"]
MAX_CLASSES = 50
MIN_OUTCOME_ROWS = 10  # among the planning rows
# Chosen on tables of 700 to 33,000 rows by the AUC of the score's rank within each group: small
# steps, few leaves and half of the columns in each tree lose least when planning rows are few.
LEARNING: Mapping[str, Any] = {
    "learning_rate": 0.05,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 10.0,
    # The same trees on every machine, whatever its number of processors.
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}
ROUNDS = 200
LEAVES_BY_ROWS = ((5_000, 8), (50_000, 15))  # up to this many planning rows, this many leaves
MAX_LEAVES = 31
MAX_ROWS_PER_LEAF = 20
# Where rows are few, so are those of a category: with LightGBM's 100 rows to a set of categories,
# 300 planning rows learn hardly anything from them.
MAX_ROWS_PER_CATEGORIES = 100
MIN_ROWS_PER_CATEGORIES = 5
CATEGORY_SMOOTHING_BY_ROWS = ((2_000, 10.0),)  # with 3,000 rows, more is as good or better
MAX_CATEGORY_SMOOTHING = 30.0
# With fewer rows, threads wait for each other longer than they work, above all on a busy machine.
MIN_ROWS_FOR_THREADS = 100_000
LOWEST = -np.finfo(np.float64).max  # where rows without a value come in an order


class Guide(Protocol):
    """What a repair orders rows by."""

    def scores(self, rows: Rows | None, columns: Sequence[FloatArray]) -> FloatArray:
        """Return the scores of rows, rows by scores; `columns` are the repaired ones.

        Only an estimator of the user's needs the rows as they came.
        """


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """An outcome that is to be kept, as numbers.

    Attributes
    ----------
    name : str
    kind : {"binary", "classes", "number"}
    values : float array
        The class of each row, or its number; NaN where it is missing.
    classes : tuple
        The values that the classes stand for.
    """

    name: str
    kind: OutcomeKind
    values: FloatArray
    classes: tuple[Any, ...] = ()

    @property
    def distinct(self) -> tuple[Any, ...]:
        """Return the different values: the classes, or the numbers in ascending order."""
        if self.kind != "number":
            return self.classes
        numbers: list[float] = np.unique(self.values[~np.isnan(self.values)]).tolist()
        return tuple(int(value) if value.is_integer() else value for value in numbers)


def read_outcome(
    name: str,
    column: Any,
    unknown: Sequence[Any] = (),
    *,
    reading: Reading | None = None,
    notes: list[str] | None = None,
    row_counts: IntArray | None = None,
) -> Outcome:
    """Return an outcome from a column of a dataframe, or from an array.

    Two different values make classes, and so do texts; other numbers are ordered. What was assumed
    about texts is added to `notes`. `row_counts` says for how many rows of a table each value
    stands, if all are different.
    """
    reading, notes = reading or Reading(), [] if notes is None else notes
    if not isinstance(column, nw.Series):
        column = series_of(name, np.asarray(column))
    column = known_values(column, unknown)
    if is_date(column.dtype):
        days = to_numbers(column, ColumnType(name=name, kind="date"))
        column = nw.new_series(name, days, backend=column.implementation)
        column = known_values(column)
    if is_text(column.dtype):
        numbers, _ = numbers_and_format(
            column.cast(nw.String()), reading=reading, notes=notes, row_counts=row_counts
        )
        if numbers is None:
            column, spellings = with_spellings(
                column, role="outcome", unknown=unknown, reading=reading, row_counts=row_counts
            )
            notes += spellings.notes
        else:
            column = numbers
    is_known = ~np.asarray(column.is_null().to_numpy(), dtype=bool)
    distinct = column.filter(~column.is_null()).unique().to_list()
    if len(distinct) < 2:
        raise OutcomeError(
            f"keep: outcome {name!r} has {len(distinct)} different values; expected at least two"
        )
    if column.dtype.is_numeric() and len(distinct) > 2:
        numbers_of = np.full(len(column), np.nan)
        present = column.filter(~column.is_null())
        numbers_of[is_known] = as_floats(present, present.dtype).to_numpy()
        return Outcome(name=name, kind="number", values=numbers_of)
    if len(distinct) > MAX_CLASSES:
        raise OutcomeError(
            f"keep: outcome {name!r} has {len(distinct):,} different values that are not numbers; "
            f"expected at most {MAX_CLASSES} classes"
        )
    classes = tuple(sorted(distinct, key=lambda value: (isinstance(value, str), value)))
    codes = np.full(len(column), np.nan)
    for code, value in enumerate(classes):
        is_class = (column == value).fill_null(value=False)
        codes[np.asarray(is_class.to_numpy(), dtype=bool)] = code
    kind: OutcomeKind = "binary" if len(classes) == 2 else "classes"
    return Outcome(name=name, kind=kind, values=codes, classes=classes)


def native_series(values: Any) -> Any:
    """Return the values as a narwhals series if a library made them, else as they are."""
    try:
        return nw.from_native(values, series_only=True)
    except TypeError:
        return values


def is_copy(column: FloatArray, outcome: FloatArray) -> bool:
    """Return whether a column tells the two classes of an outcome apart without an error."""
    if np.unique(column[:100]).size > 2:
        return False
    is_known = ~np.isnan(column) & ~np.isnan(outcome)
    pairs = np.unique(np.stack([column[is_known], outcome[is_known]]), axis=1)
    return bool(pairs.shape[1] == 2 and is_known.all() and len({*pairs[0]}) == 2)


def series_of(name: str, array: Any) -> nw.Series[Any]:
    """Return an array, or its only column, as a series."""
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise OutcomeError(f"y: an array of {array.ndim} dimensions; expected one value per row")
    values = array.tolist() if array.dtype.kind in "OUS" else array
    for library in ("pyarrow", "polars", "pandas"):
        try:
            return nw.new_series(name, values, backend=library)
        except ImportError:
            continue
    raise OutcomeError("y: needs pyarrow, polars or pandas")


# --- gradient-boosted trees ---


@dataclass(frozen=True, kw_only=True)
class TreeGuide:
    """Gradient-boosted trees, one model for each outcome.

    Attributes
    ----------
    models : tuple of str
        In LightGBM's text format.
    """

    models: tuple[str, ...]

    @cached_property
    def tree_scores(self) -> list[TreeScores]:
        """The models, ready to score rows."""
        return [TreeScores(model) for model in self.models]

    def __getstate__(self) -> dict[str, Any]:
        return {"models": self.models}

    def scores(
        self,
        rows: Rows | None,  # noqa: ARG002 - an estimator needs them
        columns: Sequence[FloatArray],
    ) -> FloatArray:
        """Return the raw scores: one of a binary or numeric outcome, else one of each class."""
        return np.hstack([model.scores(columns) for model in self.tree_scores])


def fit_trees(
    columns: Sequence[FloatArray],
    column_types: Sequence[ColumnType],
    *,
    outcomes: Sequence[Outcome],
    seed: int,
    rounds: int = ROUNDS,
    threads: int | None = None,
) -> TreeGuide:
    """Learn the outcomes from the columns.

    Parameters
    ----------
    columns : sequence of float array
        Of the planning rows.
    column_types : sequence of ColumnType
    outcomes : sequence of Outcome
        Of the same rows.
    seed : int
    rounds : int
        How many trees are grown for each outcome, or for each of its classes.
    threads : int, optional
        On how many threads LightGBM works; by default as many as the rows need.
    """
    matrix = np.stack(columns, axis=1)
    categories = [
        index for index, column_type in enumerate(column_types) if column_type.kind == "category"
    ]
    models = []
    for outcome in outcomes:
        is_known = ~np.isnan(outcome.values)
        target = outcome.values[is_known]
        if target.size < MIN_OUTCOME_ROWS or np.unique(target).size < 2:
            raise OutcomeError(
                f"keep: outcome {outcome.name!r} is known in {target.size} of the rows that its "
                f"score is learned on, with {np.unique(target).size} different values; expected at "
                f"least {MIN_OUTCOME_ROWS} rows and two values; repair with more rows, or give "
                "scope='column'"
            )
        objective: dict[str, Any] = {"objective": "binary"}
        if outcome.kind == "number":
            # Only the order matters, and ranks are not bent by a few large numbers.
            from scipy.stats import rankdata  # loading it takes longer than many a repair

            target = rankdata(target) / target.size
            objective = {"objective": "regression"}
        elif outcome.kind == "classes":
            objective = {"objective": "multiclass", "num_class": len(outcome.classes)}
        options = {
            **LEARNING,
            **objective,
            **sizes(target.size),
            "seed": seed % 2**31,
            "num_threads": threads_for(target.size) if threads is None else threads,
        }
        library = lightgbm("scope='blocks'")
        data = library.Dataset(
            matrix[is_known], label=target, categorical_feature=categories, params=options
        )
        booster = library.train(options, data, num_boost_round=rounds)
        models.append(trees_only(booster.model_to_string()))
    return TreeGuide(models=tuple(models))


def threads_for(row_count: int) -> int:
    """Return on how many threads LightGBM works; 0 means on all processors."""
    return 1 if row_count < MIN_ROWS_FOR_THREADS else 0


def sizes(row_count: int) -> dict[str, float]:
    """Return how large the trees may be for this many rows, and how much to smooth categories."""
    leaves = next((few for rows, few in LEAVES_BY_ROWS if row_count <= rows), MAX_LEAVES)
    smoothing = next(
        (little for rows, little in CATEGORY_SMOOTHING_BY_ROWS if row_count <= rows),
        MAX_CATEGORY_SMOOTHING,
    )
    return {
        "num_leaves": leaves,
        "min_data_in_leaf": int(np.clip(row_count // 30, 1, MAX_ROWS_PER_LEAF)),
        "min_data_per_group": int(
            np.clip(row_count // 30, MIN_ROWS_PER_CATEGORIES, MAX_ROWS_PER_CATEGORIES)
        ),
        "cat_smooth": smoothing,
        "cat_l2": smoothing,
    }


# --- a given estimator ---


@dataclass(frozen=True, kw_only=True)
class EstimatorGuide:
    """A fitted estimator that the user gives; it sees the columns that are repaired.

    Attributes
    ----------
    estimator : object
        With predict_proba, decision_function or predict.
    names : tuple
        The columns that it sees, in their order.
    """

    estimator: Any
    names: tuple[Any, ...]

    def scores(self, rows: Rows | None, columns: Sequence[FloatArray]) -> FloatArray:
        """Return what the estimator says of each row."""
        assert rows is not None
        if rows.frame is None:
            table: Any = np.stack(columns, axis=1)
        else:
            table = rows.dataframe.select(*self.names).to_native()
        for method in ("decision_function", "predict_proba", "predict"):
            if hasattr(self.estimator, method):
                answer = np.asarray(getattr(self.estimator, method)(table), dtype=np.float64)
                break
        else:
            raise OptionError(
                f"guide={self.estimator!r}: expected a fitted estimator with predict_proba, "
                "decision_function or predict"
            )
        scores = answer.reshape(len(rows), -1)
        if method == "predict_proba" and scores.shape[1] == 2:
            scores = scores[:, 1:]  # the other column is 1 minus this one
        if np.isnan(scores).any():
            raise OptionError(f"guide={self.estimator!r}: some of its scores are missing")
        return scores


# --- no outcome ---


@dataclass(frozen=True, kw_only=True)
class ColumnGuide:
    """The columns themselves: without an outcome, all of them are to be kept.

    Attributes
    ----------
    orders : tuple of tuple of float
        For each column that is a category without order, the place of each of its codes: the most
        frequent first. Empty for other columns.
    """

    orders: tuple[tuple[float, ...], ...]

    def scores(
        self,
        rows: Rows | None,  # noqa: ARG002 - an estimator needs them
        columns: Sequence[FloatArray],
    ) -> FloatArray:
        """Return the columns as scores; missing values come first."""
        scores = np.empty((columns[0].size, len(columns)))
        for index, (order, column) in enumerate(zip(self.orders, columns, strict=True)):
            is_missing = np.isnan(column)
            values = column
            if order:
                values = np.array(order)[np.where(is_missing, 0, column).astype(np.int64)]
            scores[:, index] = np.where(is_missing, LOWEST, values)
        return scores


def fit_column_guide(
    columns: Sequence[FloatArray], column_types: Sequence[ColumnType]
) -> ColumnGuide:
    """Return the guide that keeps the columns, from the planning rows."""
    orders: list[tuple[float, ...]] = []
    for column, column_type in zip(columns, column_types, strict=True):
        if column_type.kind != "category":
            orders.append(())
            continue
        codes = column[~np.isnan(column)].astype(np.int64)
        counts = np.bincount(codes, minlength=len(column_type.categories))
        order = np.empty(counts.size)
        order[np.argsort(-counts, kind="stable")] = np.arange(counts.size)
        orders.append(tuple(order.tolist()))
    return ColumnGuide(orders=tuple(orders))
