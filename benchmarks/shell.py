"""Time the shell against the imports that it cannot do without.

Usage::

    python benchmarks/shell.py

CPU seconds, the best of several runs: a busy machine changes these less than the clock. The
imports of an audit are all modules, of the package and of others, that the command has loaded when
it ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

REPEATS = 15
FOURFIFTHS = str(shutil.which("fourfifths"))
LOADED = """
import sys
sys.argv = ["fourfifths", "audit", "ricci"]
from fourfifths._cli.main import main
try:
    main()
except SystemExit:
    print(*[name for name in sys.modules if name != "__main__"], file=sys.stderr)
"""


def best(command: list[str]) -> float:
    """Return the least CPU time of several runs of a command."""
    times = []
    for _ in range(REPEATS):
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        times.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return min(times)


def imports_of_an_audit() -> str:
    """Return a program that loads what an audit loads, and nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED], check=True, capture_output=True, text=True
    )
    names = done.stderr.split()
    return (
        "import importlib\n"
        f"for name in {names!r}:\n"
        "    try:\n"
        "        importlib.import_module(name)\n"
        "    except ImportError:\n"
        "        pass\n"
    )


def main() -> None:
    """Measure, and print the table."""
    rows = (
        ("--help, and import typer, rich", ["--help"], "import typer, rich"),
        ("audit ricci, and its imports", ["audit", "ricci"], imports_of_an_audit()),
    )
    print("| work | imports | fourfifths | ratio |\n| --- | ---: | ---: | ---: |")
    for name, arguments, program in rows:
        bare = best([sys.executable, "-c", program])
        ours = best([FOURFIFTHS, *arguments])
        print(f"| {name} | {bare:.3f} s | {ours:.3f} s | {ours / bare:.2f} |")


if __name__ == "__main__":
    main()
