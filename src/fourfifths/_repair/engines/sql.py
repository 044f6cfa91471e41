"""A fitted repair as a SELECT statement: for what can be said in SQL, to the bit.

A column that is repaired without draws is a step function of the value in each stratum. Its steps
are found by asking the fitted column itself at every value where it may change, and between; they
become nested comparisons, as deep as a binary search. A repair by blocks that keeps the columns
themselves is a tree of comparisons already. A row whose repair is not known without a draw, or that
`transform` would refuse, stops the query with an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.blocks import LEAF, Blocks
from fourfifths._repair.columns.categories import CategoryColumn
from fourfifths._repair.columns.model import Model, draws_whole_rows
from fourfifths._repair.columns.ordered import Method, OrderedColumn
from fourfifths._repair.fitted import FittedRepair
from fourfifths._repair.guide import LOWEST, ColumnGuide
from fourfifths._tables.strata import Unseen
from fourfifths._tables.types import ColumnType
from fourfifths._tables.values import PLAIN
from fourfifths._text import listed, nearest
from fourfifths.errors import ColumnError, OptionError, RepairError

# How each dialect ends a query with an error at a row. Without it, a row that cannot be repaired
# would silently become something else.
ERROR_FUNCTIONS = {
    "duckdb": "ERROR",
    "spark": "RAISE_ERROR",
    "databricks": "RAISE_ERROR",
    "bigquery": "ERROR",
    "trino": "FAIL",
}
# More steps make statements that databases take minutes to read.
MAX_STEPS = 4_096
BLOCK = "fourfifths_block"


def to_sql(
    fitted: FittedRepair,
    dialect: str,
    *,
    table: str,
    method: Method,
    amount: float,
    unseen: Unseen,
    has_unknown: bool,
    drops_protected: bool,
) -> str:
    """Return a SELECT statement that repairs the rows of a table.

    Parameters
    ----------
    fitted : FittedRepair
    dialect : str
    table : str
        The name of the table.
    method, amount, unseen
        As in `Repairer`.
    has_unknown : bool
        Whether further values mean missing.
    drops_protected : bool
    """
    if dialect not in ERROR_FUNCTIONS:
        raise OptionError(
            f"dialect={dialect!r}: expected one of {listed(ERROR_FUNCTIONS)}"
            f"{nearest(dialect, tuple(ERROR_FUNCTIONS))}"
        )
    check_sayable(fitted, method=method, amount=amount, unseen=unseen, has_unknown=has_unknown)
    statement = Statement(
        fitted=fitted,
        error_function=ERROR_FUNCTIONS[dialect],
        method=method,
        amount=amount,
        unseen=unseen,
    )
    dropped = fitted.strata.columns if drops_protected else ()
    query = statement.query(table, dropped)
    text: str = query.sql(dialect=dialect, pretty=True)
    return text


def check_sayable(
    fitted: FittedRepair, *, method: Method, amount: float, unseen: Unseen, has_unknown: bool
) -> None:
    """Raise if SQL cannot express what a repair writes."""
    if fitted.table_columns is None or fitted.strata.passed:
        raise ColumnError(
            "to_sql: the repair was fitted to an array, or to values that came with the table; SQL "
            "needs columns; fit with Repairer(protected='...') to a dataframe"
        )
    if BLOCK in map(str.lower, fitted.table_columns):
        raise ColumnError(
            f"to_sql: a column is called {BLOCK!r}, which the statement adds for itself; rename it"
        )
    if has_unknown:
        raise OptionError(
            "unknown: SQL knows NULL only; replace these values with NULL in the table, and fit "
            "without unknown="
        )
    if fitted.strata.bands:
        raise OptionError(
            "bands: bands and ages cannot be written in SQL; add a column with the band's name "
            "to the table, and fit with protected= that column"
        )
    if unseen == "keep" and not fitted.strata.exact_values:
        raise OptionError(
            "unseen='keep': strata that differ only in case or spaces count as the same, which "
            "SQL cannot express; fit with exact_values=True, or set unseen='error'"
        )
    for column_type in fitted.column_types:
        if column_type.kind == "date" or column_type.number_format != PLAIN:
            raise ColumnError(
                f"column {column_type.name!r}: dates, and numbers that are written as text with "
                "other signs, cannot be written in SQL; leave the column out, or make it a number"
            )
    if isinstance(fitted.model, BlockModel):
        check_blocks(fitted.model, amount=amount)
    else:
        check_columns(fitted.model, method=method, amount=amount)


def check_columns(model: Model, *, method: Method, amount: float) -> None:
    """Raise if a repair by column draws anything, or has too many steps."""
    if draws_whole_rows(method, amount) and amount > 0:
        raise OptionError(
            f"amount={amount}: the rows that are repaired are drawn, which SQL cannot do; set "
            "amount=1, or method='geometric' or 'combinatorial'"
        )
    for column in model.columns:
        if isinstance(column, CategoryColumn):
            raise ColumnError(
                f"column {column.name!r}: its categories have no order, so a draw decides which "
                "rows change, which SQL cannot do; name the order of its categories, lowest first, "
                "or leave it out"
            )
        if model.ties == "split" and column.has_shared_values:
            raise OptionError(
                f"column {column.name!r}: equal values are split at random over the levels that "
                "they share, which SQL cannot do; fit with ties='mid', or with fewer levels="
            )


def check_blocks(model: BlockModel, *, amount: float) -> None:
    """Raise if a repair by blocks draws anything but the order of equal rows."""
    if not isinstance(model.guide, ColumnGuide):
        raise OptionError(
            "keep: the rows are ordered by a learned score of the outcome, which SQL cannot "
            "compute; transform the table with Python, with `fourfifths repair --apply` or on "
            "Spark, or fit without an outcome"
        )
    blocks = model.blocks
    if 0 < amount < 1:
        raise OptionError(
            f"amount={amount}: the rows that are repaired are drawn, which SQL cannot do; set "
            "amount=1"
        )
    if blocks.variety > 1:
        raise OptionError(
            f"variety={blocks.variety}: the record of a row is drawn, which SQL cannot do; "
            "fit with variety=1"
        )
    if np.any(blocks.cuts.depth < blocks.tree.height):
        raise OptionError(
            "blocks: a stratum has too few rows for all blocks, and a draw divides its rows, which "
            "SQL cannot do; fit with fewer blocks="
        )


@dataclass(frozen=True, kw_only=True)
class Steps:
    """A step function of a number: `outputs[0]` before the first edge, and so on.

    Attributes
    ----------
    edges : list of (float, bool)
        Increasing: the number, and whether the step before it includes the number itself.
    outputs : list of float
    """

    edges: list[tuple[float, bool]]
    outputs: list[float]


def steps_of(function: Callable[[FloatArray], FloatArray], changes: FloatArray) -> Steps:
    """Return a function of numbers that is constant between the numbers at which it may change.

    Examples
    --------
    >>> steps_of(np.sign, np.array([0.0, 5.0]))
    Steps(edges=[(0.0, False), (0.0, True)], outputs=[-1.0, 0.0, 1.0])
    """
    points = np.unique(changes)
    below = np.nextafter(points[:1], -np.inf)
    above = np.nextafter(points, np.inf)
    outputs = function(np.concatenate([below, np.stack([points, above], axis=1).ravel()]))
    edges = [(float(point), includes) for point in points for includes in (False, True)]
    is_new = np.flatnonzero(outputs[1:] != outputs[:-1])
    return Steps(
        edges=[edges[index] for index in is_new],
        outputs=[float(outputs[0]), *(float(output) for output in outputs[1:][is_new])],
    )


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Makes the expressions of a SELECT statement.

    Attributes
    ----------
    fitted : FittedRepair
    error_function : str
        Ends a query with a message.
    method, amount, unseen
        As in `Repairer`.
    """

    fitted: FittedRepair
    error_function: str
    method: Method
    amount: float
    unseen: Unseen

    def query(self, table: str, dropped: Sequence[str]) -> Any:
        """Return the statement."""
        exp = expressions()
        model = self.fitted.model
        types = {column.name: column for column in self.fitted.column_types}
        source = exp.to_table(quoted_name(table))
        repaired: Callable[[ColumnType], Any] = self.repaired_column
        if isinstance(model, BlockModel) and self.amount > 0:
            block = exp.alias_(self.block(model), BLOCK, quoted=True)
            source = exp.select(exp.Star(), block).from_(source).subquery(f"{BLOCK}s")
            repaired = self.record_value
        names = [name for name in self.fitted.table_columns or () if name not in dropped]
        selected = [
            exp.alias_(repaired(types[name]), name, quoted=True)
            if name in types and self.amount > 0
            else column(name)
            for name in names
        ]
        return exp.select(*selected).from_(source)

    def error(self, message: str) -> Any:
        """Return an expression that ends the query."""
        exp = expressions()
        return exp.func(self.error_function, exp.Literal.string(message))

    def in_strata(self, results: Sequence[Any], otherwise: Any) -> Any:
        """Return what is said for the stratum of a row."""
        exp = expressions()
        strata = self.fitted.strata
        groups = [(group, code) for code, group in enumerate(strata.groups)]
        groups += [(group, len(strata.groups) - 1) for group in strata.pooled]
        cases = []
        for group, code in dict(groups).items():
            pairs = zip(strata.by, group, strict=True)
            condition = exp.and_(*(is_equal(name, value) for name, value in pairs))
            cases.append((condition, results[code].copy()))
        if self.unseen == "error":
            otherwise = self.error(
                f"{' & '.join(strata.by)}: a row is in none of the strata that were fitted"
            )
        return case(cases, otherwise)

    def repaired_column(self, column_type: ColumnType) -> Any:
        """Return a column that is repaired by itself."""
        exp = expressions()
        model = self.fitted.model
        assert isinstance(model, Model)
        index = self.fitted.column_types.index(column_type)
        fitted_column = model.columns[index]
        assert isinstance(fitted_column, OrderedColumn)
        self_column = column(column_type.name)
        if column_type.categories:
            codes = np.arange(len(column_type.categories), dtype=np.float64)
            results = [
                self.mapped_categories(column_type, self.written(fitted_column, codes, stratum))
                for stratum in range(len(self.fitted.strata.groups))
            ]
            repaired = self.in_strata(results, self_column.copy())
            is_missing = exp.or_(is_null(self_column), is_equal(column_type.name, ""))
            return case([(is_missing, self_column.copy())], repaired)
        results = [
            self.stepped(column_type, fitted_column, stratum)
            for stratum in range(len(self.fitted.strata.groups))
        ]
        number = as_double(self_column)
        infinite = exp.or_(*(number.copy().eq(infinity(sign)) for sign in (1, -1)))
        message = f"column {column_type.name!r}: a value is infinite; expected finite numbers"
        return case(
            [
                (exp.or_(is_null(self_column), is_nan(number)), self.unchanged(column_type)),
                (infinite, self.error(message)),
            ],
            self.in_strata(results, self.unchanged(column_type)),
        )

    def unchanged(self, column_type: ColumnType) -> Any:
        """Return a number as it was; geometric repair makes fractions of whole numbers."""
        number = column(column_type.name)
        is_fraction = column_type.kind == "integer" and self.method == "geometric"
        return as_double(number) if is_fraction else number

    def written(self, fitted_column: OrderedColumn, values: FloatArray, stratum: int) -> FloatArray:
        """Return what the fitted column writes for values, as `transform` does."""
        level = fitted_column.levels_of(values, stratum, draws=None)
        codes = np.full(values.size, stratum, dtype=np.int16)
        return fitted_column.repaired(
            values, level, strata=codes, method=self.method, amount=self.amount
        )

    def stepped(self, column_type: ColumnType, fitted_column: OrderedColumn, stratum: int) -> Any:
        """Return a repaired number in one stratum; a number that does not change stays as it is."""
        exp = expressions()
        changes = np.concatenate([fitted_column.strata[stratum].knots, fitted_column.values])
        number = as_double(column(column_type.name))
        if self.method == "geometric":
            # A part of the way to the consensus of the level, which is what has steps.
            def function(values: FloatArray) -> FloatArray:
                level = fitted_column.levels_of(values, stratum, draws=None)
                moved = fitted_column.consensus.take(level)
                return moved * self.amount if self.amount < 1 else moved
        else:

            def function(values: FloatArray) -> FloatArray:
                return self.written(fitted_column, values, stratum)

        steps = steps_of(function, changes)
        if len(steps.outputs) > MAX_STEPS:
            raise OptionError(
                f"levels: column {column_type.name!r} has {len(steps.outputs):,} steps, more than "
                f"the {MAX_STEPS:,} that are written in SQL; fit with levels={MAX_STEPS // 4}, or "
                "fewer"
            )
        is_whole = column_type.kind == "integer" and self.method != "geometric"
        repaired = nested(number, steps, whole_literal if is_whole else double_literal)
        if self.method == "geometric" and self.amount < 1:
            repaired = repaired + double_literal(1 - self.amount) * number.copy()
        same = exp.EQ(this=exp.paren(repaired.copy()), expression=number.copy())
        # 0.0 equals -0.0, and an equal number stays as it was written.
        return case([(same, self.unchanged(column_type))], repaired)

    def mapped_categories(self, column_type: ColumnType, outputs: FloatArray) -> Any:
        """Return what is written for each category."""
        cases = []
        for category, output in zip(column_type.categories, outputs, strict=True):
            written_category = literal(column_type.categories[int(output)])
            cases.append((is_equal(column_type.name, category), written_category))
        return case(cases, self.unseen_category(column_type))

    def unseen_category(self, column_type: ColumnType) -> Any:
        """Return the error for a category that was not fitted."""
        return self.error(
            f"column {column_type.name!r}: a row has none of the categories that were fitted"
        )

    # --- blocks ---

    def block(self, model: BlockModel) -> Any:
        """Return the number of a row's block; -1 for rows that stay as they are."""
        guide = model.guide
        assert isinstance(guide, ColumnGuide)
        scores = [
            self.score(column_type, order)
            for column_type, order in zip(self.fitted.column_types, guide.orders, strict=True)
        ]
        results = [
            self.cut(model.blocks, scores, stratum=stratum, node=0)
            for stratum in range(len(self.fitted.strata.groups))
        ]
        return self.in_strata(results, whole_literal(-1))

    def score(self, column_type: ColumnType, order: Sequence[float]) -> Any:
        """Return the score that a column is; missing values come first."""
        exp = expressions()
        name = column_type.name
        lowest = double_literal(LOWEST)
        is_missing = is_null(column(name))
        if not column_type.categories:
            number = as_double(column(name))
            message = f"column {name!r}: a value is infinite; expected finite numbers"
            infinite = exp.or_(*(number.copy().eq(infinity(sign)) for sign in (1, -1)))
            return case(
                [
                    (exp.or_(is_missing, is_nan(number)), lowest),
                    (infinite, self.error(message)),
                ],
                number,
            )
        if not isinstance(column_type.categories[0], bool):
            is_missing = exp.or_(is_missing, is_equal(name, ""))
        cases = [(is_missing, lowest.copy())]
        for code, category in enumerate(column_type.categories):
            rank = order[code] if order else float(code)
            cases.append((is_equal(name, category), double_literal(rank)))
        return case(cases, lowest if self.unseen == "keep" else self.unseen_category(column_type))

    def cut(self, blocks: Blocks, scores: Sequence[Any], *, stratum: int, node: int) -> Any:
        """Return the block of a row of a stratum, from a node of the tree on."""
        exp = expressions()
        tree = blocks.tree
        if tree.score[node] == LEAF:
            return whole_literal(int(tree.first[node]))
        score = scores[int(tree.score[node])]
        cut = double_literal(float(blocks.cuts.score[stratum, node]))
        name = self.fitted.column_types[int(tree.score[node])].name
        message = (
            f"column {name!r}: a row is at a cut, where a draw decides its block; transform the "
            "table with Python instead"
        )
        left, right = (
            self.cut(blocks, scores, stratum=stratum, node=int(child))
            for child in (tree.left[node], tree.right[node])
        )
        return case(
            [
                (exp.LT(this=score.copy(), expression=cut), left),
                (exp.GT(this=score.copy(), expression=cut.copy()), right),
            ],
            self.error(message),
        )

    def record_value(self, column_type: ColumnType) -> Any:
        """Return the value of a column in the record of a row's block."""
        exp = expressions()
        model = self.fitted.model
        assert isinstance(model, BlockModel)
        index = self.fitted.column_types.index(column_type)
        values = model.blocks.records[:, 0, index]
        present = values[~np.isnan(values)]
        is_whole = column_type.kind == "integer" and bool(np.all(present == np.floor(present)))
        cases = []
        for block, value in enumerate(values):
            if np.isnan(value):
                written_value = exp.null()
            elif column_type.categories:
                written_value = literal(column_type.categories[int(value)])
            else:
                written_value = whole_literal(value) if is_whole else double_literal(float(value))
            cases.append((column(BLOCK).eq(whole_literal(block)), written_value))
        return case(cases, column(column_type.name))


