"""`Repairer`, the scikit-learn transformer that hides the group in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fourfifths._arrays import CodeArray
from fourfifths._repair.explain import Explanation
from fourfifths._repair.plain_repairer import PlainRepairer, check_proof_options
from fourfifths._repair.proof import Proof
from fourfifths._tables.engines.spark import is_spark
from fourfifths._tables.load import (
    Output,
    RecordOutput,
    Rows,
    check_numbers,
    one_row,
    rows_of,
)
from fourfifths._tables.values import unknown_tokens
from fourfifths.errors import ColumnError, OptionError


class Repairer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, PlainRepairer):  # type: ignore[misc]
    """Rewrite columns so that no rule that uses them can tell the groups apart.

    By blocks, the default: a score of the outcome, learned without the group, orders the rows of
    each group. Each group is cut at the same shares into blocks, and every row is written as the
    typical record of its block. What is written depends on the block alone, so a limit of the
    impact ratio is proven for every rule on the repaired columns: see `proof_`.

    By column, as in section 5 of Feldman et al. (2015): a value is replaced by its rank in its
    stratum, and the same rank gets the same value in every stratum, the median over strata.

    New rows, one or many, are repaired by what was fitted and never change it. After a fit,
    `amount`, `method`, `unseen` and `drop_protected` may be changed with `set_params`. Any other
    option needs a new fit: until then, the repair raises an error instead of ignoring the change.

    Parameters
    ----------
    protected : str or sequence of str, optional
        The protected columns of a dataframe; several make joint strata. Without it (and without
        `stratify_by`) the values come with the data: ``fit(X, protected=...)``.
    stratify_by : str or sequence of str, optional
        Other columns to stratify by, instead of `protected`.
    bands : mapping of str to sequence of float, optional
        Where a numeric stratifying column is cut into groups; an edge is in the group above it.
    ages : mapping of str to day, optional
        Which stratifying columns hold dates of birth, and the day on which ages count; `bands` says
        where the ages are cut.
    columns : sequence, or mapping of column to kind, optional
        The columns to repair: names, or places in an array. A mapping may say what a column is:
        "number", "category", or the categories in order, lowest first; None leaves it to the
        column's values. A column is numeric if all its values that are not missing are numbers. By
        default all columns of a table whose outcome is known (`keep`, or y), but never the
        stratifying ones, the outcome, the key, dates, identifiers, and columns that are called like
        a protected attribute: these are repaired only if they are named.
    keep : str or sequence of str, optional
        The outcome columns, which the repaired columns are to predict as well as they can. Two
        values, several classes, or numbers. By default the y of `fit`; without either, the repair
        keeps what it can of the columns themselves.
    favorable : value or list of values, optional
        The favorable value of a single outcome, or several; it decides what `beta` is.
    unknown : value or sequence, optional
        Values that mean missing, in every column, besides null, NaN and empty text.
    known, exact_values, decimal : optional
        As for `fourfifths.read_table`: values that are groups although they look like "not known";
        whether values that differ only in case or in spaces are kept apart; the decimal mark of
        numbers that are written as text.
    scope : {"blocks", "column"}
        An option that the scope has no use for is an error, not ignored: `method`, `levels` and
        `ties` by blocks; `blocks`, `variety`, `guide`, `favorable`, `beta`, `threshold` and
        `confidence` by column.
    blocks : int or "certified"
        How many blocks. More keep more of the score, and prove less. "certified" takes as many as
        are proven to keep every impact ratio at or above `threshold`, no more than keep the shares
        of the groups close together, and no more than a model can learn from the rows; if not even
        two are proven, a warning says how many rows would do. A stratum with few rows is cut
        coarser; a draw then divides its rows, in the same shares for everyone.
    variety : int
        How many typical records each block has; a draw chooses one. More look more like data and
        keep less.
    guide : fitted estimator, optional
        What orders the rows, instead of a score that is learned here. It sees the columns that are
        repaired, and must not have seen the rows that `fit` is called with.
    beta : float, optional
        The proof covers rules that select at least this share of each group. By default the lowest
        selection rate of a group in the table; a tenth where no outcome has two values.
    threshold, confidence : float
        Of the impact ratio, and of the proof.
    amount : float
        From 0, nothing, to 1, full repair. It may be changed without a new fit. By blocks it is the
        share of the rows that is repaired; below 1 nothing is proven.
    method : {"random", "combinatorial", "definition", "geometric"}
        Of a repair by column: what an amount below 1 means. Random: that share of the rows is
        repaired in full (Gordaliza et al. 2019). Combinatorial: each value moves that far along the
        column's distinct values, to the nearest one. Geometric: that far along the number line.
        Definition: combinatorial repair by the letter of the paper, among what the strata have at
        the value's level; with two strata every amount above 0 writes the lower one. The last three
        are the paper's; after them, trees can still predict the stratum from the columns.
    levels : int
        Of a repair by column: the largest number of levels that a column is cut into.
    ties : {"split", "mid"}
        Of a repair by column: whether equal values are split at random over the levels that they
        share, or are all put into the middle one. With "mid", columns with few different values are
        hardly repaired.
    unseen : {"error", "keep"}
        What to do with rows whose stratum is missing or was not fitted: "keep" leaves them as they
        are. A category that was not fitted then counts as missing for the score.
    small : {"error", "pool"}
        What to do with strata of fewer than 4 rows: "pool" merges them into one.
    drop_protected : bool
        Whether the result is without the stratifying columns, so that a model after it in a
        pipeline does not see them.
    key : str, optional
        The column of a dataframe that identifies a row, with a different value in each row of a
        call; it is never repaired. What is drawn for a row then comes from its key: the row gets
        the same values in any call, whatever other rows are in it. Without a key it comes from the
        values that are repaired, and equal rows of one call are told apart by their order.
    random_state : int or None
        The seed. The same rows get the same values in every call. None takes a new seed for each
        fit.

    Attributes
    ----------
    strata_ : Strata
    column_types_ : tuple of ColumnType
        The columns that are repaired, and as what.
    model_ : BlockModel or Model
        What was learned: blocks, or columns each by itself.
    proof_ : Proof or None
        What is proven for every rule on the repaired columns; None for a repair by column.
    seed_ : int
        The seed of all draws: `random_state`, or the one that was taken for None.
    notes_ : tuple of str
        What was assumed about the values of the table; `fit` warns of it too.

    Notes
    -----
    A table that is repaired by blocks is for models of the outcome. It is not for describing
    people: its rows are typical of a place in an order, nobody's record.

    Changing data by a protected attribute can itself be disparate treatment: ask a lawyer.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 8000)
    >>> score = random.normal(size=8000) + group
    >>> hired = score + random.normal(size=8000) > 1
    >>> repairer = Repairer(blocks=8).fit(score[:, None], hired, protected=group)
    >>> np.unique(repairer.transform(score[:, None], protected=group)).size
    8
    >>> repairer.proof_.verdict
    'certified'
    """

    def fit(self, X: Any, y: Any = None, *, protected: Any = None) -> Self:
        """Learn what each row is written as.

        Parameters
        ----------
        X : dataframe or array
            Of a Spark DataFrame of more than half a million rows a sample is loaded, by `key`;
            a repair by column is fitted to all of them there.
        y : array-like, optional
            The outcome that is kept, unless `keep` names a column of X.
        protected : optional
            The protected values of the rows, where they are not columns of X.
        """
        if is_spark(X):
            from fourfifths._repair.engines.cluster import fit_on_spark

            fit_on_spark(self, X, y, protected)
        else:
            self._fit(X, y, protected)
        return self

    def transform(self, X: Any, *, protected: Any = None) -> Any:
        """Return X with its columns repaired, all else as it was; `protected` as in `fit`.

        Of a Spark DataFrame it is one too, which is computed when it is used.
        """
        check_is_fitted(self)
        self._check_fitted_options()
        if is_spark(X):
            from fourfifths._repair.engines.cluster import transform_on_spark

            return transform_on_spark(self, X, protected)
        rows = self._read(X, reset=False)
        return self._native(self._written(rows, self._codes(rows, protected)))

    def fit_transform(self, X: Any, y: Any = None, *, protected: Any = None) -> Any:
        """Fit to X, then repair it."""
        if is_spark(X):
            return self.fit(X, y, protected=protected).transform(X)
        rows, codes = self._fit(X, y, protected)
        output = self._written(rows, codes)
        if self.amount == 1:
            self.fitted_.count_table(output, codes)
        return self._native(output)

    def certificate(
        self,
        *,
        beta: float | None = None,
        threshold: float | None = None,
        confidence: float | None = None,
    ) -> Proof:
        """Return what is proven at another beta, threshold or confidence, or at this amount.

        Nothing is fitted again, and the number of blocks stays. By default all are as fitted.
        """
        check_is_fitted(self)
        self._check_fitted_options()
        threshold = self.threshold if threshold is None else threshold
        confidence = self.confidence if confidence is None else confidence
        check_proof_options({"beta": beta, "threshold": threshold, "confidence": confidence})
        proof = self.fitted_.proof(self._proof_options(beta, threshold, confidence))
        if proof is None:
            raise OptionError(
                "scope='column': columns that are repaired one by one have no proof; certify the "
                "repaired table instead, or repair with scope='blocks'"
            )
        return proof

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of the result."""
        names = super().get_feature_names_out(input_features)
        dropped = self.strata_.columns if self.drop_protected else ()
        return np.array([name for name in names if name not in dropped], dtype=object)

    def explain(self, row: Any, *, protected: Any = None) -> Explanation:
        """Repair one row, and say what was changed and why.

        Parameters
        ----------
        row : dataframe of one row, row of a dataframe, mapping of column to value, or array
            In a row of a dataframe and in a mapping, columns that the repair does not use may be
            omitted.
        protected : optional
            The protected value of the row, where it is not a column of it.
        """
        check_is_fitted(self)
        self._check_fitted_options()
        has_names = self.fitted_.table_columns is not None
        table = one_row(row, self.fitted_.needed_columns if has_names else ())
        # A mapping has only the columns that are needed, so scikit-learn cannot check them all.
        rows = (
            self._read(row, reset=False)
            if table is row
            else rows_of(table, unknown_tokens(self.unknown), self.reading)
        )
        if not has_names and rows.frame is None:
            rows = self._read(table, reset=False)
        if protected is not None:
            protected = np.atleast_1d(np.asarray(protected))
        return self.fitted_.explain(
            rows,
            self._codes(rows, protected),
            method=self.method,
            amount=self.amount,
            unseen=self.unseen,
        )

    def to_sql(self, dialect: str, *, table: str | Sequence[str] = "data") -> str:
        """Return a SELECT statement that writes what `transform` writes, in a database.

        A repair by column can be said in SQL if nothing is drawn: no equal values are split at
        random (`ties="mid"`, or no level shares a value), and no column has categories without
        order. By blocks, it can without an outcome; a row that is exactly at a cut stops the query,
        and so does a repaired column of another type than DOUBLE, whole numbers, text or booleans.
        What cannot be said is an error that says what to do. Needs sqlglot: the extra [sql].

        Parameters
        ----------
        dialect : {"duckdb", "spark", "databricks", "bigquery", "trino"}
            DuckDB and Spark are tested.
        table : str or sequence of str
            The name of the table that is read. A table in a schema is named one by one:
            `table=["catalog", "schema", "table"]`. It has the columns of the fitted table.
        """
        from fourfifths._repair.engines.sql import to_sql

        check_is_fitted(self)
        self._check_fitted_options()
        return to_sql(
            self.fitted_,
            dialect,
            table=table,
            method=self.method,
            amount=float(self.amount),
            unseen=self.unseen,
            has_unknown=bool(unknown_tokens(self.unknown)),
            drops_protected=bool(self.drop_protected),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted repair as JSON, whole or not at all."""
        check_is_fitted(self)
        super().save(path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _native(self, output: Output | RecordOutput) -> Any:
        # scikit-learn's own conversion from polars to pandas loses the types.
        config = getattr(self, "_sklearn_output_config", {})
        library = config.get("transform", get_config()["transform_output"])
        return output.native(library, without=self.strata_.columns if self.drop_protected else ())

    def _read(self, X: Any, *, reset: bool) -> Rows:
        rows = rows_of(X, unknown_tokens(self.unknown), self.reading)
        if rows.frame is not None:
            if reset or not self._lacks_only_the_outcome(rows):
                validate_data(self, rows.frame.to_native(), reset=reset, skip_check_array=True)
            return rows
        if hasattr(X, "dtype") and X.dtype.kind in "mM":
            raise ColumnError(f"X: an array of {X.dtype}; expected numbers")
        check_numbers(X)
        array = validate_data(
            self,
            X,
            reset=reset,
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        return replace(rows, array=array)

    def _lacks_only_the_outcome(self, rows: Rows) -> bool:
        """Return whether rows lack only the outcome, which new rows do not have."""
        names = [
            name
            for name in getattr(self, "feature_names_in_", ())
            if name not in self._outcome_names or name in rows.columns
        ]
        return bool(self._outcome_names) and names == [*rows.columns]

    def _codes(self, rows: Rows, protected: Any) -> CodeArray:
        return self.strata_.codes_of(rows, protected, unseen=self.unseen)

    def _written(self, rows: Rows, codes: CodeArray) -> Output | RecordOutput:
        return self.fitted_.transform(
            rows, codes, method=self.method, amount=self.amount, unseen=self.unseen
        )
