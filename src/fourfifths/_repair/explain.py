"""The repair of one row, with its reasons: value, rank, level, consensus, repaired value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._repair.block_model import BlockModel
from fourfifths._repair.blocks import CutTree, cells_of
from fourfifths._repair.columns.model import Model, PlacedValues, members_of, repaired_members
from fourfifths._repair.columns.ordered import Method, OrderedColumn
from fourfifths._repair.draws import RowDraws
from fourfifths._results import Record, Result, plain
from fourfifths._tables.load import RecordOutput
from fourfifths._tables.strata import Strata
from fourfifths._tables.types import EPOCH, ColumnType
from fourfifths.errors import TableError

NAN = float("nan")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One value, and what the repair made of it.

    Attributes
    ----------
    column : str
    value : Any
    rank : float
        The rank in its stratum, from 0 to 1; for tied values, the middle of their ranks. NaN for
        categories without order.
    level : float
        The rank that it gets, from 0 to 1; of tied values, each gets one of their ranks by draw.
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
        None if the row's stratum was not fitted, and the row was left unchanged.
    because : str
    cells : tuple of Cell
    block : int or None
        Of a repair by blocks: the block that the row was written as, counted from 1.
    scores : tuple of float
        What the guide says of the row.
    cuts : tuple of float
        Of a single score: the cuts of the row's group below and above it; NaN where there is none.
        Empty if there are several scores, which are cut one after the other.
    """

    stratum: str | None
    because: str
    cells: tuple[Cell, ...]
    block: int | None = None
    scores: tuple[float, ...] = ()
    cuts: tuple[float, ...] = ()

    def to_records(self) -> list[Record]:
        """Return one record per value that was looked at."""
        return [plain(cell) for cell in self.cells]

    def __str__(self) -> str:
        lines = [f"stratum {self.stratum}: {self.because}"]
        if self.cuts:
            lines.append(f"score {self.scores[0]:.6g}, {between(self.cuts)}")
        for cell in self.cells:
            if self.block is not None:
                lines.append(f"{cell.column}: {cell.value} -> {cell.repaired}")
                continue
            ranks = f" (rank {cell.rank:.3f}, level {cell.level:.3f})"
            lines.append(
                f"{cell.column}: {cell.value}{'' if math.isnan(cell.rank) else ranks}, consensus "
                f"{cell.consensus}: {cell.repaired}"
            )
        return "\n".join(lines)


def explain_row(
    model: Model,
    before: Sequence[FloatArray],
    after: Sequence[FloatArray],
    *,
    strata: Strata,
    column_types: Sequence[ColumnType],
    codes: CodeArray,
    method: Method,
    amount: float,
    draws: RowDraws | None,
) -> Explanation:
    """Find the steps that led from the values of a single row to what was written for it.

    Parameters
    ----------
    model : Model
    before, after : sequence of float array
        The value of each column, and what the repair wrote.
    strata : Strata
    column_types : sequence of ColumnType
        The columns that are repaired.
    codes : int array
        The stratum of the row; -1 if it has none.
    method, amount
        As in `Repairer`.
    draws : RowDraws or None
        As in `Model.apply`.
    """
    if codes.size != 1:
        raise TableError(f"row: {codes.size} rows; expected one")
    stratum = int(codes[0])
    if stratum < 0:
        return not_fitted()
    members = members_of(codes)
    drawn = repaired_members(members, method=method, amount=amount, draws=draws)
    cells = tuple(
        explain_cell(
            model,
            model.place(values, members, column_index=index, draws=draws),
            column_type=column_types[index],
            repaired=after[index],
            stratum=stratum,
            method=method,
        )
        for index, values in enumerate(before)
    )
    return Explanation(
        stratum=strata.labels[stratum],
        because=reason(method, amount, is_repaired=bool(drawn.strata.size)),
        cells=cells,
    )


def explain_block(
    model: BlockModel,
    before: Sequence[FloatArray],
    *,
    scores: FloatArray,
    output: RecordOutput,
    strata: Strata,
    codes: CodeArray,
    draws: RowDraws,
    amount: float,
) -> Explanation:
    """Say where a single row stands in its stratum, and what was written for it.

    Parameters
    ----------
    model : BlockModel
    before : sequence of float array
        The value of each repaired column.
    scores : float array, rows by scores
    output : RecordOutput
        What the repair wrote.
    strata : Strata
    codes : int array
        The stratum of the row; -1 if it has none.
    draws : RowDraws
    amount : float
        As in `Repairer`.
    """
    if codes.size != 1:
        raise TableError(f"row: {codes.size} rows; expected one")
    stratum, record = int(codes[0]), int(output.index[0])
    if stratum < 0:
        return not_fitted()
    blocks = model.blocks
    tree = blocks.tree
    cell = int(cells_of(tree, blocks.cuts, scores=scores, codes=codes, draws=draws)[0])
    low = tree.first[cell] / tree.block_count
    high = (tree.first[cell] + tree.leaves[cell]) / tree.block_count
    sides = [("higher", low), ("lower", 1 - high)]
    comparisons = " and ".join(f"{side} than {share:.0%}" for side, share in sides if share > 0)
    standing = f"in its group this row scores {comparisons}"
    if not comparisons:
        standing = "this row is in a group that is not cut"
    cuts: tuple[float, ...] = ()
    if scores.shape[1] == 1:
        cuts = around(tree, blocks.cuts.score[stratum], cell)
    if scores.shape[1] > 1:
        standing = f"by its {scores.shape[1]} scores this row is in part {low:.0%} to {high:.0%}"
    if record < 0:
        done = (
            f"a share {amount:g} of the rows is repaired: the row was not drawn, and is unchanged"
        )
        if amount == 0:
            done = "the amount is 0, so nothing is changed"
        block, written = None, [NAN] * len(before)
    else:
        block = record // blocks.variety
        done = f"it was written as a typical row from that place, block {block + 1} of "
        done += f"{tree.block_count}"
        if tree.leaves[cell] > 1:
            done += f" (drawn from {tree.leaves[cell]} blocks, because its group has few rows)"
        written = list(output.records[record])
    cells = []
    for column_type, values, number in zip(output.column_types, before, written, strict=True):
        value = as_in_table(column_type, values[0])
        repaired = value if record < 0 else as_in_table(column_type, number)
        cells.append(
            Cell(
                column=str(column_type.name),
                value=value,
                rank=NAN,
                level=NAN,
                consensus=repaired,
                repaired=repaired,
            )
        )
    return Explanation(
        stratum=strata.labels[stratum],
        because=f"{standing}; {done}",
        cells=tuple(cells),
        block=None if block is None else int(block) + 1,
        scores=tuple(float(score) for score in scores[0]),
        cuts=cuts,
    )


