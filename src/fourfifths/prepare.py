"""The protected columns made ready: unknown values missing, numbers cut into bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from fourfifths.counts import Counts, count
from fourfifths.errors import GroupError
from fourfifths.strata import find_value
from fourfifths.table import Table, Value, with_bands, with_missing

Labels = Mapping[str, Mapping[int, str]]


def prepare_groups(
    table: Table,
    protected: Sequence[str],
    bands: Mapping[str, Sequence[float]],
    unknown: Sequence[Value],
) -> tuple[Table, Labels]:
    """Return the table with its protected columns ready, and the labels of the bands."""
    labels = {}
    not_known = _unknown_values(table, protected, unknown)
    for column in protected:
        table = with_missing(table, column, not_known[column])
        if column in bands:
            table, labels[column] = with_bands(table, column, bands[column])
    return table, labels


def name_bands(counts: Counts, labels: Labels) -> Counts:
    """Put the labels of bands in the place of their numbers."""
    named = {
        column: tuple(labels[column][int(code)] for code in values) if column in labels else values
        for column, values in counts.values.items()
    }
    return replace(counts, values=named)


def _unknown_values(
    table: Table, protected: Sequence[str], unknown: Sequence[Value]
) -> dict[str, list[Value]]:
    """Return, for each protected column, which of its values mean that membership is not known."""
    counted = count(table, protected).values if unknown else {}
    found: dict[str, list[Value]] = {column: [] for column in protected}
    for token in unknown:
        for column, values in counted.items():
            # A token may belong to some of the columns only.
            with suppress(GroupError):
                found[column].append(find_value(token, values, ""))
    return found
