"""The choices of a `Repairer`, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import Any, Self, cast, get_args

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.explain import Explanation, explain_row
from fourfifths._repair.model import Scope, fit_columns, typed_columns
from fourfifths._repair.ordered import Method, Ties
from fourfifths._repair.random import Calls, Draws, fresh_seed
from fourfifths._repair.saved import Saved, load_repair, save_repair
from fourfifths._tables.inputs import Input, one_row, read_input, strata_columns
from fourfifths._tables.strata import Small, Unseen, fit_strata, strata_names
from fourfifths._tables.types import Asked, Typed, asked_columns, checked
from fourfifths.errors import ColumnError, OptionError, RepairError, listed, nearest

LEVELS = 16_384
LEAST_LEVELS = 2
CHOICES: Mapping[str, Any] = {
    "method": Method,
    "scope": Scope,
    "ties": Ties,
    "unseen": Unseen,
    "small": Small,
}


def check_options(options: Mapping[str, Any]) -> None:
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
    if isinstance(levels, bool) or not isinstance(levels, Integral) or levels < LEAST_LEVELS:
        raise OptionError(f"levels={levels!r}: expected a whole number, {LEAST_LEVELS} or more")
    seed = options["random_state"]
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0):
        raise OptionError(f"random_state={seed!r}: expected a whole number, 0 or more, or None")
    if options["protected"] is not None and options["stratify_by"] is not None:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")


def check_fitted(options: Mapping[str, Any], scope: Scope, ties: Ties) -> None:
    """Check the options once more, and that none was changed that needs a new fit."""
    check_options(options)
    for name, value in (("scope", scope), ("ties", ties)):
        if options[name] != value:
            raise OptionError(
                f"{name}={options[name]!r}: the repair was fitted with {value!r}; fit it again"
            )


class Repairer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Make columns so alike in all strata that they do not give the stratum away.

    Each value is written anew by its rank in its stratum: the same rank gets the same value,
    whatever the stratum, and that value is the median over strata of what they have at that rank
    (section 5 of Feldman et al. 2015). What is fitted is kept: new rows, one or many, are repaired
    by it and never change it.

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
        Which to repair, all others by default: names, or places in an array. A mapping may say as
        what: "number", "category", or the categories in order, lowest first; None as its type
        says.
    method : {"random", "combinatorial", "geometric"}
        How an amount below 1 is meant: so many rows repaired in full (Gordaliza et al. 2019); so
        far along the column's distinct values; so far along the number line. The last two are the
        paper's, and give the stratum away to trees.
    scope : {"joint", "column"}
        Whether the whole vector of columns is made alike, or each column alone, as in the paper.
    amount : float
        From 0, nothing, to 1, full repair. Neither it nor `method` needs a new fit.
    levels : int
        The most levels that a column is cut into.
    ties : {"split", "mid"}
        Whether equal values are spread over the levels that they share, at random, or all put
        into the middle one; then columns with few values are hardly repaired.
    unseen : {"error", "keep"}
        What to do with rows whose stratum is missing or was not fitted: keep leaves them as they
        are.
    small : {"error", "pool"}
        What to do with strata of fewer than 4 rows: pool makes them one.
    random_state : int or None
        The seed. Each call draws anew, so that rows one by one are distributed as rows together;
        the same calls in the same order give the same numbers. None takes a new seed each fit.

    Attributes
    ----------
    strata_ : Strata
    model_ : Model
        The fitted columns and, for joint repair, profiles.

    Notes
    -----
    Whether it is lawful to treat people by a protected attribute is a lawyer's question.

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
        columns: Sequence[Any] | Mapping[Any, Asked] | None = None,
        method: Method = "random",
        scope: Scope = "joint",
        amount: float = 1.0,
        levels: int = LEVELS,
        ties: Ties = "split",
        unseen: Unseen = "error",
        small: Small = "error",
        random_state: int | None = 0,
    ) -> None:
        self.protected = protected
        self.stratify_by = stratify_by
        self.bands = bands
        self.columns = columns
        self.method = method
        self.scope = scope
        self.amount = amount
        self.levels = levels
        self.ties = ties
        self.unseen = unseen
        self.small = small
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, protected: Any = None) -> Self:  # noqa: ARG002
        """Learn the strata's quantiles and their consensus.

        `protected` has the protected values of the rows, where they are not columns of X.
        """
        self._fit(X, protected)
        return self

    def fit_part(self, X: Any, whole: Self) -> Self:
        """Fit to some rows of a table of which `whole` knows every category."""
        self._fit(X, None, whole.typed_)
        return self

    def _fit(
        self, X: Any, protected: Any, typed: tuple[Typed, ...] = ()
    ) -> tuple[Input, CodeArray]:
        check_options(self.get_params(deep=False))
        given = self._read(X, reset=True)
        by, values = strata_columns(given, self._by(), protected, self.bands or {})
        asked = asked_columns(self.columns, given.names, self._by() or ())
        strata, codes = fit_strata(by, values, self.unseen, self.small)
        seed = fresh_seed(self.random_state)
        typed = typed or typed_columns(given, asked)
        model = fit_columns(
            given,
            typed,
            strata,
            codes,
            self.scope,
            self.ties,
            self.levels,
            Draws(seed=seed, key=(0,)),
        )
        self.strata_, self.typed_, self.model_ = strata, typed, model
        self.calls_ = Calls(seed)
        return given, codes

    def transform(self, X: Any, *, protected: Any = None) -> Any:
        """Return X with its columns repaired, all else as it was; `protected` as in `fit`."""
        check_is_fitted(self)
        self._check_fitted_options()
        given = self._read(X, reset=False)
        return self._transform(given, self._codes(given, protected))

    def _transform(self, given: Input, codes: CodeArray) -> Any:
        before = self._numbers(given)
        output = given.output([self._as_written(each) for each in self._typed(given)], before)
        if self.amount > 0:
            draws = self.calls_.next()
            self.model_.apply(before, codes, output.after, self.method, self.amount, draws)
        # scikit-learn's own way from polars to pandas loses the types.
        return output.native(_get_output_config("transform", self)["dense"])

    def fit_transform(self, X: Any, y: Any = None, *, protected: Any = None) -> Any:  # noqa: ARG002
        """Fit to X, then repair it."""
        return self._transform(*self._fit(X, protected))

    def explain(self, row: Any, *, protected: Any = None) -> Explanation:
        """Repair one row, and say what was changed and why.

        Parameters
        ----------
        row : dataframe of one row, row of one, mapping of column to value, or array
            Of a row and a mapping, columns that the repair does not know may be left out.
        protected : optional
            The protected value of the row, where it is not a column of it.
        """
        check_is_fitted(self)
        self._check_fitted_options()
        own = self.narrowed()
        known = one_row(row, getattr(own, "feature_names_in_", ()))
        own = self if known is row else own
        given = own._read(known, reset=False)
        if protected is not None:
            protected = np.atleast_1d(np.asarray(protected))
        codes = own._codes(given, protected)
        before = own._numbers(given)
        draws = self.calls_.next()
        return explain_row(
            self.model_, self.strata_, self.typed_, before, codes, self.method, self.amount, draws
        )

    def stratum_of(self, X: Any, *, protected: Any = None) -> CodeArray:
        """Return the stratum of each row, a place in `strata_`; -1 for rows that are kept."""
        check_is_fitted(self)
        return self._codes(self._read(X, reset=False), protected)

    def narrowed(self) -> Self:
        """Return the same repair for dataframes that have only the columns it knows."""
        check_is_fitted(self)
        own = copy(self)
        if hasattr(self, "feature_names_in_"):
            names = [*(self._by() or ()), *(each.name for each in self.typed_)]
            own.feature_names_in_ = np.array(names, dtype=object)
            own.n_features_in_ = len(names)
        return own

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted repair as JSON, whole or not at all."""
        check_is_fitted(self)
        self._check_fitted_options()
        names = getattr(self, "feature_names_in_", None)
        saved = Saved(
            settings=self.get_params(deep=False),
            names=None if names is None else tuple(map(str, names)),
            n_features=int(self.n_features_in_),
            strata=self.strata_,
            typed=self.typed_,
            model=self.model_,
        )
        save_repair(path, saved)

    @classmethod
    def load(cls, path: str | PathLike[str], *, random_state: int | None = None) -> Self:
        """Read a repair that `save` wrote.

        Without `random_state` its draws are new ones, so that a process that is started for every
        row does not draw the same for all.
        """
        saved = load_repair(path)
        loaded = cls(**{**saved.settings, "random_state": random_state})
        try:
            check_options(loaded.get_params(deep=False))
        except OptionError as error:
            raise RepairError(f"{path}: settings: {error}") from error
        loaded.n_features_in_ = saved.n_features
        if saved.names is not None:
            loaded.feature_names_in_ = np.array(saved.names, dtype=object)
        loaded.strata_, loaded.typed_, loaded.model_ = saved.strata, saved.typed, saved.model
        loaded.calls_ = Calls(fresh_seed(random_state))
        return loaded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = self.ties == "split"
        return tags

    def _by(self) -> tuple[str, ...] | None:
        return strata_names(self.protected, self.stratify_by)

    def _read(self, X: Any, *, reset: bool) -> Input:
        given = read_input(X)
        if given.frame is None and hasattr(X, "dtype") and X.dtype.kind in "mM":
            raise ColumnError(f"X: an array of {X.dtype}; expected numbers")
        if given.frame is None:
            array = validate_data(
                self,
                X,
                reset=reset,
                dtype="numeric",
                ensure_all_finite=False,
                ensure_min_samples=2 if reset else 1,
            )
            return replace(given, array=array)
        validate_data(self, given.frame.to_native(), reset=reset, skip_check_array=True)
        return given

    def _check_fitted_options(self) -> None:
        fitted: Scope = "column" if self.model_.profiles is None else "joint"
        check_fitted(self.get_params(deep=False), fitted, self.model_.ties)

    def _codes(self, given: Input, protected: Any) -> CodeArray:
        """Return the stratum of each row; an unseen one is an error unless it is to be kept."""
        _, values = strata_columns(given, self._by(), protected, self.bands or {})
        return self.strata_.checked_codes(values, self.unseen)

    def _typed(self, given: Input) -> list[Typed]:
        """Return the columns as they are called in what is given: by name, or by place."""
        names = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))
        return [replace(each, name=given.names[names.index(each.name)]) for each in self.typed_]

    def _numbers(self, given: Input) -> list[FloatArray]:
        typed = self._typed(given)
        found = given.numbers(typed)
        return [checked(own, each) for own, each in zip(found, typed, strict=True)]

    def _as_written(self, typed: Typed) -> Typed:
        """Return the kind of a column after repair: halves of whole numbers are numbers."""
        if self.method == "geometric" and self.amount > 0 and typed.kind == "integer":
            return replace(typed, kind="number")
        return typed
