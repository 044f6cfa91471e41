"""ARCHITECTURE.md draws the import order; the modules must keep it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fourfifths"


def drawn_order() -> list[str]:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    return re.findall(r"^\| `([\w.]+)` \|", text, flags=re.MULTILINE)


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def modules() -> dict[str, Path]:
    found = {module_name(path): path for path in PACKAGE.rglob("*.py")}
    del found[""]  # the package's own __init__ loads names only when they are used
    return found


def imported_on_load(path: Path) -> set[str]:
    """Return the package's modules that are imported outside of functions and type checking."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fourfifths"):
            home = (node.module or "").removeprefix("fourfifths").removeprefix(".")
            inside = {f"{home}.{name.name}".removeprefix(".") for name in node.names}
            found |= {name for name in inside if name in modules()} or {home}
    return found


def test_every_module_is_on_the_map() -> None:
    assert sorted(drawn_order()) == sorted(modules())


def test_modules_import_only_what_stands_above_them() -> None:
    order = {name: place for place, name in enumerate(drawn_order())}
    backwards = [
        f"{name} imports {other}"
        for name, path in modules().items()
        for other in imported_on_load(path)
        if order[other] >= order[name]
    ]
    assert backwards == []