def around(tree: CutTree, cuts: FloatArray, cell: int) -> tuple[float, float]:
    """Return the cuts of a stratum below and above a cell of its single score; NaN for none.

    Parameters
    ----------
    tree : CutTree
    cuts : float array
        The score at the cut of each node.
    cell : int
        The node at which the row stops.
    """
    below, above, node = NAN, NAN, 0
    while node != cell:
        is_right = bool(tree.first[cell] >= tree.first[tree.right[node]])
        below, above = (float(cuts[node]), above) if is_right else (below, float(cuts[node]))
        node = int(tree.right[node] if is_right else tree.left[node])
    return below, above


def between(cuts: tuple[float, ...]) -> str:
    """Return in words where a score lies among the cuts of its group.

    Examples
    --------
    >>> between((0.25, 0.5)), between((NAN, 0.5)), between((0.25, NAN)), between((NAN, NAN))
    ('between the cuts 0.25 and 0.5', 'up to the cut 0.5', 'from the cut 0.25 on', 'without a cut')
    """
    below, above = cuts
    if math.isnan(below):
        return "without a cut" if math.isnan(above) else f"up to the cut {above:.6g}"
    if math.isnan(above):
        return f"from the cut {below:.6g} on"
    return f"between the cuts {below:.6g} and {above:.6g}"


def as_in_table(column_type: ColumnType, number: float) -> Any:
    """Return a number in the words of the table: a category, a date, a whole number."""
    if np.isnan(number):
        return None
    if column_type.categories:
        return column_type.categories[int(number)]
    if column_type.kind == "date":
        return (EPOCH + timedelta(microseconds=int(number))).isoformat(sep=" ")
    # Geometric repair writes fractions to columns of whole numbers.
    is_integer = column_type.kind == "integer" and float(number).is_integer()
    return int(number) if is_integer else float(number)


def not_fitted() -> Explanation:
    """Return the explanation of a row whose stratum was not fitted."""
    return Explanation(
        stratum=None,
        because="its stratum was not fitted, and the row is left unchanged",
        cells=(),
    )


def explain_cell(
    model: Model,
    placed: PlacedValues,
    *,
    column_type: ColumnType,
    repaired: FloatArray,
    stratum: int,
    method: Method,
) -> Cell:
    """Return one value with the steps of its repair, in the words of the table.

    Parameters
    ----------
    model : Model
    placed : PlacedValues
        The value with its level; empty if the value is missing.
    column_type : ColumnType
    repaired : float array
        What the repair wrote, as a number.
    stratum : int
    method
        As in `Repairer`.
    """
    name = str(column_type.name)
    if not placed.values.size:
        return Cell(column=name, value=None, rank=NAN, level=NAN, consensus=None, repaired=None)

    column = model.columns[placed.column]
    rank, level, target = NAN, NAN, column.full
    if isinstance(column, OrderedColumn):
        if method == "geometric" and column_type.kind != "ordered":
            target = column.consensus
        rank = float(column.strata[stratum].ranks_of(placed.values)[0])
        level = float(placed.level[0] + 0.5) / column.levels
    return Cell(
        column=name,
        value=as_in_table(column_type, placed.values[0]),
        rank=rank,
        level=level,
        consensus=as_in_table(column_type, target[placed.level[0]]),
        repaired=as_in_table(column_type, repaired[0]),
    )


def reason(method: Method, amount: float, *, is_repaired: bool) -> str:
    """Return the sentence that says what was done to a row, or why nothing was."""
    if amount == 0:
        return "the amount is 0, so nothing is changed"
    if not is_repaired:
        return f"random repair, amount {amount:g}: the row was not drawn, and is left unchanged"
    if method == "definition":
        return (
            f"combinatorial repair by the paper's definition, amount {amount:g}: each value "
            "becomes what one of the strata has at its level"
        )
    if amount == 1 and method == "combinatorial":
        return "full repair: each value becomes the column's value nearest to the consensus"
    if amount == 1:
        return "full repair: each value becomes the consensus of its level"
    if method == "random":
        return f"random repair, amount {amount:g}: the row was drawn, and is repaired in full"
    scale = "the column's values" if method == "combinatorial" else "the number line"
    return f"{method} repair: {amount:g} of the way to the consensus, along {scale}"
