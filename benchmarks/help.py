"""Time `fourfifths --help` against a bare import of typer and rich.

Usage::

    python benchmarks/help.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time

REPEATS = 20


def best(command: list[str]) -> float:
    """Return the best time of several runs of a command."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Measure, and print the table."""
    bare = best([sys.executable, "-c", "import typer, rich"])
    ours = best([str(shutil.which("fourfifths")), "--help"])
    print("| work | import typer, rich | fourfifths --help | ratio |\n| --- | ---: | ---: | ---: |")
    print(f"| answer to --help | {bare:.3f} s | {ours:.3f} s | {ours / bare:.2f} |")


if __name__ == "__main__":
    main()
