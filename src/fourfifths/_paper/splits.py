"""Single splits, as the paper shows them, beside all splits together.

The paper has one split of each data set. Here Ricci and German are split many times, and a point of
a sweep is over all of them; the cells that the sweep keeps have what was counted in each.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

import numpy as np

from fourfifths._paper.experiments import AUDITORS, Settings, experiments
from fourfifths._paper.panels import Curves, Row, point_rows
from fourfifths._stats.balanced_error import Errors
from fourfifths._tradeoff.points import figures
from fourfifths._tradeoff.store import Record


def rows_with_splits(curves: Curves, settings: Settings) -> list[Row]:
    """Return the points of the sweeps, then those of their single splits."""
    rows = point_rows(curves)
    empty = dict.fromkeys(rows[0], float("nan"))
    sweeps = experiments()
    for name, curve in curves.items():
        if curve.repeats > 1:
            # The first line says which sweep it is.
            lines = settings.cells_of(name).read_text(encoding="utf-8").splitlines()[1:]
            records = cast("list[Record]", [json.loads(line) for line in lines])
            reference = sweeps[name].data().reference
            rows += [empty | row for row in split_rows(name, records, reference=reference)]
    return rows


def split_rows(name: str, records: Sequence[Record], *, reference: int) -> list[Row]:
    """Return a row for each cell of a sweep, with the figures of its split alone.

    Parameters
    ----------
    name : str
        The sweep.
    records : sequence of Record
    reference : int
        The code of the reference group.
    """
    rows: list[Row] = []
    for record in sorted(records, key=lambda cell: (cell["model"], cell["method"], cell["repeat"])):
        row: Row = {"sweep": name, "repeats": 1, "split": record["repeat"]}
        row |= {"model": record["model"], "scope": record["scope"]}
        row |= {"method": record["method"], "amount": record["amount"]}
        counted = figures(np.array(record["counts"]), reference)
        row |= {figure: float(value) for figure, value in counted.items()}
        for auditor in AUDITORS:
            if auditor in record["auditor"]:
                wrong, n, wrong_reference, n_reference = record["auditor"][auditor]
                errors = Errors(
                    wrong=wrong, n=n, wrong_reference=wrong_reference, n_reference=n_reference
                )
                row[f"BER {auditor}"] = errors.balanced_error_rate
        rows.append(row)
    return rows
