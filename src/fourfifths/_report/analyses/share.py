"""A `ShareTest` as a page."""

from __future__ import annotations

from fourfifths._impact.analyses.share import PeriodShare, ShareTest
from fourfifths._report.document import Document, Section, Sentence, Sheet, to_document
from fourfifths._text import number, p_value

SOURCE = (
    "Courts have called more than two or three standard deviations hard to explain by chance "
    "(Castaneda v. Partida, 430 U.S. 482, n. 17; Hazelwood, 433 U.S. 299, n. 14)."
)


@to_document.register
def share_document(result: ShareTest) -> Document:
    """Return the page: the periods, if there are several, and all of them together."""
    sentences = (
        f"Expected {number(result.expected, 2)}, shortfall {number(result.shortfall, 2)}: "
        f"{number(result.standard_deviations, 2)} standard deviations (binomial), exact two-sided "
        f"p {p_value(result.p)}.",
        SOURCE,
    )
    return Document(
        headline=(
            f"{result.observed:,} of the {result.n:,} selected are of the group, "
            f"{result.observed / result.n:.1%}; its share of the population is {result.share:.1%}."
        ),
        sections=(
            Section(
                sheets=(periods_sheet(result),) if result.periods else (),
                sentences=tuple(Sentence(text=text) for text in sentences),
            ),
        ),
    )


def periods_sheet(result: ShareTest) -> Sheet:
    """Return the table of the periods; its last row is all of them together."""

    def cells(name: str, test: PeriodShare | ShareTest) -> tuple[str, ...]:
        return (
            name,
            f"{test.observed:,}",
            f"{test.n:,}",
            f"{test.share:.1%}",
            number(test.expected, 1),
            number(test.shortfall, 1),
            number(test.standard_deviations, 2),
            p_value(test.p),
        )

    return Sheet(
        title="each period, and all together",
        headers=("period", "observed", "selected", "share", "expected", "shortfall", "SD", "p"),
        rows=(*(cells(test.period, test) for test in result.periods), cells("all", result)),
    )
