"""Time a full report of Adult against the analyses that it contains.

Usage::

    python benchmarks/report.py

CPU seconds, each in a process of its own: the analyses one after the other, then the report, and
each of its formats.
"""

from __future__ import annotations

import subprocess
import sys

ANALYSES = """
import fourfifths
from fourfifths._effect.effect import AuditRoles
from fourfifths._effect.files import repair_file

fourfifths.impact("adult")
fourfifths.certify("adult", progress=False)
repaired = repair_file("adult", roles=AuditRoles())
repaired.proof()
repaired.effect("full")
print("analyses", time.process_time() - started)
"""
REPORT = """
import tempfile
from pathlib import Path

import fourfifths

report = fourfifths.report("adult")
print("report", time.process_time() - started)
with tempfile.TemporaryDirectory() as folder:
    for ending in (".html", ".pdf", ".docx", ".xlsx", ".md", ".json", ".zip"):
        before = time.process_time()
        path = Path(folder) / f"report{ending}"
        report.save(path)
        print(ending, time.process_time() - before, path.stat().st_size)
"""


def main() -> None:
    """Print the seconds, and the ratio of the two."""
    seconds: dict[str, float] = {}
    for script in (ANALYSES, REPORT):
        output = subprocess.run(
            [
                sys.executable,
                "-W",
                "ignore",
                "-c",
                f"import time\nstarted = time.process_time()\n{script}",
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for line in output.splitlines():
            name, used, *size = line.split()
            seconds[name] = float(used)
            print(f"{name:10} {float(used):8.2f} s", *(f"{int(count):10,} bytes" for count in size))
    rendering = seconds["report"] + seconds[".html"]
    print(f"report with its page / analyses: {rendering / seconds['analyses']:.2f} (reach 1.3)")


if __name__ == "__main__":
    main()