# --- pieces of SQL ---


def expressions() -> Any:
    """Return the module of sqlglot that makes expressions."""
    try:
        import sqlglot
    except ImportError:
        raise RepairError(
            'to_sql: sqlglot is not installed; install it: pip install "fourfifths[sql]"'
        ) from None
    return sqlglot.exp


def quoted_name(name: str) -> Any:
    """Return a name, quoted for the dialect when it is written."""
    return expressions().to_identifier(name, quoted=True)


def column(name: str) -> Any:
    """Return a column."""
    return expressions().Column(this=quoted_name(name))


def literal(value: Any) -> Any:
    """Return a text, a number or a truth value."""
    if isinstance(value, str):
        return expressions().Literal.string(value)
    return expressions().convert(value)


def double_literal(value: float) -> Any:
    """Return a floating-point number with all its digits; without the cast it is a decimal."""
    exp = expressions()
    return exp.cast(exp.Literal.string(repr(float(value))), "double")


def whole_literal(value: float) -> Any:
    """Return a whole number."""
    return expressions().convert(int(value))


def infinity(sign: int) -> Any:
    """Return infinity, or minus infinity."""
    exp = expressions()
    return exp.cast(exp.Literal.string("Infinity" if sign > 0 else "-Infinity"), "double")


def as_double(expression: Any) -> Any:
    """Return an expression as a floating-point number."""
    return expressions().cast(expression.copy(), "double")


