"""A report from a table: run the analyses and fill a template."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from typing import Any, get_args

from fourfifths._evidence.evidence import Evidence, PartName, gather
from fourfifths._evidence.fields import check_key
from fourfifths._evidence.filed import subject_of
from fourfifths._evidence.report import Field, Report, TemplateName
from fourfifths._evidence.templates import BUILDERS, PARTS_OF_TEMPLATE, RULE_OF_TEMPLATE
from fourfifths._impact.impact import get_rule
from fourfifths._impact.profiles import DEFAULT_RULE, RuleName
from fourfifths._impact.rules import Rule
from fourfifths._tables.table import TableLike, open_table
from fourfifths._text import listed, nearest
from fourfifths.errors import OptionError

VERSIONED = ("numpy", "scipy", "scikit-learn", "duckdb", "narwhals")


def report(
    table: TableLike,
    *,
    template: TemplateName = "full",
    fields: Mapping[str, str] | None = None,
    parts: Sequence[PartName] | None = None,
    protected: str | Sequence[str] | None = None,
    outcome: str | None = None,
    favorable: Any = None,
    reference: Any = None,
    rule: RuleName | Rule | None = None,
    columns: Sequence[str] | None = None,
    stages: Sequence[str] = (),
    score: str | None = None,
    bands: Mapping[str, Sequence[float]] | None = None,
    ages: Mapping[str, date | str] | None = None,
    unknown: str | Sequence[Any] = (),
    random_state: int = 0,
    audit_options: Mapping[str, Any] | None = None,
    origin: Sequence[Field] = (),
    progress: bool = True,
) -> Report:
    """Audit a table and put everything that a reader must know into one report.

    Parameters
    ----------
    table, protected, outcome, favorable, reference, bands, ages, unknown
        As for `impact`.
    template : {"full", "ll144", "ugesp", "model-card"}
        "full": everything. "ll144": what New York City asks to publish, under its rule. "ugesp": a
        memo under the Uniform Guidelines. "model-card": a section of a model card.
    fields : mapping of str to str, optional
        What only the user knows: auditor, period, source of the data and so on. A field that is
        not stated says so on the page.
    parts : sequence of {"certificate", "repair", "tradeoff"}, optional
        What to add to the audit; by default a certificate and a repair with its proof for the full
        report, and nothing for the others. A part that cannot be made says why.
    rule : str or Rule, optional
        By default the template's own, or "ugesp".
    columns : sequence of str, optional
        The columns that a rule may use, for the parts; by default all others.
    stages : sequence of str
        The columns of the stages of the selection, in order: adds a part.
    score : str, optional
        A column of scores: adds every cut of it; "ll144" counts scores above the median.
    random_state : int
        The seed of everything random.
    audit_options : mapping, optional
        Further arguments of `impact`: ``weights``, ``within``, ``counts`` and so on.
    origin : sequence of Field
        Further lines of the provenance, as of the file and the command; a template may leave lines
        out.
    progress : bool
        Whether to show a progress bar on a terminal or in a notebook.

    Returns
    -------
    Report
        Its method `save` writes it: ``report.save("audit.html")``.

    Examples
    --------
    >>> import fourfifths
    >>> memo = fourfifths.report("ricci", template="ugesp", fields={"prepared_by": "Ann Lee"})
    >>> memo.title
    'Memorandum on adverse impact: ricci'
    >>> memo.finding[0].partition(".")[0]
    'Adverse impact is indicated under ugesp for B and H (by race)'
    """
    if template not in get_args(TemplateName):
        raise OptionError(
            f"template={template!r}: no such template; expected one of "
            f"{listed(get_args(TemplateName))}{nearest(template, get_args(TemplateName))}"
        )
    stated = dict(fields or {})
    for key in stated:
        check_key(key)
    required = RULE_OF_TEMPLATE.get(template)
    profile = get_rule(rule or required or DEFAULT_RULE)
    if template == "ll144" and profile.name != required:
        raise OptionError(
            f"rule={profile.name!r}: the template 'll144' is what {required} asks to publish; "
            "leave the rule out, or choose another template"
        )
    opened = open_table(table)
    evidence = gather(
        opened,
        parts=PARTS_OF_TEMPLATE[template] if parts is None else parts,
        protected=protected,
        outcome=outcome,
        favorable=favorable,
        reference=reference,
        rule=profile,
        columns=columns,
        stage_columns=stages,
        score=score,
        bands=bands,
        ages=ages,
        unknown=unknown,
        random_state=random_state,
        audit_options=audit_options,
        progress=progress,
    )
    data = subject_of(opened)
    stated_keys = {field.key for field in origin}
    file_fields = (
        ()
        if data is None
        else (
            Field(key="file", label="File", text=data.name),
            Field(key="sha256", label="SHA-256 of the file", text=data.sha256),
        )
    )
    provenance = (
        *origin,
        *(field for field in file_fields if field.key not in stated_keys),
        *provenance_fields(evidence),
    )
    built = BUILDERS[template](evidence, stated, provenance)
    command = next((field.text for field in origin if field.key == "command"), "")
    return replace(built, command=command, data=data)


def provenance_fields(evidence: Evidence) -> tuple[Field, ...]:
    """Return what is known of how the figures came about; the shell adds file and command."""
    hashes = dict.fromkeys(
        certificate.data_sha256 for certificate in evidence.certificates.values()
    )
    versions = ", ".join(f"{name} {version(name)}" for name in VERSIONED)
    return (
        Field(key="table", label="Table", text=evidence.impact.table),
        *(
            Field(key="data_sha256", label="SHA-256 of the certified rows", text=digest)
            for digest in hashes
        ),
        *(
            Field(key=key, label="Seed" if key == "random_state" else key, text=text)
            for key, text in evidence.settings.items()
        ),
        Field(key="version", label="Version", text=f"fourfifths {version('fourfifths')}"),
        Field(
            key="environment",
            label="Environment",
            text=f"Python {platform.python_version()}, {versions}",
        ),
    )
