"""One row's repair, with its reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.model import Column, Model, Placed, everyone
from fourfifths._repair.ordered import Method, OrderedColumn
from fourfifths._repair.random import Draws
from fourfifths._results import Record, Result, plain
from fourfifths._tables.strata import Strata
from fourfifths._tables.types import Typed
from fourfifths.errors import TableError


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One value, and what became of it.

    Attributes
    ----------
    column : str
    value : Any
    rank : float
        In its stratum, from 0 to 1; of equals, the middle. NaN for categories without order.
    level : float
        The rank that it gets, from 0 to 1: under joint repair not quite its own.
    consensus : Any
        What full repair writes at that level.
    repaired : Any
    """

    column: str
    value: Any
    rank: float
    level: float
    consensus: Any
    repaired: Any


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(Result):
    """What a repair did to one row, and why.

    Attributes
    ----------
    stratum : str or None
        None where the row's stratum was not fitted, and the row was kept.
    profile : int or None
        Under joint repair, the profile that the row belongs to.
    because : str
    cells : tuple of Cell
    """

    stratum: str | None
    profile: int | None
    because: str
    cells: tuple[Cell, ...]

    def to_records(self) -> list[Record]:
        """Return one record per value that was looked at."""
        return [plain(cell) for cell in self.cells]

    def __str__(self) -> str:
        lines = [f"stratum {self.stratum}: {self.because}"]
        for cell in self.cells:
            at = "" if math.isnan(cell.rank) else f" (rank {cell.rank:.3f}, level {cell.level:.3f})"
            lines.append(
                f"{cell.column}: {cell.value}{at}, consensus {cell.consensus}: {cell.repaired}"
            )
        return "\n".join(lines)


def explain_row(
    model: Model,
    strata: Strata,
    typed: Sequence[Typed],
    values: Sequence[FloatArray],
    codes: CodeArray,
    method: Method,
    amount: float,
    draws: Draws,
) -> Explanation:
    """Repair a single row and keep the steps."""
    if codes.size != 1:
        raise TableError(f"row: {codes.size} rows; expected one")
    stratum = int(codes[0])
    if stratum < 0:
        return Explanation(
            stratum=None,
            profile=None,
            because="its stratum was not fitted, and the row is kept",
            cells=(),
        )
    random = draws.generator()
    touched = amount > 0 and (method != "random" or random.random() < amount)
    cells, profile = [], None
    for own in model.placed(values, everyone(codes), random):
        profile = own.profile
        column, after = model.columns[own.column], own.values
        if touched and after.size:
            after = column.write(after, own.level, method, amount, random)
        cells.append(_cell(column, typed[own.column], own, after, stratum, method))
    return Explanation(
        stratum=strata.labels[stratum],
        profile=None if profile is None else int(profile[0]),
        because=_because(method, amount, touched=touched),
        cells=tuple(cells),
    )


def _cell(
    column: Column,
    typed: Typed,
    own: Placed,
    after: FloatArray,
    stratum: int,
    method: Method,
) -> Cell:
    if not own.values.size:
        return Cell(
            column=str(typed.name),
            value=None,
            rank=float("nan"),
            level=float("nan"),
            consensus=None,
            repaired=None,
        )
    rank, target = float("nan"), column.full
    if isinstance(column, OrderedColumn):
        if method == "geometric" and typed.kind != "ordered":
            target = column.consensus
        rank = float(column.strata[stratum].at_ranks(own.values, None)[0])
    return Cell(
        column=str(typed.name),
        value=_shown(typed, own.values[0]),
        rank=rank,
        level=float(own.level[0] + 0.5) / column.levels
        if isinstance(column, OrderedColumn)
        else rank,
        consensus=_shown(typed, target[own.level[0]]),
        repaired=_shown(typed, after[0]),
    )


def _shown(typed: Typed, number: float) -> Any:
    """Return a value as it stands in the table."""
    if typed.categories:
        return typed.categories[int(number)]
    return int(number) if float(number).is_integer() and typed.kind == "integer" else float(number)


def _because(method: Method, amount: float, *, touched: bool) -> str:
    if amount == 0:
        return "the amount is 0: nothing is changed"
    if not touched:
        return f"random repair, amount {amount:g}: the coin left the row as it is"
    if amount == 1 and method == "combinatorial":
        return "full repair: each value becomes the one that occurs nearest to the consensus"
    if amount == 1:
        return "full repair: each value becomes the consensus of its level"
    if method == "random":
        return f"random repair, amount {amount:g}: the coin chose the row, repaired in full"
    way = "values that occur" if method == "combinatorial" else "the number line"
    return f"{method} repair: {amount:g} of the way to the consensus, along {way}"
