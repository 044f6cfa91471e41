"""Repair against AIF360, numpy's sorting and scikit-learn's quantiles, as ratios in one run.

Usage::

    python benchmarks/repair.py [--quick]

Prints one table. Each line is of numpy alone, unless it says "with [fast]": with numba, which must
be there. AIF360 is installed into an environment of its own, which is made for the run and
removed after it: pip must be able to download. Times are the best of several runs; memory is the
kernel's own peak, in a process of its own (Linux). `--quick` tries everything out on fewer rows
and runs: nothing is judged then, and what was left out is named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from unittest import mock

import numba
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.preprocessing import QuantileTransformer

import fourfifths
from fourfifths import Repairer
from fourfifths._repair import kernels
from fourfifths.datasets import load

ADULT = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
COLUMNS = 5
GROUPS = (0, 1)
WARM = 4 * kernels.MIN_COMPILED_VALUES  # rows: enough for numba to be loaded
SPARE = 100e6  # bytes that may be needed beside one column for each thread
PEER = Path(__file__).with_name("aif360_peer.py")
PEER_NEEDS = (
    "aif360==0.6.1",
    "BlackBoxAuditing==0.1.54",
    "matplotlib==3.11.2",
    "networkx==3.6.1",
    "numpy==2.4.6",
    "pandas==3.1.1",
    "scikit-learn==1.9.1",
    "scipy==1.17.1",
)

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """How many rows there are, and how many runs the best is taken of."""

    small: int
    middle: int
    large: int
    peer_runs: int = 5
    small_runs: int = 15
    runs: int = 3

    def works(self) -> dict[str, str]:
        """Return what each line of the table measures."""
        small, middle, large = (f"{rows:,}" for rows in (self.small, self.middle, self.large))
        return {
            "adult": "Adult, 5 numeric columns by sex, amount .5, against AIF360",
            "adult fast": "the same, with [fast]",
            "joint": "the same, with [fast], joint scope and random method (the defaults)",
            "peer": f"{small} x 5 floats, 2 groups, amount .5, against AIF360",
            "middle": f"{middle} x 5, fit_transform, against np.argsort per group and column",
            "large": f"{large} x 5, fit_transform, against np.argsort per group and column",
            "large fast": "the same, with [fast]",
            "transform": f"{large} x 5, transform alone, against the same",
            "transform fast": "the same, with [fast]",
            "memory": f"{large} x 5, peak memory beyond input and output, against one column",
            "growth": f"growth from {small} to {large} rows, against that of np.sort",
            "quantiles": f"{large} x 5, against QuantileTransformer(n_quantiles=1000) per group",
        }


FULL = Plan(small=100_000, middle=1_000_000, large=10_000_000)
QUICK = Plan(small=5_000, middle=50_000, large=500_000, peer_runs=1)


@dataclass(frozen=True)
class Line:
    """One line of the table; where nothing is to be reached, `reached` is None."""

    key: str
    ours: str
    other: str
    ratio: str
    reach: str
    reached: bool | None

    def shown(self, plan: Plan) -> str:
        """Return it as Markdown; only the full plan is judged."""
        judged = plan is FULL and self.reached is not None
        verdict = ("reached" if self.reached else "short") if judged else "not judged"
        cells = (plan.works()[self.key], self.ours, self.other, self.ratio, self.reach, verdict)
        return f"| {' | '.join(cells)} |"


def faster(key: str, ours: float, other: float, least: float | None) -> Line:
    """Return the line for work that is to be so many times faster than the other's."""
    ratio = other / ours
    reach = "none" if least is None else f"at least {least:g}" if least > 1 else "faster"
    reached = None if least is None else ratio >= least
    return Line(
        key, f"{ours:.3f} s", f"{other:.3f} s", f"{ratio:,.1f} times faster", reach, reached
    )


