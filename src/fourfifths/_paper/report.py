"""The report of a rerun: departures, claims and figures, as Markdown and as one page of HTML."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import fourfifths
from fourfifths._paper.claims import Claim, Verdict
from fourfifths._paper.experiments import Settings
from fourfifths._paper.panels import Panel
from fourfifths._report.html.page import render_page

HERE = Path(__file__).parent
TITLE = "Feldman et al. (2015), rerun"
DEPARTURES_TITLE = "Where this differs from the paper"
DPI, SCREEN_DPI = 200, 96  # of the pictures, and of the pixels that browsers count in
HEADERS = ("claim", "measured", "verdict", "how it was judged")
QUICK_CAUTION = (
    "This is the quick form: three amounts and two splits show that everything runs, and are too "
    "small to judge claims that need more."
)
DEPARTURES = (
    "Ricci and German are split many times, stratified by group and outcome; the paper has one "
    "random split. A point is over all splits together, and single splits are shown beside.",
    "C is chosen on at most 5,000 of the training rows.",
    "A repair is fitted on the training rows and applied to the test rows. The paper does not say "
    "whether its repair saw the test rows. With years of age as strata it is fitted on all rows.",
    "Columns are scaled to [0, 1] after the repair, by the training rows. The paper scales them "
    "before it.",
    "Equal values are spread over the levels that they share by draw. The paper does not say how "
    "it ranks equal values.",
    "The paper does not name the columns that it kept. Here these are all numeric columns (of "
    "Adult with fnlwgt, the census's sampling weight) and, of German, the categories whose UCI "
    "codes have an order: checking status, savings, employment, job. Ricci's exam, for captain or "
    "for lieutenant, counts as unordered and is left out.",
    "The other methods are run here, from their papers; Feldman et al. copied the numbers that "
    "Zemel et al. printed, which are of other splits and columns. Learned fair representations are "
    "fitted to at most 10,000 of the training rows, regularized LR at three strengths; "
    "docs/reproducing.md has all settings.",
    "The figures of the comparison call parity by its name in the paper, Zemel fairness. The paper "
    "writes 2 BER for it; that is the BER of predicting the group from the model's selections.",
)


@dataclass(frozen=True, kw_only=True)
class PaperReport:
    """What a report of a rerun says, before it is known in which format.

    Attributes
    ----------
    claims : tuple of Claim
    panels : mapping of str to Panel
        The figures that were made, by the names of their files.
    settings : Settings
    """

    claims: tuple[Claim, ...]
    panels: Mapping[str, Panel]
    settings: Settings

    @property
    def setup(self) -> str:
        """What was run, in a few sentences."""
        amounts = ", ".join(f"{amount:g}" for amount in self.settings.amounts)
        return (
            f"fourfifths {fourfifths.__version__}; amounts {amounts}; Adult's own split; "
            f"{self.settings.repeats} random splits of Ricci and German, two thirds of the rows "
            "for training. LR and SVM are Liblinear's, their C chosen from 13 values by the BER in "
            "three-fold cross-validation. Models and auditors are measured on test rows."
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What limits the whole report."""
        return (QUICK_CAUTION,) if self.settings.is_quick else ()

    @property
    def summary(self) -> str:
        """How many claims got each verdict."""
        counts = Counter(claim.verdict for claim in self.claims)
        verdicts = "; ".join(
            f"{verdict}: {counts[verdict]}" for verdict in get_args(Verdict) if counts[verdict]
        )
        return f"Claims by verdict: {verdicts or 'none were judged'}."


def report_markdown(report: PaperReport) -> str:
    """Return the report as Markdown; figures and their rows are files beside it."""
    lines = [f"# {TITLE}", "", report.setup]
    for caution in report.cautions:
        lines += ["", caution]
    lines += ["", f"## {DEPARTURES_TITLE}", ""]
    lines += [f"- {departure}" for departure in DEPARTURES]
    lines += ["", "## Claims", "", report.summary, ""]
    lines += [f"| {' | '.join(HEADERS)} |", f"|{' --- |' * len(HEADERS)}"]
    lines += [
        f"| {claim.claim} | {claim.measured} | **{claim.verdict}** | {claim.why} |"
        for claim in report.claims
    ]
    for name, panel in report.panels.items():
        lines += ["", f"## {panel.title}", "", f"![{panel.title}]({name}.png)", ""]
        lines += [panel.caption, "", f"Points: [{name}.csv]({name}.csv)."]
    return "\n".join([*lines, ""])


def report_page(report: PaperReport, folder: Path) -> str:
    """Return the report as one file of HTML, with the figures in it.

    Parameters
    ----------
    report : PaperReport
    folder : Path
        Where the figures were written.
    """
    pictures = {name: (folder / f"{name}.png").read_bytes() for name in report.panels}
    sections: Sequence[tuple[str, str]] = (
        ("departures", DEPARTURES_TITLE),
        ("claims", "Claims"),
        *((name, panel.title) for name, panel in report.panels.items()),
    )
    return render_page(
        "report.html.j2",
        title=TITLE,
        folders=(HERE,),
        has_pictures=True,
        has_contents=True,
        report=report,
        sections=sections,
        departures=DEPARTURES,
        headers=HEADERS,
        pictures={name: base64.b64encode(content).decode() for name, content in pictures.items()},
        # A PNG begins with 16 bytes of signature and chunk, then its width in pixels.
        widths={
            name: int.from_bytes(content[16:20]) * SCREEN_DPI // DPI
            for name, content in pictures.items()
        },
    )
