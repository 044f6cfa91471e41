"""AIF360's part of `repair.py`, which runs it in an environment of AIF360's own.

Usage::

    python benchmarks/aif360_peer.py values.npy groups.npy runs

Prints the best time of so many calls, in seconds. Only the call is timed: the table is read, and
made into what AIF360 takes, before it.
"""

from __future__ import annotations

import logging
import sys
import time

import numpy as np
import pandas as pd


def main(values: str, groups: str, runs: str) -> None:
    """Repair by half, and print how long it took."""
    logging.disable(logging.WARNING)  # AIF360 warns of each optional package that is not there
    from aif360.algorithms.preprocessing import DisparateImpactRemover
    from aif360.datasets import BinaryLabelDataset

    frame = pd.DataFrame(np.load(values)).add_prefix("column ")
    frame["group"] = np.load(groups).astype(np.float64)
    frame["label"] = np.arange(len(frame)) % 2.0  # there must be one; the repair leaves it alone
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
