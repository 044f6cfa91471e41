"""The picture of theorem 4.1 against its two equations."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourfifths._paper.experiments import Settings
from fourfifths._paper.threshold import draw_threshold, threshold_rows

SETTINGS = Settings(amounts=(0.0, 1.0), repeats=1, n_jobs=1, cells=Path())


def test_every_row_lies_on_the_four_fifths_line_and_on_its_contour():
    for row in threshold_rows({}, SETTINGS):
        beta, reference = row["beta"], row["reference_rate"]
        assert beta == pytest.approx(0.8 * reference)
        assert row["ber_threshold"] == pytest.approx((1 + beta - reference) / 2)
        assert row["ber_threshold"] == pytest.approx(1 / 2 - beta / 8)


def test_the_rows_go_until_the_whole_reference_is_selected():
    rows = threshold_rows({}, SETTINGS)
    assert (rows[0]["beta"], rows[0]["ber_threshold"]) == (0, 0.5)
    assert (rows[-1]["beta"], rows[-1]["reference_rate"]) == (0.8, 1)


def test_three_rates_are_marked_where_the_lines_cross():
    axis = draw_threshold(threshold_rows({}, SETTINGS)).axes[0]
    points = [line.get_xydata().tolist()[0] for line in axis.lines if len(line.get_xdata()) == 1]
    assert points == [[0.1, 0.125], [0.3, 0.375], [0.5, 0.625]]
    assert [text.get_text() for text in axis.texts if "beta" in text.get_text()] == [
        "beta 0.1: BER 0.4875",
        "beta 0.3: BER 0.4625",
        "beta 0.5: BER 0.4375",
    ]
