"""`Repairer`, the scikit-learn transformer that makes columns alike in all strata."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import Any, Self, cast, get_args

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fourfifths._arrays import CodeArray
from fourfifths._repair.columns.model import Model, fit_columns
from fourfifths._repair.columns.ordered import Method, Ties
from fourfifths._repair.draws import SEED_LIMIT, seed_of
from fourfifths._repair.explain import Explanation
from fourfifths._repair.fitted import FittedRepair, Scope
from fourfifths._repair.saved import Saved, load_repair, save_repair
from fourfifths._tables.groups import read_bands
from fourfifths._tables.identity import key_hash
from fourfifths._tables.load import Rows, one_row, rows_of
from fourfifths._tables.numbers import unknown_tokens
from fourfifths._tables.strata import Small, Strata, Unseen, fit_strata, stratum_names
from fourfifths._tables.types import AskedType, ColumnType, asked_columns
from fourfifths.errors import ColumnError, OptionError, RepairError, listed, nearest

MAX_LEVELS = 16_384
MIN_LEVELS = 2
CHOICES: Mapping[str, Any] = {
    "method": Method,
    "scope": Scope,
    "ties": Ties,
    "unseen": Unseen,
    "small": Small,
}


class Repairer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Make columns so alike in all strata that they no longer reveal the stratum.

    A value is replaced by its rank in its stratum: the same rank gets the same value in every
    stratum, and that value is the median over strata of their values at that rank (section 5 of
    Feldman et al. 2015). New rows, one or many, are repaired by what was fitted and never change
    it.

    Parameters
    ----------
    protected : str or sequence of str, optional
        The protected columns of a dataframe; several make joint strata. Without it (and without
        `stratify_by`) the values come with the data: ``fit(X, protected=...)``.
    stratify_by : str or sequence of str, optional
        Other columns to stratify by, instead of `protected`.
    bands : mapping of str to sequence of float, optional
        Where a numeric stratifying column is cut into groups; an edge is in the group below it.
    columns : sequence, or mapping of column to kind, optional
        The columns to repair: names, or places in an array. By default all but the stratifying
        ones. A mapping may say what a column is: "number", "category", or the categories in order,
        lowest first; None leaves it to the column's values. A column is numeric if all its values
        that are not missing are numbers.
    unknown : value or sequence, optional
        Values that mean missing, in every column, besides null, NaN and empty text.
    method : {"random", "combinatorial", "geometric"}
        What an amount below 1 means. Random: that share of the rows is repaired in full (Gordaliza
        et al. 2019). Combinatorial: each value moves that far along the column's distinct values.
        Geometric: that far along the number line. The last two are the paper's; after them, trees
        can still predict the stratum from the columns.
    scope : {"column"}
        Each column is made alike by itself, as in the paper.
    amount : float
        From 0, nothing, to 1, full repair. It may be changed without a new fit, as may `method`.
    levels : int
        The largest number of levels that a column is cut into.
    ties : {"split", "mid"}
        Whether equal values are split at random over the levels that they share, or are all put
        into the middle one. With "mid", columns with few different values are hardly repaired.
    unseen : {"error", "keep"}
        What to do with rows whose stratum is missing or was not fitted: "keep" leaves them as they
        are.
    small : {"error", "pool"}
        What to do with strata of fewer than 4 rows: "pool" merges them into one.
    key : str, optional
        The column of a dataframe that identifies a row, with a different value in each row of the
        fit; it is never repaired. What is drawn for a row then comes from its key: the row gets the
        same values in any call, whatever other rows are in it. Without a key it comes from the
        values that are repaired, and equal rows of one call are told apart by their order.
    random_state : int or None
        The seed. The same rows get the same values in every call. None takes a new seed for each
        fit.

    Attributes
    ----------
    strata_ : Strata
    column_types_ : tuple of ColumnType
        The columns that are repaired, and as what.
    model_ : Model
        The fitted columns.
    seed_ : int
        The seed of all draws: `random_state`, or the one that was taken for None.

    Notes
    -----
    Changing data by a protected attribute can itself be disparate treatment: ask a lawyer.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[1.0], [2], [3], [4], [10], [20], [30], [40]])
    >>> group = ["A"] * 4 + ["B"] * 4
    >>> repairer = Repairer(method="geometric", scope="column", amount=0.5)
    >>> repairer.fit_transform(scores, protected=group)[:4].ravel()
    array([ 3.25,  6.5 ,  9.75, 13.  ])
    """

    def __init__(
        self,
        protected: str | Sequence[str] | None = None,
        *,
        stratify_by: str | Sequence[str] | None = None,
        bands: Mapping[str, Sequence[float]] | None = None,
        columns: Sequence[Any] | Mapping[Any, AskedType] | None = None,
        unknown: Any = (),
        method: Method = "random",
        scope: Scope = "column",
        amount: float = 1.0,
        levels: int = MAX_LEVELS,
        ties: Ties = "split",
        unseen: Unseen = "error",
        small: Small = "error",
        key: str | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.protected = protected
        self.stratify_by = stratify_by
        self.bands = bands
        self.columns = columns
        self.unknown = unknown
        self.method = method
        self.scope = scope
        self.amount = amount
        self.levels = levels
        self.ties = ties
        self.unseen = unseen
        self.small = small
        self.key = key
        self.random_state = random_state

    @property
    def strata_(self) -> Strata:
        """The fitted strata."""
        return self.fitted_.strata

    @property
    def column_types_(self) -> tuple[ColumnType, ...]:
        """The columns that are repaired, and as what."""
        return self.fitted_.column_types

    @property
    def model_(self) -> Model:
        """The fitted columns."""
        return self.fitted_.model

    @property
    def seed_(self) -> int:
        """The seed of all draws."""
        return self.fitted_.seed

    def fit(self, X: Any, y: Any = None, *, protected: Any = None) -> Self:  # noqa: ARG002
        """Learn the strata's quantiles and their consensus.

        `protected` has the protected values of the rows, where they are not columns of X.
        """
        self._fit(X, protected)
        return self

    def transform(self, X: Any, *, protected: Any = None) -> Any:
        """Return X with its columns repaired, all else as it was; `protected` as in `fit`."""
        check_is_fitted(self)
        self._check_fitted_options()
        rows = self._read(X, reset=False)
        return self._transform(rows, self._codes(rows, protected))

    def fit_transform(self, X: Any, y: Any = None, *, protected: Any = None) -> Any:  # noqa: ARG002
        """Fit to X, then repair it."""
        return self._transform(*self._fit(X, protected))

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
            else rows_of(table, unknown_tokens(self.unknown))
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
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted repair as JSON, whole or not at all."""
        check_is_fitted(self)
        self._check_fitted_options()
        saved = Saved(
            settings=self.get_params(deep=False),
            names=self.fitted_.table_columns,
            n_features=int(self.n_features_in_),
            strata=self.strata_,
            typed=self.column_types_,
            model=self.model_,
            seed=self.seed_,
        )
        save_repair(path, saved)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a repair that `save` wrote; it gives the same values as the one that was saved."""
        saved = load_repair(path)
        loaded = cls(**saved.settings)
        try:
            _check_options(loaded.get_params(deep=False))
        except OptionError as error:
            raise RepairError(f"{path}: settings: {error}") from error
        loaded.n_features_in_ = saved.n_features
        if saved.names is not None:
            loaded.feature_names_in_ = np.array(saved.names, dtype=object)
        strata = replace(
            saved.strata,
            bands=read_bands(loaded.bands),
            passed=stratum_names(loaded.protected, loaded.stratify_by) is None,
        )
        loaded.fitted_ = FittedRepair(
            strata=strata,
            column_types=saved.typed,
            model=saved.model,
            table_columns=saved.names,
            seed=saved.seed,
            key=loaded.key,
        )
        return loaded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _fit(self, X: Any, protected: Any) -> tuple[Rows, CodeArray]:
        _check_options(self.get_params(deep=False))
        rows = self._read(X, reset=True)
        names = stratum_names(self.protected, self.stratify_by)
        strata, codes = fit_strata(
            rows,
            names,
            values=protected,
            bands=read_bands(self.bands),
            unseen=self.unseen,
            small=self.small,
        )
        if self.key is not None:
            key_hash(rows, self.key, must_differ=True)
        column_types = rows.types(
            asked_columns(self.columns, rows.columns, stratifying=names or (), key=self.key)
        )
        for name in rows.mixed_columns(column_types, self.columns):
            warnings.warn(
                f"column {name!r} holds numbers and words; it is repaired as categories; if that "
                f"is meant, say so: columns={{{name!r}: 'category'}}",
                stacklevel=3,
            )
        model = fit_columns(
            rows.numbers(column_types),
            column_types,
            strata=strata,
            codes=codes,
            ties=self.ties,
            levels=self.levels,
        )
        self.fitted_ = FittedRepair(
            strata=strata,
            column_types=column_types,
            model=model,
            table_columns=tuple(rows.columns) if rows.frame is not None else None,
            seed=seed_of(self.random_state),
            key=self.key,
        )
        return rows, codes

    def _transform(self, rows: Rows, codes: CodeArray) -> Any:
        output = self.fitted_.transform(rows, codes, method=self.method, amount=self.amount)
        # scikit-learn's own conversion from polars to pandas loses the types.
        config = getattr(self, "_sklearn_output_config", {})
        return output.native(config.get("transform", get_config()["transform_output"]))

    def _read(self, X: Any, *, reset: bool) -> Rows:
        rows = rows_of(X, unknown_tokens(self.unknown))
        if rows.frame is not None:
            validate_data(self, rows.frame.to_native(), reset=reset, skip_check_array=True)
            return rows
        if hasattr(X, "dtype") and X.dtype.kind in "mM":
            raise ColumnError(f"X: an array of {X.dtype}; expected numbers")
        array = validate_data(
            self,
            X,
            reset=reset,
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        return replace(rows, array=array)

    def _codes(self, rows: Rows, protected: Any) -> CodeArray:
        return self.strata_.codes_of(rows, protected, unseen=self.unseen)

    def _check_fitted_options(self) -> None:
        """Check the options as they are now; some cannot be changed without a new fit."""
        options = self.get_params(deep=False)
        _check_options(options)
        fitted_options = {
            "scope": "column",
            "ties": self.model_.ties,
            "key": self.fitted_.key,
            "random_state": None if self.random_state is None else self.seed_,
        }
        for name, fitted_value in fitted_options.items():
            if options[name] != fitted_value:
                raise OptionError(
                    f"{name}={options[name]!r}: the repair was fitted with {fitted_value!r}; fit "
                    "it again"
                )


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise for the first option whose value is not one of its choices."""
    for name, choices in CHOICES.items():
        value = options[name]
        if value not in get_args(choices):
            raise OptionError(
                f"{name}={value!r}: expected one of {listed(get_args(choices))}"
                f"{nearest(value, get_args(choices))}"
            )
    amount = options["amount"]
    if isinstance(amount, bool) or not isinstance(amount, Real) or not 0 <= cast(Any, amount) <= 1:
        raise OptionError(
            f"amount={amount!r}: expected a number from 0 (nothing) to 1 (full repair)"
        )
    levels = options["levels"]
    if isinstance(levels, bool) or not isinstance(levels, Integral) or levels < MIN_LEVELS:
        raise OptionError(f"levels={levels!r}: expected a whole number, {MIN_LEVELS} or more")
    seed = options["random_state"]
    is_whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    if seed is not None and not (is_whole and 0 <= seed < SEED_LIMIT):
        raise OptionError(
            f"random_state={seed!r}: expected a whole number from 0 to 2**64 - 1, or None"
        )
    if options["key"] is not None and not isinstance(options["key"], str):
        raise OptionError(f"key={options['key']!r}: expected the name of a column, or None")
    if options["protected"] is not None and options["stratify_by"] is not None:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")
