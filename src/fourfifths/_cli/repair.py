"""`fourfifths repair`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fourfifths._cli.options import (
    FailOn,
    Favorable,
    GroupingOptions,
    Outcome,
    PageFormat,
    Protected,
    Provenance,
    ReadingOptions,
    Reference,
    Source,
    check_writable,
    is_same_file,
    pairs,
    provenance_of,
    rates,
    reference_of,
    show,
    signing_key,
    verdict_code,
    write_signature,
)
from fourfifths._results import json_text
from fourfifths.errors import OptionError, OutputError

if TYPE_CHECKING:
    from fourfifths._effect.files import FileRepair, StreamedFileRepair
    from fourfifths._repair.proof import Proof
    from fourfifths._results import Result


class EffectChoice(StrEnum):
    """How much of a repair's effect is measured and shown."""

    FULL = "full"
    QUICK = "quick"
    NONE = "none"


METHODS = "With scope column, what an amount means: random, combinatorial, definition or geometric"


def check_audit_options(
    options: Mapping[str, Any], *, detail: EffectChoice, is_searched: bool, is_applied: bool
) -> None:
    """Refuse options of an audit that is not made: quick effects have no auditors."""
    is_audited = detail is EffectChoice.FULL or is_searched
    is_measured = detail is not EffectChoice.NONE or is_searched
    for option, value in options.items():
        needs_audit = option in ("--reference", "--beta")
        if not value or is_audited or (is_measured and not needs_audit):
            continue
        context = f"--effect {detail}"
        if is_applied and not is_measured:
            context = "--apply unless the effect is measured"
        remedy = "--effect full" if needs_audit else "--effect quick or --effect full"
        raise OptionError(
            f"{option}: has no meaning with {context}; leave it out, or give {remedy}"
        )


