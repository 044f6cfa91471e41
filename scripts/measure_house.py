"""Measure how the package is built: rooms, paths through it, names, tests.

`python scripts/measure_house.py` prints the table that CONTRIBUTING.md keeps, and
`python scripts/measure_house.py --names` the variables whose names say nothing.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "fourfifths"
TESTS = ROOT / "tests"
VAGUE_NAMES = {
    *("at", "each", "every", "everyone", "found", "given", "item", "known", "made", "one", "other"),
    *("others", "own", "part", "parts", "place", "places", "said", "shown", "some", "told", "used"),
    *("wanted", "what", "whole", "work"),
}
ARRAY_TYPES = {"FloatArray", "IntArray", "CodeArray", "BoolArray"}


@cache
def modules() -> dict[str, Path]:
    """Return every module of the package that holds code, by its dotted name."""
    return {
        ".".join(("fourfifths", *path.relative_to(PACKAGE).with_suffix("").parts)): path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name != "__init__.py"
    }


@cache
def tree(path: Path) -> ast.Module:
    """Return the parsed module."""
    return ast.parse(path.read_text())


def largest_room() -> str:
    """Return the folder with the most modules."""
    sizes = Counter(path.parent for path in modules().values())
    folder, size = sizes.most_common(1)[0]
    return f"{size} ({folder.name})"


def passed_modules(task: Callable[[], Any]) -> int:
    """Return in how many modules of the package a function runs while the task does."""
    files = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    task()  # imports and caches first: what is counted is the way of the data
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        task()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sum(str(path) in files for path in modules().values())


def tasks() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the three tasks: a saved repair applied, a dataframe certified, a file audited."""
    import pandas as pd

    import fourfifths
    from fourfifths._cli import main

    folder = Path(tempfile.mkdtemp())
    table = fourfifths.datasets.load("ricci").table.df()
    table.to_csv(folder / "ricci.csv", index=False)

    def shell(*arguments: str) -> None:
        sys.argv = ["fourfifths", *map(str, arguments)]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            try:
                main.main()
            except SystemExit as stop:
                if stop.code:
                    raise RuntimeError(arguments) from stop

    source, out, saved = folder / "ricci.csv", folder / "out.csv", folder / "repair.json"
    columns = ("--columns", "oral", "--columns", "written")
    roles = ("--protected", "race", "--small", "pool", "--effect", "none")
    shell("repair", source, out, *roles, *columns, "--save", saved)
    yield "repair --apply", lambda: shell("repair", source, out, "--apply", saved)
    frame = pd.read_csv(source)
    yield (
        "certify(df)",
        lambda: fourfifths.certify(frame, protected="race", outcome="passed", reference="W"),
    )
    yield (
        "audit",
        lambda: shell("audit", source, "--protected", "race", "--outcome", "passed"),
    )


def positional_constructors() -> int:
    """Return how many constructor calls have five or more positional arguments."""
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id[:1].isupper()
        and len(node.args) >= 5
        for path in modules().values()
        for node in ast.walk(tree(path))
    )


def one_caller_share() -> str:
    """Return the share of private functions that a single other function uses."""
    once = total = 0
    for path in modules().values():
        users: dict[str, set[str]] = {}
        private: list[str] = []
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef):
                is_dunder = node.name.startswith("__")
                if node.name.startswith("_") and not is_dunder:
                    private.append(node.name)
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Name | ast.Attribute):
                        used = inner.id if isinstance(inner, ast.Name) else inner.attr
                        users.setdefault(used, set()).add(node.name)
        total += len(private)
        once += sum(len(users.get(name, set()) - {name}) == 1 for name in private)
    return f"{once / total:.1%} of {total}"


