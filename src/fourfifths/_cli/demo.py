"""`fourfifths demo`: the whole story on shipped data."""

from __future__ import annotations

from typing import TextIO

from fourfifths._certify.certify import certify
from fourfifths._effect.files import repair_file
from fourfifths._impact.impact import impact
from fourfifths._report import print_document, to_document


def run(stream: TextIO) -> None:
    """Print the demonstration."""
    stream.write(
        "1. What happened. New Haven's promotion exams of 2003 (Ricci v. DeStefano), by race,\n"
        "   within exam:  fourfifths audit ricci --within position\n\n"
    )
    print_document(to_document(impact("ricci", within="position")), stream)
    stream.write(
        "\n2. What could happen. Can a rule that sees only the scores and the exam have disparate\n"
        "   impact?  fourfifths certify ricci\n\n"
    )
    print_document(to_document(certify("ricci")), stream)
    stream.write(
        "\n3. What to change. Repair the scores so that they no longer reveal race:\n"
        "   fourfifths repair ricci repaired.csv --columns oral --columns written\n\n"
    )
    effect = repair_file("ricci", columns=["oral", "written"]).effect()
    print_document(to_document(effect), stream)
