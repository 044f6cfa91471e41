"""`Repairer`, the scikit-learn transformer that hides the group in columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal, Self, cast, get_args

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.block_model import BlockCount, BlockModel, fit_block_model, own_beta
from fourfifths._repair.columns.model import Model, check_column_kinds, fit_columns
from fourfifths._repair.columns.ordered import Method, Ties
from fourfifths._repair.draws import SEED_LIMIT, RowDraws, draws_of, seed_of
from fourfifths._repair.explain import Explanation
from fourfifths._repair.fitted import FittedRepair, ProofOptions, Scope
from fourfifths._repair.guide import Outcome, is_copy, native_series, read_outcome
from fourfifths._repair.proof import Proof
from fourfifths._repair.saved import Saved, load_repair, save_repair
from fourfifths._tables.engines.spark import is_spark
from fourfifths._tables.groups import Bands, read_bands
from fourfifths._tables.identity import key_hash
from fourfifths._tables.load import Output, RecordOutput, Rows, one_row, rows_of
from fourfifths._tables.roles import choose_favorable
from fourfifths._tables.strata import Small, Strata, Unseen, fit_strata, stratum_names
from fourfifths._tables.types import AskedType, ColumnType, asked_columns, check_finite
from fourfifths._tables.values import DecimalMark, Reading, unknown_tokens
from fourfifths.errors import (
    ColumnError,
    OptionError,
    OutcomeError,
    ReadingWarning,
    RepairError,
    listed,
    nearest,
)

# Options that say how a fitted repair is applied. All others are learned from.
CHANGEABLE_OPTIONS = frozenset(["amount", "method", "unseen", "drop_protected"])
MAX_LEVELS = 16_384
MIN_LEVELS = 2
CHOICES: Mapping[str, Any] = {
    "decimal": Literal[".", ",", None],
    "method": Method,
    "scope": Scope,
    "ties": Ties,
    "unseen": Unseen,
    "small": Small,
}


class Repairer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
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
        The favorable value of a single outcome that is not a number, or several; it decides what
        `beta` is.
    unknown : value or sequence, optional
        Values that mean missing, in every column, besides null, NaN and empty text.
    known, exact_values, decimal : optional
        As for `fourfifths.read_table`: values that are groups although they look like "not known";
        whether values that differ only in case or in spaces are kept apart; the decimal mark of
        numbers that are written as text.
    scope : {"blocks", "column"}
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
        What is proven for every rule on the repaired columns; None of a repair by column.
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

    def __init__(
        self,
        protected: str | Sequence[str] | None = None,
        *,
        stratify_by: str | Sequence[str] | None = None,
        bands: Mapping[str, Sequence[float]] | None = None,
        ages: Mapping[str, date | str] | None = None,
        columns: Sequence[Any] | Mapping[Any, AskedType] | None = None,
        keep: str | Sequence[str] | None = None,
        favorable: Any = None,
        unknown: Any = (),
        known: Any = (),
        exact_values: bool = False,
        decimal: DecimalMark | None = None,
        scope: Scope = "blocks",
        blocks: BlockCount = "certified",
        variety: int = 1,
        guide: Any = None,
        beta: float | None = None,
        threshold: float = 0.8,
        confidence: float = 0.95,
        amount: float = 1.0,
        method: Method = "random",
        levels: int = MAX_LEVELS,
        ties: Ties = "split",
        unseen: Unseen = "error",
        small: Small = "error",
        drop_protected: bool = False,
        key: str | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.protected = protected
        self.stratify_by = stratify_by
        self.bands = bands
        self.ages = ages
        self.columns = columns
        self.keep = keep
        self.favorable = favorable
        self.unknown = unknown
        self.known = known
        self.exact_values = exact_values
        self.decimal = decimal
        self.scope = scope
        self.blocks = blocks
        self.variety = variety
        self.guide = guide
        self.beta = beta
        self.threshold = threshold
        self.confidence = confidence
        self.amount = amount
        self.method = method
        self.levels = levels
        self.ties = ties
        self.unseen = unseen
        self.small = small
        self.drop_protected = drop_protected
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
    def model_(self) -> BlockModel | Model:
        """What was learned: blocks, or columns each by itself."""
        return self.fitted_.model

    @property
    def proof_(self) -> Proof | None:
        """What is proven, with the options of the fit; None of a repair by column."""
        return self.fitted_.proof_at_fit

    @property
    def seed_(self) -> int:
        """The seed of all draws."""
        return self.fitted_.seed

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

        Nothing is fitted anew, and the number of blocks stays. By default all are as fitted.
        """
        check_is_fitted(self)
        self._check_fitted_options()
        threshold = self.threshold if threshold is None else threshold
        confidence = self.confidence if confidence is None else confidence
        _check_proof_options({"beta": beta, "threshold": threshold, "confidence": confidence})
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

    def to_sql(self, dialect: str, *, table: str = "data") -> str:
        """Return a SELECT statement that writes what `transform` writes, in a database.

        A repair by column can be said in SQL if nothing is drawn: no equal values are split at
        random (`ties="mid"`, or no level shares a value), and no column has categories without
        order. By blocks, it can without an outcome; a row that is exactly at a cut stops the query.
        What cannot be said is an error that says what to do. Needs sqlglot: the extra [sql].

        Parameters
        ----------
        dialect : {"duckdb", "spark", "databricks", "bigquery", "trino"}
            DuckDB and Spark are tested.
        table : str
            The name of the table that is read. It has the columns of the fitted table.
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
        self._check_fitted_options()
        if self.guide is not None:
            raise RepairError(
                "guide: a repair that was ordered by your own estimator cannot be saved as JSON; "
                "pickle it, or let the repair learn its own score"
            )
        settings = {
            name: value for name, value in self.get_params(deep=False).items() if name != "guide"
        }
        saved = Saved(
            settings=settings,
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
        _check_band_names(path, saved.strata, read_bands(loaded.bands, loaded.ages))
        strata = replace(
            saved.strata,
            bands=read_bands(loaded.bands, loaded.ages),
            passed=stratum_names(loaded.protected, loaded.stratify_by) is None,
            exact_values=loaded.exact_values,
        )
        loaded.fitted_ = FittedRepair(
            strata=strata,
            column_types=saved.typed,
            model=saved.model,
            table_columns=saved.names,
            seed=saved.seed,
            key=loaded.key,
            options_at_fit=loaded._proof_options(None, loaded.threshold, loaded.confidence),
            outcomes=loaded._outcome_names,
        )
        loaded._options_at_fit = loaded.get_params(deep=False)
        return loaded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _fit(self, X: Any, y: Any, protected: Any) -> tuple[Rows, CodeArray]:
        self._check_options()
        rows = self._read(X, reset=True)
        names = stratum_names(self.protected, self.stratify_by)
        strata, codes = fit_strata(
            rows,
            names,
            values=protected,
            bands=read_bands(self.bands, self.ages),
            unseen=self.unseen,
            small=self.small,
        )
        if self.key is not None and self.scope == "column":
            key_hash(rows, self.key)  # nothing may be drawn, and then nobody looks at the keys
        column_types = rows.types(self._asked_columns(rows, y, stratifying=names or ()))
        for name in rows.mixed_columns(column_types, self.columns):
            warnings.warn(
                f"column {name!r} holds numbers and words; it is repaired as categories; if that "
                f"is meant, say so: columns={{{name!r}: 'category'}}",
                stacklevel=3,
            )
        seed = seed_of(self.random_state)
        columns = rows.numbers(column_types)
        model: BlockModel | Model
        is_proven = False
        if self.scope == "column":
            check_column_kinds(column_types)
            model = fit_columns(
                columns,
                column_types,
                strata=strata,
                codes=codes,
                ties=self.ties,
                levels=self.levels,
            )
        else:
            model, is_proven = self._fit_blocks(
                rows, y, columns, column_types, codes=codes, seed=seed
            )
        self._complete_fit(
            rows,
            strata=strata,
            column_types=column_types,
            model=model,
            seed=seed,
            notes=rows.value_notes,
        )
        is_searched = self.blocks == "certified" and self.amount == 1
        if is_searched and not is_proven and self.proof_ is not None:
            # A number of blocks was searched for, and not even two are proven.
            warnings.warn(f"blocks='certified': {self.proof_.because}", stacklevel=3)
        return rows, codes

    def _complete_fit(
        self,
        rows: Rows,
        *,
        strata: Strata,
        column_types: tuple[ColumnType, ...],
        model: BlockModel | Model,
        seed: int,
        notes: Sequence[str],
    ) -> None:
        """Keep what was learned, and warn of what was assumed."""
        self.fitted_ = FittedRepair(
            strata=strata,
            column_types=column_types,
            model=model,
            table_columns=tuple(rows.columns) if rows.frame is not None else None,
            seed=seed,
            key=self.key,
            options_at_fit=self._proof_options(None, self.threshold, self.confidence),
            outcomes=self._outcome_names,
        )
        self.notes_ = tuple(dict.fromkeys(notes))
        for note in self.notes_:
            warnings.warn(note, ReadingWarning, stacklevel=4)
        self._options_at_fit = self.get_params(deep=False)

    def _check_options(self) -> None:
        """Raise an error at the first option that has a value it cannot have."""
        _check_options(self.get_params(deep=False))

    def _asked_columns(
        self, rows: Rows, y: Any, *, stratifying: Sequence[str]
    ) -> Mapping[Any, AskedType]:
        """Return the columns that are named, or those that may be repaired unnamed."""
        outcomes = self._outcome_names
        if self.columns is not None:
            asked = asked_columns(self.columns, rows.columns, stratifying=stratifying, key=self.key)
            for name in outcomes:
                if name in asked:
                    raise ColumnError(
                        f"columns: {name!r} is the outcome that is kept; leave it out"
                    )
            return asked
        if rows.frame is not None and not outcomes and y is None:
            raise ColumnError(
                "columns: which columns to repair is not known; name them, columns=[...], or name "
                "the outcome, keep='...', so that all others can be repaired"
            )
        return dict.fromkeys(rows.repairable((*stratifying, *outcomes, self.key)))

    @property
    def reading(self) -> Reading:
        """What the options say about how values are read."""
        return Reading(
            decimal=self.decimal,
            known=unknown_tokens(self.known),
            exact_values=bool(self.exact_values),
        )

    @property
    def _outcome_names(self) -> tuple[str, ...]:
        if self.keep is None:
            return ()
        return (self.keep,) if isinstance(self.keep, str) else tuple(self.keep)

    def _read_outcomes(self, rows: Rows, y: Any) -> list[Outcome]:
        """Return what is to be kept: the columns that `keep` names, or y."""
        if self._outcome_names:
            if rows.frame is None:
                raise ColumnError(
                    f"keep={self.keep!r}: X is an array, whose columns have no names; pass the "
                    "outcome, fit(X, y)"
                )
            return [
                read_outcome(
                    name,
                    rows.column(name),
                    rows.unknown,
                    reading=rows.reading,
                    notes=rows.value_notes,
                )
                for name in rows.check_columns(self._outcome_names, "keep")
            ]
        if y is None:
            return []
        outcome = read_outcome(
            "y", native_series(y), rows.unknown, reading=rows.reading, notes=rows.value_notes
        )
        if outcome.values.size != len(rows):
            raise OutcomeError(
                f"y: {outcome.values.size:,} values for {len(rows):,} rows; expected one each"
            )
        return [outcome]

    def _fit_blocks(
        self,
        rows: Rows,
        y: Any,
        columns: Sequence[FloatArray],
        column_types: Sequence[ColumnType],
        *,
        codes: CodeArray,
        seed: int,
    ) -> tuple[BlockModel, bool]:
        outcomes = self._read_outcomes(rows, y)
        favorable = self._favorable_of(outcomes)
        beta = own_beta(outcomes, codes, favorable) if self.beta is None else float(self.beta)
        draws = draws_of(rows, columns, seed=seed, key=self.key)
        return self._learn_blocks(
            rows,
            columns,
            column_types,
            codes=codes,
            outcomes=outcomes,
            beta=beta,
            draws=draws,
            seed=seed,
        )

    def _favorable_of(self, outcomes: Sequence[Outcome]) -> tuple[Any, ...] | None:
        """Return the favorable values, spelled as in the outcome; None if none were given."""
        if self.favorable is None or not outcomes or outcomes[0].kind == "number":
            return None
        return choose_favorable(outcomes[0].name, self.favorable, outcomes[0].classes)

    def _learn_blocks(
        self,
        rows: Rows,
        columns: Sequence[FloatArray],
        column_types: Sequence[ColumnType],
        *,
        codes: CodeArray,
        outcomes: Sequence[Outcome],
        beta: float,
        draws: RowDraws,
        seed: int,
    ) -> tuple[BlockModel, bool]:
        """Fit the blocks to rows: all of a table, or those that it is fitted on."""
        for outcome in outcomes:
            for column_type, values in zip(column_types, columns, strict=True):
                if outcome.kind == "binary" and is_copy(values, outcome.values):
                    raise ColumnError(
                        f"columns: {column_type.name!r} is the outcome {outcome.name!r} under "
                        "another name; leave it out"
                    )
        for column_type, values in zip(column_types, columns, strict=True):
            check_finite(values, column_type)
        return fit_block_model(
            rows,
            columns,
            column_types,
            codes=codes,
            outcomes=outcomes,
            estimator=self.guide,
            draws=draws,
            block_count=self.blocks,
            beta=beta,
            threshold=self.threshold,
            confidence=self.confidence,
            variety=self.variety,
            seed=seed,
        )

    def _proof_options(
        self, beta: float | None, threshold: float, confidence: float
    ) -> ProofOptions:
        return ProofOptions(
            beta=beta,
            threshold=threshold,
            confidence=confidence,
            amount=float(self.amount),
            unseen=self.unseen,
        )

    def _written(self, rows: Rows, codes: CodeArray) -> Output | RecordOutput:
        return self.fitted_.transform(
            rows, codes, method=self.method, amount=self.amount, unseen=self.unseen
        )

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
        """Return whether rows have the fitted columns but for the outcome: new rows have none."""
        names = [
            name
            for name in getattr(self, "feature_names_in_", ())
            if name not in self._outcome_names or name in rows.columns
        ]
        return bool(self._outcome_names) and names == [*rows.columns]

    def _codes(self, rows: Rows, protected: Any) -> CodeArray:
        return self.strata_.codes_of(rows, protected, unseen=self.unseen)

    def _check_fitted_options(self) -> None:
        """Check the options as they are now; most cannot be changed without a new fit."""
        options = self.get_params(deep=False)
        _check_options(options)
        for name, fitted_value in self._options_at_fit.items():
            if name not in CHANGEABLE_OPTIONS and not _is_same(options[name], fitted_value):
                raise OptionError(
                    f"{name}={options[name]!r}: the repair was fitted with {fitted_value!r}; fit "
                    "it again"
                )


def _is_same(value: Any, fitted_value: Any) -> bool:
    """Return whether an option was not changed since the fit; its value may be an array."""
    return value is fitted_value or (
        type(value) is type(fitted_value) and bool(np.all(value == fitted_value))
    )


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise an error at the first option that has a value it cannot have."""
    for name, choices in CHOICES.items():
        value = options[name]
        if value not in get_args(choices):
            raise OptionError(
                f"{name}={value!r}: expected one of {listed(get_args(choices))}"
                f"{nearest(value, get_args(choices))}"
            )
    if options["scope"] == "blocks" and options["method"] != "random":
        raise OptionError(
            f"method={options['method']!r}: the paper's methods repair columns one by one; give "
            "scope='column' too, or leave method out"
        )
    amount = options["amount"]
    if isinstance(amount, bool) or not isinstance(amount, Real) or not 0 <= cast(Any, amount) <= 1:
        raise OptionError(
            f"amount={amount!r}: expected a number from 0 (nothing) to 1 (full repair)"
        )
    _check_proof_options(options)
    if options["blocks"] != "certified":
        check_count("blocks", options["blocks"], minimum=2, alternative="'certified', or ")
    check_count("variety", options["variety"], minimum=1)
    check_count("levels", options["levels"], minimum=MIN_LEVELS)
    check_switch("drop_protected", options["drop_protected"])
    check_switch("exact_values", options["exact_values"])
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