def at_most(key: str, ours: float, other: float, most: float) -> Line:
    """Return the line for work that is to take at most so many times as long as the other's."""
    ratio = ours / other
    reach, reached = f"at most {most:g}", ratio <= most
    return Line(key, f"{ours:.3f} s", f"{other:.3f} s", f"{ratio:.2f} times", reach, reached)


def make(rows: int, seed: int) -> tuple[Values, Codes]:
    """Return floats, and two groups that differ in spread."""
    random = np.random.default_rng(seed)
    groups = random.permutation(np.arange(rows) % len(GROUPS))
    values = random.normal(size=(rows, COLUMNS))
    values *= (1 + groups)[:, None]
    return values, groups


def adult() -> tuple[Values, Codes]:
    """Return the numeric columns of Adult, and the sexes."""
    frame = load("adult").table.df()
    return frame[ADULT].to_numpy(np.float64), (frame["sex"] == "Male").to_numpy(np.int64)


def half() -> Repairer:
    """Return a repair of each column alone, as AIF360's is, half of the way."""
    return Repairer(scope="column", method="geometric", amount=0.5)


def numpy_alone() -> AbstractContextManager[object]:
    """Do without numba, though it is installed: no table has enough rows for it."""
    return mock.patch.object(kernels, "MIN_COMPILED_VALUES", new=sys.maxsize)


def timed(work: Callable[[], object]) -> float:
    """Return how long it takes once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def quicker(work: Callable[[], object]) -> float:
    """Return the shorter time of two in a row: the first may wait for the system's memory."""
    return min(timed(work), timed(work))


def per_group(sort: Callable[[Values], object], values: Values, groups: Codes) -> None:
    """Take each group's part of each column, and sort it."""
    for column in range(COLUMNS):
        for group in GROUPS:
            sort(values[groups == group, column])


def once(rows: int, seed: int) -> dict[str, float]:
    """Time sorting and repairing, one after the other, on fresh arrays."""
    values, groups = make(rows, seed)
    found = {
        "argsort": quicker(lambda: per_group(np.argsort, values, groups)),
        "sort": quicker(lambda: per_group(np.sort, values, groups)),
    }
    repairer = half()
    for suffix, how in (("", numpy_alone()), (" fast", nullcontext())):
        with how:
            whole = quicker(lambda: repairer.fit_transform(values, protected=groups))
            alone = quicker(lambda: repairer.transform(values, protected=groups))
        found |= {f"fit_transform{suffix}": whole, f"transform{suffix}": alone}
    return found


def best(rows: int, runs: int) -> dict[str, float]:
    """Return the best time of several, of each."""
    found = [once(rows, seed) for seed in range(runs)]
    return {name: min(each[name] for each in found) for name in found[0]}


def repairing(repairer: Repairer, values: Values, groups: Codes, runs: int) -> float:
    """Return the best time of several repairs."""
    return min(timed(lambda: repairer.fit_transform(values, protected=groups)) for _ in range(runs))


def quantiles(rows: int) -> float:
    """Return how long scikit-learn takes to make each group uniform."""
    values, groups = make(rows, 0)
    parts = [values[groups == group] for group in GROUPS]
    del values
    transformer = QuantileTransformer(n_quantiles=1000, random_state=0)
    return timed(lambda: [transformer.fit_transform(part) for part in parts])


def peak(rows: int) -> float:
    """Return the bytes beyond input and output that one repair needs in a fresh process."""
    run = [sys.executable, __file__, "--peak", str(rows)]
    return float(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout)


def report_peak(rows: int) -> None:
    """Repair a few rows, so that everything is loaded, then measure."""
    once(WARM, 0)
    values, groups = make(rows, 0)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    with numpy_alone():
        repaired = half().fit_transform(values, protected=groups)
    print(resident("VmHWM") - before - repaired.nbytes)


