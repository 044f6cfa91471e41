"""A results file: one line per finished cell, so that a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourfifths._tradeoff.result import Record
from fourfifths._tradeoff.versions import Version
from fourfifths.errors import OutputError

HEADER = "fourfifths tradeoff"


@dataclass(frozen=True, kw_only=True)
class Results:
    """Finished cells, kept in a file if there is one."""

    path: Path | None
    fingerprint: str

    def load(self) -> list[Record]:
        """Return the cells that the file has; a last line that was cut off is left out."""
        if self.path is None:
            return []
        try:
            if not self.path.exists():
                self.path.write_text(self._header(), encoding="utf-8")
                return []
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise OutputError(f"results={str(self.path)!r}: {error.strerror}") from error
        if not lines or self._parsed(lines[0]).get(HEADER) != self.fingerprint:
            raise OutputError(
                f"results={str(self.path)!r}: holds another run (other data, settings or version); "
                "name another file, or remove it"
            )
        found = [record for line in lines[1:] if (record := self._parsed(line))]
        self._rewrite(found)
        return found

    def add(self, records: Iterable[Record]) -> None:
        """Append finished cells."""
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8") as stream:
            stream.writelines(json.dumps(record) + "\n" for record in records)

    def _rewrite(self, records: Sequence[Record]) -> None:
        """Drop a line that was cut off, so that the next one begins on a line of its own."""
        from fourfifths._tables.files import write_whole

        assert self.path is not None
        lines = [json.dumps(record) + "\n" for record in records]
        write_whole(self.path, self._header() + "".join(lines))

    def _header(self) -> str:
        return json.dumps({HEADER: self.fingerprint}) + "\n"

    @staticmethod
    def _parsed(line: str) -> Record:
        try:
            found: Any = json.loads(line)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def is_done(version: Version, models: Iterable[str], done: set[tuple[Any, ...]]) -> bool:
    """Return whether every model of a version is among the finished cells."""
    return all((*version.key, model) in done for model in models)


def key_of(record: Record) -> tuple[Any, ...]:
    """Return what tells a cell from others."""
    names = ("repeat", "scope", "method", "amount", "model")
    return tuple(record[name] for name in names)
