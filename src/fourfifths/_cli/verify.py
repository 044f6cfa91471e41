"""`fourfifths verify` and `fourfifths keygen`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fourfifths._cli.options import Format, Hive, check_writable, shell_document, show
from fourfifths.errors import OptionError

NOT_VERIFIED = 1  # the exit code


def verify(
    evidence: Annotated[
        Path,
        typer.Argument(
            metavar="EVIDENCE",
            help="A certificate (.json), a saved repair (.json) or the pack of a report (.zip).",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|DATASET",
            help="The table that it is about. A certificate needs it.",
            show_default=False,
        ),
    ] = None,
    require: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=V,...",
            help="What the claim must be, whatever the certificate's settings are: "
            "verdict=certified, threshold=N or more, confidence=N or more, beta=N or less, "
            "auditors=all or A+B, features=all or A+B, rows=all or N, file=same.",
        ),
    ] = None,
    trust: Annotated[
        Path | None,
        typer.Option(metavar="PUBKEY", help="The public key that must have signed it."),
    ] = None,
    *,
    hive: Hive = False,
) -> None:
    """Check what was filed: run certificates again, compare a pack with its manifest.

    The exit code is 0 if it is verified, 1 if not, and 2 if it cannot be checked.
    """
    from fourfifths._evidence.filed import verify_file
    from fourfifths._evidence.pack import is_pack
    from fourfifths._report import print_document

    if hive and source is None:
        raise OptionError("--hive: says how the table is read; name the table too")
    result = verify_file(evidence, source, require=requirements(require), trust=trust, hive=hive)
    is_in_pack = is_pack(evidence)
    if is_in_pack or not result.certificates:
        show(result, Format.TABLE)
    for name, run in result.certificates.items():
        page = shell_document(run)
        if is_in_pack:
            typer.echo(f"\n{name}")
        else:
            signed = tuple(f"{fact}." for fact in result.facts)
            page = replace(page, closing=(*signed, *page.closing))
        print_document(page, sys.stdout)
    raise typer.Exit(0 if result.is_verified else NOT_VERIFIED)


def requirements(text: str | None) -> dict[str, Any]:
    """Read NAME=V,NAME=V; a list of names is A+B.

    Examples
    --------
    >>> requirements("threshold=0.8,auditors=trees+forest,rows=all")
    {'threshold': 0.8, 'auditors': ['trees', 'forest'], 'rows': 'all'}
    """
    required: dict[str, Any] = {}
    for pair in (text or "").split(",") if text is not None else ():
        name, equals, value = pair.strip().partition("=")
        if not name or not equals or not value:
            raise OptionError(f"--require {text}: expected NAME=V,NAME=V, as in threshold=0.8")
        if name in required:
            raise OptionError(f"--require {text}: {name} occurs twice")
        required[name] = required_value(name, value)
    from fourfifths._certify.claim import check_requirements

    try:
        check_requirements(required)
    except OptionError as error:
        # What is required has names like options: they would be taken for options.
        raise OptionError(f"--{error}") from None
    return required


def required_value(name: str, value: str) -> Any:
    """Return a required value as the library takes it."""
    if name in ("auditors", "features") and value != "all":
        return value.split("+")
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def keygen(
    path: Annotated[
        Path,
        typer.Argument(metavar="KEY", help="The private key to write; KEY.pub is the public one."),
    ],
) -> None:
    """Make a pair of keys that sign certificates and reports, and verify them.

    Keep KEY secret: who has it can sign in your name. Give KEY.pub to those who verify.
    """
    from fourfifths._evidence.signing import key_id, load_public_key, make_keys

    check_writable("KEY", path)
    private, public = make_keys(path)
    typer.echo(f"wrote {private} (private: keep it secret) and {public} (public)")
    typer.echo(f"SHA-256 of the public key: {key_id(load_public_key(public))}")
