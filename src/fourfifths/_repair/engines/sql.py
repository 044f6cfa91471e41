"""A fitted repair as a SELECT statement: for what can be said in SQL, to the bit.

A column that is repaired without draws is a step function of the value in each stratum. Its steps
are found by asking the fitted column itself at every value where it may change, and between; they
become nested comparisons, as deep as a binary search. A repair by blocks that keeps the columns
themselves is a tree of comparisons already. A row whose repair is not known without a draw, or that
`transform` would refuse, stops the query with an error. So does a column of another type than those
that a statement writes as `transform` does: the rows of a database have types of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.blocks import LEAF, Blocks
from fourfifths._repair.columns.categories import CategoryColumn
from fourfifths._repair.columns.model import Model, draws_whole_rows
from fourfifths._repair.columns.ordered import Method, OrderedColumn
from fourfifths._repair.fitted import FittedRepair
from fourfifths._repair.guide import LOWEST, ColumnGuide
from fourfifths._tables.strata import Unseen, written
from fourfifths._tables.types import TRUTH_VALUES, ColumnType
from fourfifths._tables.values import MAX_EXACT_INTEGER, PLAIN
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
# What each dialect's TYPEOF calls the types; BigQuery cannot ask a column for its type. The texts
# and the wide types that are missing here are those that DuckDB, Spark or Trino compare, round or
# pad in ways of their own.
TypeFamily = Literal["double", "single", "whole", "text", "truth"]
TYPE_NAMES: dict[str, dict[TypeFamily, tuple[str, ...]]] = {
    "duckdb": {
        "double": ("DOUBLE",),
        "single": ("FLOAT",),
        "whole": (
            *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
            *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
        ),
        "text": ("VARCHAR", "ENUM(%"),
        "truth": ("BOOLEAN",),
    },
    "spark": {
        "double": ("double",),
        "single": ("float",),
        "whole": ("tinyint", "smallint", "int", "bigint"),
        "text": ("string",),
        "truth": ("boolean",),
    },
    "trino": {
        "double": ("double",),
        "single": ("real",),
        "whole": ("tinyint", "smallint", "integer", "bigint"),
        "text": ("varchar", "varchar(%"),
        "truth": ("boolean",),
    },
}
TYPE_NAMES["databricks"] = TYPE_NAMES["spark"]
SQL_TYPE: dict[TypeFamily, str] = {
    "double": "DOUBLE",
    "whole": "BIGINT",
    "text": "text",
    "truth": "BOOLEAN",
}
# Spark replaces ${...} in the text of a statement, within quotation marks too, and Databricks also
# {{...}}. With spark.sql.parser.escapedStringLiterals, a backslash escapes nothing.
SUBSTITUTED = {"spark": ("${",), "databricks": ("${", "{{")}
UNSAFE_LETTERS = re.compile(r"[${'\\\x00-\x1f]")
# A category of nothing but these is missing.
SPACES = " \t\n\v\f\r"
# More steps make statements that databases take minutes to read.
MAX_STEPS = 4_096
BLOCK = "fourfifths_block"


def to_sql(
    fitted: FittedRepair,
    dialect: str,
    *,
    table: str | Sequence[str],
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
    table : str or sequence of str
        The name of the table, or those of its catalog, its schema and itself.
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
    table_names = checked_table(table)
    check_sayable(fitted, method=method, amount=amount, unseen=unseen, has_unknown=has_unknown)
    check_names(fitted.table_columns or (), table_names, dialect)
    statement = Statement(
        fitted=fitted,
        dialect=dialect,
        method=method,
        amount=amount,
        unseen=unseen,
    )
    dropped = fitted.strata.columns if drops_protected else ()
    query = statement.query(table_names, dropped)
    if dialect in SUBSTITUTED:
        spell_out(query)
    if dialect == "duckdb":
        collate(query)
    text: str = query.sql(dialect=dialect, pretty=True)
    return text


def checked_table(table: Any) -> tuple[str, ...]:
    """Return the names that a table is called by: its catalog, its schema and itself."""
    names = (table,) if isinstance(table, str) else table
    is_named = isinstance(names, Sequence) and all(isinstance(name, str) and name for name in names)
    if not is_named or not names:
        raise OptionError(
            f"table={table!r}: expected the name of a table, or of a table in a schema its names "
            "one by one, table=['schema', 'table']"
        )
    return tuple(names)


def check_names(columns: Sequence[str], table: Sequence[str], dialect: str) -> None:
    """Raise if a name would not be the same name in a statement, or is not the only one."""
    # No dialect but Spark, if told so, tells names apart that differ in case only.
    names_by_letters: dict[str, str] = {}
    for name in columns:
        twin = names_by_letters.setdefault(name.upper().lower(), name)
        if twin != name:
            raise ColumnError(
                f"to_sql: the columns {twin!r} and {name!r} differ in case only, which SQL does "
                "not tell apart; rename one, or fit without it"
            )
    if BLOCK in names_by_letters:
        raise ColumnError(
            f"to_sql: a column is called {BLOCK!r}, which the statement adds for itself; rename it"
        )
    for mark in SUBSTITUTED.get(dialect, ()):
        for name in (*columns, *table):
            if mark in name:
                raise ColumnError(
                    f"to_sql: the name {name!r} contains {mark!r}, where {dialect} puts the value "
                    "of a variable into a statement; rename it"
                )


def check_sayable(
    fitted: FittedRepair, *, method: Method, amount: float, unseen: Unseen, has_unknown: bool
) -> None:
    """Raise if SQL cannot express what a repair writes."""
    if fitted.table_columns is None or fitted.strata.passed:
        raise ColumnError(
            "to_sql: the repair was fitted to an array, or to values that came with the table; SQL "
            "needs columns; fit with Repairer(protected='...') to a dataframe"
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
    dialect : str
    method, amount, unseen
        As in `Repairer`.
    """

    fitted: FittedRepair
    dialect: str
    method: Method
    amount: float
    unseen: Unseen

    def query(self, table: Sequence[str], dropped: Sequence[str]) -> Any:
        """Return the statement."""
        exp = expressions()
        model = self.fitted.model
        types = {column.name: column for column in self.fitted.column_types}
        names = [quoted_name(name) for name in table]
        source = exp.Table(this=exp.Dot.build(names) if len(names) > 1 else names[0])
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

    def error(self, *pieces: Any) -> Any:
        """Return an expression that ends the query with a message of texts and expressions."""
        exp = expressions()
        message, *rest = (literal(piece) if isinstance(piece, str) else piece for piece in pieces)
        for piece in rest:
            message = exp.DPipe(this=message, expression=piece)
        return exp.func(ERROR_FUNCTIONS[self.dialect], message)

    def has_type(self, name: str, families: Sequence[TypeFamily]) -> Any:
        """Return whether a column has a type of one of these families."""
        exp = expressions()
        types = [name for family in families for name in TYPE_NAMES[self.dialect][family]]
        column_type = exp.func("TYPEOF", column(name))
        return exp.or_(
            exp.In(this=column_type, expressions=[literal(kind) for kind in types]),
            *(
                exp.Like(this=column_type.copy(), expression=literal(kind))
                for kind in types
                if kind.endswith("%")
            ),
        )

    def wrong_type(self, name: str, families: Sequence[TypeFamily]) -> list[tuple[Any, Any]]:
        """Return the branch of CASE for a column whose type `transform` would write otherwise."""
        if self.dialect not in TYPE_NAMES:
            return []
        exp = expressions()
        target = TYPE_NAMES[self.dialect]["text"][0].upper()
        if families[0] != "text":
            target = SQL_TYPE[families[0]]
        error = self.error(
            f"column {name!r}: expected the type {target}, found ",
            exp.func("TYPEOF", column(name)),
            f"; read it from a view that casts it to {target}, or transform the table with Python",
        )
        return [(exp.not_(exp.paren(self.has_type(name, families))), error)]

    def refusals(self, column_type: ColumnType) -> list[tuple[Any, Any]]:
        """Return the branches of CASE for the values of a column that `transform` refuses."""
        exp = expressions()
        name, family = column_type.name, family_of(column_type)
        if column_type.categories:
            branches = self.wrong_type(name, [family])
            if family == "text" and (isinstance(self.fitted.model, Model) or self.unseen != "keep"):
                is_fitted = exp.or_(
                    is_missing(column_type),
                    *(is_equal(name, category) for category in column_type.categories),
                )
                branches.append((exp.not_(exp.paren(is_fitted)), self.unseen_category(column_type)))
            return branches
        families = [family]
        if family == "double" and not self.may_stay_whole(column_type):
            families.append("whole")
        number = as_double(column(name))
        infinite = exp.or_(*(number.copy().eq(infinity(sign)) for sign in (1, -1)))
        message = f"column {name!r}: a value is infinite; expected finite numbers"
        branches = [*self.wrong_type(name, families), (infinite, self.error(message))]
        if family == "whole" or ("whole" in families and self.dialect in TYPE_NAMES):
            # As floating-point numbers, which can be compared whatever the type of the column is.
            is_large = exp.or_(
                number.copy() >= double_literal(MAX_EXACT_INTEGER),
                number.copy() <= double_literal(-MAX_EXACT_INTEGER),
            )
            if family == "double":
                is_large = exp.and_(self.has_type(name, ["whole"]), is_large)
            message = (
                f"column {name!r}: a whole number is 2**53 or larger, from where on "
                "floating-point numbers skip some; leave such rows out"
            )
            branches.append((is_large, self.error(message)))
        return branches

    def may_stay_whole(self, column_type: ColumnType) -> bool:
        """Return whether a whole number is written as one to a column that was fitted as floats."""
        if isinstance(self.fitted.model, Model):
            return False
        values = self.record_numbers(column_type)
        return bool(np.all(np.isnan(values) | (values == np.floor(values))))

    def in_strata(self, results: Sequence[Any], otherwise: Any) -> Any:
        """Return what is said for the stratum of a row."""
        exp = expressions()
        strata = self.fitted.strata
        families = {
            name: strata_families([group[index] for group in (*strata.groups, *strata.pooled)])
            for index, name in enumerate(strata.by)
        }
        groups = [(group, code) for code, group in enumerate(strata.groups)]
        groups += [(group, len(strata.groups) - 1) for group in strata.pooled]
        cases = [branch for name in strata.by for branch in self.wrong_type(name, families[name])]
        for group, code in dict(groups).items():
            pairs = zip(strata.by, group, strict=True)
            condition = exp.and_(
                *(
                    is_equal(name, written((value,))[0] if "text" in families[name] else value)
                    for name, value in pairs
                )
            )
            cases.append((condition, results[code].copy()))
        if self.unseen == "error":
            otherwise = self.error(
                f"{' & '.join(strata.by)}: a row is in none of the strata that were fitted"
            )
        return case(cases, otherwise)

    def repaired_column(self, column_type: ColumnType) -> Any:
        """Return a column that is repaired by itself."""
        model = self.fitted.model
        assert isinstance(model, Model)
        index = self.fitted.column_types.index(column_type)
        fitted_column = model.columns[index]
        assert isinstance(fitted_column, OrderedColumn)
        if column_type.categories:
            codes = np.arange(len(column_type.categories), dtype=np.float64)
            results = [
                self.mapped_categories(column_type, self.written(fitted_column, codes, stratum))
                for stratum in range(len(self.fitted.strata.groups))
            ]
        else:
            results = [
                self.stepped(column_type, fitted_column, stratum)
                for stratum in range(len(self.fitted.strata.groups))
            ]
        # A row without a value still has to be in a stratum that was fitted.
        results = [
            case([(is_missing(column_type), self.unchanged(column_type))], result)
            for result in results
        ]
        repaired = self.in_strata(results, self.unchanged(column_type))
        return case(self.refusals(column_type), repaired)

    def unchanged(self, column_type: ColumnType) -> Any:
        """Return a value as it was; geometric repair makes fractions of whole numbers."""
        family = family_of(column_type)
        is_fraction = family == "whole" and self.method == "geometric"
        target = "DOUBLE" if is_fraction else SQL_TYPE[family]
        return expressions().cast(column(column_type.name), target)

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
        branches = [
            branch
            for column_type in self.fitted.column_types
            for branch in self.refusals(column_type)
        ]
        return case(branches, self.in_strata(results, whole_literal(-1)))

    def score(self, column_type: ColumnType, order: Sequence[float]) -> Any:
        """Return the score that a column is; missing values come first."""
        lowest = double_literal(LOWEST)
        cases = [(is_missing(column_type), lowest)]
        if not column_type.categories:
            return case(cases, as_double(column(column_type.name)))
        for code, category in enumerate(column_type.categories):
            rank = order[code] if order else float(code)
            cases.append((is_equal(column_type.name, category), double_literal(rank)))
        return case(
            cases, lowest.copy() if self.unseen == "keep" else self.unseen_category(column_type)
        )

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

    def record_numbers(self, column_type: ColumnType) -> FloatArray:
        """Return the number that a column has in the record of each block."""
        model = self.fitted.model
        assert isinstance(model, BlockModel)
        index = self.fitted.column_types.index(column_type)
        values: FloatArray = model.blocks.records[:, 0, index]
        return values

    def record_value(self, column_type: ColumnType) -> Any:
        """Return the value of a column in the record of a row's block."""
        exp = expressions()
        values = self.record_numbers(column_type)
        is_whole = family_of(column_type) == "whole" and self.may_stay_whole(column_type)
        unchanged = exp.cast(
            column(column_type.name),
            SQL_TYPE[family_of(column_type)] if column_type.categories or is_whole else "DOUBLE",
        )
        cases = []
        for block, value in enumerate(values):
            if np.isnan(value):
                written_value = exp.null()
            elif column_type.categories:
                written_value = literal(column_type.categories[int(value)])
            else:
                written_value = whole_literal(value) if is_whole else double_literal(float(value))
            cases.append((column(BLOCK).eq(whole_literal(block)), written_value))
        return case(cases, unchanged)


