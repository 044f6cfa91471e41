"""`fourfifths reproduce`: figures, tables and a report, claim by claim."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import fourfifths
from fourfifths._paper import panels
from fourfifths._paper.claims import claims
from fourfifths._paper.compare import comparison_rows
from fourfifths._paper.experiments import Settings, experiments, find
from fourfifths._paper.others import missing
from fourfifths._paper.panels import Curves, Panel, Row
from fourfifths._paper.sat import draw_sat, sat_rows
from fourfifths._paper.verdicts import Claim
from fourfifths._tables.files import replace_file, write_whole
from fourfifths.errors import OutputError

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
        title="The two Gaussians of the SAT figure, and their repair",
        needs=(),
        rows=sat_rows,
        draw=draw_sat,
    ),
    "predictability": Panel(
        title="Predictability of the protected attribute against the impact ratio of the class",
        needs=PAPER_SETS,
        rows=panels.point_rows,
        draw=panels.predictability,
    ),
    "utility": Panel(
        title="Impact ratio against utility",
        needs=(*PAPER_SETS, "german-raw-age"),
        rows=panels.point_rows,
        draw=panels.utility,
    ),
    "several": Panel(
        title="Adult by sex, by race, by both",
        needs=("adult", "adult-race", "adult-both"),
        rows=panels.point_rows,
        draw=panels.several,
    ),
    COMPARISON: Panel(
        title="Parity against accuracy, beside other methods",
        needs=("adult",),
        rows=comparison_rows,
        draw=panels.comparison,
    ),
    "beyond-trees": Panel(
        title="Predictability by gradient-boosted trees",
        needs=PAPER_SETS,
        rows=panels.point_rows,
        draw=panels.draw_trees,
    ),
    "beyond-amounts": Panel(
        title="What trees find in Adult, by method, scope and amount",
        needs=("adult", "adult-column", "adult-joint"),
        rows=panels.point_rows,
        draw=panels.by_amount,
    ),
    "beyond-joint": Panel(
        title="Joint and random repair, predictability by trees",
        needs=BEYOND_SETS,
        rows=panels.point_rows,
        draw=panels.draw_trees,
    ),
}


@dataclass(frozen=True, kw_only=True)
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
        amounts=QUICK_AMOUNTS if quick else AMOUNTS,
        repeats=QUICK_REPEATS if quick else REPEATS,
        n_jobs=n_jobs,
        cells=folder / "cells",
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
    return Reproduction(claims=found, figures=tuple(names), folder=folder)


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
