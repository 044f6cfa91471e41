"""What a repair has learned, as a function of rows: for tables, files and single rows alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.columns.model import Model
from fourfifths._repair.columns.ordered import Method
from fourfifths._repair.draws import RowDraws, draws_of
from fourfifths._repair.explain import Explanation, explain_row
from fourfifths._tables.load import Output, Rows
from fourfifths._tables.strata import Strata
from fourfifths._tables.types import ColumnType, check_finite

Scope = Literal["blocks", "column"]


@dataclass(frozen=True, kw_only=True)
class FittedRepair:
    """Strata, columns and the model that makes the columns alike in all strata.

    Attributes
    ----------
    strata : Strata
    column_types : tuple of ColumnType
        The columns that are repaired.
    model : Model
    table_columns : tuple of str or None
        The columns of the dataframe that it was fitted to; None for an array.
    seed : int
    key : str or None
        The column that identifies a row. The draws of a row come from the seed and its key, or
        else its content, so that a repair is a function of the rows.
    """

    strata: Strata
    column_types: tuple[ColumnType, ...]
    model: Model
    table_columns: tuple[str, ...] | None
    seed: int
    key: str | None

    @property
    def needed_columns(self) -> tuple[Any, ...]:
        """The columns that a table must have: the key, the stratifying and the repaired ones."""
        key = () if self.key is None else (self.key,)
        return (*key, *self.strata.columns, *(column.name for column in self.column_types))

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

    def numbers(self, rows: Rows) -> list[FloatArray]:
        """Return the repaired columns' values as numbers, none of them infinite."""
        column_types = self.types_in(rows)
        return [
            check_finite(values, column_type)
            for values, column_type in zip(rows.numbers(column_types), column_types, strict=True)
        ]

    def transform(self, rows: Rows, codes: CodeArray, *, method: Method, amount: float) -> Output:
        """Repair rows, given their strata; rows of stratum -1 and missing values stay."""
        before = self.numbers(rows)
        output = rows.output(self._written_types(rows, method, amount), before)
        if amount > 0:
            self.model.apply(
                before,
                codes,
                out=output.after,
                method=method,
                amount=amount,
                draws=self.draws(rows, before, method=method, amount=amount),
            )
        return output

    def explain(
        self, rows: Rows, codes: CodeArray, *, method: Method, amount: float
    ) -> Explanation:
        """Repair a single row and say what was changed and why."""
        output = self.transform(rows, codes, method=method, amount=amount)
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

    def draws(
        self, rows: Rows, values: Sequence[FloatArray], *, method: Method, amount: float
    ) -> RowDraws | None:
        """Return the draws of rows with these numbers; None if nothing is drawn.

        Of many rows without a key it takes longer to tell equal ones apart than to repair them.
        """
        if self.key is None and not self.model.needs_draws(method, amount):
            return None
        return draws_of(rows, values, seed=self.seed, key=self.key)

    def _written_types(self, rows: Rows, method: Method, amount: float) -> Sequence[ColumnType]:
        """Return the types after the repair: geometric repair makes fractions of whole numbers."""
        if method != "geometric" or amount == 0:
            return self.types_in(rows)
        return [
            replace(column, kind="number") if column.kind == "integer" else column
            for column in self.types_in(rows)
        ]
