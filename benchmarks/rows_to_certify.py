"""How many rows per group it takes to certify a table that hides the group, 80% of the time.

Usage::

    python benchmarks/rows_to_certify.py [--runs 400] [--auditors 1] [--estimated]

The scores of every auditor are drawn alike for both groups. Prints one table: beta, and the rows
per group with which 80% of the runs are certified, on both sides. `--estimated` draws an outcome
with rate beta, from which beta is estimated.
"""

from __future__ import annotations

import argparse

import numpy as np

from fourfifths._certify.auditors import OutOfFold
from fourfifths._certify.evidence import verdict_of, weigh
from fourfifths._certify.plan import Beta, beta_interval

BETAS = (0.5, 0.2, 0.1, 0.05)
CONFIDENCE = 0.95
SHARE = 0.8
PRECISION = 1.02


def certified_share(rows: int, beta: float, *, auditors: int, runs: int, estimated: bool) -> float:
    """Return the share of simulated tables that are certified."""
    random = np.random.default_rng(0)
    is_reference = np.arange(2 * rows) >= rows
    nobody = np.zeros(2 * rows, dtype=bool)
    certified = 0
    for _ in range(runs):
        betas = {}
        for side in ("group", "reference"):
            rate, interval, counts = beta, (beta, beta), None
            if estimated:
                selected = max(1, int(random.binomial(rows, beta)))
                rate, counts = selected / rows, (selected, rows)
                interval = beta_interval(selected, rows, CONFIDENCE)
            betas[side] = Beta(rate=rate, interval=interval, counts=counts)
        evidence = {
            str(auditor): weigh(
                OutOfFold(
                    score=random.random(2 * rows), selected={"group": nobody, "reference": nobody}
                ),
                is_reference,
                betas=betas,
                threshold=0.8,
                confidence=CONFIDENCE,
                corrected=CONFIDENCE,
            )
            for auditor in range(auditors)
        }
        certified += verdict_of(evidence, 0.8) == "certified"
    return certified / runs


def rows_for(beta: float, *, auditors: int, runs: int, estimated: bool) -> int:
    """Return the rows per group with which the share of certified tables is reached."""
    low, high = 50.0, 200_000.0
    while high / low > PRECISION:
        middle = float(np.sqrt(low * high))
        share = certified_share(
            int(middle), beta, auditors=auditors, runs=runs, estimated=estimated
        )
        low, high = (low, middle) if share >= SHARE else (middle, high)
    return int(high)


def main() -> None:
    """Simulate, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--auditors", type=int, default=1)
    parser.add_argument("--estimated", action="store_true")
    options = vars(parser.parse_args())
    print("| beta | rows per group |\n| ---: | ---: |")
    for beta in BETAS:
        print(f"| {beta:g} | {rows_for(beta, **options):,} |")


if __name__ == "__main__":
    main()
