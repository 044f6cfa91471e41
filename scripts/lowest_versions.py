"""Print the lowest version of each dependency that pyproject.toml allows, as constraints for pip.

    python scripts/lowest_versions.py > constraints.txt
    pip install -c constraints.txt -e ".[test]"

CI runs the fast tests with exactly these, so that no minimum is a guess.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("test", "excel", "fast", "office", "pdf", "sign", "sql")
MINIMUM = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?>=(?P<version>[\w.]+)")


def lowest_versions() -> dict[str, str]:
    """Return the lowest version of each dependency of the package, its tests and its extras."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    # An extra may name another one, which is in the list itself.
    requirements = [line for line in lines if not line.startswith("fourfifths[")]
    versions = {}
    for requirement in requirements:
        minimum = MINIMUM.fullmatch(requirement)
        if minimum is None:
            raise SystemExit(f"{requirement}: expected a minimum, as in numpy>=2.0")
        versions[minimum["name"]] = minimum["version"]
    return versions


if __name__ == "__main__":
    for dependency, lowest in sorted(lowest_versions().items()):
        print(f"{dependency}=={lowest}")
