"""Count once, compare several times: what the analyses of stages and of cuts have in common.

The rows are counted as they are, and what is missing is sorted out among the distinct values: that
is as fast as the query that one would write by hand. For each comparison the cells of the counts
get an outcome. So every comparison of an analysis is one that `impact` makes, with its rule, its
tests and its notes.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from fourfifths._arrays import IntArray
from fourfifths._impact.impact import measure
from fourfifths._impact.result import Impact
from fourfifths._impact.rules import Rule
from fourfifths._tables.bands import with_bands
from fourfifths._tables.counts import MAX_CELLS, Counts, WeightKind, count
from fourfifths._tables.groups import Roles, as_meant, protected_columns
from fourfifths._tables.table import Table
from fourfifths._tables.values import spellings_of
from fourfifths.errors import ColumnError, WeightsError

# The codes of an outcome that an analysis has worked out for each cell.
NOT_SELECTED_CODE, SELECTED_CODE = 0, 1


def check_persons(
    table: Table, persons: str | None, *, protected: str | Sequence[str] | None
) -> None:
    """Raise if the column of numbers of persons does not exist, or is protected."""
    if persons is None:
        return
    if table.column(persons, "persons") in protected_columns(table, protected):
        raise ColumnError(f"persons={persons!r}: is protected, too; the same column cannot be both")


def count_persons(
    table: Table,
    keys: Sequence[str],
    *,
    roles: Roles,
    opened: Table | None = None,
    weights_are: WeightKind = "counts",
    max_cells: int = MAX_CELLS,
) -> Counts:
    """Count the persons of each combination of protected and further columns, in one pass.

    The values of the protected columns are as people mean them, those of the others as written.

    Parameters
    ----------
    table : Table
    keys : sequence of str
        The further columns.
    roles : Roles
    opened : Table, optional
        The table as it was opened, if further columns have been made numbers since.
    weights_are : {"counts", "sampling"}
        What the weights of the roles are, if there are any: numbers of persons by default.
    max_cells : int
        More combinations than these are an error.
    """
    by_rows = [*roles.bands, *([roles.weights] if roles.weights else [])]
    opened = opened or table
    table = with_bands(table.with_missing(by_rows, roles.unknown), roles.bands)
    if roles.weights:
        table = table.with_numbers(
            roles.weights, "persons" if weights_are == "counts" else "weights"
        )
    keys = [*roles.protected, *keys]
    if weights_are == "sampling":
        counts = count(
            table, keys, weights=roles.weights, weights_are="sampling", max_cells=max_cells
        )
    else:
        counts = count_whole_persons(table, keys, persons=roles.weights, max_cells=max_cells)
    return as_meant(counts, roles, opened)


def count_whole_persons(
    table: Table,
    keys: Sequence[str],
    *,
    persons: str | None,
    max_cells: int = MAX_CELLS,
) -> Counts:
    """Count, where a column may say how many persons a row stands for, and nothing else.

    Parameters
    ----------
    table : Table
    keys : sequence of str
    persons : str or None
        The column, of numbers.
    max_cells : int
    """
    try:
        return count(table, keys, weights=persons, weights_are="counts", max_cells=max_cells)
    except WeightsError as error:
        if persons is None:
            raise
        raise WeightsError(
            f"persons={persons!r}: expected a whole number of persons, 0 or more, in each "
            "row, and not 0 in all; correct the column, or leave it out if a row is one person"
        ) from error


def with_meant_values(counts: Counts, keys: Sequence[str], *, roles: Roles, table: Table) -> Counts:
    """Return the counts with the values of further columns as people mean them, too.

    As `as_meant` does it for the protected columns: spellings of one value are one, and what means
    "not known" is missing.
    """
    for key in keys:
        spellings = spellings_of(
            key,
            counts.rows_of(key),
            role="outcome",
            unknown=roles.unknown,
            reading=table.reading,
        )
        counts = counts.respelled(key, spellings)
    return counts


def counted_impact(
    counts: Counts,
    outcome: IntArray,
    *,
    names: tuple[str, str, str],
    table: Table,
    roles: Roles,
    rule: Rule,
    confidence: float,
) -> Impact:
    """Return the impact of an outcome that is known for each cell of the counts.

    Parameters
    ----------
    counts : Counts
    outcome : int array
        `SELECTED_CODE`, `NOT_SELECTED_CODE` or `MISSING`, for each cell.
    names : tuple of str
        The outcome, what selected is called, and what not selected is called.
    table : Table
        Where the counts come from.
    roles : Roles
        Their protected columns and references.
    rule : Rule
    confidence : float
    """
    title, selected, not_selected = names
    outcome_column = free_name(title, roles.protected)
    cells = replace(
        counts,
        values={column: counts.values[column] for column in roles.protected}
        | {outcome_column: (not_selected, selected)},
        codes={column: counts.codes[column] for column in roles.protected}
        | {outcome_column: outcome},
        notes=(),  # those of the whole analysis
    ).take(counts.rows > 0)
    result = measure(
        cells,
        favorable=(selected,),
        table=table.name,
        roles=replace(roles, outcome=outcome_column),
        rule=rule,
        weights_are="counts",  # the analysis says itself what its weights are
        confidence=confidence,
    )
    return result if counts.exact else replace(result, weights_are="sampling")


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name for a new column; a stage may have the name of a protected column.

    Examples
    --------
    >>> free_name("hired", ["sex"]), free_name("sex", ["sex"])
    ('hired', 'sex (outcome)')
    """
    while name in taken:
        name += " (outcome)"
    return name


def merged_notes(notes_of: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the notes of several comparisons: common ones once, the others with their titles.

    Examples
    --------
    >>> merged_notes({"offered": ["a", "b"], "hired": ["a", "c"]})
    ('a', 'offered: b', 'hired: c')
    """
    everything = [note for notes in notes_of.values() for note in notes]
    shared = dict.fromkeys(note for note in everything if everything.count(note) > 1)
    return (
        *shared,
        *(
            f"{title}: {note}"
            for title, notes in notes_of.items()
            for note in notes
            if note not in shared
        ),
    )