def repair(
    source: Source,
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The repaired table: .csv, .tsv, .parquet or .jsonl."),
    ],
    *,
    protected: Protected = None,
    stratify_by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="Make the strata of these columns instead of the protected ones."
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="A column to repair; repeat for more.  [default: if the outcome is known, all but "
            "it, protected columns, identifiers and dates]",
        ),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(metavar="COL=V,V", help="A column's categories in order, lowest first."),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="blocks|column",
            help="Rewrite rows by blocks, with a proof, or each column alone, as the paper does.  "
            "[default: blocks]",
        ),
    ] = None,
    blocks: Annotated[
        str | None,
        typer.Option(
            metavar="N|certified",
            help="How many blocks: a number, or as many as can be proven.  [default: certified]",
        ),
    ] = None,
    variety: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many different records a block is written as.  [default: 1]",
            min=1,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column that identifies rows: a key is repaired alike in any file.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="The least impact ratio that is to be proven.  [default: 0.8]"
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(metavar="N", help="The confidence of the proof.  [default: 0.95]"),
    ] = None,
    drop_protected: Annotated[
        bool, typer.Option("--drop-protected", help="Leave the protected columns out of OUT.")
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"{METHODS}.  [default: random]"),
    ] = None,
    amount: Annotated[
        str | None,
        typer.Option(
            metavar="N|certified",
            help="How much to repair: 0 to 1, or the least that is certified.  [default: 1]",
        ),
    ] = None,
    ties: Annotated[
        str | None,
        typer.Option(
            metavar="split|mid",
            help="With scope column, equal values: split at random, or kept together.  "
            "[default: split]",
        ),
    ] = None,
    small: Annotated[
        str | None,
        typer.Option(
            metavar="error|pool",
            help="Groups of fewer than 4 rows: an error, or merged.  [default: error]",
        ),
    ] = None,
    unseen: Annotated[
        str | None,
        typer.Option(
            metavar="error|keep",
            help="Rows of a group that was not fitted: an error, or kept.  [default: error]",
        ),
    ] = None,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    beta: Annotated[
        str | None,
        typer.Option(
            metavar="N|N,N",
            help="The proof covers rules that select at least this share of each group.  [default: "
            "the lowest selection rate of a group]",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the fitted repair as JSON.")
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            metavar="KEY", help="Sign the saved repair with this private key; see keygen."
        ),
    ] = None,
    apply: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Apply a saved repair instead of fitting one."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Allow OUT to replace the table that is repaired.")
    ] = False,
    random_state: Annotated[
        int | None,
        typer.Option(help="The seed.  [default: 0]", min=0),
    ] = None,
    effect: Annotated[
        EffectChoice | None,
        typer.Option(
            help="How much of the effect to measure, once OUT is written: full runs auditors "
            "before and after, quick counts the changed cells.  [default: full; with --apply none]"
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Repair a file in chunks if it would take more memory, such as 2GB.  [default: "
            "half of the machine's]",
        ),
    ] = None,
    output_format: Annotated[
        PageFormat, typer.Option("--format", help="How to show what the repair did.")
    ] = PageFormat.TABLE,
    fail_on: FailOn = None,
) -> None:
    """Repair a table so that no rule on its columns can have disparate impact.

    By default rows are rewritten by blocks, and the page ends with what is proven for every rule.
    Changing data by a protected attribute can itself be disparate treatment: ask a lawyer.
    """
    _check_files(source, out, save, apply, overwrite=overwrite)
    if sign is not None and save is None:
        raise OptionError(f"--sign {sign}: signs a saved repair; name it: --save repair.json")
    signer = signing_key(sign, save)
    from fourfifths._effect.files import apply_repair, repair_file
    from fourfifths._effect.roles import AuditRoles
    from fourfifths._evidence.signing import Subject
    from fourfifths._tables.engines.chunks import keep_freed_memory

    # A saved repair was judged when it was fitted; what it proves is shown again.
    detail = effect or (EffectChoice.FULL if apply is None else EffectChoice.NONE)
    if not stratify_by:
        protected = grouping.protected(protected)
    table = reading.open(source)
    memory_limit = None if memory is None else bytes_of(memory)
    keep_freed_memory(table)
    roles = AuditRoles(
        outcome=outcome,
        favorable=favorable or None,
        reference=reference_of(reference, protected),
        beta=rates(beta),
    )
    choices = {
        "method": method,
        "scope": scope,
        "blocks": None if blocks is None else block_count_of(blocks),
        "variety": variety,
        "key": key,
        "threshold": threshold,
        "confidence": confidence,
        "drop_protected": drop_protected or None,
        "ties": ties,
        "small": small,
        "unseen": unseen,
    }
    # What nothing would look at. Blocks are fitted to the outcome, and proven at beta.
    audit_options = {
        "--outcome": outcome if apply is not None else None,
        "--favorable": favorable if apply is not None else None,
        "--reference": reference,
        "--beta": beta if apply is not None or scope == "column" else None,
    }
    check_audit_options(
        audit_options,
        detail=detail,
        is_searched=amount == "certified",
        is_applied=apply is not None,
    )
    if apply is not None:
        fitting_options = {
            "--protected": protected,
            "--stratify-by": stratify_by,
            "--columns": columns,
            "--order": order,
            "--unknown": grouping.unknown,
            "--known": reading.known,
            "--exact-values": reading.exact_values or None,
            "--decimal": reading.decimal,
            "--age-from": grouping.age_from,
            "--on": grouping.on,
            "--save": save,
            "--band": grouping.band,
            "--amount": amount,
            "--random-state": random_state,
            **{f"--{name.replace('_', '-')}": value for name, value in choices.items()},
        }
        for option, choice in fitting_options.items():
            if choice is not None and choice != []:
                raise OptionError(
                    f"{option}: has no meaning with --apply, which does what the saved repair "
                    "says; leave it out"
                )
        repaired = apply_repair(
            table,
            apply,
            roles=None if detail is EffectChoice.NONE else roles,
            memory=memory_limit,
        )
    else:
        repaired = repair_file(
            table,
            protected=protected,
            stratify_by=stratify_by,
            columns=columns,
            orders=orders_of(order),
            amount=1.0 if amount is None else amount_of(amount),
            **grouping.arguments(protected or stratify_by),
            options={name: value for name, value in choices.items() if value is not None}
            | {"random_state": random_state or 0},
            roles=roles,
            memory=memory_limit,
        )
    # The hash reads all bytes of the file, so it is left out where nothing shows it. It is taken
    # before OUT may take the place of the file.
    is_shown = (
        detail is not EffectChoice.NONE
        or output_format is PageFormat.JSON
        or repaired.repairer.scope == "blocks"
        or repaired.certified_amount is not None
        or signer is not None
    )
    provenance = provenance_of(source) if is_shown else None
    repaired.write(out)
    typer.echo(f"wrote {out}", err=True)
    if save is not None:
        repaired.repairer.save(save)
        typer.echo(f"wrote {save}", err=True)
        if signer is not None:
            assert provenance is not None
            assert provenance.sha256 is not None
            about = Subject(name=Path(source).name, sha256=provenance.sha256)
            write_signature(save, kind="repair", key=signer, source=about)
    # The audits take far longer than the repair, so the files are there before they begin.
    proof = repaired.proof()
    show_repair(repaired, proof, detail=detail, form=output_format, provenance=provenance)
    # Where nothing is proven, nothing is certified.
    raise typer.Exit(verdict_code("not certified" if proof is None else proof.verdict, fail_on))


