"""`subgroups`: the worst intersection of up to three columns, with limits for the whole search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from typing import Any, ClassVar, Literal, get_args

import narwhals as nw
import numpy as np
from scipy.sparse import csr_array

from fourfifths._arrays import FloatArray, IntArray
from fourfifths._impact.analyses.counted import check_persons, count_whole_persons
from fourfifths._results import Record, Result, flat
from fourfifths._stats.proportions import divide
from fourfifths._stats.subgroups import (
    MAX_PERMUTED_ROWS,
    PERMUTATIONS,
    bonferroni_p,
    permutation_p,
    permuted_selections,
    ratio_upper_limits,
)
from fourfifths._tables.bands import Bands
from fourfifths._tables.counts import MISSING, Counts, check_one_row_per_person
from fourfifths._tables.groups import (
    Roles,
    as_meant,
    assign_roles,
    check_choice,
    check_seed,
    check_share,
    check_whole,
    choose_favorable,
    favorable_cells,
    favorable_names,
    prepare,
    protected_columns,
)
from fourfifths._tables.table import Table, TableLike, no_rows, open_table
from fourfifths._tables.values import ValueKind, is_date
from fourfifths._text import alternatives, listed, number_text, rows_have
from fourfifths.errors import ColumnError, GroupError, TableError

Order = Literal["ratio", "limit"]
AdjustedBy = Literal["permutation", "bonferroni"]
MAX_DEPTH = 3
MAX_VALUES = 50
# A numeric column with more values than this is cut at quantiles.
MAX_NUMBERS = 10
DEFAULT_MIN_ROWS, DEFAULT_SHOWN, DEFAULT_QUANTILES = 30, 10, 4


@dataclass(frozen=True, kw_only=True)
class Subgroup:
    """A subgroup, and all other rows.

    Attributes
    ----------
    columns, values : tuple of str
        One value of each column.
    n, selected : int
    selection_rate : float
    n_others, selected_others : int
        Of all rows that are not in the subgroup.
    selection_rate_others : float
    ratio : float
        selection_rate / selection_rate_others. NaN if none of the others was selected.
    ratio_limit : float
        The upper limit of the ratio. It holds for all subgroups of the search at once. NaN where
        there is none.
    adjusted_p : float
        Adjusted for the whole search: see `Subgroups.adjusted_by`.
    """

    columns: tuple[str, ...]
    values: tuple[str, ...]
    n: int
    selected: int
    selection_rate: float
    n_others: int
    selected_others: int
    selection_rate_others: float
    ratio: float
    ratio_limit: float
    adjusted_p: float

    @property
    def label(self) -> str:
        """The subgroup in words: "sex Female & age under 28"."""
        pairs = zip(self.columns, self.values, strict=True)
        return " & ".join(f"{column} {value}" for column, value in pairs)


@dataclass(frozen=True, kw_only=True, repr=False)
class Subgroups(Result):
    """The worst subgroups of a search.

    Attributes
    ----------
    table, outcome : str
    favorable : str or tuple of str
    protected, columns : tuple of str
        Every subgroup has a value of at least one protected column; the further columns were
        searched beside them.
    depth : int
        The largest number of columns of a subgroup.
    min_rows : int
        Smaller subgroups, and those with fewer others, were not searched.
    rows, selected, outcome_missing : int
        Persons with an outcome; how many of them were selected; and persons without an outcome.
    searched, too_small, repeated : int
        Subgroups that were searched; that were too small; and that were not searched again because
        they hold the same rows as one of fewer columns.
    threshold : float
    surely_below : int
        How many of the searched subgroups have an upper limit below the threshold.
    confidence : float
        With which all upper limits hold together.
    adjusted_by : {"permutation", "bonferroni"}
        How p-values are adjusted. "bonferroni" where there are too many combinations of
        values, or rows, to permute outcomes.
    permutations : int
        0 where none were made.
    order : {"ratio", "limit"}
    cuts : mapping of str to tuple of float
        Where numeric columns were cut at quantiles.
    subgroups : tuple of Subgroup
        The worst ones, the worst first.
    notes : tuple of str
    """

    _schema: ClassVar[str | None] = "fourfifths/subgroups/1"

    table: str
    outcome: str
    favorable: str | tuple[str, ...]
    protected: tuple[str, ...]
    columns: tuple[str, ...]
    depth: int
    min_rows: int
    rows: int
    selected: int
    outcome_missing: int
    searched: int
    too_small: int
    repeated: int
    threshold: float
    surely_below: int
    confidence: float
    adjusted_by: AdjustedBy
    permutations: int
    order: Order
    cuts: Mapping[str, tuple[float, ...]]
    subgroups: tuple[Subgroup, ...]
    notes: tuple[str, ...]

    def __iter__(self) -> Iterator[Subgroup]:
        return iter(self.subgroups)

    @property
    def worst(self) -> Subgroup:
        """The first subgroup in the order."""
        return self.subgroups[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; docs/schema/subgroups.schema.json describes it."""
        # An empty list says that there is nothing in it, which is not the same as undefined.
        lists = {"protected", "columns", "notes"}
        return super().to_dict() | {name: list(getattr(self, name)) for name in lists}

    def to_records(self) -> list[Record]:
        """Return one flat record per subgroup."""
        return [
            {"subgroup": subgroup.label, **flat(record)}
            for subgroup, record in zip(self.subgroups, self.to_dict()["subgroups"], strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class Search:
    """Every subgroup that was searched.

    Attributes
    ----------
    combination, code : int array
        Which combination of columns a subgroup belongs to, and its index among the combinations of
        their values.
    n, selected : int array
    too_small, repeated : int
    """

    combination: IntArray
    code: IntArray
    n: IntArray
    selected: IntArray
    too_small: int
    repeated: int


@dataclass(frozen=True, kw_only=True)
class Cells:
    """The counts that a search needs: of all columns jointly, or of three at a time.

    Attributes
    ----------
    tables : mapping of tuple of str to Counts
        By the columns that were counted jointly. Only cells with an outcome.
    outcome_missing : int
    favorable : str or tuple of str
    is_selected : mapping of tuple of str to bool array
        Which cells of each table have the favorable outcome.
    """

    tables: Mapping[tuple[str, ...], Counts]
    is_selected: Mapping[tuple[str, ...], Any]
    outcome_missing: int
    favorable: str | tuple[str, ...]

    @property
    def values(self) -> dict[str, tuple[Any, ...]]:
        """The values of each column."""
        return {
            column: counts.values[column]
            for columns, counts in self.tables.items()
            for column in columns
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed when the columns were read, once."""
        return tuple(
            dict.fromkeys(note for counts in self.tables.values() for note in counts.notes)
        )

    def of(self, columns: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        """Return the rows and the selections of each combination of values, one axis per column.

        The last entry of an axis holds the rows in which the value is missing.
        """
        counted = next(key for key in self.tables if set(columns) <= set(key))
        counts, is_selected = self.tables[counted], self.is_selected[counted]
        shape = tuple(len(counts.values[column]) + 1 for column in columns)
        # The code -1 of what is missing becomes the last one.
        codes = joint_codes(counts, columns, shape=shape)
        size = int(np.prod(shape))
        rows = np.bincount(codes, weights=counts.rows, minlength=size)
        selected = np.bincount(codes, weights=counts.rows * is_selected, minlength=size)
        return (
            rows.astype(np.int64).reshape(shape),
            selected.astype(np.int64).reshape(shape),
        )


def joint_codes(counts: Counts, columns: Sequence[str], *, shape: tuple[int, ...]) -> IntArray:
    """Return the index of each cell's combination of values; missing is the last of each axis."""
    axes = tuple(counts.codes[column] % size for column, size in zip(columns, shape, strict=True))
    return np.asarray(np.ravel_multi_index(axes, shape), dtype=np.int64)


def subgroups(
    table: TableLike,
    *,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    columns: str | Sequence[str] = (),
    depth: int = MAX_DEPTH,
    min_rows: int = DEFAULT_MIN_ROWS,
    quantiles: int = DEFAULT_QUANTILES,
    show: int = DEFAULT_SHOWN,
    order: Order = "ratio",
    threshold: float = 0.8,
    persons: str | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: str | Sequence[Any] = (),
    confidence: float = 0.95,
    random_state: int = 0,
) -> Subgroups:
    """Find the combinations of up to three columns' values with the lowest selection rates.

    A subgroup is compared with all other rows, so that no reference must be chosen. The upper
    limits of the ratios hold for all subgroups that were searched, so also for the worst.

    Parameters
    ----------
    table : dataframe, path, str or Dataset
        As for `impact`.
    protected : str or sequence of str
        Every subgroup has a value of at least one of these columns.
    outcome : str
    favorable : value or list of values, optional
        The value of the outcome that means selected.
    columns : str or sequence of str
        Further columns to intersect them with.
    depth : {1, 2, 3}
        The largest number of columns of a subgroup.
    min_rows : int
        Subgroups of fewer rows are not searched, nor are those with fewer others.
    quantiles : int
        A column of numbers with more than ten values is cut into this many parts with about as many
        rows each, unless `bands` names the cuts. The outcome is not looked at for it.
    show : int
        How many of the worst subgroups to return.
    order : {"ratio", "limit"}
        The worst has the lowest ratio, or the lowest upper limit of it.
    threshold : float
        The ratio that the upper limits are compared with.
    persons : str, optional
        For an aggregated table: the column that says how many persons a row stands for.
    bands, ages, unknown
        As for `impact`; `bands` and `ages` are for `columns`, too.
    confidence : float
        With which all limits hold together; at least 0.8.
    random_state : int
        The seed of the permutations.

    Notes
    -----
    The limits are exact: limits of Clopper and Pearson, with the error probability divided by the
    number of subgroups (docs/subgroups.md). The adjusted p-value is the share of permutations of
    the outcome in which the search finds a subgroup with a p-value as small.

    Examples
    --------
    Women and men are selected alike, and so are both ages. Only older women are not.

    >>> import fourfifths, pandas as pd
    >>> table = pd.DataFrame({
    ...     "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
    ...     "age": ["older", "older", "younger", "younger"] * 2,
    ...     "hired": ["yes", "no"] * 4,
    ...     "n": [10, 90, 90, 10, 90, 10, 10, 90],
    ... })
    >>> result = fourfifths.subgroups(
    ...     table, protected="sex", columns="age", outcome="hired", persons="n"
    ... )
    >>> result.worst.label, round(result.worst.ratio, 3), result.searched
    ('sex F & age older', 0.158, 6)
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    depth = check_whole("depth", depth, minimum=1, maximum=MAX_DEPTH)
    min_rows = check_whole("min_rows", min_rows, minimum=1)
    quantiles = check_whole("quantiles", quantiles, minimum=2, maximum=MAX_VALUES)
    show = check_whole("show", show, minimum=1)
    random_state = check_seed(random_state)
    check_choice("order", order, get_args(Order))
    threshold = check_share("threshold", threshold, "(0, 1]")
    confidence = check_share("confidence", confidence, "[0.8, 1)")

    opened = open_table(table).without_empty_rows()
    check_persons(opened, persons, protected=protected)
    protected_names = protected_columns(opened, protected)
    check_columns(opened, names, protected=protected_names, outcome=outcome, dates=ages or {})
    roles = assign_roles(
        opened,
        protected=(*protected_names, *names),
        outcome=outcome,
        favorable=favorable,
        reference=None,
        weights=persons,
        bands=bands,
        ages=ages,
        unknown=unknown,
    )
    opened, roles, cuts = with_quantiles(opened, roles, names, quantiles=quantiles)
    cells = count_cells(opened, roles, depth=depth)
    values = cells.values
    for column, groups in values.items():
        if len(groups) < 2:
            content = f"only {str(groups[0])!r}" if groups else "nothing but missing values"
            argument = "protected" if column in protected_names else "columns"
            raise GroupError(f"{argument}={column!r}: the column holds {content}; leave it out")

    sets = [
        chosen
        for size in range(1, min(depth, len(roles.protected)) + 1)
        for chosen in combinations(roles.protected, size)
        if set(chosen) & set(protected_names)
    ]
    search = search_subgroups(cells, sets, min_rows=min_rows)
    first = next(iter(cells.tables))
    all_n = int(cells.tables[first].rows.sum())
    all_selected = int(cells.tables[first].rows[cells.is_selected[first]].sum())
    if not search.n.size:
        raise GroupError(
            f"min_rows={min_rows}: no subgroup has that many rows inside and outside it; expected "
            "a smaller number"
        )
    if all_selected in (0, all_n):
        share = "no row has" if all_selected == 0 else "every row has"
        raise GroupError(
            f"outcome={roles.outcome!r}: {share} the favorable value "
            f"{alternatives(cells.favorable)!r}, so there are no rates to compare; correct "
            "favorable="
        )
    limits = ratio_upper_limits(
        search.selected.astype(np.float64),
        search.n.astype(np.float64),
        all_selected=all_selected,
        all_n=all_n,
        confidence=confidence,
    )
    can_permute = len(cells.tables) == 1 and all_n <= MAX_PERMUTED_ROWS
    totals = {"all_selected": all_selected, "all_n": all_n}
    if can_permute:
        cell_rows, membership = memberships(cells, sets, search)
        adjusted_p = permutation_p(
            membership,
            search.selected,
            search.n,
            **totals,
            draw=permuted_selections(cell_rows, all_selected, random_state=random_state),
        )
    else:
        adjusted_p = bonferroni_p(search.selected, search.n, **totals)

    others_n, others_selected = all_n - search.n, all_selected - search.selected
    ratio = divide(
        (search.selected * others_n).astype(np.float64),
        (others_selected * search.n).astype(np.float64),
    )
    keys = (ratio, limits) if order == "ratio" else (limits, ratio)
    # NaN sorts last. Of equal ones the larger subgroup comes first.
    worst = np.lexsort((-search.n, keys[1], keys[0]))[:show]

    def wrap(index: int) -> Subgroup:
        chosen = sets[search.combination[index]]
        shape = tuple(len(values[column]) + 1 for column in chosen)
        codes = np.unravel_index(search.code[index], shape)
        return Subgroup(
            columns=chosen,
            values=tuple(
                str(values[column][int(code)]) for column, code in zip(chosen, codes, strict=True)
            ),
            n=int(search.n[index]),
            selected=int(search.selected[index]),
            selection_rate=float(search.selected[index] / search.n[index]),
            n_others=int(others_n[index]),
            selected_others=int(others_selected[index]),
            selection_rate_others=float(others_selected[index] / others_n[index]),
            ratio=float(ratio[index]),
            ratio_limit=float(limits[index]),
            adjusted_p=float(adjusted_p[index]),
        )

    result = Subgroups(
        table=opened.name,
        outcome=str(roles.outcome),
        favorable=cells.favorable,
        protected=protected_names,
        columns=tuple(column for column in roles.protected if column not in protected_names),
        depth=depth,
        min_rows=min_rows,
        rows=all_n,
        selected=all_selected,
        outcome_missing=cells.outcome_missing,
        searched=int(search.n.size),
        too_small=search.too_small,
        repeated=search.repeated,
        threshold=threshold,
        surely_below=int(np.sum(limits < threshold)),
        confidence=confidence,
        adjusted_by="permutation" if can_permute else "bonferroni",
        permutations=PERMUTATIONS if can_permute else 0,
        order=order,
        cuts=cuts,
        subgroups=tuple(wrap(index) for index in worst.tolist()),
        notes=(),
    )
    return replace(result, notes=(*cells.notes, *search_notes(result, cells)))


def check_columns(
    table: Table,
    columns: Sequence[str],
    *,
    protected: Sequence[str],
    outcome: str | None,
    dates: Mapping[str, Any],
) -> None:
    """Raise if a further column does not exist, is protected, or holds dates or nested values."""
    for column in columns:
        kind = table.dtype(table.column(column, "columns"))
        if column in protected or columns.count(column) > 1:
            raise ColumnError(f"columns={column!r}: is searched already; name it once")
        if column == (table.dataset.outcome if outcome is None and table.dataset else outcome):
            raise ColumnError(f"columns={column!r}: is the outcome; leave it out")
        if kind.is_nested():
            raise ColumnError(f"columns={column!r}: expected plain values, found {kind}")
        if is_date(kind) and column not in dates:
            raise ColumnError(
                f"columns={column!r}: holds dates; expected groups, or numbers to cut"
            )


def with_quantiles(
    table: Table, roles: Roles, columns: Sequence[str], *, quantiles: int
) -> tuple[Table, Roles, dict[str, tuple[float, ...]]]:
    """Return the roles with bands for columns of many numbers, and where these were cut.

    The cuts are quantiles of all rows; the outcome is not looked at. The table has notes on columns
    that may look like numbers and are none.

    Parameters
    ----------
    table : Table
    roles : Roles
    columns : sequence of str
        Those that are searched besides the protected columns. A protected column of few values
        holds groups, whatever they look like.
    quantiles : int
    """
    open_columns = [column for column in roles.protected if column not in roles.bands]
    value_counts = distinct_values(table.with_missing(open_columns, roles.unknown), open_columns)
    new_bands = {}
    for column, value_count in value_counts.items():
        kind: ValueKind = "category"
        if column in columns or value_count > MAX_NUMBERS:
            argument = "columns" if column in columns else "protected"
            read, kind = table.with_inferred(column, argument, roles.unknown)
            if kind == "category":
                table = read  # perhaps with a note
        if kind == "number":
            edges = quantile_edges(read, column, quantiles=quantiles)
            if edges:
                new_bands[column] = Bands(column=column, edges=edges)
        elif value_count > MAX_VALUES:
            raise ColumnError(
                f"column {column!r} has {value_count:,} different values; expected {MAX_VALUES} at "
                "most, because each is a subgroup; leave it out, or make fewer values of it"
            )
    roles = replace(roles, bands={**roles.bands, **new_bands})
    return table, roles, {column: cut.edges for column, cut in new_bands.items()}


def distinct_values(table: Table, columns: Sequence[str]) -> dict[str, int]:
    """Return how many different values each column has, without the missing one, in one pass."""
    if not columns:
        return {}
    values = [table.col(column) for column in columns]
    expressions = [
        *(value.n_unique() for value in values),
        *(value.is_null().cast(nw.Int64()).max() for value in values),
    ]
    names = [f"figure{index}" for index in range(len(expressions))]
    try:
        frame = table.frame.select(
            *(expression.alias(name) for expression, name in zip(expressions, names, strict=True))
        )
    except TypeError as error:  # pandas computes at once, and cannot count lists and the like
        raise ColumnError(f"column {listed(columns)}: expected plain values: {error}") from error
    figures = table.rows(frame)[0]
    if None in figures:
        raise no_rows(table.name)
    distinct, has_missing = figures[: len(columns)], figures[len(columns) :]
    return {
        column: int(count) - int(missing)
        for column, count, missing in zip(columns, distinct, has_missing, strict=True)
    }


def quantile_edges(table: Table, column: str, *, quantiles: int) -> tuple[float, ...]:
    """Return where a column of numbers is cut: at quantiles above its lowest number.

    A column of few different numbers is not cut. If nearly all rows have the lowest number, there
    are no such quantiles; then it is cut off from the others.
    """
    value = table.col(column)
    present = table.frame.filter(~value.is_null())
    shares = [index / quantiles for index in range(1, quantiles)]
    distinct, low, *marks = table.rows(
        present.select(
            value.n_unique().alias("distinct"),
            value.min().alias("low"),
            *(
                value.quantile(share, interpolation="linear").alias(f"quantile{index}")
                for index, share in enumerate(shares)
            ),
        )
    )[0]
    if distinct <= MAX_NUMBERS:
        return ()
    # To 15 digits: libraries interpolate between two rows alike but for the last one or two.
    edges = tuple(sorted({float(f"{mark:.15g}") for mark in marks if mark > low}))
    if edges:
        return edges
    return (float(table.rows(present.filter(value > low).select(value.min().alias("next")))[0][0]),)


def count_cells(table: Table, roles: Roles, *, depth: int) -> Cells:
    """Count all columns jointly, in one pass; if these are too many cells, three at a time."""
    prepared = prepare(table, roles)
    if roles.weights:
        prepared = prepared.with_numbers(roles.weights, "persons")
    outcome = str(roles.outcome)

    def count_jointly(columns: tuple[str, ...]) -> Counts:
        counted = replace(
            roles,
            protected=columns,
            bands={column: cut for column, cut in roles.bands.items() if column in columns},
        )
        counts = count_whole_persons(prepared, [*columns, outcome], persons=roles.weights)
        if roles.weights is None and columns == roles.protected:
            check_one_row_per_person(table, counts, [*columns, outcome])
        return as_meant(counts, counted, table)

    try:
        counted = {roles.protected: count_jointly(roles.protected)}
    except ColumnError:
        if len(roles.protected) <= depth:
            raise
        counted = {
            columns: count_jointly(columns) for columns in combinations(roles.protected, depth)
        }
    any_counts = next(iter(counted.values()))
    outcome_values = any_counts.values[outcome]
    has_outcome = any_counts.codes[outcome] != MISSING
    if not np.any(has_outcome):
        raise TableError(f"outcome={outcome!r}: every value is missing")
    favorable = choose_favorable(outcome, roles.favorable, outcome_values)
    outcome_missing = int(any_counts.rows[~has_outcome].sum())
    listed_values = {
        columns: counts.take(counts.codes[outcome] != MISSING)
        for columns, counts in counted.items()
    }
    return Cells(
        tables=listed_values,
        is_selected={
            columns: favorable_cells(counts, outcome, favorable)
            for columns, counts in listed_values.items()
        },
        outcome_missing=outcome_missing,
        favorable=favorable_names(favorable),
    )


def search_subgroups(cells: Cells, sets: Sequence[tuple[str, ...]], *, min_rows: int) -> Search:
    """Return every subgroup that is large enough and differs from all those of fewer columns.

    Which ones are searched depends on sizes and not on outcomes.
    """
    first = next(iter(cells.tables.values()))
    all_n = int(first.rows.sum())
    rows_of: dict[tuple[str, ...], IntArray] = {}
    members: list[tuple[IntArray, ...]] = []
    too_small = repeated = 0
    for index, columns in enumerate(sets):
        rows, selected = cells.of(columns)
        rows_of[columns] = rows
        is_known = np.zeros(rows.shape, dtype=bool)
        is_known[tuple(slice(size - 1) for size in rows.shape)] = True
        is_large = is_known & (rows >= min_rows) & (all_n - rows >= min_rows)
        is_repeated = np.zeros(rows.shape, dtype=bool)
        for axis in range(len(columns)):
            parent = rows_of.get(columns[:axis] + columns[axis + 1 :])
            if parent is not None:
                is_repeated |= rows == np.expand_dims(parent, axis)
        too_small += int(np.sum(is_known & (rows > 0) & ~is_large))
        repeated += int(np.sum(is_large & is_repeated))
        code = np.flatnonzero(is_large & ~is_repeated)
        members.append(
            (np.full(code.size, index), code, rows.ravel()[code], selected.ravel()[code])
        )
    combination, codes, n, x = (np.concatenate(column) for column in zip(*members, strict=True))
    return Search(
        combination=combination,
        code=codes,
        n=n,
        selected=x,
        too_small=too_small,
        repeated=repeated,
    )


def memberships(
    cells: Cells, sets: Sequence[tuple[str, ...]], search: Search
) -> tuple[IntArray, csr_array]:
    """Return the rows of each cell, whatever their outcome, and which subgroups it belongs to."""
    (columns,) = cells.tables
    counts = cells.tables[columns]
    shape = tuple(len(counts.values[column]) + 1 for column in columns)
    axes = np.stack(
        [counts.codes[column] % size for column, size in zip(columns, shape, strict=True)]
    )
    combined, cell = np.unique(axes, axis=1, return_inverse=True)
    cell_rows = np.bincount(cell.ravel(), weights=counts.rows).astype(np.int64)
    subgroup_of: list[IntArray] = []
    member_cells: list[IntArray] = []
    for index, chosen in enumerate(sets):
        axis_indices = [columns.index(column) for column in chosen]
        sizes = tuple(shape[axis] for axis in axis_indices)
        code = np.ravel_multi_index(tuple(combined[axis_indices]), sizes)
        searched = np.flatnonzero(search.combination == index)
        number = np.full(int(np.prod(sizes)), MISSING)
        number[search.code[searched]] = searched
        is_member = number[code] != MISSING
        subgroup_of.append(number[code][is_member])
        member_cells.append(np.flatnonzero(is_member))
    rows, members = np.concatenate(subgroup_of), np.concatenate(member_cells)
    ones: FloatArray = np.ones(rows.size)
    membership = csr_array(
        (ones.astype(np.int64), (rows, members)), shape=(search.n.size, cell_rows.size)
    )
    return cell_rows, membership


def search_notes(result: Subgroups, cells: Cells) -> Iterator[str]:
    """Yield what a reader must know about the search."""
    for column, edges in result.cuts.items():
        yield (
            f"{column} is cut at {', '.join(number_text(edge) for edge in edges)}: quantiles of "
            f"all rows, chosen without looking at the outcome; bands={{{column!r}: [...]}} names "
            "other cuts"
        )
    if result.outcome_missing:
        yield f"{rows_have(result.outcome_missing)} no {result.outcome} and could not be counted"
    for column in (*result.protected, *result.columns):
        rows_of, _ = cells.of((column,))
        missing = int(rows_of[-1])
        if missing:
            yield (
                f"{rows_have(missing)} no known {column}: in no subgroup of this column, and among "
                "the others of each"
            )
    if result.adjusted_by == "bonferroni":
        yield (
            "there are too many combinations of values, or rows, to permute the outcome, so p is "
            "Fisher's one-sided p-value times the number of subgroups (Bonferroni); with fewer "
            "columns it would be smaller"
        )
