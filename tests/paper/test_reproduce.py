"""The report and its files; and, slowly, the experiments in their quick form, with tolerances."""

from __future__ import annotations

import csv
from pathlib import Path

import matplotlib as mpl
import pytest
from curves import curve, point

import fourfifths
from fourfifths._paper.panels import STYLE, new_figure
from fourfifths._paper.report import QUICK_CAUTION
from fourfifths._paper.reproduce import (
    PANELS,
    Reproduction,
    answers,
    reproduce,
    write_panel,
)
from fourfifths.errors import OptionError, OutputError

WITHOUT_OTHERS = [name for name in PANELS if name != "comparison"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    folder = tmp_path_factory.mktemp("reproduction")
    return reproduce(folder, only=WITHOUT_OTHERS, quick=True, n_jobs=2)


def rows(done: Reproduction, name: str) -> list[dict[str, str]]:
    with (done.folder / f"{name}.csv").open() as stream:
        return list(csv.DictReader(stream))


def figure(done: Reproduction, panel: str, name: str, **criteria: str) -> float:
    (row,) = (
        row
        for row in rows(done, panel)
        if all(row[key] == value for key, value in criteria.items())
    )
    return float(row[name])


def test_every_figure_says_what_it_answers() -> None:
    for name, panel in PANELS.items():
        assert panel.caption.startswith(("Answers ", "Not in the paper")), name


def test_the_same_rows_and_figure_give_the_same_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        with mpl.rc_context(STYLE):
            figure, axes = new_figure(1, answers="figure 1")
            axes[0].plot([0, 1], [0, 1])
            write_panel(tmp_path / name, "line", rows=[{"x": 0.5, "y": "a"}], figure=figure)
    assert (tmp_path / "first" / "line.csv").read_text() == "x,y\n0.5,a\n"
    for ending in ("png", "svg"):
        first, second = (tmp_path / name / f"line.{ending}" for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()


RULE = "combined >= 70"


def svm(before: float, after: float) -> fourfifths.Tradeoff:
    """Return an SVM's utility without repair and after full combinatorial repair."""
    return curve(
        [point("SVM", utility=before), point("SVM", "combinatorial", 1.0, utility=after)],
    )


def test_only_claims_that_the_sweeps_can_answer_are_made() -> None:
    assert list(answers({}, {})) == []
    rule = [point(RULE, method, 1.0) for method in ("combinatorial", "geometric")]
    (ricci,) = answers({"ricci": curve(rule)}, {})
    assert ricci.claim.startswith("Ricci: ")
    years = [{"method": "combinatorial", "amount": 1.0, "utility": 0.5}]
    german = answers({"german": svm(0.7, 0.7)}, {"german-years": years})
    assert [claim.claim for claim in german] == [
        "German: utility falls from about 72% to about 50%",
        "German: repair raises the impact ratio of SVM to .8 or more",
    ]


def test_a_quick_run_does_not_judge_what_needs_splits() -> None:
    rule = [point(RULE, method, 1.0) for method in ("combinatorial", "geometric")]
    (ricci,) = answers({"ricci": curve(rule)}, {}, is_quick=True)
    assert ricci.verdict == "too small to judge"
    losses = {name: svm(0.74, 0.72) for name in ("adult-race", "adult-both")}
    adult = svm(0.74, 0.72).points
    bayes = point("GNB", "combinatorial", 1.0)
    curves = {"adult": curve([*adult, point("SVM", "geometric", 0.5), bayes]), **losses}
    verdicts = {claim.claim[:9]: claim.verdict for claim in answers(curves, {}, is_quick=True)}
    assert verdicts["repairing"] == "holds"
    assert verdicts["Adult: ut"] == "holds"


def test_a_figure_that_does_not_exist_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"only='sta': no such figure; did you mean 'sat'\?"):
        reproduce(tmp_path, only=["sta"])


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"out='.*file.out': cannot be written: Not a directory"):
        reproduce(tmp_path / "file" / "out", only=["sat"])


def test_a_figure_without_a_sweep_needs_none(tmp_path: Path) -> None:
    done = reproduce(tmp_path, only=["sat", "sat"])  # the same figure twice is one
    assert (done.claims, done.figures, done.folder) == ((), ("sat",), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "REPORT.html",
        "REPORT.md",
        "sat.csv",
        "sat.png",
        "sat.svg",
    ]


@pytest.mark.slow
def test_adults_utility_is_the_papers(done: Reproduction) -> None:
    adult = {"sweep": "adult", "model": "SVM"}
    raw = {**adult, "method": "none"}
    full = {**adult, "method": "combinatorial", "amount": "1.0"}
    assert figure(done, "utility", "utility", **raw) == pytest.approx(0.74, abs=0.01)
    assert figure(done, "utility", "utility", **full) == pytest.approx(0.72, abs=0.015)
    assert figure(done, "utility", "impact_ratio", **raw) == pytest.approx(0.69, abs=0.03)
    assert figure(done, "utility", "impact_ratio", **full) == pytest.approx(1.03, abs=0.08)


@pytest.mark.slow
def test_german_does_not_fall_to_one_half(done: Reproduction) -> None:
    full = {"sweep": "german", "model": "SVM", "method": "combinatorial", "amount": "1.0"}
    assert figure(done, "utility", "utility", **full) > 0.62


@pytest.mark.slow
def test_trees_see_through_the_papers_repairs_and_not_through_blocks(done: Reproduction) -> None:
    partial = {"sweep": "adult", "model": "LR", "method": "geometric", "amount": "0.5"}
    assert figure(done, "beyond-trees", "BER trees", **partial) < 0.2
    blocks = {"sweep": "adult-blocks", "model": "LR", "method": "random", "amount": "1.0"}
    assert figure(done, "beyond-blocks", "BER trees", **blocks) >= 0.48
    assert figure(done, "beyond-blocks", "proven_floor", **blocks) >= 0.8


@pytest.mark.slow
def test_every_claim_is_in_the_report(done: Reproduction) -> None:
    report = (done.folder / "REPORT.md").read_text()
    assert QUICK_CAUTION in report
    for claim in done.claims:
        assert claim.claim in report
        assert claim.verdict in report
    verdicts = {claim.claim: claim.verdict for claim in done.claims}
    assert (
        verdicts["some partially repaired points have an impact ratio above 1"]
        == "too small to judge"
    )
    assert verdicts["Adult: utility falls, from about 74% to about 72% only"] == "holds"
    for name in WITHOUT_OTHERS:
        assert f"{name}.png" in report
        assert (done.folder / f"{name}.svg").stat().st_size > 5_000


@pytest.mark.slow
def test_a_second_run_redoes_nothing_and_says_the_same(done: Reproduction) -> None:
    report = (done.folder / "REPORT.md").read_text()
    kept = {path.name: path.read_text() for path in (done.folder / "cells").iterdir()}
    again = reproduce(done.folder, only=WITHOUT_OTHERS, quick=True, n_jobs=1)
    assert again.claims == done.claims
    assert (done.folder / "REPORT.md").read_text() == report
    assert {path.name: path.read_text() for path in (done.folder / "cells").iterdir()} == kept
