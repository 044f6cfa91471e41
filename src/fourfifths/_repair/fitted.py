"""What a repair has learned, as a function of rows: for tables, files and single rows alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from fourfifths._arrays import CodeArray, FloatArray, IntArray
from fourfifths._repair.block_model import BlockModel, record_counts
from fourfifths._repair.columns.model import Model
from fourfifths._repair.columns.ordered import Method
from fourfifths._repair.draws import RowDraws, draws_of
from fourfifths._repair.explain import Explanation, explain_block, explain_row
from fourfifths._repair.guide import EstimatorGuide
from fourfifths._repair.proof import Circumstances, Proof, prove
from fourfifths._tables.identity import checked_key
from fourfifths._tables.load import Output, RecordOutput, Rows
from fourfifths._tables.strata import Strata, Unseen
from fourfifths._tables.types import ColumnType, check_finite
from fourfifths.errors import ColumnError

Scope = Literal["blocks", "column"]
REMEDY_OF_UNKNOWN = re.compile(
    r",? or,? if they mean that the value is missing, give unknown=\[.*\]"
)


@dataclass(frozen=True, kw_only=True)
class ProofOptions:
    """What a proof is to show, and of which rows.

    Attributes
    ----------
    beta : float or None
        None is that of the table.
    threshold, confidence : float
    amount : float
        The share of the rows that is repaired.
    unseen : {"error", "keep"}
    """

    beta: float | None = None
    threshold: float
    confidence: float
    amount: float
    unseen: Unseen = "error"


@dataclass(frozen=True, kw_only=True)
class FittedRepair:
    """Strata, columns and the model that makes the columns alike in all strata.

    Attributes
    ----------
    strata : Strata
    column_types : tuple of ColumnType
        The columns that are repaired.
    model : BlockModel or Model
        The blocks, or the columns each by itself.
    table_columns : tuple of str or None
        The columns of the dataframe that it was fitted to; None for an array.
    seed : int
    key : str or None
        The column that identifies a row. The draws of a row come from the seed and its key, or
        else its content, so that a repair is a function of the rows.
    options_at_fit : ProofOptions
        What the proof of the fit shows.
    outcomes : tuple of str
        The columns that are kept.
    """

    strata: Strata
    column_types: tuple[ColumnType, ...]
    model: BlockModel | Model
    table_columns: tuple[str, ...] | None
    seed: int
    key: str | None
    options_at_fit: ProofOptions
    outcomes: tuple[str, ...] = ()

    @property
    def needed_columns(self) -> tuple[Any, ...]:
        """The columns that a table must have: the key, the stratifying and the repaired ones."""
        key = () if self.key is None else (self.key,)
        return (*key, *self.strata.columns, *(column.name for column in self.column_types))

    def other_columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that stay, apart from the strata, the key and the outcomes."""
        return tuple(name for name in names if name not in (*self.needed_columns, *self.outcomes))

    def types_in(self, rows: Rows) -> list[ColumnType]:
        """Return the repaired columns under the names that these rows have for them.

        A repair that was fitted to a dataframe finds its columns in an array by their places, and
        the other way round.
        """
        if self.table_columns is not None and rows.frame is not None:
            return list(self.column_types)
        names: Sequence[Any] = self.table_columns or range(len(rows.columns))
        return [
            replace(column, name=rows.columns[names.index(column.name)])
            for column in self.column_types
        ]

    def numbers(self, rows: Rows, unseen: Unseen = "error") -> list[FloatArray]:
        """Return the repaired columns' values as numbers, none of them infinite."""
        column_types = self.types_in(rows)
        # Only a score can do with a category that was not fitted: the paper's repairs need its
        # place among the others.
        kept = "refuse" if isinstance(self.model, Model) else unseen
        try:
            columns = rows.numbers(column_types, unseen=kept)
        except ColumnError as error:
            # Which values mean missing is part of the fit, so naming more of them does not help.
            raise ColumnError(REMEDY_OF_UNKNOWN.sub("", str(error))) from error
        return [
            check_finite(values, column_type, first_row=rows.first_row)
            for values, column_type in zip(columns, column_types, strict=True)
        ]

    def transform(
        self,
        rows: Rows,
        codes: CodeArray,
        *,
        method: Method,
        amount: float,
        unseen: Unseen = "error",
        places: IntArray | None = None,
        row_counts: IntArray | None = None,
    ) -> Output | RecordOutput:
        """Repair rows, given their strata; rows of stratum -1 stay.

        Missing values stay in the paper's repairs. By blocks a row is written as a whole. `places`
        as in `draws_of`, and `row_counts` as in `Model.apply`, for rows that are a part of a table.
        """
        before, column_types = self.numbers(rows, unseen), self.types_in(rows)
        if isinstance(self.model, BlockModel):
            draws = draws_of(rows, before, seed=self.seed, key=self.key, places=places)
            block = self.model.blocks_of(rows, before, codes=codes, draws=draws, amount=amount)
            records = self.model.blocks.records
            return RecordOutput(
                rows=rows,
                column_types=column_types,
                records=records.reshape(-1, records.shape[2]),
                index=self.model.blocks.record_index(block, draws),
            )
        if method == "geometric" and amount > 0:
            # It makes fractions of whole numbers.
            column_types = [
                replace(column, kind="number") if column.kind == "integer" else column
                for column in column_types
            ]
        output = rows.output(column_types, before)
        if amount > 0:
            self.model.apply(
                before,
                codes,
                out=output.after,
                method=method,
                amount=amount,
                draws=self.draws(rows, before, method=method, amount=amount, places=places),
                row_counts=row_counts,
            )
        return output

    def explain(
        self,
        rows: Rows,
        codes: CodeArray,
        *,
        method: Method,
        amount: float,
        unseen: Unseen = "error",
    ) -> Explanation:
        """Repair a single row and say what was changed and why."""
        output = self.transform(rows, codes, method=method, amount=amount, unseen=unseen)
        if isinstance(output, RecordOutput):
            assert isinstance(self.model, BlockModel)
            before = self.numbers(rows, unseen)
            return explain_block(
                self.model,
                before,
                scores=self.model.guide.scores(rows, before),
                output=output,
                strata=self.strata,
                codes=codes,
                draws=draws_of(rows, before, seed=self.seed, key=self.key),
                amount=amount,
            )
        assert isinstance(self.model, Model)
        return explain_row(
            self.model,
            output.before,
            output.after,
            strata=self.strata,
            column_types=self.column_types,
            codes=codes,
            method=method,
            amount=amount,
            draws=self.draws(rows, output.before, method=method, amount=amount),
        )

    @cached_property
    def proof_at_fit(self) -> Proof | None:
        """What is proven with the options of the fit; worked out when it is first asked for."""
        return self.proof(self.options_at_fit)

    def proof(self, options: ProofOptions) -> Proof | None:
        """Return what is proven of the repaired columns; None if they are repaired one by one."""
        if not isinstance(self.model, BlockModel):
            return None
        return prove(
            self.model.blocks.laws,
            self.model.table.counts,
            labels=self.strata.labels,
            columns=[column.name for column in self.column_types],
            beta=self.model.beta if options.beta is None else options.beta,
            threshold=options.threshold,
            confidence=options.confidence,
            amount=options.amount,
            circumstances=Circumstances(
                has_variety=self.model.blocks.variety > 1,
                has_own_guide=isinstance(self.model.guide, EstimatorGuide),
                keeps_unseen=options.unseen == "keep",
                strata_are=" & ".join(self.strata.by),
                fit_rows=self.model.fit_rows,
                other_columns=self.other_columns(self.table_columns or ()),
            ),
        )

    def count_table(self, output: Output | RecordOutput, codes: CodeArray) -> None:
        """Take the counts of the fitted table, which has just been repaired in full."""
        if isinstance(output, RecordOutput) and isinstance(self.model, BlockModel):
            self.model.table.complete(record_counts(self.model.blocks, output.index, codes))

    def needs_draws(self, method: Method, amount: float) -> bool:
        """Return whether anything is drawn for a row."""
        if isinstance(self.model, Model):
            return amount > 0 and self.model.needs_draws(method, amount)
        return amount > 0

    def draws(
        self,
        rows: Rows,
        values: Sequence[FloatArray],
        *,
        method: Method,
        amount: float,
        places: IntArray | None = None,
    ) -> RowDraws | None:
        """Return the draws of rows with these numbers; None if nothing is drawn.

        Among many rows without a key, telling equal ones apart takes longer than repairing them.
        """
        if not self.needs_draws(method, amount):
            if self.key is None:
                return None
            if places is not None:  # nobody looks for rows of the same key
                checked_key(rows, self.key)
                return None
        return draws_of(rows, values, seed=self.seed, key=self.key, places=places)
