"""`PlainRepairer`: a repair with its options, and how it is fitted, saved and loaded.

It does without scikit-learn, whose imports take longer than many a repair of a file.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from inspect import signature
from os import PathLike
from typing import Any, Literal, Self, get_args

import numpy as np

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.block_model import BlockCount, BlockModel, fit_block_model, own_beta
from fourfifths._repair.columns.model import Model, check_column_kinds, fit_columns
from fourfifths._repair.columns.ordered import Method, Ties
from fourfifths._repair.draws import RowDraws, draws_of, seed_of
from fourfifths._repair.fitted import FittedRepair, ProofOptions, Scope
from fourfifths._repair.guide import Outcome, is_copy, native_series, read_outcome
from fourfifths._repair.proof import Proof
from fourfifths._repair.saved import Saved, load_repair, save_repair
from fourfifths._tables.bands import Bands
from fourfifths._tables.groups import (
    check_choice,
    check_seed,
    check_share,
    check_whole,
    choose_favorable,
    read_bands,
)
from fourfifths._tables.identity import key_hash
from fourfifths._tables.load import Rows, rows_of
from fourfifths._tables.strata import (
    Small,
    Strata,
    Unseen,
    fit_strata,
    stratum_argument,
    stratum_names,
)
from fourfifths._tables.types import AskedType, ColumnType, asked_columns, check_finite
from fourfifths._tables.values import DecimalMark, Reading, unknown_tokens
from fourfifths._text import categories_note, listed
from fourfifths.errors import ColumnError, OptionError, OutcomeError, ReadingWarning, RepairError

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
# The options that one scope alone has a use for.
OPTIONS_OF_SCOPE: Mapping[Scope, Sequence[str]] = {
    "blocks": ("blocks", "variety", "guide", "favorable", "beta", "threshold", "confidence"),
    "column": ("method", "levels", "ties"),
}
WHY_ONE_SCOPE: Mapping[Scope, str] = {
    "blocks": "a repair by column has no blocks, and proves nothing",
    "column": "the paper's methods repair columns one by one",
}


class PlainRepairer:
    """A repair of dataframes and files; the options are those of `Repairer`.

    `Repairer` is the same as a scikit-learn transformer, for arrays and rows too.
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
        """What is proven, with the options of the fit; None for a repair by column."""
        return self.fitted_.proof_at_fit

    @property
    def seed_(self) -> int:
        """The seed of all draws."""
        return self.fitted_.seed

    def fit(self, table: Any) -> Self:
        """Learn what each row of a dataframe is written as."""
        self._fit(table, None, None)
        return self

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted repair as JSON, whole or not at all."""
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
            argument=stratum_argument(loaded.stratify_by),
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
            argument=stratum_argument(self.stratify_by),
            outcomes=[name for name in self._outcome_names if name in rows.columns],
        )
        if self.key is not None and self.scope == "column":
            key_hash(rows, self.key)  # nothing may be drawn, and then nobody looks at the keys
        column_types = rows.types(self._asked_columns(rows, y, stratifying=names or ()))
        for name in rows.mixed_columns(column_types, self.columns):
            warnings.warn(
                f"{categories_note(name, 'is repaired')}; if that is meant, say so: "
                f"columns={{{name!r}: 'category'}}",
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
            outcomes = self._read_outcomes(rows, y)
            favorable = self._favorable_of(outcomes)
            beta = own_beta(outcomes, codes, favorable) if self.beta is None else float(self.beta)
            model, is_proven = self._learn_blocks(
                rows,
                columns,
                column_types,
                codes=codes,
                outcomes=outcomes,
                beta=beta,
                draws=draws_of(rows, columns, seed=seed, key=self.key),
                seed=seed,
            )
        self._complete_fit(
            rows,
            strata=strata,
            column_types=column_types,
            model=model,
            seed=seed,
            notes=rows.value_notes,
        )
        self._warn_if_unproven(is_proven=is_proven)
        return rows, codes

    def _warn_if_unproven(self, *, is_proven: bool) -> None:
        """Warn if a number of blocks was searched for, and not even two are proven."""
        is_searched = self.blocks == "certified" and self.amount == 1
        if is_searched and not is_proven and self.proof_ is not None:
            warnings.warn(f"blocks='certified': {self.proof_.because}", stacklevel=4)

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

    def _favorable_of(self, outcomes: Sequence[Outcome]) -> tuple[Any, ...] | None:
        """Return the favorable values, spelled as in the outcome; None if none were given."""
        if self.favorable is None:
            return None
        if len(outcomes) != 1:
            names = listed([outcome.name for outcome in outcomes])
            what = f"the outcomes are {names}" if outcomes else "there is no outcome"
            raise OutcomeError(
                f"favorable={self.favorable!r}: {what}; expected a single outcome; name it, "
                "keep='...', or leave favorable= out"
            )
        return choose_favorable(outcomes[0].name, self.favorable, outcomes[0].distinct)

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

    def _check_fitted_options(self) -> None:
        """Check the options as they are now; most cannot be changed without a new fit."""
        options = self.get_params(deep=False)
        for name, fitted_value in self._options_at_fit.items():
            value = options[name]
            # It may be an array, whose comparison is an array too.
            is_same = value is fitted_value or (
                type(value) is type(fitted_value) and bool(np.all(value == fitted_value))
            )
            if name not in CHANGEABLE_OPTIONS and not is_same:
                raise OptionError(
                    f"{name}={value!r}: the repair was fitted with {fitted_value!r}; fit it again"
                )
        _check_options(options)

    def _read(self, X: Any, *, reset: bool) -> Rows:
        """Return the rows of a dataframe that the repair is fitted to."""
        rows = rows_of(X, unknown_tokens(self.unknown), self.reading)
        assert rows.frame is not None
        assert reset
        self.feature_names_in_ = np.array(rows.columns, dtype=object)
        self.n_features_in_ = len(rows.columns)
        return rows

    def get_params(self, *, deep: bool = False) -> dict[str, Any]:  # noqa: ARG002 - as there
        """Return the options by their names, as scikit-learn's estimators do."""
        names = [*signature(PlainRepairer).parameters]
        return {name: getattr(self, name) for name in sorted(names)}

    def set_params(self, **options: Any) -> Self:
        """Change options."""
        for name, value in options.items():
            setattr(self, name, value)
        return self


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise an error at the first option that has a value it cannot have."""
    for name, choices in CHOICES.items():
        check_choice(name, options[name], get_args(choices))
    check_share("amount", options["amount"], "[0, 1]")
    check_proof_options(options)
    if options["blocks"] != "certified":
        check_whole("blocks", options["blocks"], minimum=2, alternative="'certified', or ")
    check_whole("variety", options["variety"], minimum=1)
    check_whole("levels", options["levels"], minimum=MIN_LEVELS)
    check_switch("drop_protected", options["drop_protected"])
    check_switch("exact_values", options["exact_values"])
    if options["random_state"] is not None:
        check_seed(options["random_state"], bits=64)
    if options["key"] is not None and not isinstance(options["key"], str):
        raise OptionError(f"key={options['key']!r}: expected the name of a column, or None")
    if options["protected"] is not None and options["stratify_by"] is not None:
        raise OptionError("protected, stratify_by: give one of them; strata are made of either")
    check_scope(options)


def check_scope(options: Mapping[str, Any]) -> None:
    """Raise at the first option that the scope would ignore."""
    parameters = signature(PlainRepairer).parameters
    for scope, names in OPTIONS_OF_SCOPE.items():
        for name in names if scope != options["scope"] else ():
            value, default = options[name], parameters[name].default
            # A guide is an estimator, whose comparison may be anything.
            if value is not default and (default is None or value != default):
                raise OptionError(
                    f"{name}={value!r}: {WHY_ONE_SCOPE[scope]}; give scope={scope!r} too, or leave "
                    "it out"
                )


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


def check_proof_options(options: Mapping[str, Any]) -> None:
    """Raise unless beta, the threshold and the confidence are shares."""
    for name, is_optional in (("beta", True), ("threshold", False), ("confidence", False)):
        if options[name] is not None or not is_optional:
            check_share(name, options[name], "(0, 1)")
