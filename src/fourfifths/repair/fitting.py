"""From values and strata to a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fourfifths.counts import CodeArray, FloatArray
from fourfifths.draws import Draws
from fourfifths.errors import ColumnError
from fourfifths.ordering import in_order
from fourfifths.repair.categories import fit_categories
from fourfifths.repair.columns import Ties, fit_ordered
from fourfifths.repair.inputs import Input
from fourfifths.repair.kinds import Asked, Typed, check_exact, checked, type_of
from fourfifths.repair.model import Column, Model, Scope, fit_model
from fourfifths.repair.stratification import LEAST, Strata


def fit_columns(
    given: Input,
    typed: tuple[Typed, ...],
    strata: Strata,
    codes: CodeArray,
    scope: Scope,
    ties: Ties,
    levels: int,
    draws: Draws,
) -> Model:
    """Fit each column in its strata."""
    values = given.numbers(typed)
    order = np.argsort(codes, kind="stable")
    if order.size < np.iinfo(np.int32).max:
        order = order.astype(np.int32)  # half the memory
    known = order[order.size - sum(strata.rows) :]
    fits = [
        partial(_fit, each, own, codes, known, strata, levels)
        for each, own in zip(typed, values, strict=True)
    ]
    return fit_model(fits, values, codes, scope, ties, draws)


def typed_columns(given: Input, asked: Mapping[Any, Asked]) -> tuple[Typed, ...]:
    """Return what kind of column each is that is to be repaired."""
    typed = tuple(_typed(given, name, kind) for name, kind in asked.items())
    if not typed:
        raise ColumnError("columns: there is no column to repair but the stratifying ones")
    return typed


def _typed(given: Input, name: Any, asked: Asked) -> Typed:
    if given.frame is not None:
        return type_of(given.frame[name], asked)
    if asked not in (None, "number"):
        raise ColumnError(f"columns: {name!r} as {asked!r}: an array holds numbers only")
    whole = given.array is not None and given.array.dtype.kind in "iub"
    return Typed(name, "integer" if whole else "number")


def _fit(
    typed: Typed,
    values: FloatArray,
    codes: CodeArray,
    rows: NDArray[Any],
    strata: Strata,
    levels: int,
) -> Column:
    """Fit one column from the sorted values of each stratum."""
    ordered = []
    for own in in_order(values, codes, rows, strata.rows):
        present = own[: np.searchsorted(own, np.nan)]  # missing sorts last
        if present.size and np.isinf(present[[0, -1]]).any():
            checked(values, typed)
        ordered.append(present)
    _check_sizes(typed, [own.size for own in ordered], strata)
    if typed.kind == "category":
        number = len(typed.categories)
        counts = [np.bincount(own.astype(np.int64), minlength=number) for own in ordered]
        return fit_categories(typed.name, typed.categories, counts)
    if typed.kind == "integer":
        check_exact(typed, max(abs(own[place]) for own in ordered for place in (0, -1)))
    return fit_ordered(typed.name, typed.kind, typed.categories, ordered, levels)


def _check_sizes(typed: Typed, sizes: Sequence[int], strata: Strata) -> None:
    few = [place for place, size in enumerate(sizes) if size < LEAST]
    if few:
        lacking = ", ".join(f"{strata.labels[place]!r} has {sizes[place]}" for place in few)
        raise ColumnError(
            f"column {typed.name!r}: fewer than {LEAST} values that are not missing in a stratum: "
            f"{lacking}; leave the column out, or make coarser strata"
        )
