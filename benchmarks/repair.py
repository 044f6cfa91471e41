"""Time repair against AIF360, numpy's sort and scikit-learn's quantiles, as ratios in one run.

Usage::

    python benchmarks/repair.py [--quick]

Prints one table. A line is measured with numpy alone, unless it says "with [fast]": then numba is
used, which must be installed. AIF360 is installed into a separate environment, which is created
for the run and removed after it: pip must be able to download. A time is the best of several runs.
Memory is the kernel's peak of a separate process (Linux). `--quick` tries everything on fewer rows
and runs: it judges nothing, and names what it left out.
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
from fourfifths._repair.columns import kernel_choice
from fourfifths.datasets import load

ADULT = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
COLUMNS = 5
GROUPS = (0, 1)
WARM_UP_ROWS = 4 * kernel_choice.MIN_COMPILED_VALUES  # rows: enough for numba to be loaded
SPARE_BYTES = 100e6  # bytes that may be needed beside one column for each thread
PEER = Path(__file__).with_name("aif360_peer.py")
PEER_REQUIREMENTS = (
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


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many rows are repaired, and of how many runs the best is taken."""

    small: int
    middle: int
    large: int
    peer_runs: int = 5
    small_runs: int = 15
    runs: int = 3

    def titles(self) -> dict[str, str]:
        """Return what each line of the table measures."""
        small, middle, large = (f"{rows:,}" for rows in (self.small, self.middle, self.large))
        return {
            "adult": "Adult, 5 numeric columns by sex, amount .5, against AIF360",
            "adult fast": "the same, with [fast]",
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


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the table. `reached` is None where there is no goal."""

    key: str
    ours: str
    peer: str
    ratio: str
    reach: str
    reached: bool | None

    def markdown(self, plan: Plan) -> str:
        """Return the line as Markdown. Only the full plan is judged."""
        judged = plan is FULL and self.reached is not None
        verdict = ("reached" if self.reached else "short") if judged else "not judged"
        cells = (plan.titles()[self.key], self.ours, self.peer, self.ratio, self.reach, verdict)
        return f"| {' | '.join(cells)} |"


def faster(key: str, ours: float, *, peer: float, at_least: float | None) -> Line:
    """Return the line of a task that should be at least this many times faster than the peer."""
    ratio = peer / ours
    reach = "none"
    if at_least is not None:
        reach = f"at least {at_least:g}" if at_least > 1 else "faster"
    return Line(
        key=key,
        ours=f"{ours:.3f} s",
        peer=f"{peer:.3f} s",
        ratio=f"{ratio:,.1f} times faster",
        reach=reach,
        reached=None if at_least is None else ratio >= at_least,
    )


def slower(key: str, ours: float, *, peer: float, at_most: float) -> Line:
    """Return the line of a task that may take at most this many times as long as the peer."""
    ratio = ours / peer
    return Line(
        key=key,
        ours=f"{ours:.3f} s",
        peer=f"{peer:.3f} s",
        ratio=f"{ratio:.2f} times",
        reach=f"at most {at_most:g}",
        reached=ratio <= at_most,
    )


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
    """Return a repair column by column, as AIF360's is, by an amount of one half."""
    return Repairer(scope="column", method="geometric", amount=0.5)


def numpy_alone() -> AbstractContextManager[object]:
    """Do without numba, though it is installed: no table has enough rows for it."""
    return mock.patch.object(kernel_choice, "MIN_COMPILED_VALUES", new=sys.maxsize)


def timed(task: Callable[[], object]) -> float:
    """Return how long one run takes."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def quicker(task: Callable[[], object]) -> float:
    """Return the shorter time of two runs: the first may wait for memory from the system."""
    return min(timed(task), timed(task))


def per_group(sort: Callable[[Values], object], values: Values, *, groups: Codes) -> None:
    """Take the rows of each group from each column, and sort them."""
    for column in range(COLUMNS):
        for group in GROUPS:
            sort(values[groups == group, column])


def once(rows: int, seed: int) -> dict[str, float]:
    """Time sorting and repairing, one after the other, on fresh arrays."""
    values, groups = make(rows, seed)
    times = {
        "argsort": quicker(lambda: per_group(np.argsort, values, groups=groups)),
        "sort": quicker(lambda: per_group(np.sort, values, groups=groups)),
    }
    repairer = half()
    for suffix, context in (("", numpy_alone()), (" fast", nullcontext())):
        with context:
            both = quicker(lambda: repairer.fit_transform(values, protected=groups))
            transform = quicker(lambda: repairer.transform(values, protected=groups))
        times |= {f"fit_transform{suffix}": both, f"transform{suffix}": transform}
    return times


def best(rows: int, runs: int) -> dict[str, float]:
    """Return the best time of each task over several rounds."""
    rounds = [once(rows, seed) for seed in range(runs)]
    return {name: min(times[name] for times in rounds) for name in rounds[0]}


def repairing(repairer: Repairer, values: Values, groups: Codes, *, runs: int) -> float:
    """Return the best time of several repairs."""
    return min(timed(lambda: repairer.fit_transform(values, protected=groups)) for _ in range(runs))


def quantiles(rows: int) -> float:
    """Return how long scikit-learn takes to map each group to uniform quantiles."""
    values, groups = make(rows, 0)
    group_values = [values[groups == group] for group in GROUPS]
    del values
    transformer = QuantileTransformer(n_quantiles=1000, random_state=0)
    return timed(lambda: [transformer.fit_transform(rows) for rows in group_values])


def peak(rows: int) -> float:
    """Return the bytes beyond input and output that one repair needs in a fresh process."""
    run = [sys.executable, __file__, "--peak", str(rows)]
    return float(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout)


def report_peak(rows: int) -> None:
    """Repair a few rows to load everything, then measure."""
    once(WARM_UP_ROWS, 0)
    values, groups = make(rows, 0)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    with numpy_alone():
        repaired = half().fit_transform(values, protected=groups)
    print(resident("VmHWM") - before - repaired.nbytes)


def resident(field: str) -> int:
    """Return a field of this process's memory status, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{field}:")[1].split()[0]) * 1024


def peer_environment(folder: Path) -> tuple[str, str]:
    """Install AIF360, and return the interpreter that has it and its version."""
    venv.create(folder / "aif360", with_pip=True, symlinks=True)
    python = str(folder / "aif360" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEER_REQUIREMENTS], check=True)
    code = "from importlib.metadata import version; print(version('aif360'))"
    answer = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return python, answer.stdout.strip()


