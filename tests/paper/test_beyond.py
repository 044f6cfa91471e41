"""Claims beyond the paper, on rows and points made by hand."""

from __future__ import annotations

from typing import Any

import pytest
from curves import curve, point

from fourfifths._paper.beyond import accuracy_at_parity, blocks_proof, blocks_repair, trees
from fourfifths._paper.others import METHODS


def other(name: str, parity: float, accuracy: float) -> dict[str, Any]:
    return {"model": "other method", "method": name, "parity": parity, "accuracy": accuracy}


def repair(parity: float, accuracy: float, method: str = "random") -> dict[str, Any]:
    return {"model": "LR", "method": method, "parity": parity, "accuracy": accuracy}


def test_every_method_is_beaten_by_a_repair_of_its_parity_and_accuracy() -> None:
    rows = [other(name, 0.95, 0.8) for name in METHODS]
    claim = accuracy_at_parity([*rows, repair(0.95, 0.8)])
    assert claim.verdict == "holds"
    assert claim.measured.endswith("; no repair falls short")


def test_a_method_that_is_more_accurate_is_named_with_its_margin() -> None:
    rows = [other("reweighing", 0.93, 0.812), other("correlation remover", 0.98, 0.80)]
    claim = accuracy_at_parity([*rows, repair(0.97, 0.81), repair(0.99, 0.80)])
    assert claim.verdict == "holds with a caveat"
    assert claim.measured.startswith("beaten: correlation remover; ")
    assert claim.measured.endswith("repairs are less accurate than reweighing by 0.0020")


def test_unrepaired_points_and_lower_parity_beat_nothing() -> None:
    rows = [other("reweighing", 0.93, 0.8), repair(1.0, 0.9, "none"), repair(0.92, 0.9)]
    claim = accuracy_at_parity(rows)
    assert claim.verdict == "does not hold"
    assert claim.measured.startswith("beaten: none; ")


def test_a_method_that_draws_counts_by_its_mean_over_seeds() -> None:
    seeds = [other("exponentiated gradient", parity, 0.8) for parity in (0.97, 0.99)]
    claim = accuracy_at_parity([*seeds, repair(0.98, 0.8)])
    assert claim.measured.startswith(
        "beaten: exponentiated gradient; measured: exponentiated gradient (parity 0.980, accuracy "
        "0.800; over 2 seeds parity 0.970 to 0.990)"
    )


@pytest.mark.parametrize(("partial", "verdict"), [(0.37, "does not hold"), (0.38, "holds")])
def test_trees_see_through_a_repair_that_lowers_their_error(partial: float, verdict: str) -> None:
    adult = curve(
        [
            point("SVM", ber=0.375),
            point("SVM", "geometric", 0.5, ber=partial),
            point("SVM", "combinatorial", 0.5, ber=0.4),
            point("SVM", "combinatorial", 1.0, ber=0.43),
            point("LR", "combinatorial", 0.5, ber=0.0),  # another model on the same version
        ]
    )
    claim = trees(adult)
    assert claim.verdict == verdict
    lower = int(partial < 0.375)
    assert f"{lower} of 2 partial repairs lower it, down to {partial:.3f}" in claim.measured


@pytest.mark.parametrize(
    ("bers", "verdict"),
    [
        ((0.40, 0.45, 0.48), "holds"),
        ((0.40, 0.395, 0.49), "holds"),  # a fall of .005 is chance
        ((0.40, 0.38, 0.49), "does not hold"),
        ((0.40, 0.45, 0.47), "does not hold"),
    ],
)
def test_repair_by_blocks_hides_the_group_step_by_step(
    bers: tuple[float, float, float], verdict: str
) -> None:
    points = [
        point("LR", "random", amount, ber=ber, utility=0.712)
        for amount, ber in zip((0.2, 0.6, 1.0), bers, strict=True)
    ]
    claim = blocks_repair(curve([*reversed(points), point("LR", ber=0.3)]))
    assert claim.verdict == verdict
    assert f"0.2: {bers[0]:.3f}, 0.6: {bers[1]:.3f}, 1: {bers[2]:.3f}" in claim.measured


@pytest.mark.parametrize(
    ("floor", "verdict"),
    [(0.8, "holds"), (0.799, "does not hold"), (float("nan"), "does not hold")],
)
def test_the_proof_holds_from_four_fifths_on(floor: float, verdict: str) -> None:
    full = point("LR", "random", 1.0, proven_floor=floor, impact_ratio=0.95)
    claim = blocks_proof(curve([point("LR"), point("LR", "random", 0.5), full]))
    assert claim.verdict == verdict
    assert f"the proven floor is {floor:.3f}; LR has a ratio of 0.950" in claim.measured