def _check_band_names(
    path: str | PathLike[str], strata: Strata, bands: Mapping[str, Bands]
) -> None:
    """Raise unless the strata of banded columns are the bands, which once had other names."""
    for position, column in enumerate(strata.by):
        names = {group[position] for group in (*strata.groups, *strata.pooled)}
        if column in bands and not names <= {*bands[column].labels}:
            raise RepairError(
                f"{path}: not a valid saved repair: strata.groups: expected the bands of "
                f"{column!r}, {listed(bands[column].labels)}, and found {listed(names)}; an "
                "earlier version put an edge into the band below it; fit the repair again"
            )


def check_switch(name: str, value: Any) -> None:
    """Raise unless a value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise OptionError(f"{name}={value!r}: expected True or False")


def check_count(name: str, value: Any, *, minimum: int, alternative: str = "") -> None:
    """Raise unless a value is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise OptionError(
            f"{name}={value!r}: expected {alternative}a whole number, {minimum} or more"
        )


def _check_proof_options(options: Mapping[str, Any]) -> None:
    """Raise unless beta, the threshold and the confidence are shares."""
    for name, is_optional in (("beta", True), ("threshold", False), ("confidence", False)):
        value = options[name]
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if value is None and is_optional:
            continue
        if not is_number or not 0 < float(value) < 1:
            raise OptionError(f"{name}={value!r}: expected a number between 0 and 1")
