"""`fourfifths datasets`, `fourfifths rules` and `fourfifths demo`."""

from __future__ import annotations

import sys

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


def rules() -> None:
    """List the rules, their sources and their standing in law."""
    from fourfifths._impact.rules import RULES

    for rule in RULES.values():
        lines = " and ".join(f"{rule.boundary} {line}" for line in rule.lines) or "no line"
        smallest = ""
        if rule.minimum_rows:
            smallest = (
                f"  small groups: the reference has at least {rule.minimum_rows} rows and "
                f"{float(rule.minimum_share):.0%} of all; a group with less than that share is not "
                "judged\n"
            )
        typer.echo(
            f"{rule.name}: {rule.title}\n"
            f"  compares with: the {rule.reference} "
            f"{'group' if rule.reference == 'designated' else 'rate'}; line: {lines}; decided by: "
            f"{rule.decision}\n"
            f"{smallest}"
            f"  source: {rule.source} ({rule.date})\n"
            f"  status: {rule.status}\n"
        )


def demo() -> None:
    """Measure, certify and repair a shipped data set, without the network."""
    from fourfifths._cli.demo import run

    run(sys.stdout)
