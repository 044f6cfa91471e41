"""A `Certificate` as text: tables for a terminal, Markdown."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TextIO

from fourfifths.certificate import AuditorResult, Certificate, PairCertificate
from fourfifths.render import (
    UNDEFINED,
    Sheet,
    escape_markdown,
    interval,
    number,
    print_sheet,
    printable,
    sheet_markdown,
)

TEXT_WIDTH = 100
SHOWN_LEAKS = 10
LEGEND = (
    "BER: balanced error rate of predicting membership, 0.5 is guessing; bound: the least impact "
    "ratio that the BER allows; floor: that the whole ROC curve allows, at beta; reverse: the "
    "floor of rules that harm the reference; witness: the impact ratio of the most harmful rule "
    "found. Not legal advice."
)


def certificate_text(certificate: Certificate, width: int = TEXT_WIDTH) -> str:
    """Return the terminal's tables without colour."""
    stream = io.StringIO()
    print_certificate(certificate, stream, width=width)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip()


def print_certificate(certificate: Certificate, stream: TextIO, width: int | None = None) -> None:
    """Print the verdict, the tables and the notes; in colour if the stream is a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, width=width, highlight=False)
    colors = {"certified": "green", "not certified": "red", "inconclusive": "yellow"}
    style = f"bold {colors[certificate.verdict]}"
    console.print(Text(printable(_headline(certificate)), style=style))
    for line in _because_lines(certificate):
        console.print(Text(printable(line)))
    for sheet in certificate_sheets(certificate):
        console.print()
        print_sheet(console, sheet)
    console.print()
    for note in (*certificate.notes, _hash_note(certificate)):
        console.print(Text(printable(f"Note: {note}.")))
    console.print(Text(LEGEND, style="dim"))


def certificate_markdown(certificate: Certificate) -> str:
    """Return the verdict, the tables and the notes as Markdown."""
    lines = [f"# {escape_markdown(_headline(certificate))}", ""]
    lines += [f"- {escape_markdown(line)}" for line in _because_lines(certificate)] + [""]
    for sheet in certificate_sheets(certificate):
        lines += [*sheet_markdown(sheet), ""]
    notes = (*certificate.notes, _hash_note(certificate))
    lines += [f"- Note: {escape_markdown(note)}." for note in notes]
    return "\n".join([*lines, "", escape_markdown(LEGEND), ""])


def certificate_sheets(certificate: Certificate) -> Iterator[Sheet]:
    """Yield the tables: pairs, auditors of the worst pair, leaks."""
    worst, line = certificate.worst, certificate.threshold
    if len(certificate.pairs) > 1:
        yield _pairs_sheet(certificate)
    rows = tuple(_auditor_row(each) for each in worst.auditors)
    yield Sheet(
        f"{worst.group} against {worst.reference}: predicting membership, out of fold",
        ("auditor", "BER", "limits", "bound", "floor", "limits", "reverse"),
        rows,
        tuple(each.impact_floor_interval[1] < line for each in worst.auditors),
    )
    yield Sheet(
        "the two tests and the Bayesian form",
        ("", "value", "limits"),
        (
            ("beta, the selection rate of the group", number(worst.beta), _limits(worst)),
            ("BER must exceed (paper)", number(worst.ber_threshold), UNDEFINED),
            ("ratio must exceed (tight)", number(line), UNDEFINED),
            *_posterior_rows(worst, line),
        ),
        (False,) * 6,
        name_width=40,
    )
    leaks = certificate.leaks[:SHOWN_LEAKS]
    more = f" (the first {SHOWN_LEAKS})" if len(certificate.leaks) > SHOWN_LEAKS else ""
    yield Sheet(
        f"what each feature gives away{more}",
        ("feature", "kind", "BER alone", "floor alone", f"{worst.strongest} loses"),
        tuple(
            (
                leak.feature,
                leak.kind,
                number(leak.balanced_error_rate),
                number(leak.impact_floor),
                number(leak.loss),
            )
            for leak in leaks
        ),
        (False,) * len(leaks),
    )


def _pairs_sheet(certificate: Certificate) -> Sheet:
    return Sheet(
        f"each group against {certificate.worst.reference}",
        ("group", "n", "beta", "least BER", "witness", "limits", "verdict"),
        tuple(
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
        tuple(pair.verdict == "not certified" for pair in certificate.pairs),
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