def aif360_time(python: str, values: Values, groups: Codes, *, runs: int) -> float:
    """Return AIF360's best time for the same arrays."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("values.npy", "groups.npy")]
        np.save(paths[0], values)
        np.save(paths[1], groups)
        run = [python, str(PEER), *paths, str(runs)]
        return float(subprocess.run(run, stdout=subprocess.PIPE, check=True).stdout)


def against_aif360(plan: Plan, python: str) -> Iterator[Line]:
    """Measure what AIF360 can do too; both take the best of the same number of runs."""
    data, runs = adult(), plan.peer_runs
    peer = aif360_time(python, *data, runs=runs)
    with numpy_alone():
        alone = repairing(half(), *data, runs=runs)
    yield faster("adult", alone, peer=peer, at_least=200)
    fast = repairing(half(), *data, runs=runs)
    yield faster("adult fast", fast, peer=peer, at_least=200)
    data = make(plan.small, 0)
    with numpy_alone():
        alone = repairing(half(), *data, runs=runs)
    yield faster("peer", alone, peer=aif360_time(python, *data, runs=runs), at_least=400)


def against_sorting(plan: Plan) -> Iterator[Line]:
    """Measure on large arrays, against sorting the same arrays."""
    middle, large = best(plan.middle, plan.runs), best(plan.large, plan.runs)
    yield slower("middle", middle["fit_transform"], peer=middle["argsort"], at_most=1.5)
    argsort = large["argsort"]
    yield slower("large", large["fit_transform"], peer=argsort, at_most=1.0)
    yield slower("large fast", large["fit_transform fast"], peer=argsort, at_most=0.5)
    yield slower("transform", large["transform"], peer=argsort, at_most=0.5)
    yield slower("transform fast", large["transform fast"], peer=argsort, at_most=0.5)
    extra, column, threads = peak(plan.large), plan.large * 8, os.cpu_count() or 1
    limit = column * threads + SPARE_BYTES
    yield Line(
        key="memory",
        ours=f"{extra / 1e6:.0f} MB",
        peer=f"{column / 1e6:.0f} MB",
        ratio=f"{extra / column:.2f} times",
        reach=f"at most {limit / 1e6:.0f} MB: a column for each of {threads} threads, and 100",
        reached=extra <= limit,
    )
    small = best(plan.small, plan.small_runs)
    repair_growth = large["fit_transform"] / small["fit_transform"]
    sort_growth = large["sort"] / small["sort"]
    ratio = repair_growth / sort_growth
    yield Line(
        key="growth",
        ours=f"{repair_growth:.0f} times",
        peer=f"{sort_growth:.0f} times",
        ratio=f"{ratio:.2f} times",
        reach="at most 1.3",
        reached=ratio <= 1.3,
    )
    yield faster("quantiles", large["fit_transform"], peer=quantiles(plan.large), at_least=1)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="fewer rows; nothing is judged")
    parser.add_argument("--peak", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        report_peak(options.peak)
        return
    plan = QUICK if options.quick else FULL
    once(max(WARM_UP_ROWS, plan.small), 0)  # loads everything, and makes the process hold memory
    with tempfile.TemporaryDirectory() as folder:
        python, version = peer_environment(Path(folder))
        print(f"fourfifths {fourfifths.__version__}, numpy {np.__version__}, ", end="")
        print(f"numba {numba.__version__}, ", end="")
        print(f"scikit-learn {sklearn.__version__}, AIF360 {version}, {os.cpu_count()} cores:\n")
        print("| work | ours | other | ratio | reach | result |")
        print("| --- | ---: | ---: | ---: | --- | --- |")
        for line in chain(against_aif360(plan, python), against_sorting(plan)):
            print(line.markdown(plan), flush=True)
    left_out = [title for key, title in FULL.titles().items() if title != plan.titles()[key]]
    if left_out:
        print("\nLeft out by --quick:\n\n" + "\n".join(f"- {title}" for title in left_out))


if __name__ == "__main__":
    main()
