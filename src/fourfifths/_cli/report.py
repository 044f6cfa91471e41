"""`fourfifths report`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourfifths._cli.audit import MedianOf, SmallGroups, WeightsAre, counted
from fourfifths._cli.options import (
    Columns,
    Favorable,
    GroupingOptions,
    Outcome,
    ReadingOptions,
    Reference,
    Seed,
    SeparateProtected,
    Source,
    check_writable,
    is_same_file,
    provenance_of,
    reference_of,
    signing_key,
)
from fourfifths.errors import OptionError, OutputError

if TYPE_CHECKING:
    from fourfifths._evidence.report import Report


class PaperSize(StrEnum):
    """The size of the pages of a report."""

    LETTER = "letter"
    A4 = "a4"


class ReportPart(StrEnum):
    """What a report adds to the audit."""

    CERTIFICATE = "certificate"
    REPAIR = "repair"
    TRADEOFF = "tradeoff"
    NONE = "none"


def report(
    source: Source,
    *,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE|FOLDER",
            help="The report; its ending says the format: .html, .pdf, .docx, .xlsx, .md, .json; "
            ".zip: a pack of all of them that 'fourfifths verify' checks; a folder: all of them.",
            show_default=False,
        ),
    ],
    template: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="full; ll144: what New York City asks to publish; ugesp: a memo under the Uniform "
            "Guidelines; model-card: a section of a model card.",
        ),
    ] = "full",
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=TEXT",
            help="A field of the cover: auditor, period, tool, data_source, ...; repeat it.",
        ),
    ] = None,
    fields: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file of fields: auditor = 'Ann Lee'."),
    ] = None,
    part: Annotated[
        list[ReportPart] | None,
        typer.Option(
            help="What to add to the audit; repeat it.  [default: certificate and repair with "
            "template full, else none]",
        ),
    ] = None,
    paper: Annotated[
        PaperSize, typer.Option(help="The size of the pages of .pdf and .docx.")
    ] = PaperSize.LETTER,
    audits_json: Annotated[
        Path | None,
        typer.Option(
            "--audits-json",
            metavar="FILE",
            help="With template ll144: write the file by which the published report is found "
            "(draft-dkg-audits-json).",
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(
            metavar="KEY", help="Sign the pack with this private key, which 'keygen' made."
        ),
    ] = None,
    protected: SeparateProtected = None,
    outcome: Outcome = None,
    favorable: Favorable = None,
    reference: Reference = None,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The rule that judges the figures.  [default: that of the template, or ugesp]",
        ),
    ] = None,
    columns: Columns = None,
    stage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL", help="A column for each stage of the selection, in order: adds a part."
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="A column of scores; the report then shows the impact ratio at every cut.",
        ),
    ] = None,
    median_of: Annotated[
        MedianOf,
        typer.Option(help="Take the median of all rows, or of rows whose group is known."),
    ] = MedianOf.ALL,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Compare the groups within each value of this column as well."
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="A column of weights, each 0 or more.")
    ] = None,
    weights_are: Annotated[
        WeightsAre,
        typer.Option(help="Sampling weights, or counts of persons in an aggregated table."),
    ] = WeightsAre.SAMPLING,
    counts: Annotated[
        str | None,
        typer.Option(
            metavar="n=COL,selected=COL",
            help="The table has one row per group: the columns of its numbers.",
        ),
    ] = None,
    small_groups: Annotated[
        SmallGroups | None,
        typer.Option(
            help="Under nyc-ll144: whether groups of under 2% of the rows are in the ratios.  "
            "[default: include]",
        ),
    ] = None,
    grouping: GroupingOptions,
    reading: ReadingOptions,
    random_state: Seed = 0,
) -> None:
    """Write a report to file: cover, finding, tables, charts, limits, method.

    A part that cannot be made says why in the report.
    """
    from fourfifths._evidence.compose import report as compose
    from fourfifths._evidence.fields import read_fields
    from fourfifths._evidence.formats.registry import PACK_ENDING
    from fourfifths._evidence.pack import report_files, write_files
    from fourfifths._evidence.report import Field
    from fourfifths._evidence.templates.ll144 import audits_json as discovery
    from fourfifths._results import json_text
    from fourfifths._tables.files import write_whole

    # Whatever could not be written is refused before anything is computed.
    check_out(source, out, audits_json=audits_json)
    if sign is not None and out.suffix.lower() != PACK_ENDING:
        raise OptionError(f"--sign {sign}: signs a pack; name one: --out report.zip")
    signing_key(sign, out)
    if fields is not None and not fields.is_file():
        raise OptionError(f"--fields {fields}: no such file; expected a TOML file of fields")
    stated = read_fields(field or (), fields)
    if audits_json is not None and template != "ll144":
        raise OptionError(f"--audits-json {audits_json}: belongs to --template ll144")
    discovery_content = None if audits_json is None else discovery(stated)
    protected = grouping.protected(protected)
    table = reading.open(source)
    origin = provenance_of(source)
    assert origin.sha256 is not None
    composed = compose(
        table,
        template=template,  # type: ignore[arg-type]  # any text; the library checks it
        fields=stated,
        parts=parts_of(part),  # type: ignore[arg-type]
        protected=protected,
        outcome=outcome,
        favorable=favorable or None,
        reference=reference_of(reference, protected),
        rule=rule,  # type: ignore[arg-type]
        columns=columns,
        stages=stage or (),
        score=score,
        **grouping.arguments(protected),
        random_state=random_state,
        audit_options={
            "weights": weights,
            "weights_are": weights_are.value,
            "counts": counted(counts),
            "within": within,
            "median_of": median_of.value,
            "small_groups": small_groups.value if small_groups else None,
        },
        origin=(
            Field(key="file", label="File", text=origin.file),
            Field(key="sha256", label="SHA-256 of the file", text=origin.sha256),
            Field(key="command", label="Command", text=origin.command),
            Field(key="date", label="Made on", text=origin.date),
        ),
    )
    readable = for_readers(composed)
    if out.suffix:
        readable.save(out, paper=paper.value, sign=sign)
    else:
        write_files(out, report_files(readable, paper=paper.value))
    typer.echo(f"wrote {out}", err=True)
    if audits_json is not None:
        write_whole(audits_json, f"{json_text(discovery_content or {})}\n")
        typer.echo(f"wrote {audits_json}", err=True)


def check_out(source: str, out: Path, *, audits_json: Path | None) -> None:
    """Refuse what could not be written: a format, a folder, or the file that is audited."""
    from fourfifths._evidence.formats.registry import PACK_ENDING, check_all_formats, format_of

    if not out.suffix or out.suffix.lower() == PACK_ENDING:
        check_all_formats(out)
    else:
        format_of(out)
    for option, path in (("--out", out), ("--audits-json", audits_json)):
        if path is None:
            continue
        if out.suffix or path is not out or not path.is_dir():
            check_writable(option, path)
        if is_same_file(path, Path(source)):
            raise OutputError(f"{option} {path}: is the file that is audited; choose another name")


def parts_of(parts: Sequence[ReportPart] | None) -> list[str] | None:
    """Return the parts by name; None leaves the choice to the template.

    Examples
    --------
    >>> parts_of(None), parts_of([ReportPart.NONE]), parts_of([ReportPart.REPAIR])
    (None, [], ['repair'])
    """
    if not parts:
        return None
    if ReportPart.NONE in parts and len(set(parts)) > 1:
        raise OptionError("--part none: contradicts the other --part; give one of them")
    return [part.value for part in dict.fromkeys(parts) if part is not ReportPart.NONE]


def for_readers(report: Report) -> Report:
    """Return a report whose notes, sentences and problems name options of the shell."""
    from fourfifths._cli.messages import for_shell

    parts = tuple(
        replace(
            part,
            problem=for_shell(part.problem) if part.problem else "",
            notes=tuple(for_shell(note, is_note=True) for note in part.notes),
            sections=tuple(
                replace(
                    section,
                    sentences=tuple(
                        replace(sentence, text=for_shell(sentence.text, is_note=True))
                        for sentence in section.sentences
                    ),
                )
                for section in part.sections
            ),
        )
        for part in report.parts
    )
    return replace(report, parts=parts)
