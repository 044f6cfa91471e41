"""`fourfifths demo`: the whole story on shipped data."""

from __future__ import annotations

from typing import TextIO

from fourfifths._certify.certify import certify
from fourfifths._effect.files import repair_file
from fourfifths._impact.impact import impact
from fourfifths._report import print_document, to_document

COLUMNS = ("age", "education-num", "occupation", "hours-per-week")


def run(stream: TextIO) -> None:
    """Print the demonstration."""
    stream.write(
        "1. What happened. New Haven's promotion exams of 2003 (Ricci v. DeStefano), by race,\n"
        "   within exam:  fourfifths audit ricci --within position\n\n"
    )
    print_document(to_document(impact("ricci", within="position")), stream)
    options = "".join(f" \\\n     --columns {column}" for column in COLUMNS)
    stream.write(
        "\n2. What could happen. Can a rule on four columns of a census have disparate\n"
        "   impact by sex? Two of the six auditors, to be quick:\n"
        "   fourfifths certify adult --protected sex --auditor logistic --auditor trees \\\n"
        f"     --max-rows 20000{options}\n\n"
    )
    certificate = certify(
        "adult", protected="sex", columns=COLUMNS, auditors=["logistic", "trees"], max_rows=20_000
    )
    print_document(to_document(certificate), stream)
    stream.write(
        "\n3. What to change. Rewrite the columns, and see what is proven for every rule on them:\n"
        f"   fourfifths repair adult repaired.csv --protected sex --effect quick{options}\n\n"
    )
    repaired = repair_file("adult", protected=["sex"], columns=COLUMNS)
    print_document(to_document(repaired.effect("quick")), stream)
    stream.write("\n")
    proof = repaired.proof()
    assert proof is not None
    print_document(to_document(proof), stream)
