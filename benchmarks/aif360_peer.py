"""The AIF360 side of `repair.py`, which runs it in a separate environment with AIF360.

Usage::

    python benchmarks/aif360_peer.py values.npy groups.npy runs

Prints the best time of that many calls, in seconds. Only the call is timed: reading the table and
converting it to AIF360's kind of table come before it.
"""

from __future__ import annotations

import logging
import sys
import time

import numpy as np
import pandas as pd


def main(values: str, groups: str, runs: str) -> None:
    """Repair by an amount of one half, and print how long it took."""
    logging.disable(logging.WARNING)  # AIF360 warns about each optional package that is missing
    from aif360.algorithms.preprocessing import DisparateImpactRemover
    from aif360.datasets import BinaryLabelDataset

    frame = pd.DataFrame(np.load(values)).add_prefix("column ")
    frame["group"] = np.load(groups).astype(np.float64)
    frame["label"] = (
        np.arange(len(frame)) % 2.0
    )  # AIF360 requires one; the repair does not touch it
    table = BinaryLabelDataset(df=frame, label_names=["label"], protected_attribute_names=["group"])
    remover = DisparateImpactRemover(repair_level=0.5, sensitive_attribute="group")
    times = []
    for _ in range(int(runs)):
        start = time.perf_counter()
        repaired = remover.fit_transform(table)
        times.append(time.perf_counter() - start)
    if np.array_equal(repaired.features, table.features):
        sys.exit("AIF360 changed nothing: there is nothing to compare with")
    print(min(times))


if __name__ == "__main__":
    main(*sys.argv[1:])
