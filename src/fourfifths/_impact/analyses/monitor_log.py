"""The log of a monitor: its settings and the counts of each batch, as JSON lines."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fourfifths._arrays import FloatArray
from fourfifths._tables.files import write_whole
from fourfifths._tables.groups import favorable_names, read_bands
from fourfifths._tables.values import unknown_tokens
from fourfifths._text import listed, rows_have
from fourfifths.errors import OptionError, TableError

SCHEMA = "fourfifths/monitor-log/1"
SETTINGS = ("protected", "outcome", "favorable", "reference", "threshold", "confidence")


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The counts of a batch.

    Attributes
    ----------
    name : str
    file, sha256 : str or None
        The file that was counted, and the SHA-256 of its bytes.
    groups : mapping of str to pair of int
        How many of each group were selected, and how many there were.
    unknown : pair of int
        The same of people whose group is not known.
    outcome_missing : int
        Rows without an outcome; they are not counted.
    outcome_values : tuple of str
    """

    name: str
    file: str | None
    sha256: str | None
    groups: Mapping[str, tuple[int, int]]
    unknown: tuple[int, int]
    outcome_missing: int
    outcome_values: tuple[str, ...]

    @staticmethod
    def hash_of(path: str | os.PathLike[str]) -> str | None:
        """Return the SHA-256 of a file; a shipped data set has none."""
        if not Path(path).is_file():
            return None
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return a line of the log."""
        return {
            "batch": self.name,
            "file": self.file,
            "sha256": self.sha256,
            "groups": {
                group: {"selected": selected, "n": n}
                for group, (selected, n) in self.groups.items()
            },
            "unknown": {"selected": self.unknown[0], "n": self.unknown[1]},
            "outcome_missing": self.outcome_missing,
            "outcome_values": list(self.outcome_values),
        }

    @classmethod
    def from_dict(cls, line: Mapping[str, Any]) -> Batch:
        """Read a line of the log; KeyError, TypeError or ValueError if it is not one."""

        def people(counts: Mapping[str, Any]) -> tuple[int, int]:
            selected, n = counts["selected"], counts["n"]
            if type(selected) is not int or type(n) is not int or not 0 <= selected <= n:
                raise ValueError(f"selected={selected!r}, n={n!r}")
            return selected, n

        return cls(
            name=str(line["batch"]),
            file=line["file"],
            sha256=line["sha256"],
            groups={str(group): people(counts) for group, counts in line["groups"].items()},
            unknown=people(line["unknown"]),
            outcome_missing=int(line["outcome_missing"]),
            outcome_values=tuple(map(str, line["outcome_values"])),
        )


@dataclass(frozen=True, kw_only=True)
class MonitorLog:
    """The settings that the first batch fixed, and all batches.

    Attributes
    ----------
    protected, outcome, reference : str
    favorable : str or tuple of str
        In the log, a text or a list of texts.
    threshold, confidence : float
    bands : tuple of pairs of column and edges
    unknown : tuple of str
    batches : tuple of Batch
        In the order in which they were added.
    """

    protected: str
    outcome: str
    favorable: str | tuple[str, ...]
    reference: str
    threshold: float
    confidence: float
    bands: tuple[tuple[str, tuple[float, ...]], ...]
    unknown: tuple[str, ...]
    batches: tuple[Batch, ...]

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups in the order in which they first occur."""
        names = (name for batch in self.batches for name in batch.groups)
        return tuple(dict.fromkeys(names))

    def arrays(self) -> tuple[FloatArray, FloatArray]:
        """Return the selected and all people; a row for each group, a column for each batch."""
        pairs = np.array(
            [
                [batch.groups.get(name, (0, 0)) for batch in self.batches]
                for name in self.group_names
            ],
            dtype=np.float64,
        )
        return pairs[..., 0], pairs[..., 1]

    def check_settings(self, *, bands: Any, unknown: Any, **settings: Any) -> None:
        """Raise if a setting is given that differs from that of the first batch."""
        given_bands = tuple((column, cut.edges) for column, cut in read_bands(bands).items())
        favorable = settings["favorable"]
        if isinstance(favorable, list | tuple) and favorable:
            # In any order; the shell has a list of one, too.
            names = favorable_names(favorable)
            is_same = not isinstance(names, str) and set(names) == set(self.favorable)
            settings["favorable"] = self.favorable if is_same else names
        checks = [(name, settings[name], getattr(self, name)) for name in SETTINGS]
        checks.append(("bands", given_bands or None, self.bands))
        tokens = tuple(str(value) for value in unknown_tokens(unknown))
        checks.append(("unknown", tokens or None, self.unknown))
        for name, setting, fixed in checks:
            # reference={'race': 'W'} means 'W'.
            value = setting.get(self.protected) if isinstance(setting, Mapping) else setting
            if value is not None and value != fixed and str(value) != str(fixed):
                raise OptionError(
                    f"{name}={value!r}: the first batch of the log fixed {fixed!r}; leave it out, "
                    "or begin another log"
                )

    def with_batch(self, batch: Batch, path: str | os.PathLike[str]) -> MonitorLog:
        """Return the log with one more batch, which must not be in it already."""
        for old in self.batches:
            if old.name == batch.name:
                raise OptionError(
                    f"{os.fspath(path)}: the batch {batch.name!r} is in the log already; a batch "
                    "counts once. If this is another one, give it another name=..."
                )
            if batch.sha256 is not None and old.sha256 == batch.sha256:
                raise OptionError(
                    f"{os.fspath(path)}: the content of {batch.file!r} is in the log already, as "
                    f"the batch {old.name!r}; a batch counts once"
                )
        return replace(self, batches=(*self.batches, batch))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the log whole, or not at all."""
        header = {
            "schema": SCHEMA,
            **{name: getattr(self, name) for name in SETTINGS},
            "bands": {column: list(edges) for column, edges in self.bands},
            "unknown": list(self.unknown),
        }
        lines = [header, *(batch.to_dict() for batch in self.batches)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_whole(path, text)

    def notes(self) -> Iterator[str]:
        """Yield what a reader must know of the batches."""
        first, last = self.batches[0].name, self.batches[-1].name
        yield f"the order of the {len(self.batches)} batches is from {first} to {last}"
        missing = sum(batch.outcome_missing for batch in self.batches)
        if missing:
            yield f"{rows_have(missing)} no {self.outcome} and could not be counted"
        selected, unknown = (
            sum(batch.unknown[index] for batch in self.batches) for index in (0, 1)
        )
        if unknown:
            yield (
                f"{unknown:,} people have no known {self.protected} ({selected:,} of them "
                "selected) and are in no group"
            )
        _, n = self.arrays()
        absent = int(np.sum(n[self.group_names.index(self.reference)] == 0))
        if absent:
            yield f"the reference is absent from {absent} batches, which add no evidence"
        late = [
            name
            for index, name in enumerate(self.group_names)
            if n[index, 0] == 0 and name != self.reference
        ]
        if late:
            yield f"not in the first batch: {listed(late)}; check the spelling of the groups"


def read_log(path: str | os.PathLike[str]) -> MonitorLog:
    """Read a log, or raise an error that says which line is not one of a log."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise TableError(
            f"{os.fspath(path)}: there is no log yet; adding the first batch makes it"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{os.fspath(path)}: cannot be read as a log: {error}") from error
    # Not splitlines: the name of a group may hold other signs that end a line, such as U+2028.
    lines = text.removesuffix("\n").split("\n")
    batches: list[Batch] = []
    is_header_read = False
    try:
        header = json.loads(lines[0])
        if header["schema"] != SCHEMA:
            raise ValueError(f"schema {header['schema']!r}")
        settings: dict[str, Any] = {name: str(header[name]) for name in SETTINGS}
        settings |= {name: float(header[name]) for name in ("threshold", "confidence")}
        if not 0 < settings["threshold"] < np.inf or not 0.5 <= settings["confidence"] < 1:
            raise ValueError("threshold above 0, confidence from 0.5 to below 1")
        if isinstance(header["favorable"], list):
            settings["favorable"] = tuple(map(str, header["favorable"]))
        bands = tuple((str(key), tuple(edges)) for key, edges in header["bands"].items())
        unknown = tuple(header["unknown"])
        is_header_read = True
        batches.extend(Batch.from_dict(json.loads(line)) for line in lines[1:])
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        line_number = len(batches) + 2 if is_header_read else 1
        reason = "it is not JSON" if isinstance(error, json.JSONDecodeError) else error
        raise TableError(
            f"{os.fspath(path)}: line {line_number} is not that of a log of batches "
            f"({reason}); for a table with all batches name the column, batch=..."
        ) from error
    if not batches:
        raise TableError(f"{os.fspath(path)}: the log holds no batch")
    log = MonitorLog(**settings, bands=bands, unknown=unknown, batches=tuple(batches))
    if log.reference not in log.group_names:
        raise TableError(
            f"{os.fspath(path)}: the reference {log.reference!r} is in no batch of the log "
            f"(groups: {listed(log.group_names)})"
        )
    return log
