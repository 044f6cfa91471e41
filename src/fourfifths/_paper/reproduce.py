"""`fourfifths reproduce`: figures, tables and a report, claim by claim."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from fourfifths._paper import beyond, panels
from fourfifths._paper import claims as paper
from fourfifths._paper.claims import Claim
from fourfifths._paper.compare import comparison_rows
from fourfifths._paper.experiments import PAPER_SETS, Settings, experiments
from fourfifths._paper.panels import Curves, Panel, Row
from fourfifths._paper.report import DPI, PaperReport, report_markdown, report_page
from fourfifths._paper.sat import draw_sat, sat_rows
from fourfifths._paper.study import draw_study, study_rows
from fourfifths._paper.threshold import draw_threshold, threshold_rows
from fourfifths._paper.years import year_rows
from fourfifths._tables.files import replace_file, write_whole
from fourfifths._text import listed, nearest
from fourfifths.errors import OptionError, OutputError

AMOUNTS = tuple(round(0.1 * step, 1) for step in range(11))
QUICK_AMOUNTS = (0.0, 0.5, 1.0)
REPEATS, QUICK_REPEATS = 20, 2
BEYOND_SETS = tuple(f"{name}-{scope}" for name in PAPER_SETS for scope in ("column", "blocks"))
COMPARED_SETS = ("adult", "adult-blocks", "german", "german-blocks")


def swept_rows(curves: Curves, _: Settings) -> list[Row]:
    """Return the points of the sweeps."""
    return panels.point_rows(curves)


PANELS: Mapping[str, Panel] = {
    "sat": Panel(
        title="The two Gaussians of the SAT figure, and their repair",
        caption="Answers figure 1. Densities of the scores before repair, after full repair (the "
        "same for both) and after half a repair of one. The arrows show one rank, two standard "
        "deviations above the mean: 500 and 750 both become 625. The paper calls it the 95th "
        "percentile; of a Gaussian it is the 97.7th.",
        needs=(),
        rows=sat_rows,
        draw=draw_sat,
    ),
    "threshold": Panel(
        title="Impact ratio and BER over the two selection rates (theorem 4.1)",
        caption="Answers the paper's words on contours in the proof of theorem 4.1, which it does "
        "not draw. Where the line of ratio .8 meets the group's rate beta, the BER is 1/2 - "
        "beta/8.",
        needs=(),
        rows=threshold_rows,
        draw=draw_threshold,
    ),
    "predictability": Panel(
        title="Predictability of the protected attribute against the impact ratio",
        caption="Answers figure 2, with both methods. A large mark is a model on one version of "
        "the data, over all splits together; its BER is that of the same kind of classifier as an "
        "auditor. Marks of a model and repair are joined from no repair to full repair, and those "
        "of amount .5 are hollow. Small light dots are single splits, of which the paper shows "
        "one; those with a ratio above 2 are not shown. What lies right of the dotted line is "
        "certified.",
        needs=PAPER_SETS,
        rows=panels.rows_with_splits,
        draw=panels.predictability,
    ),
    "utility": Panel(
        title="Impact ratio against utility",
        caption="Answers figure 3. The numbers along a line are amounts of repair. Light bars hold "
        "95% of the splits, for Adult 95% of bootstrap samples of the test rows.",
        needs=PAPER_SETS,
        rows=swept_rows,
        draw=panels.utility,
    ),
    "german-years": Panel(
        title="German, with each single year of age as a stratum",
        caption="Answers figure 3 for German: the only reading we found that brings utility down "
        "to 50%. "
        "Points are over all splits together, bands hold 95% of the splits. One level is left, so "
        "a geometric repair shrinks each column towards one value, which scaling to [0, 1] undoes: "
        "it changes nothing until the column is one value.",
        needs=(),
        rows=year_rows,
        draw=panels.german_years,
    ),
    "several": Panel(
        title="Adult by sex, by race, by both",
        caption="Answers figure 4. The numbers along a line are amounts of repair. Light bars are "
        "95% bootstrap limits of the utility.",
        needs=("adult", "adult-race", "adult-both"),
        rows=swept_rows,
        draw=panels.several,
    ),
    "comparison": Panel(
        title="Zemel fairness against accuracy, beside other methods",
        caption="Answers figure 5. Small marks are repairs by model and method, joined from no "
        "repair to full repair (hollow: amount .5), large ones are "
        "other methods, run on the same rows and splits; a method that draws is shown once for "
        "each seed on Adult. The joint repair of version 0.1 no longer exists; blocks replaced it.",
        needs=COMPARED_SETS,
        rows=comparison_rows,
        draw=panels.comparison,
    ),
    "beyond-trees": Panel(
        title="Predictability by gradient-boosted trees",
        caption="Not in the paper: the points of figure 2 with gradient-boosted trees as the "
        "auditor of every model.",
        needs=PAPER_SETS,
        rows=swept_rows,
        draw=panels.draw_trees,
    ),
    "beyond-amounts": Panel(
        title="What trees find in Adult, by method, scope and amount",
        caption="Not in the paper. A partial combinatorial or geometric repair makes sex easier to "
        "predict for trees; a random one does not.",
        needs=("adult", "adult-column", "adult-blocks"),
        rows=swept_rows,
        draw=panels.by_amount,
    ),
    "beyond-blocks": Panel(
        title="Random repair, by column and by blocks: predictability by trees",
        caption="Not in the paper. Green points are repaired column by column, purple ones by "
        "blocks.",
        needs=BEYOND_SETS,
        rows=swept_rows,
        draw=panels.draw_trees,
    ),
    "study": Panel(
        title="Auditors by repairs by features of the data",
        caption="Answers the paper's wish for a systematic study. BER of each auditor on simulated "
        "tables of which one feature changes at a time; the others are 4 columns, 4,000 rows, "
        "dependence .5, and a group of 30%. Means over the seeds.",
        needs=(),
        rows=study_rows,
        draw=draw_study,
    ),
}
ADULT_SETS = ("adult", "adult-race", "adult-both")


def reaches(name: str, curves: Curves, _: Mapping[str, Sequence[Row]]) -> list[Claim]:
    """Return the claim that a data set can be repaired to an impact ratio of .8."""
    return [paper.reaches_threshold(name, curves[name])]


Answer = Callable[[Curves, Mapping[str, Sequence[Row]]], Iterable[Claim]]
# In the order of the paper: the sweeps and figures that a claim needs, and what answers it.
QUESTIONS: Sequence[tuple[Sequence[str], Answer]] = (
    (PAPER_SETS, lambda curves, _: [paper.unrepaired(curves), paper.certified_points(curves)]),
    (
        ("predictability",),
        lambda _, rows: [
            paper.certified_splits(name, rows["predictability"]) for name in ("ricci", "german")
        ],
    ),
    (
        PAPER_SETS,
        lambda curves, _: [
            paper.sensitive_auditors(curves),
            paper.near_threshold(curves),
            paper.uncertified_versions(curves),
            paper.decay(curves),
            paper.above_one(curves),
            paper.similar_methods(curves),
        ],
    ),
    (
        ("adult",),
        lambda curves, _: [
            paper.adult_utility(curves["adult"]),
            paper.naive_bayes(curves["adult"]),
        ],
    ),
    (
        ("german", "german-years"),
        lambda curves, rows: [paper.german_utility(curves["german"], rows["german-years"])],
    ),
    *(((name,), partial(reaches, name)) for name in PAPER_SETS),
    (ADULT_SETS, lambda curves, _: [paper.joint_loss(curves)]),
    (
        ("comparison",),
        lambda _, rows: [
            beyond.same_decay(rows["comparison"]),
            *beyond.accuracy_at_parity(rows["comparison"]),
            beyond.naive_bayes_accuracy(rows["comparison"]),
            beyond.lowest_parity(rows["comparison"]),
            *(beyond.class_weights(name, rows["comparison"]) for name in ("adult", "german")),
        ],
    ),
    (("adult",), lambda curves, _: [beyond.trees(curves["adult"])]),
    (
        ("adult-blocks",),
        lambda curves, _: [
            beyond.blocks_repair(curves["adult-blocks"]),
            beyond.blocks_proof(curves["adult-blocks"]),
        ],
    ),
    (("study",), lambda _, rows: beyond.study(rows["study"])),
)


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
    if n_jobs == 0:
        raise OptionError("n_jobs=0: expected a number of processes, or -1 for all cores")
    names = list(dict.fromkeys(only)) or list(PANELS)
    folder = Path(out)
    try:
        # Tried at once: the sweeps may take half an hour, and only then is anything written.
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
        is_quick=quick,
    )
    sweeps = experiments()
    needed = dict.fromkeys(sweep for name in names for sweep in PANELS[name].needs)
    curves = {name: sweeps[name].run(name, settings) for name in needed}
    rows = {}
    for name in names:
        panel = PANELS[name]
        rows[name] = panel.rows({sweep: curves[sweep] for sweep in panel.needs}, settings)
        with mpl.rc_context(panels.STYLE):
            figure = panel.draw(rows[name])
            write_panel(folder, name, rows=rows[name], figure=figure)
    claims = tuple(answers(curves, rows, is_quick=quick))
    report = PaperReport(
        claims=claims, panels={name: PANELS[name] for name in names}, settings=settings
    )
    write_whole(folder / "REPORT.md", report_markdown(report))
    write_whole(folder / "REPORT.html", report_page(report, folder))
    return Reproduction(claims=claims, figures=tuple(names), folder=folder)


def answers(
    curves: Curves, rows: Mapping[str, Sequence[Row]], *, is_quick: bool = False
) -> Iterator[Claim]:
    """Yield every claim that these sweeps and figures can answer.

    Parameters
    ----------
    curves : mapping of str to Tradeoff
    rows : mapping of str to rows
        The rows of the figures that were made, by name.
    is_quick : bool
        Whether the run is too small to judge claims that need splits and amounts.
    """
    for needs, answer in QUESTIONS:
        if all(name in curves or name in rows for name in needs):
            for claim in answer(curves, rows):
                if is_quick and claim.needs_full_run:
                    yield replace(claim, verdict="too small to judge")
                else:
                    yield claim


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
        save = partial(figure.savefig, format=ending, dpi=DPI, metadata=entries)
        replace_file(folder / f"{name}.{ending}", save)
