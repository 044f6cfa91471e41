"""`fourfifths demo`: the whole story on shipped data."""

from __future__ import annotations

from typing import TextIO

from fourfifths.impact_report import print_impact
from fourfifths.measure import impact


def run(stream: TextIO) -> None:
    """Print the demonstration."""
    stream.write(
        "New Haven's promotion exams of 2003 (Ricci v. DeStefano), by race, within exam:\n"
        "  fourfifths audit ricci --strata position\n\n"
    )
    print_impact(impact("ricci", strata="position"), stream)
    stream.write(
        "\nCensus incomes over 50,000 dollars, by sex:\n"
        "  fourfifths audit adult --rule feldman2015\n\n"
    )
    print_impact(impact("adult", rule="feldman2015"), stream)