def family_of(column_type: ColumnType) -> TypeFamily:
    """Return which types a column has in a database."""
    if column_type.categories:
        return "truth" if column_type.categories == TRUTH_VALUES else "text"
    return "whole" if column_type.kind == "integer" else "double"


def strata_families(values: Sequence[Any]) -> list[TypeFamily]:
    """Return which types a stratifying column may have for its values to be compared exactly.

    Examples
    --------
    >>> strata_families(["F", "M"]), strata_families([1, 2]), strata_families([2**60, 1])
    (['text'], ['whole', 'double', 'single'], ['whole'])
    """
    if any(isinstance(value, str) for value in values):
        return ["text"]
    if all(isinstance(value, bool) for value in values):
        return ["truth"]
    floating: list[TypeFamily] = ["double", "single"]
    are_whole = all(isinstance(value, int) for value in values)
    if all(abs(value) < MAX_EXACT_INTEGER for value in values):
        return ["whole", *floating] if are_whole else [*floating, "whole"]
    return ["whole"] if are_whole else floating


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


def spell_out(query: Any) -> None:
    """Write the letters of texts by their numbers where Spark would take them for something else.

    Then a text is the same whatever `spark.sql.variable.substitute` and
    `spark.sql.parser.escapedStringLiterals` say.
    """
    exp = expressions()
    for text in [*query.find_all(exp.Literal)]:
        if not text.is_string or not UNSAFE_LETTERS.search(text.this):
            continue
        pieces = []
        for piece in re.split(f"({UNSAFE_LETTERS.pattern})", text.this):
            if UNSAFE_LETTERS.fullmatch(piece):
                pieces.append(exp.func("CHR", whole_literal(ord(piece))))
            elif piece:
                pieces.append(exp.Literal.string(piece))
        text.replace(exp.func("CONCAT", *pieces))


