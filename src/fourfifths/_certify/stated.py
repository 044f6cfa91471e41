"""A certificate as a file states it: read strictly, because somebody else wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from inspect import signature
from os import PathLike
from typing import Any, get_args

from fourfifths._certify.auditors import AuditorName
from fourfifths._certify.certify import certify
from fourfifths._certify.result import SCHEMA, Certificate, PairCertificate
from fourfifths._json import CONTENT_HASH, read_json
from fourfifths._text import listed
from fourfifths.errors import OptionError, TableError

MAX_CERTIFICATE_BYTES = 2**26
MAX_VALUE_LENGTH = 60
NUMBER_LIMIT = 2**63  # JSON has numbers of any length
# When and by which command a page was made: only in what the shell writes.
PROVENANCE = ("command", "date", "version", "file", "sha256")
KNOWN_FIELDS = {
    "schema",
    "provenance",
    CONTENT_HASH,
    *(field.name for field in fields(Certificate)),
    *(field.name for field in fields(PairCertificate) if field.name != "floor_limit"),
}
# Arguments of `certify` that say nothing about the certificate itself.
NOT_SETTINGS = {"table", "progress"}


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    is_plain = isinstance(value, int | float) and not isinstance(value, bool)
    return is_plain and abs(value) < NUMBER_LIMIT


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and is_number(value)


def or_null(is_kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_kind(value)


def are_all(is_kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_kind, value))


def by_name(is_kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(is_kind, value.values()))


READING: Mapping[str, Callable[[Any], bool]] = {
    "sheet": or_null(is_text),
    "header_row": or_null(lambda value: is_whole(value) and value > 0),
    "decimal": lambda value: value in (None, ".", ","),
    "known": are_all(is_text),
    "exact_values": lambda value: isinstance(value, bool),
}
SETTINGS: Mapping[str, Callable[[Any], bool]] = {
    "protected": are_all(is_text),
    "outcome": or_null(is_text),
    "favorable": lambda value: value is None or is_text(value) or are_all(is_text)(value),
    "reference": by_name(is_text),
    "columns": are_all(is_text),
    "beta": lambda value: value is None or is_number(value) or are_all(is_number)(value),
    "threshold": is_number,
    "auditors": are_all(is_text),
    "confidence": is_number,
    "folds": is_whole,
    "max_rows": is_whole,
    "leaks": lambda value: isinstance(value, bool),
    "bands": or_null(by_name(are_all(is_number))),
    "ages": or_null(by_name(is_text)),
    "unknown": are_all(is_text),
    "random_state": is_whole,
    "reading": lambda value: (
        isinstance(value, dict)
        and {*value} == {*READING}
        and all(is_kind(value[name]) for name, is_kind in READING.items())
    ),
}
assert {*SETTINGS} == {*signature(certify).parameters, "reading"} - NOT_SETTINGS


def read_certificate(
    path: str | PathLike[str], *, max_bytes: int = MAX_CERTIFICATE_BYTES
) -> dict[str, Any]:
    """Return the certificate in a JSON file."""
    content = read_json(
        path,
        max_bytes=max_bytes,
        error=TableError,
        expected="a certificate as JSON, as certify writes it",
    )
    if not isinstance(content, dict):
        raise TableError(f"{path}: expected a certificate, found {type(content).__name__}")
    return content


def check_stated(stated: Mapping[str, Any]) -> None:
    """Raise unless it is a certificate of this version with nothing more in it.

    What is missing is not an error here: it differs from what `certify` writes.
    """
    if stated.get("schema") != SCHEMA:
        raise OptionError(
            f"certificate: its schema is {brief(stated.get('schema'))}; expected {SCHEMA!r}"
        )
    unknown = sorted({*stated} - KNOWN_FIELDS)
    if unknown:
        raise OptionError(
            f"certificate: it contains {listed(unknown)}, which no certificate has; was it written "
            "by another version of fourfifths?"
        )
    provenance = stated.get("provenance")
    if "provenance" in stated and not (
        isinstance(provenance, dict)
        and {*provenance} == {*PROVENANCE}
        and all(map(is_text, provenance.values()))
    ):
        raise OptionError(
            f"certificate: its provenance is {brief(provenance)}; expected {listed(PROVENANCE)}"
        )


def stated_settings(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for `certify` that a certificate states, after checking them."""
    settings = stated.get("settings")
    if not isinstance(settings, dict):
        raise OptionError(
            f"certificate: its settings are {brief(settings)}; expected what certify wrote"
        )
    missing = sorted({*SETTINGS} - {*settings})
    if missing:
        raise OptionError(f"certificate: its settings lack {listed(missing)}")
    unexpected = sorted({*settings} - {*SETTINGS})
    if unexpected:
        raise OptionError(
            f"certificate: its settings contain {listed(unexpected)}, which certify does not know; "
            "was it written by another version of fourfifths?"
        )
    for name, is_kind in SETTINGS.items():
        if not is_kind(settings[name]):
            raise OptionError(
                f"certificate: its settings have {name} {brief(settings[name])}; expected what "
                "certify wrote"
            )
    custom = [name for name in settings["auditors"] if name not in get_args(AuditorName)]
    if custom:
        raise OptionError(
            f"certificate: its auditors {listed(custom)} are custom classifiers, which a file "
            "cannot hold; run certify with these classifiers instead"
        )
    beta = settings["beta"]
    return settings | {"beta": tuple(beta) if isinstance(beta, list) else beta}


def brief(value: Any) -> str:
    """Return a value as text, shortened to fit an error message."""
    text = repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 3] + "..."
