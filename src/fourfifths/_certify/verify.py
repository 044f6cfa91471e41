"""`verify`: run a certificate again, and say whether the same data gives the same certificate."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, get_args

from fourfifths._certify.auditors import AuditorName
from fourfifths._certify.certify import certify
from fourfifths._certify.result import SCHEMA, Certificate
from fourfifths._results import Result
from fourfifths._tables.table import TableLike
from fourfifths.errors import OptionError, TableError, listed

TOLERANCE = 1e-9
# What may differ without the certificate being another one.
APART = ("table", "versions", "schema", "left_out", "notes")


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """Whether a certificate comes out again.

    Attributes
    ----------
    same_data : bool
        Whether the audited columns and rows have the hash that the certificate names.
    same_certificate : bool
        Whether every figure is the same, to nine digits.
    differences : tuple of str
        What differs, at most ten of them.
    certificate : Certificate
        As it comes out now.
    """

    same_data: bool
    same_certificate: bool
    differences: tuple[str, ...]
    certificate: Certificate

    _not_in_json: ClassVar[tuple[str, ...]] = ("certificate",)

    def __str__(self) -> str:
        data = "the same data" if self.same_data else "other data"
        if self.same_certificate:
            return f"verified: {data}, the same certificate ({self.certificate.verdict})"
        verdict = f"the verdict is {self.certificate.verdict}"
        return f"not verified: {data}, {verdict}; {'; '.join(self.differences[:3])}"


def verify(certificate: str | os.PathLike[str] | dict[str, Any], table: TableLike) -> Verification:
    """Run `certify` with a certificate's own settings and compare every figure.

    Parameters
    ----------
    certificate : path of a JSON file, or what `Certificate.to_dict` returned
    table : as for `certify`
    """
    stated = certificate if isinstance(certificate, dict) else _load(Path(certificate))
    settings = _settings(stated)
    found = certify(table, **settings)
    now = json.loads(found.to_json())
    differences = [
        each
        for key in sorted({*stated, *now}, key=lambda key: (key != "data_sha256", key))
        if key not in APART
        for each in _differences(key, stated.get(key), now.get(key))
    ]
    same_data = stated.get("data_sha256") == found.data_sha256
    return Verification(
        same_data=same_data,
        same_certificate=not differences,
        differences=tuple(differences[:10]),
        certificate=found,
    )


def _load(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TableError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise TableError(
            f"{path}: not readable as JSON: {error}; expected what certify wrote with --format json"
        ) from None
    if not isinstance(loaded, dict):
        raise TableError(f"{path}: expected a certificate, found {type(loaded).__name__}")
    return loaded


def _settings(stated: dict[str, Any]) -> dict[str, Any]:
    if stated.get("schema") != SCHEMA:
        raise OptionError(
            f"certificate: its schema is {stated.get('schema')!r}; expected {SCHEMA!r}"
        )
    settings = stated.get("settings")
    if not isinstance(settings, dict):
        raise OptionError(
            f"certificate: its settings are {settings!r}; expected what certify wrote"
        )
    settings = dict(settings)
    needed = {"protected", "columns", "auditors", "confidence", "folds", "random_state"}
    if missing := sorted(needed - set(settings)):
        raise OptionError(f"certificate: its settings lack {listed(missing)}")
    if extra := sorted(set(settings) - set(signature(certify).parameters)):
        raise OptionError(f"certificate: its settings name {listed(extra)}, which certify lacks")
    names = settings["auditors"]
    if not isinstance(names, list):
        raise OptionError(f"certificate: its auditors are {names!r}; expected a list of names")
    own = [name for name in names if name not in get_args(AuditorName)]
    if own:
        raise OptionError(
            f"certificate: {listed(own)} are classifiers of its maker's, which a file does not "
            "hold; run certify with them instead"
        )
    if isinstance(settings.get("beta"), list):
        settings["beta"] = tuple(settings["beta"])
    return settings


def _differences(where: str, stated: Any, now: Any) -> Iterator[str]:
    """Yield a sentence for each place where two JSON values differ."""
    if isinstance(stated, dict) and isinstance(now, dict):
        for key in sorted({*stated, *now}):
            yield from _differences(f"{where}.{key}", stated.get(key), now.get(key))
    elif isinstance(stated, list) and isinstance(now, list) and len(stated) == len(now):
        for place, (one, other) in enumerate(zip(stated, now, strict=True)):
            yield from _differences(f"{where}[{place}]", one, other)
    elif isinstance(stated, int | float) and isinstance(now, int | float):
        if not math.isclose(stated, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{where} was {stated:.6g} and is {now:.6g}"
    elif stated != now:
        yield f"{where} was {_short(stated)} and is {_short(now)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
