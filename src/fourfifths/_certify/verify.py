"""`verify`: run a certificate again, and compare every field with what the file states."""

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
from fourfifths._tables.table import Table, TableLike, read_table
from fourfifths.errors import OptionError, TableError, listed

TOLERANCE = 1e-9
MAX_DIFFERENCES = 10
MAX_VALUE_LENGTH = 60
# The table may have another name now, and the packages other versions: that alone is no difference.
REMARKED = ("table", "versions")
NEEDED_SETTINGS = {"protected", "columns", "auditors", "confidence", "folds", "random_state"}
READING_ARGUMENTS = {"sheet", "header_row", "decimal", "known", "exact_values"}  # of `read_table`
# Arguments of `certify` that say nothing about the certificate itself.
NOT_SETTINGS = {"table", "progress"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Result):
    """Whether a certificate can be reproduced.

    Attributes
    ----------
    same_data : bool
        Whether the audited columns and rows have the hash that the certificate states.
    same_certificate : bool
        Whether every field is the same, figures to nine digits; the name of the table and the
        versions of packages do not count.
    differences : tuple of str
        The first ten differences.
    remarks : tuple of str
        Whether the name of the table or the version of a package is another one now.
    certificate : Certificate
        The result of running `certify` now.
    """

    same_data: bool
    same_certificate: bool
    differences: tuple[str, ...]
    remarks: tuple[str, ...]
    certificate: Certificate

    _not_in_json: ClassVar[tuple[str, ...]] = ("certificate",)

    def __str__(self) -> str:
        data = "the same data" if self.same_data else "other data"
        if self.same_certificate:
            text = f"verified: {data}, the same certificate ({self.certificate.verdict})"
            return "; ".join([text, *self.remarks])
        verdict = f"the verdict is {self.certificate.verdict}"
        return f"not verified: {data}, {verdict}; {'; '.join(self.differences[:3])}"


def verify(
    certificate: str | os.PathLike[str] | dict[str, Any],
    table: TableLike,
    *,
    progress: bool = True,
) -> Verification:
    """Run `certify` with the settings that a certificate states, and compare every field.

    Parameters
    ----------
    certificate : path or dict
        A JSON file with a certificate, or what `Certificate.to_dict` returned.
    table : dataframe, path, str or Dataset
        As for `certify`.
    progress : bool
        Whether to show a progress bar on a terminal or in a notebook.

    Returns
    -------
    Verification

    Examples
    --------
    >>> import fourfifths
    >>> certificate = fourfifths.certify("ricci", auditors=["naive-bayes"])
    >>> fourfifths.verify(certificate.to_dict(), "ricci").same_certificate
    True
    """
    stated = certificate if isinstance(certificate, dict) else read_certificate(Path(certificate))
    # When and by which command a page was made is not part of the certificate.
    stated = {key: value for key, value in stated.items() if key != "provenance"}
    settings = stated_settings(stated)
    reading = settings.pop("reading", {})
    opened = table if isinstance(table, Table) else read_table(table, **reading)
    rerun = certify(opened, **settings, progress=progress)
    # Through JSON, so that both have the same types.
    current = json.loads(rerun.to_json())
    # The hash first: other data explain every further difference.
    keys = sorted({*stated, *current}, key=lambda key: (key != "data_sha256", key))
    found = {
        key: list(find_differences(key, stated.get(key), current=current.get(key))) for key in keys
    }
    differences = [text for key in keys if key not in REMARKED for text in found[key]]
    return Verification(
        same_data=stated.get("data_sha256") == rerun.data_sha256,
        same_certificate=not differences,
        differences=tuple(differences[:MAX_DIFFERENCES]),
        remarks=tuple(text for key in REMARKED for text in found.get(key, ())),
        certificate=rerun,
    )


def read_certificate(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TableError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise TableError(
            f"{path}: not readable as JSON: {error}; expected a certificate as JSON, as "
            "Certificate.to_json() returns it"
        ) from None
    if not isinstance(content, dict):
        raise TableError(f"{path}: expected a certificate, found {type(content).__name__}")
    return content


def stated_settings(stated: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for `certify` that a certificate states, after checking them."""
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
    missing = sorted(NEEDED_SETTINGS - set(settings))
    if missing:
        raise OptionError(f"certificate: its settings lack {listed(missing)}")
    arguments = {*signature(certify).parameters, "reading"} - NOT_SETTINGS
    unexpected = sorted(set(settings) - arguments)
    if unexpected:
        raise OptionError(
            f"certificate: its settings contain {listed(unexpected)}, which certify does not know; "
            "was it written by another version of fourfifths?"
        )
    auditors = settings["auditors"]
    if not isinstance(auditors, list):
        raise OptionError(f"certificate: its auditors are {auditors!r}; expected a list of names")
    custom = [name for name in auditors if name not in get_args(AuditorName)]
    if custom:
        raise OptionError(
            f"certificate: its auditors {listed(custom)} are custom classifiers, which a file "
            "cannot hold; run certify with these classifiers instead"
        )
    reading = settings.get("reading", {})
    if not isinstance(reading, dict) or not {*reading} <= READING_ARGUMENTS:
        raise OptionError(f"certificate: its reading is {reading!r}; expected what certify wrote")
    if isinstance(settings.get("beta"), list):
        settings["beta"] = tuple(settings["beta"])
    return settings


def find_differences(path: str, stated: Any, *, current: Any) -> Iterator[str]:
    """Yield a sentence for each place where two JSON values differ."""
    if isinstance(stated, dict) and isinstance(current, dict):
        for key in sorted({*stated, *current}):
            yield from find_differences(f"{path}.{key}", stated.get(key), current=current.get(key))
    elif isinstance(stated, list) and isinstance(current, list) and len(stated) == len(current):
        for index, (stated_value, value) in enumerate(zip(stated, current, strict=True)):
            yield from find_differences(f"{path}[{index}]", stated_value, current=value)
    elif isinstance(stated, int | float) and isinstance(current, int | float):
        if not math.isclose(stated, current, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{path} was {stated:.6g} and is {current:.6g}"
    elif stated != current:
        before, after = (
            text if len(text) <= MAX_VALUE_LENGTH else text[: MAX_VALUE_LENGTH - 3] + "..."
            for text in (repr(stated), repr(current))
        )
        yield f"{path} was {before} and is {after}"