def is_null(expression: Any) -> Any:
    """Return whether an expression is NULL."""
    return expression.copy().is_(expressions().null())


def is_nan(number: Any) -> Any:
    """Return whether a number is NaN."""
    return expressions().IsNan(this=number.copy())


def is_equal(name: str, value: Any) -> Any:
    """Return whether a column has a value."""
    if isinstance(value, float):
        return as_double(column(name)).eq(double_literal(value))
    return column(name).eq(literal(value))


def case(pairs: Sequence[tuple[Any, Any]], otherwise: Any) -> Any:
    """Return CASE WHEN ... THEN ... ELSE ... END; `Case.when` would copy all that it is given."""
    exp = expressions()
    branches = [exp.If(this=condition, true=result) for condition, result in pairs]
    return exp.Case(ifs=branches, default=otherwise)


def nested(number: Any, steps: Steps, value: Callable[[float], Any]) -> Any:
    """Return a step function as nested comparisons, halving the steps each time."""
    exp = expressions()
    if not steps.edges:
        return value(steps.outputs[0])
    middle = len(steps.edges) // 2
    edge, includes = steps.edges[middle]
    kind = exp.LTE if includes else exp.LT
    before = replace(steps, edges=steps.edges[:middle], outputs=steps.outputs[: middle + 1])
    after = replace(steps, edges=steps.edges[middle + 1 :], outputs=steps.outputs[middle + 1 :])
    condition = kind(this=number.copy(), expression=double_literal(edge))
    return case([(condition, nested(number, before, value))], nested(number, after, value))