def collate(query: Any) -> None:
    """Compare texts letter by letter, although a column of DuckDB may have a collation.

    Spark's TYPEOF names the collation, so that the type of such a column is refused.
    """
    exp = expressions()
    for comparison in [*query.find_all(exp.EQ)]:
        if comparison.this.is_type("text") and isinstance(comparison.this, exp.Cast):
            comparison.set("this", exp.Collate(this=comparison.this, expression=exp.var("C")))


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


def is_missing(column_type: ColumnType) -> Any:
    """Return whether a value is missing, as `transform` sees it."""
    exp = expressions()
    value = column(column_type.name)
    family = family_of(column_type)
    if family in ("double", "whole"):
        return exp.or_(is_null(value), is_nan(as_double(value)))
    if family == "truth":
        return is_null(value)
    trimmed = exp.Trim(this=exp.cast(value.copy(), "text"), expression=literal(SPACES))
    return exp.or_(is_null(value), trimmed.eq(literal("")))


def is_equal(name: str, value: Any) -> Any:
    """Return whether a column has a value."""
    exp = expressions()
    if isinstance(value, bool):
        return exp.cast(column(name), "BOOLEAN").eq(literal(value))
    if isinstance(value, str):
        return exp.cast(column(name), "text").eq(literal(value))
    if isinstance(value, float) or abs(value) < MAX_EXACT_INTEGER:
        return as_double(column(name)).eq(double_literal(float(value)))
    return column(name).eq(literal(value))


def case(pairs: Sequence[tuple[Any, Any]], otherwise: Any) -> Any:
    """Return CASE WHEN ... THEN ... ELSE ... END; `Case.when` would copy all that it is given."""
    if not pairs:
        return otherwise
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
