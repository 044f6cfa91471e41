"""A `Certificate` as text: tables for a terminal, Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TextIO

from fourfifths._certify.result import AuditorResult, Certificate, PairCertificate, Verdict
from fourfifths._report.document import Document, Section, Sheet
from fourfifths._report.markdown import document_markdown
from fourfifths._report.terminal import TEXT_WIDTH, document_text, print_document
from fourfifths._text import UNDEFINED, interval, number

SHOWN_LEAKS = 10
COLORS: Mapping[Verdict, str] = {
    "certified": "green",
    "not certified": "red",
    "inconclusive": "yellow",
}
LEGEND = (
    "BER: balanced error rate of predicting membership, 0.5 is guessing; bound: the least impact "
    "ratio that the BER allows; floor: that the whole ROC curve allows, at beta; reverse: the "
    "floor of rules that harm the reference; witness: the impact ratio of the most harmful rule "
    "found. Not legal advice."
)


def certificate_text(certificate: Certificate, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's tables without colour."""
    return document_text(certificate_document(certificate), width)


def print_certificate(certificate: Certificate, stream: TextIO) -> None:
    """Print the verdict, the tables and the notes; in colour if the stream is a terminal."""
    print_document(certificate_document(certificate), stream)


def certificate_markdown(certificate: Certificate) -> str:
    """Return the verdict, the tables and the notes as Markdown."""
    return document_markdown(certificate_document(certificate))


def certificate_document(certificate: Certificate) -> Document:
    """Return the page: the verdict's grounds, then the tables."""
    return Document(
        headline=_headline(certificate),
        sections=(
            Section(sheets=(), lines=tuple((line, False) for line in _because_lines(certificate))),
            Section(sheets=tuple(certificate_sheets(certificate))),
        ),
        notes=(*certificate.notes, _hash_note(certificate)),
        closing=(LEGEND,),
        style=f"bold {COLORS[certificate.verdict]}",
    )


def certificate_sheets(certificate: Certificate) -> Iterator[Sheet]:
    """Yield the tables: pairs, auditors of the worst pair, leaks."""
    worst, line = certificate.worst, certificate.threshold
    if len(certificate.pairs) > 1:
        yield _pairs_sheet(certificate)
    rows = tuple(_auditor_row(each) for each in worst.auditors)
    yield Sheet(
        title=f"{worst.group} against {worst.reference}: predicting membership, out of fold",
        headers=("auditor", "BER", "limits", "bound", "floor", "limits", "reverse"),
        rows=rows,
        marked=tuple(each.impact_floor_interval[1] < line for each in worst.auditors),
    )
    yield Sheet(
        title="the two tests and the Bayesian form",
        headers=("", "value", "limits"),
        rows=(
            ("beta, the selection rate of the group", number(worst.beta), _limits(worst)),
            ("BER must exceed (paper)", number(worst.ber_threshold), UNDEFINED),
            ("ratio must exceed (tight)", number(line), UNDEFINED),
            *_posterior_rows(worst, line),
        ),
        marked=(False,) * 6,
        name_width=40,
    )
    leaks = certificate.leaks[:SHOWN_LEAKS]
    more = f" (the first {SHOWN_LEAKS})" if len(certificate.leaks) > SHOWN_LEAKS else ""
    yield Sheet(
        title=f"what each feature gives away{more}",
        headers=("feature", "kind", "BER alone", "floor alone", f"{worst.strongest} loses"),
        rows=tuple(
            (
                leak.feature,
                leak.kind,
                number(leak.balanced_error_rate),
                number(leak.impact_floor),
                number(leak.loss),
            )
            for leak in leaks
        ),
        marked=(False,) * len(leaks),
    )


def _pairs_sheet(certificate: Certificate) -> Sheet:
    return Sheet(
        title=f"each group against {certificate.worst.reference}",
        headers=("group", "n", "beta", "least BER", "witness", "limits", "verdict"),
        rows=tuple(
            (
                pair.group,
                f"{pair.n:,}",
                number(pair.beta),
                number(min(each.balanced_error_rate for each in pair.auditors)),
                number(pair.witness.impact_ratio),
                interval(pair.witness.impact_ratio_interval),
                pair.verdict,
            )
            for pair in certificate.pairs
        ),
        marked=tuple(pair.verdict == "not certified" for pair in certificate.pairs),
    )


def _auditor_row(found: AuditorResult) -> tuple[str, ...]:
    return (
        found.name,
        number(found.balanced_error_rate),
        interval(found.interval),
        number(found.impact_bound),
        number(found.impact_floor),
        interval(found.impact_floor_interval),
        number(found.reverse_floor),
    )


def _posterior_rows(pair: PairCertificate, line: float) -> Iterator[tuple[str, str, str]]:
    form = pair.posterior
    yield (
        f"posterior BER of {pair.strongest}",
        number(form.balanced_error_rate),
        interval(form.balanced_error_rate_interval),
    )
    yield "posterior bound", number(form.impact_bound), interval(form.impact_bound_interval)
    yield f"probability that it is below {line:g}", number(form.probability_below), UNDEFINED


def _limits(pair: PairCertificate) -> str:
    low, high = pair.beta_interval
    return UNDEFINED if low == high else interval(pair.beta_interval)


def _headline(certificate: Certificate) -> str:
    return (
        f"{certificate.verdict}: {certificate.table}, {' & '.join(certificate.protected)}, impact "
        f"ratio {certificate.threshold:g}, {certificate.rows:,} rows"
    )


def _because_lines(certificate: Certificate) -> Iterator[str]:
    for pair in certificate.pairs:
        yield f"{pair.group} against {pair.reference}: {pair.verdict}, {pair.because}."


def _hash_note(certificate: Certificate) -> str:
    made = ", ".join(f"{name} {version}" for name, version in certificate.versions.items())
    return f"data SHA-256 {certificate.data_sha256}, seed {certificate.random_state}, {made}"
