"""Benchmarks and scripts are not run by the tests, but they are to fit the code."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The peer runs in an environment of its own, with the package that it measures.
PROGRAMS = sorted(
    path
    for folder in ("benchmarks", "scripts")
    for path in (ROOT / folder).glob("*.py")
    if not path.stem.endswith("_peer")
)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_imports_what_the_package_has(path, monkeypatch):
    monkeypatch.syspath_prepend(str(path.parent))
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    assert (module.__doc__ or "").endswith("\n")
