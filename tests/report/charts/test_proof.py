"""The charts of a proof."""

from __future__ import annotations

import numpy as np
import pytest

from fourfifths._report.charts.proof import block_chart


def test_the_bars_are_shares_of_each_groups_rows():
    chart = block_chart(np.array([[10, 10, 20], [50, 50, 100]]), labels=["A", "B"])
    assert chart.series[0].values == chart.series[1].values == pytest.approx((0.25, 0.25, 0.5))
    assert "in 3 blocks differ by at most 0.00 percentage points" in chart.title
    assert chart.labels == ("1", "2", "3")


def test_the_largest_difference_is_said():
    chart = block_chart(np.array([[1, 3], [1, 1]]), labels=["A", "B"])
    # 25% against 50%
    assert "differ by at most 25.00 percentage points" in chart.title


def test_only_the_largest_groups_are_drawn():
    chart = block_chart(np.diag([1, 2, 3, 4, 5]) + 1, labels=list("ABCDE"))
    assert [bars.label for bars in chart.series] == list("BCDE")
