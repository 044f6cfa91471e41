"""Compare certificates of pairs that are judged together with those of pairs judged in full.

Usage::

    python benchmarks/groups.py [--seeds 2] [--groups 6] [--rows 2000]

Prints one line per made table, and a summary. `--rows` are those of each group. A pair's limit is
the lower limit of its floor over all auditors and both sides: a higher one is a weaker auditor. The
tables are near the threshold: equal groups, and groups that differ in what lines, trees or forests
find, all of them or only one pair. Seconds are processor seconds, on one thread.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from unittest import mock

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fourfifths import Certificate, certify
from fourfifths._certify import certify as certifying

COLUMNS, BETA = 6, 0.3
Values = NDArray[np.float64]
Codes = NDArray[np.int64]


def equal(values: Values, groups: Codes, _: np.random.Generator) -> None:
    """Change nothing."""


def one_shifted(values: Values, groups: Codes, _: np.random.Generator) -> None:
    """Move one column of one group."""
    values[groups == 1, 0] += 0.2


def two_shifted(values: Values, groups: Codes, _: np.random.Generator) -> None:
    """Move one column of two groups, away from each other."""
    values[groups == 1, 0] += 0.12
    values[groups == 2, 0] -= 0.12


def all_shifted(values: Values, groups: Codes, _: np.random.Generator) -> None:
    """Move two columns of every group a little."""
    values[:, 0] += np.linspace(-0.1, 0.1, groups.max() + 1)[groups]
    values[:, 1] += 0.08 * np.cos(groups)


def one_wider(values: Values, groups: Codes, _: np.random.Generator) -> None:
    """Spread one column of one group."""
    values[groups == 1, 1] *= 1.25


def two_signs(values: Values, groups: Codes, random: np.random.Generator) -> None:
    """Tie the signs of two columns in two groups, in opposite ways; alone, no column differs."""
    for code, sign in ((1, 1), (2, -1)):
        tied = (groups == code) & (random.random(groups.size) < 0.2)
        values[tied, 1] = np.abs(values[tied, 1]) * np.sign(values[tied, 0]) * sign


def two_boards(values: Values, groups: Codes, random: np.random.Generator) -> None:
    """Put two groups on the squares of two colours of a board, with many squares."""
    for code, colour in ((1, 1), (2, -1)):
        placed = (groups == code) & (random.random(groups.size) < 0.6)
        parity = (np.floor(values[:, 0] * 3) + np.floor(values[:, 1] * 3)) % 2 * 2 - 1
        values[placed & (parity != colour), 0] += 1 / 3


def one_copied(values: Values, groups: Codes, random: np.random.Generator) -> None:
    """Make many rows of one group near-copies of few."""
    rows = np.flatnonzero((groups == 1) & (random.random(groups.size) < 0.08))
    originals = random.choice(np.flatnonzero(groups == 1), 60)
    noise = random.normal(scale=1e-3, size=(rows.size, COLUMNS))
    values[rows] = values[random.choice(originals, rows.size)] + noise


def one_rounded(values: Values, groups: Codes, random: np.random.Generator) -> None:
    """Round one column of one group."""
    rows = (groups == 1) & (random.random(groups.size) < 0.2)
    values[rows, 2] = np.round(values[rows, 2], 1)


KINDS: tuple[Callable[[Values, Codes, np.random.Generator], None], ...] = (
    *(equal, one_shifted, two_shifted, all_shifted, one_wider),
    *(two_signs, two_boards, one_copied, one_rounded),
)


def make(kind: int, seed: int, *, groups: int, rows: int) -> pd.DataFrame:
    """Return a table of normal columns, changed by a kind."""
    random = np.random.default_rng([kind, seed])
    codes = random.permutation(np.repeat(np.arange(groups), rows))
    values = random.normal(size=(codes.size, COLUMNS))
    KINDS[kind](values, codes, random)
    table = pd.DataFrame(values, columns=[f"c{index}" for index in range(COLUMNS)])
    return table.assign(group=[f"g{code}" for code in codes])


def timed_certificate(table: pd.DataFrame) -> tuple[Certificate, float]:
    """Return the certificate of a table, and the processor seconds that it took."""
    start = time.process_time()
    certificate = certify(
        table, protected="group", beta=BETA, reference="g0", leaks=False, progress=False
    )
    return certificate, time.process_time() - start


def limits(certificate: Certificate) -> dict[tuple[str, str], float]:
    """Return the lower limit of each pair's floor."""
    return {
        (pair.group, pair.reference): min(
            limit
            for auditor in pair.auditors
            for limit in (auditor.impact_floor_interval[0], auditor.reverse_floor_interval[0])
        )
        for pair in certificate.pairs
    }


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--groups", type=int, default=6)
    parser.add_argument("--rows", type=int, default=2_000)
    options = parser.parse_args()
    verdicts: Counter[tuple[str, str]] = Counter()
    pair_verdicts: Counter[tuple[str, str]] = Counter()
    differences: list[float] = []
    seconds = np.zeros(2)
    print("| table | every pair in full | lowest limit | together | lowest limit |")
    print("| --- | --- | ---: | --- | ---: |")
    for kind, change in enumerate(KINDS):
        for seed in range(options.seeds):
            table = make(kind, seed, groups=options.groups, rows=options.rows)
            together, shared_seconds = timed_certificate(table)
            nothing = mock.patch.object(
                certifying, "can_share", lambda pairs, *_, **__: [False] * len(pairs)
            )
            with nothing:
                in_full, full_seconds = timed_certificate(table)
            seconds += full_seconds, shared_seconds
            verdicts[in_full.verdict, together.verdict] += 1
            full_limits, shared_limits = limits(in_full), limits(together)
            verdict_of = {(pair.group, pair.reference): pair.verdict for pair in together.pairs}
            for pair in in_full.pairs:
                name = (pair.group, pair.reference)
                pair_verdicts[pair.verdict, verdict_of[name]] += 1
                if "not certified" not in (pair.verdict, verdict_of[name]):
                    differences.append(shared_limits[name] - full_limits[name])
            name = f"{change.__name__.replace('_', ' ')}, {seed}"
            print(
                f"| {name} | {in_full.verdict} | {min(full_limits.values()):.3f} | "
                f"{together.verdict} | {min(shared_limits.values()):.3f} |",
                flush=True,
            )
    print(f"\nProcessor seconds: {seconds[0]:.0f} in full, {seconds[1]:.0f} together.")
    print(
        f"Limits of {len(differences)} pairs that neither settles by harm: together higher by "
        f"{np.mean(differences):.4f} on average (standard error "
        f"{np.std(differences) / len(differences) ** 0.5:.4f}).\n"
    )
    print("| in full | together | tables | pairs |\n| --- | --- | ---: | ---: |")
    for names in sorted({*verdicts, *pair_verdicts}):
        print(f"| {names[0]} | {names[1]} | {verdicts[names]} | {pair_verdicts[names]} |")


if __name__ == "__main__":
    main()
