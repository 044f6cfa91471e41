"""`fourfifths reproduce`: figures, tables and a report, claim by claim."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

import fourfifths
from fourfifths._paper import panels
from fourfifths._paper.claims import claims
from fourfifths._paper.compare import comparison_rows
from fourfifths._paper.experiments import PAPER_SETS, Settings, experiments
from fourfifths._paper.others import missing
from fourfifths._paper.panels import Curves, Panel, Row
from fourfifths._paper.sat import draw_sat, sat_rows
from fourfifths._paper.threshold import draw_threshold, threshold_rows
from fourfifths._paper.verdicts import Claim
from fourfifths._tables.files import replace_file, write_whole
from fourfifths.errors import OptionError, OutputError, listed, nearest

AMOUNTS = tuple(round(0.1 * step, 1) for step in range(11))
QUICK_AMOUNTS = (0.0, 0.5, 1.0)
REPEATS, QUICK_REPEATS = 20, 2
QUICK_CAUTION = (
    "The quick form: with this few amounts and splits, the verdicts on Ricci and German are "
    "mostly chance."
)
COMPARISON = "comparison"
BEYOND_SETS = tuple(f"{name}-{scope}" for name in PAPER_SETS for scope in ("column", "blocks"))
PANELS: Mapping[str, Panel] = {
    "sat": Panel(
        title="The two Gaussians of the SAT figure, and their repair",
        needs=(),
        rows=sat_rows,
        draw=draw_sat,
    ),
    "threshold": Panel(
        title="Impact ratio and BER over the two selection rates (theorem 4.1)",
        needs=(),
        rows=threshold_rows,
        draw=draw_threshold,
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
        needs=("adult", "adult-column", "adult-blocks"),
        rows=panels.point_rows,
        draw=panels.by_amount,
    ),
    "beyond-blocks": Panel(
        title="Random repair, by column and by blocks: predictability by trees",
        needs=BEYOND_SETS,
        rows=panels.point_rows,
        draw=panels.draw_trees,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The outcome of a rerun.

    Attributes
    ----------
    claims : tuple of Claim
        The claims that the figures' sweeps can answer.
    figures : tuple of str
    folder : Path
        Where figures, tables and the report were written.
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
        The folder to write to. Finished cells are kept in it, so a run that was stopped resumes.
    only : sequence of str
        The figures to make; all by default.
    quick : bool
        Whether to run three amounts and two splits only.
    n_jobs : int
        The number of processes, -1 for all cores. The numbers do not depend on it.

    Returns
    -------
    Reproduction
    """
    for name in only:
        if name not in PANELS:
            raise OptionError(
                f"only={name!r}: no such figure{nearest(name, PANELS)} (figures: {listed(PANELS)})"
            )
    names = list(only) or list(PANELS)
    folder = Path(out)
    try:
        # Tried at once: the sweeps may take an hour, and only then is anything written.
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"out={str(folder)!r}: cannot be written: {error.strerror}") from error
    settings = Settings(
        amounts=QUICK_AMOUNTS if quick else AMOUNTS,
        repeats=QUICK_REPEATS if quick else REPEATS,
        n_jobs=n_jobs,
        cells=folder / "cells",
    )
    sweeps = experiments()
    needed = dict.fromkeys(sweep for name in names for sweep in PANELS[name].needs)
    curves = {name: sweeps[name].run(name, settings) for name in needed}
    comparison = None
    for name in names:
        panel = PANELS[name]
        make_rows = panel.rows
        if name == COMPARISON and quick:
            make_rows = partial(comparison_rows, seeds=1)
        rows = make_rows({sweep: curves[sweep] for sweep in panel.needs})
        write_panel(folder, name, rows=rows, figure=panel.draw(rows))
        if name == COMPARISON:
            comparison = rows
    answers = tuple(claims(curves, comparison))
    report = report_text(answers, names, settings=settings, curves=curves, absent=missing())
    write_whole(folder / "REPORT.md", report)
    return Reproduction(claims=answers, figures=tuple(names), folder=folder)


def write_panel(folder: Path, name: str, *, rows: Sequence[Row], figure: Figure) -> None:
    """Write a figure's rows as CSV, and its picture as PNG and SVG."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(folder / f"{name}.csv", stream.getvalue())
    # Without a date, so that the same run gives the same SVG; a PNG has none.
    metadata: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}}
    for ending, entries in metadata.items():
        save = partial(figure.savefig, format=ending, dpi=200, metadata=entries)
        replace_file(folder / f"{name}.{ending}", save)


def report_text(
    answers: Sequence[Claim],
    names: Sequence[str],
    *,
    settings: Settings,
    curves: Curves,
    absent: Sequence[str],
) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    answers : sequence of Claim
    names : sequence of str
        The figures that were made.
    settings : Settings
    curves : mapping of str to Tradeoff
    absent : sequence of str
        The libraries that the comparison had to do without.
    """
    amounts = ", ".join(f"{amount:g}" for amount in settings.amounts)
    lines = [
        "# Feldman et al. (2015), rerun",
        "",
        f"fourfifths {fourfifths.__version__}; amounts {amounts}; Adult's own split; "
        f"{settings.repeats} random splits of Ricci and German, two thirds of the rows for "
        "training. C of LR and SVM was chosen from 13 values by the BER in three-fold "
        "cross-validation, on at most 5,000 training rows; values too large to converge were "
        "passed over. Every figure is measured on test rows.",
        *(("", QUICK_CAUTION) if settings.amounts == QUICK_AMOUNTS else ()),
        "",
        "| claim | measured | verdict | why |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {answer.claim} | {answer.measured} | **{answer.verdict}** | {answer.why} |"
        for answer in answers
    ]
    for name in names:
        title = PANELS[name].title
        points = f"Points: [{name}.csv]({name}.csv)."
        repeated = [sweep for sweep in PANELS[name].needs if curves[sweep].repeats > 1]
        if repeated:
            points += (
                f" For {', '.join(repeated)}, a point is over all splits together (AUC and BERs: "
                "the mean), and 95% of the splits lie between _low and _high. For Adult, these are "
                "bootstrap limits over the test rows."
            )
        lines += ["", f"## {title}", "", f"![{title}]({name}.png)", "", points]
    if COMPARISON in names and absent:
        lines += [
            "",
            f"Not compared, because not installed: {', '.join(absent)} (`pip install .[compare]`).",
        ]
    return "\n".join([*lines, ""])
