"""`fourfifths datasets`, `fourfifths rules` and `fourfifths demo`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def datasets() -> None:
    """List the shipped data sets, their roles, sources and licences."""
    from fourfifths.datasets import load, names

    for name in names():
        data = load(name)
        also_protected = ", ".join(data.other_protected)
        also = f" (also protected: {also_protected})" if also_protected else ""
        bands = "".join(f", cut at {edges[0]:g}" for edges in data.bands.values())
        typer.echo(
            f"{data.name}: {data.title}\n"
            f"  {data.rows:,} rows; protected {', '.join(data.protected)}{bands}{also}\n"
            f"  outcome {data.outcome} = {data.favorable}; reference "
            f"{', '.join(f'{column} = {group}' for column, group in data.reference.items())}\n"
            f"  source: {data.source}\n"
            f"  licence: {data.licence}\n"
        )


def rules(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Show these rules whole.", show_default=False),
    ] = None,
) -> None:
    """List the rules, or show some of them: arithmetic, status in law, source, duties."""
    from fourfifths._impact.impact import get_rule
    from fourfifths._impact.profiles import RULES
    from fourfifths._report.impact import rule_document, rules_document
    from fourfifths._report.terminal import print_document
    from fourfifths._text import nearest
    from fourfifths.errors import OptionError

    for name in names or ():
        if name not in RULES:
            raise OptionError(
                f"NAME {name}: no such rule; 'fourfifths rules' lists them{nearest(name, RULES)}"
            )
    if not names:
        print_document(rules_document(RULES.values()), sys.stdout)
    for profile in [get_rule(name) for name in names or ()]:
        print_document(rule_document(profile), sys.stdout)


def demo() -> None:
    """Measure, certify and repair a shipped data set, without the network."""
    from fourfifths._cli.demo import run

    run(sys.stdout)
