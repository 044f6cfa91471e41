"""What only the user knows: who audited what, for whom, with which data. Stated, or "not stated".

A field is given as ``key=value`` or in a TOML file. Nothing is guessed: a field that nobody stated
is on the page, and says so.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from os import PathLike
from pathlib import Path

from fourfifths._evidence.report import Field
from fourfifths._text import listed, nearest
from fourfifths.errors import OptionError

# Every field that a template may show, and its name on the page.
LABELS: Mapping[str, str] = {
    "organization": "Organization",
    "prepared_for": "Prepared for",
    "prepared_by": "Prepared by",
    "position": "Position, or decision",
    "tool": "Tool or process that selects",
    "tool_version": "Version of the tool",
    "distribution_date": "Distribution date of the tool",
    "period": "Period of the data",
    "data_source": "Source and explanation of the data",
    "data_kind": "Historical or test data",
    "data_reason": "Why these data",
    "audit_date": "Date of the audit",
    "auditor": "Auditor",
    "independence": "Independence of the auditor",
    "exclusion_reason": "Why small categories are excluded",
    "question": "Question",
    "facts": "Facts",
    "validity": "Evidence of validity",
    "alternatives": "Alternatives considered",
    "records": "Records kept",
    "model": "Model",
    "model_version": "Version of the model",
    "intended_use": "Intended use",
    "report_url": "Address of this report",
    "job_url": "Address of the job listing",
}


def read_fields(
    texts: Sequence[str] = (), file: str | PathLike[str] | None = None
) -> dict[str, str]:
    """Return the stated fields by key; those given one by one take precedence over the file.

    Parameters
    ----------
    texts : sequence of str
        Each ``key=value``.
    file : path, optional
        A TOML file of keys and texts, numbers or dates.

    Examples
    --------
    >>> read_fields(["auditor=Ann Lee", "period=2025"])
    {'auditor': 'Ann Lee', 'period': '2025'}
    """
    stated = {} if file is None else fields_of_file(Path(file))
    seen: set[str] = set()
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not value.strip():
            raise OptionError(f"fields={text!r}: expected key=value, as in 'auditor=Ann Lee'")
        check_key(key)
        if key in seen:
            raise OptionError(f"fields={text!r}: {key!r} was given twice; give it once")
        seen.add(key)
        stated[key] = value.strip()
    return stated


def fields_of_file(path: Path) -> dict[str, str]:
    """Return the fields of a TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path}: is not TOML: {error}") from error
    stated = {}
    for key, value in content.items():
        check_key(key)
        if isinstance(value, bool) or not isinstance(value, str | int | float | date | datetime):
            raise OptionError(f"{path}: {key} is {value!r}; expected a text, a number or a date")
        if str(value).strip():
            stated[key] = str(value).strip()
    return stated


def check_key(key: str) -> None:
    """Refuse a field that no template shows."""
    if key not in LABELS:
        raise OptionError(
            f"fields={key!r}: no such field; expected one of {listed(LABELS)}{nearest(key, LABELS)}"
        )


def cover_fields(stated: Mapping[str, str], keys: Sequence[str]) -> tuple[Field, ...]:
    """Return the lines of a cover, in order; what nobody stated is "not stated".

    Examples
    --------
    >>> [field.text for field in cover_fields({"auditor": "Ann"}, ["auditor", "period"])]
    ['Ann', 'not stated']
    """
    return tuple(
        Field(key=key, label=LABELS[key], text=stated[key])
        if key in stated
        else Field(key=key, label=LABELS[key])
        for key in keys
    )
