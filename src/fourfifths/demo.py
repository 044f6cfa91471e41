"""`fourfifths demo`: the whole story on shipped data."""

from __future__ import annotations

from typing import TextIO

from fourfifths.certificate_report import print_certificate
from fourfifths.certification import certify
from fourfifths.effect_report import print_effect
from fourfifths.file_repair import repair_file
from fourfifths.impact_report import print_impact
from fourfifths.measure import impact


def run(stream: TextIO) -> None:
    """Print the demonstration."""
    stream.write(
        "1. What happened. New Haven's promotion exams of 2003 (Ricci v. DeStefano), by race,\n"
        "   within exam:  fourfifths audit ricci --strata position\n\n"
    )
    print_impact(impact("ricci", strata="position"), stream)
    stream.write(
        "\n2. What could happen. Can a rule that sees only the scores and the exam have disparate\n"
        "   impact?  fourfifths certify ricci\n\n"
    )
    print_certificate(certify("ricci"), stream)
    stream.write(
        "\n3. What to change. The scores so repaired that they do not give race away:\n"
        "   fourfifths repair ricci repaired.csv --columns oral --columns written\n\n"
    )
    print_effect(repair_file("ricci", columns=["oral", "written"]).effect(), stream)
