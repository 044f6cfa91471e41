"""`verify`: run a certificate again, and compare every field with what the file states."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from fourfifths._certify.certify import certify
from fourfifths._certify.claim import check_requirements, claim_of, unmet_requirements
from fourfifths._certify.stated import (
    brief,
    check_stated,
    is_number,
    read_certificate,
    stated_settings,
)
from fourfifths._certify.verification import Verification
from fourfifths._json import CONTENT_HASH, is_intact
from fourfifths._tables.files import file_sha256
from fourfifths._tables.table import Table, TableLike, read_table

TOLERANCE = 1e-9
MAX_DIFFERENCES = 10
# The table may have another name now, and the packages other versions: that does not count.
REMARKED = ("table", "versions")
# What only the file says: it is checked, but there is nothing to compare it with.
OF_THE_FILE = ("provenance", CONTENT_HASH)
CHANGED = (
    f"{CONTENT_HASH} is not that of the content: the certificate was changed after it was written"
)
MISSING = type("Missing", (), {"__repr__": lambda _: "missing"})()


def verify(
    certificate: str | os.PathLike[str] | dict[str, Any],
    table: TableLike,
    *,
    require: Mapping[str, Any] | None = None,
    hive: bool = False,
    progress: bool = True,
) -> Verification:
    """Run `certify` with the settings that a certificate states, and compare every field.

    Parameters
    ----------
    certificate : path or dict
        A JSON file with a certificate, or what `Certificate.to_dict` returned.
    table : dataframe, path, str or Dataset
        As for `certify`.
    require : mapping, optional
        What the claim must be to be relied on, whatever the certificate's settings are:
        ``{"verdict": "certified", "threshold": 0.8, "confidence": 0.95, "beta": 0.1, "auditors":
        "all", "features": "all", "rows": 1000, "file": "same"}``. Threshold, confidence and rows
        are the least, beta is the most.
    hive : bool
        Whether names of folders, such as ``year=2025``, are columns of the table too.
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
    >>> required = {"threshold": 0.8, "auditors": ["trees"]}
    >>> fourfifths.verify(certificate.to_dict(), "ricci", require=required).unmet
    ("auditors: 'trees' required, but not asked",)
    """
    require = dict(require or {})
    check_requirements(require)
    stated = certificate if isinstance(certificate, dict) else read_certificate(certificate)
    check_stated(stated)
    settings = stated_settings(stated)
    reading = settings.pop("reading")
    opened = table if isinstance(table, Table) else read_table(table, hive=hive, **reading)

    rerun = certify(opened, **settings, progress=progress)
    digest = None if opened.file is None else file_sha256(*opened.file.paths)

    # Through JSON, so that both have the same types.
    current = json.loads(rerun.to_json())
    # The hash first: other data explain every further difference.
    keys = sorted({*stated, *current} - {*OF_THE_FILE}, key=lambda key: (key != "data_sha256", key))
    by_field = {
        key: list(
            find_differences(key, stated.get(key, MISSING), current=current.get(key, MISSING))
        )
        for key in keys
    }
    differences = [] if is_intact(stated) else [CHANGED]
    differences += [text for key in keys if key not in REMARKED for text in by_field[key]]
    stated_file = stated.get("provenance", {}).get("sha256")
    same_file = None if digest is None or stated_file is None else digest == stated_file
    claim = claim_of(rerun, opened.columns, same_file=same_file)
    return Verification(
        same_data=stated.get("data_sha256") == rerun.data_sha256,
        same_certificate=not differences,
        file_sha256=digest,
        claim=claim,
        require=require,
        unmet=unmet_requirements(require, claim),
        differences=tuple(differences[:MAX_DIFFERENCES]),
        remarks=tuple(text for key in REMARKED for text in by_field.get(key, ())),
        certificate=rerun,
    )


def find_differences(path: str, stated: Any, *, current: Any) -> Iterator[str]:
    """Yield a sentence for each place where two JSON values differ.

    A missing entry is not null, and true is not 1.
    """
    if isinstance(stated, dict) and isinstance(current, dict):
        for key in sorted({*stated, *current}):
            yield from find_differences(
                f"{path}.{key}", stated.get(key, MISSING), current=current.get(key, MISSING)
            )
    elif isinstance(stated, list) and isinstance(current, list) and len(stated) == len(current):
        for index, (stated_value, value) in enumerate(zip(stated, current, strict=True)):
            yield from find_differences(f"{path}[{index}]", stated_value, current=value)
    elif is_number(stated) and is_number(current):
        if not math.isclose(stated, current, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{path} was {stated:.6g} and is {current:.6g}"
    elif stated != current or isinstance(stated, bool) != isinstance(current, bool):
        yield f"{path} was {brief(stated)} and is {brief(current)}"