def show_repair(
    repaired: FileRepair | StreamedFileRepair,
    proof: Proof | None,
    *,
    detail: EffectChoice,
    form: PageFormat,
    provenance: Provenance | None,
) -> None:
    """Show how the amount was found, what the repair did, and at the end what is proven."""
    amount = repaired.certified_amount
    effect = None
    if detail is not EffectChoice.NONE:
        effect = repaired.effect("full" if detail is EffectChoice.FULL else "quick")
    else:
        # The page of the effect would repeat what was assumed in reading the file.
        for note in repaired.notes:
            typer.echo(f"note: {note}", err=True)
    if form is PageFormat.JSON:
        assert provenance is not None
        report: dict[str, Any] = {"effect": None} if effect is None else effect.to_dict()
        report["certified_amount"] = None if amount is None else amount.to_dict()
        report["proof"] = None if proof is None else proof.to_dict()
        report["provenance"] = asdict(provenance)
        sys.stdout.write(f"{json_text(report)}\n")
        return
    results: list[Result] = [result for result in (amount, effect, proof) if result is not None]
    for index, result in enumerate(results):
        is_last = index == len(results) - 1
        show(result, form, provenance if is_last else None)
        if not is_last:
            sys.stdout.write("\n")


def orders_of(texts: list[str] | None) -> dict[str, list[str]]:
    """Read COL=V,V, the categories of a column, lowest first.

    Examples
    --------
    >>> orders_of(["size=small,large"])
    {'size': ['small', 'large']}
    """
    for text in texts or ():
        if not text.partition("=")[2]:
            raise OptionError(
                f"--order {text!r}: expected COL=V,V, the column's categories, lowest first, as in "
                "size=small,large"
            )
    return {name: text.split(",") for name, text in pairs(texts, "--order", None).items()}


def block_count_of(text: str) -> int | Literal["certified"]:
    if text == "certified":
        return "certified"
    try:
        return int(text)
    except ValueError:
        raise OptionError(f"--blocks {text}: expected a whole number, or 'certified'") from None


def bytes_of(text: str) -> int:
    """Return a size such as 500MB, 2GB or 1.5GiB in bytes.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("1.5 GiB")
    (2000000000, 1610612736)
    """
    size = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?", text.strip(), re.IGNORECASE)
    if size is None:
        raise OptionError(f"--memory {text}: expected a size such as 500MB or 2GB")
    base = 1024 if size[3] else 1000
    return int(float(size[1]) * base ** " kmgt".index(size[2].lower() or " "))


def amount_of(text: str) -> float | Literal["certified"]:
    if text == "certified":
        return "certified"
    try:
        return float(text)
    except ValueError:
        raise OptionError(
            f"--amount {text}: expected a number from 0 to 1, or 'certified'"
        ) from None


def _check_files(
    source: str, out: Path, save: Path | None, apply: Path | None, *, overwrite: bool
) -> None:
    """Refuse, before anything is computed, what could not be written or would be lost."""
    from fourfifths._tables.files import check_output, parquet_files

    check_output(out, source)
    for file in parquet_files(Path(source)):
        if is_same_file(out, file):
            raise OutputError(f"{out}: is one of the files that are repaired; choose another name")
    if not overwrite and is_same_file(out, Path(source)):
        raise OutputError(f"{out}: is the file that is repaired; --overwrite replaces it")
    for option, path in (("OUT", out), ("--save", save)):
        if path is not None:
            check_writable(option, path)
    if apply is not None and is_same_file(out, apply):
        raise OutputError(f"{out}: is the saved repair; choose another name")
    for path in (Path(source), out, apply):
        if save is not None and path is not None and is_same_file(save, path):
            raise OutputError(f"--save {save}: is the name of another file; choose a third")
