"""The results file of a sweep: one line per finished cell, so that a stopped run can resume.

A *cell* is one model on one version of the data: what was counted on the test rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

from fourfifths._tables.files import write_whole
from fourfifths.errors import OutputError

HEADER_KEY = "fourfifths tradeoff"
CellKey = tuple[int, str, str, float, str]


class Record(TypedDict):
    """What was counted in one cell; a line of the file holds it as JSON.

    `repeat`, `scope`, `method`, `amount` and `model` say which cell it is. `rows` is the number of
    test rows, `changed` how many of them the repair changed. `auditor` holds for each auditor the
    four counts of an `Errors`, `counts` the confusion counts of each group (see `points`),
    `auc` the area under the ROC curve and its variance, and `proven_floor` the impact ratio that no
    rule on the repaired columns falls below; NaN if nothing is proven.
    """

    repeat: int
    scope: str
    method: str
    amount: float
    model: str
    rows: int
    changed: int
    auditor: dict[str, list[int]]
    counts: list[list[int]]
    auc: list[float]
    proven_floor: float


def cell_key(record: Record) -> CellKey:
    """Return what identifies a cell within a sweep."""
    return (
        record["repeat"],
        record["scope"],
        record["method"],
        record["amount"],
        record["model"],
    )


@dataclass(frozen=True, kw_only=True)
class ResultsFile:
    """The finished cells of a sweep, kept in a file if a path is given.

    Attributes
    ----------
    path : Path or None
        Without a path nothing is read or written.
    fingerprint : str
        A hash of everything that the numbers depend on. It is the file's first line: cells of
        another sweep are never mixed in.
    """

    path: Path | None
    fingerprint: str

    def load(self) -> list[Record]:
        """Return the cells in the file, and create the file if there is none.

        A run that was killed may leave half a line at the end. It is dropped, and the file written
        again without it, so that the next cell starts on a line of its own.
        """
        if self.path is None:
            return []
        header = json.dumps({HEADER_KEY: self.fingerprint}) + "\n"
        try:
            if not self.path.exists():
                self.path.write_text(header, encoding="utf-8")
                return []
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise OutputError(f"results={str(self.path)!r}: {error.strerror}") from error
        parsed = []
        for line in lines:
            try:
                content = json.loads(line)
            except ValueError:
                content = None
            parsed.append(content if isinstance(content, dict) else {})
        if not parsed or parsed[0].get(HEADER_KEY) != self.fingerprint:
            raise OutputError(
                f"results={str(self.path)!r}: this file holds another run (other data, other "
                "settings or another version); name another file, or remove this one"
            )
        # The header's fingerprint vouches for the lines' form: only `add` writes them.
        records = cast("list[Record]", [content for content in parsed[1:] if content])
        write_whole(self.path, header + _lines(records))
        return records

    def add(self, records: Iterable[Record]) -> None:
        """Append finished cells to the file."""
        if self.path is None:
            return
        # Appended at once: a run that is stopped loses only the cells that it was computing.
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(_lines(records))


def _lines(records: Iterable[Record]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)
