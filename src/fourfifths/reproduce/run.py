"""`fourfifths reproduce`: figures, tables and a report, claim by claim."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import fourfifths
from fourfifths.errors import OutputError
from fourfifths.files import replace_file, write_whole
from fourfifths.reproduce import panels
from fourfifths.reproduce.claims import claims
from fourfifths.reproduce.compare import comparison_rows
from fourfifths.reproduce.experiments import Settings, experiments, find
from fourfifths.reproduce.others import missing
from fourfifths.reproduce.panels import Curves, Panel, Row
from fourfifths.reproduce.sat import draw_sat, sat_rows
from fourfifths.reproduce.verdicts import Claim

AMOUNTS = tuple(round(0.1 * step, 1) for step in range(11))
QUICK_AMOUNTS = (0.0, 0.5, 1.0)
REPEATS, QUICK_REPEATS = 20, 2
QUICK_CAUTION = (
    "The quick form: with so few amounts and splits, verdicts on Ricci and German are mostly "
    "chance."
)
COMPARISON = "comparison"
PAPER_SETS = ("ricci", "german", "adult")
BEYOND_SETS = tuple(f"{name}-{scope}" for name in PAPER_SETS for scope in ("column", "joint"))
PANELS: Mapping[str, Panel] = {
    "sat": Panel(
        "The two Gaussians of the SAT figure, and their repair",
        (),
        sat_rows,
        draw_sat,
    ),
    "predictability": Panel(
        "Predictability of the protected attribute against the impact ratio of the class",
        PAPER_SETS,
        panels.point_rows,
        panels.predictability,
    ),
    "utility": Panel(
        "Impact ratio against utility",
        (*PAPER_SETS, "german-raw-age"),
        panels.point_rows,
        panels.utility,
    ),
    "several": Panel(
        "Adult by sex, by race, by both",
        ("adult", "adult-race", "adult-both"),
        panels.point_rows,
        panels.several,
    ),
    COMPARISON: Panel(
        "Parity against accuracy, beside other methods",
        ("adult",),
        comparison_rows,
        panels.comparison,
    ),
    "beyond-trees": Panel(
        "Predictability by gradient-boosted trees",
        PAPER_SETS,
        panels.point_rows,
        panels.draw_trees,
    ),
    "beyond-amounts": Panel(
        "What trees find in Adult, by method, scope and amount",
        ("adult", "adult-column", "adult-joint"),
        panels.point_rows,
        panels.by_amount,
    ),
    "beyond-joint": Panel(
        "Joint and random repair, predictability by trees",
        BEYOND_SETS,
        panels.point_rows,
        panels.draw_trees,
    ),
}


@dataclass(frozen=True)
class Reproduction:
    """What was reproduced.

    Attributes
    ----------
    claims : tuple of Claim
    figures : tuple of str
    folder : Path
    """

    claims: tuple[Claim, ...]
    figures: tuple[str, ...]
    folder: Path


def reproduce(
    out: str | Path,
    *,
    only: Sequence[str] = (),
    quick: bool = False,
    n_jobs: int = -1,
) -> Reproduction:
    """Rerun the paper's experiments and write figures, tables and a report.

    Parameters
    ----------
    out : path
        A folder; finished cells are kept in it, so that a run that was stopped goes on.
    only : sequence of str
        Which figures; all by default.
    quick : bool
        Three amounts and few splits.
    n_jobs : int
        Processes; the numbers do not depend on it.
    """
    names = [find(name, PANELS) for name in only] or list(PANELS)
    folder = _folder(Path(out))
    settings = Settings(
        QUICK_AMOUNTS if quick else AMOUNTS,
        QUICK_REPEATS if quick else REPEATS,
        n_jobs,
        folder / "cells",
    )
    known = experiments()
    needed = dict.fromkeys(sweep for name in names for sweep in PANELS[name].needs)
    curves = {name: known[name].run(name, settings) for name in needed}
    shown: dict[str, list[Row]] = {}
    for name in names:
        panel = PANELS[name]
        make = partial(comparison_rows, seeds=1) if quick and name == COMPARISON else panel.rows
        shown[name] = make({sweep: curves[sweep] for sweep in panel.needs})
        _write(folder, name, panel, shown[name])
    found = tuple(claims(curves, shown.get(COMPARISON)))
    write_whole(folder / "REPORT.md", _report(found, names, settings, curves))
    return Reproduction(found, tuple(names), folder)


def _folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"--out {folder}: cannot be written: {error.strerror}") from error
    return folder


def _write(folder: Path, name: str, panel: Panel, rows: Sequence[Row]) -> None:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(folder / f"{name}.csv", stream.getvalue())
    figure = panel.draw(rows)
    for ending in ("png", "svg"):
        save = partial(figure.savefig, format=ending, dpi=200, metadata=_undated(ending))
        replace_file(folder / f"{name}.{ending}", save)


def _undated(ending: str) -> dict[str, None]:
    """Return metadata without a date, so that the same run gives the same file."""
    return {"Date": None} if ending == "svg" else {}


def _report(
    found: Sequence[Claim], names: Sequence[str], settings: Settings, curves: Curves
) -> str:
    lines = [
        "# Feldman et al. (2015), rerun",
        "",
        f"fourfifths {fourfifths.__version__}; amounts "
        f"{', '.join(f'{amount:g}' for amount in settings.amounts)}; Adult's own split; "
        f"{settings.repeats} random splits of Ricci and German, two thirds for training. C of LR "
        "and SVM by three-fold cross-validation on BER over 13 values (but those too large to "
        "converge), on at most 5,000 training rows. Every figure is of test rows.",
        *(("", QUICK_CAUTION) if settings.amounts == QUICK_AMOUNTS else ()),
        "",
        "| claim | measured | verdict | why |",
        "| --- | --- | --- | --- |",
    ]
    lines += [f"| {c.claim} | {c.measured} | **{c.verdict}** | {c.why} |" for c in found]
    for name in names:
        lines += ["", f"## {PANELS[name].title}", "", f"![{PANELS[name].title}]({name}.png)", ""]
        lines += [f"Points: [{name}.csv]({name}.csv). {_spread(name, curves)}".rstrip()]
    if COMPARISON in names and missing():
        gone = ", ".join(missing())
        lines += ["", f"Not installed, so not compared with: {gone} (`pip install .[compare]`)."]
    return "\n".join([*lines, ""])


def _spread(name: str, curves: Curves) -> str:
    repeated = [sweep for sweep in PANELS[name].needs if curves[sweep].repeats > 1]
    if not repeated:
        return ""
    return (
        f"Of {', '.join(repeated)}, points are of all splits together (AUC and BERs: the mean); "
        "_low and _high hold 95% of the splits. Of Adult they are bootstrap limits over test rows."
    )
