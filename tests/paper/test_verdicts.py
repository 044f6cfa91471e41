"""The ends of a curve: without repair, and with full repair."""

from __future__ import annotations

import pytest
from curves import curve, point

from fourfifths._paper.verdicts import ends


def test_the_ends_are_the_points_at_no_and_at_full_repair() -> None:
    raw, half, full = point("SVM"), point("SVM", "random", 0.5), point("SVM", "random", 1.0)
    other_model, other_method = point("LR", "random", 1.0), point("SVM", "geometric", 1.0)
    sweep = curve([other_model, half, full, other_method, raw])
    assert ends(sweep, "SVM", "random") == (raw, full)


def test_a_sweep_without_full_repair_has_no_ends() -> None:
    with pytest.raises(ValueError, match="not enough values to unpack"):
        ends(curve([point("SVM"), point("SVM", "random", 0.5)]), "SVM", "random")