def local_share() -> str:
    """Return the share of functions of one user, among those that only their own module uses.

    Whatever their names are: in a room that begins with an underscore, few others do. Functions
    that a test imports have another user than the module.
    """
    imported = {
        alias.name
        for path in (*modules().values(), *PACKAGE.rglob("__init__.py"), *TESTS.rglob("*.py"))
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    once = total = 0
    for path in modules().values():
        functions = [node for node in tree(path).body if isinstance(node, ast.FunctionDef)]
        local = {node.name for node in functions} - imported
        users = Counter(
            name
            for node in tree(path).body
            for name in {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
            - {getattr(node, "name", "")}
        )
        total += len(local)
        once += sum(users[name] == 1 for name in local)
    return f"{once / total:.1%} of {total}"


def variables() -> Iterator[tuple[Path, int, str]]:
    """Yield every variable and parameter where it is named."""
    for path in modules().values():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield path, node.lineno, node.id
            elif isinstance(node, ast.arg):
                yield path, node.lineno, node.arg


def vague_share() -> str:
    """Return the share of variables whose names say nothing."""
    names = [name for _, _, name in variables()]
    vague = sum(name in VAGUE_NAMES for name in names)
    return f"{vague / len(names):.1%} of {len(names)}"


def tested_share() -> str:
    """Return the share of modules that have a test file of their name."""
    tested = 0
    for path in modules().values():
        room = path.parent.relative_to(PACKAGE).as_posix().replace("_", "")
        tested += (ROOT / "tests" / room / f"test_{path.stem.lstrip('_')}.py").is_file()
    return f"{tested / len(modules()):.0%} of {len(modules())}"


def imports(node: ast.AST) -> Iterator[str]:
    """Yield the modules of the package that a statement imports."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fourfifths"):
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in modules() else str(node.module)


def hidden_cycles() -> int:
    """Return how many imports inside functions would be a cycle if they were at the top."""
    at_load = {
        name: {target for node in tree(path).body for target in imports(node)}
        for name, path in modules().items()
    }

    def reaches(start: str, goal: str) -> bool:
        seen, waiting = set(), [start]
        while waiting:
            module = waiting.pop()
            if module == goal:
                return True
            if module not in seen:
                seen.add(module)
                waiting += at_load.get(module, ())
        return False

    return sum(
        reaches(target, name)
        for name, path in modules().items()
        for function in ast.walk(tree(path))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        for target in imports(node)
    )


def array_types_through_counts() -> int:
    """Return how many modules take array types from where rows are counted."""
    return sum(
        any(
            isinstance(node, ast.ImportFrom)
            and str(node.module).endswith(".counts")
            and ARRAY_TYPES & {alias.name for alias in node.names}
            for node in tree(path).body
        )
        for path in modules().values()
    )


def comment_share() -> str:
    """Return the share of lines that are comments."""
    lines = [line for path in modules().values() for line in path.read_text().splitlines()]
    return f"{sum(line.lstrip().startswith('#') for line in lines) / len(lines):.1%}"


def main() -> None:
    """Print the table, or the names that say nothing."""
    if "--names" in sys.argv:
        for path, line, name in variables():
            if name in VAGUE_NAMES:
                print(f"{path.relative_to(ROOT)}:{line}: {name}")
        return
    passed = " / ".join(str(passed_modules(task)) for _, task in tasks())
    rows = {
        "modules in the largest room": largest_room(),
        "modules passed by `repair --apply` / `certify(df)` / `audit`": passed,
        "constructor calls with 5 or more positional arguments": positional_constructors(),
        "private functions with one caller": one_caller_share(),
        "functions that only their module uses, with one user": local_share(),
        "variables whose names say nothing": vague_share(),
        "modules with a test file of their name": tested_share(),
        "late imports that hide a cycle": hidden_cycles(),
        "modules that import array types through `counts`": array_types_through_counts(),
        "comment lines": comment_share(),
    }
    print("| | measured |\n| --- | --- |")
    for name, figure in rows.items():
        print(f"| {name} | {figure} |")


if __name__ == "__main__":
    main()