def resident(field: str) -> int:
    """Return a figure of this process's memory, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) * 1024


def peer_environment(folder: Path) -> tuple[str, str]:
    """Install AIF360, and return the interpreter that has it and its version."""
    venv.create(folder / "aif360", with_pip=True, symlinks=True)
    python = str(folder / "aif360" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER_NEEDS], check=True)
    ask = "from importlib.metadata import version; print(version('aif360'))"
    asked = subprocess.run([python, "-c", ask], stdout=subprocess.PIPE, text=True, check=True)
    return python, asked.stdout.strip()


def peer(python: str, values: Values, groups: Codes, runs: int) -> float:
    """Return the best time of AIF360 for the same arrays."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("values.npy", "groups.npy")]
        np.save(paths[0], values)
        np.save(paths[1], groups)
        run = [python, str(PEER), *paths, str(runs)]
        return float(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout)


def against_aif360(plan: Plan, python: str) -> Iterator[Line]:
    """Measure what AIF360 does too, the best of as many runs."""
    data, runs = adult(), plan.peer_runs
    other = peer(python, *data, runs)
    with numpy_alone():
        alone = repairing(half(), *data, runs)
    yield faster("adult", alone, other, 200)
    yield faster("adult fast", repairing(half(), *data, runs), other, 200)
    yield faster("joint", repairing(Repairer(amount=0.5), *data, runs), other, None)
    data = make(plan.small, 0)
    with numpy_alone():
        alone = repairing(half(), *data, runs)
    yield faster("peer", alone, peer(python, *data, runs), 400)


def against_sorting(plan: Plan) -> Iterator[Line]:
    """Measure on large arrays, against what sorting them takes."""
    middle, large = best(plan.middle, plan.runs), best(plan.large, plan.runs)
    yield at_most("middle", middle["fit_transform"], middle["argsort"], 1.5)
    yield at_most("large", large["fit_transform"], large["argsort"], 1.0)
    yield at_most("large fast", large["fit_transform fast"], large["argsort"], 0.5)
    yield at_most("transform", large["transform"], large["argsort"], 0.5)
    yield at_most("transform fast", large["transform fast"], large["argsort"], 0.5)
    extra, column, threads = peak(plan.large), plan.large * 8, os.cpu_count() or 1
    most = column * threads + SPARE
    ours, other, ratio = f"{extra / 1e6:.0f} MB", f"{column / 1e6:.0f} MB", extra / column
    reach = f"at most {most / 1e6:.0f} MB: a column for each of {threads} threads, and 100"
    yield Line("memory", ours, other, f"{ratio:.2f} times", reach, extra <= most)
    small = best(plan.small, plan.small_runs)
    grown, sorted_ = (large[name] / small[name] for name in ("fit_transform", "sort"))
    ratio = grown / sorted_
    shown = (f"{grown:.0f} times", f"{sorted_:.0f} times", f"{ratio:.2f} times")
    yield Line("growth", *shown, "at most 1.3", ratio <= 1.3)
    yield faster("quantiles", large["fit_transform"], quantiles(plan.large), 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fewer rows, nothing to go by")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        report_peak(options.peak)
        return
    plan = QUICK if options.quick else FULL
    once(max(WARM, plan.small), 0)  # everything is imported now, and memory at hand
    with tempfile.TemporaryDirectory() as folder:
        python, version = peer_environment(Path(folder))
        print(f"fourfifths {fourfifths.__version__}, numpy {np.__version__}, ", end="")
        print(f"numba {numba.__version__}, ", end="")
        print(f"scikit-learn {sklearn.__version__}, AIF360 {version}, {os.cpu_count()} cores:\n")
        print("| work | ours | other | ratio | reach | result |")
        print("| --- | ---: | ---: | ---: | --- | --- |")
        for line in chain(against_aif360(plan, python), against_sorting(plan)):
            print(line.shown(plan), flush=True)
    left_out = [work for key, work in FULL.works().items() if work != plan.works()[key]]
    if left_out:
        print("\nLeft out by --quick:\n\n" + "\n".join(f"- {work}" for work in left_out))


if __name__ == "__main__":
    main()
