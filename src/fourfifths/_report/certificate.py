"""A `Certificate` as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fourfifths._certify.result import Certificate, Verdict
from fourfifths._report.document import Document, Section, Sentence, Sheet, Tone, to_document
from fourfifths._text import UNDEFINED, interval, number

MAX_LEAKS_SHOWN = 10
TONES: Mapping[Verdict, Tone] = {
    "certified": "good",
    "not certified": "bad",
    "inconclusive": "open",
}
LEGEND = (
    "BER: balanced error rate of predicting who is in the group, 0.5 is guessing; bound: the "
    "smallest impact ratio that the BER allows; floor: the smallest that the whole ROC curve "
    "allows, at beta; reverse: the floor of rules that harm the reference; witness: the impact "
    "ratio of the most harmful rule found. Not legal advice."
)


@to_document.register
def certificate_document(certificate: Certificate) -> Document:
    """Return the page: the verdict and its grounds, then the tables."""
    grounds = tuple(
        Sentence(text=f"{pair.group} against {pair.reference}: {pair.verdict}, {pair.because}.")
        for pair in certificate.pairs
    )
    versions = ", ".join(f"{name} {version}" for name, version in certificate.versions.items())
    return Document(
        headline=(
            f"{certificate.verdict}: {certificate.table}, {' & '.join(certificate.protected)}, "
            f"impact ratio {certificate.threshold:g}, {certificate.rows:,} rows"
        ),
        sections=(Section(sentences=grounds), Section(sheets=tuple(_sheets(certificate)))),
        notes=(
            *certificate.notes,
            f"data SHA-256 {certificate.data_sha256}, seed {certificate.random_state}, {versions}",
        ),
        closing=(LEGEND,),
        tone=TONES[certificate.verdict],
    )


def _sheets(certificate: Certificate) -> Iterator[Sheet]:
    """Yield the tables: pairs, auditors of the worst pair, tests, leaks."""
    worst, threshold, posterior = (
        certificate.worst,
        certificate.threshold,
        certificate.worst.posterior,
    )
    if len(certificate.pairs) > 1:
        yield Sheet(
            title=f"each group against {certificate.worst.reference}",
            headers=("group", "n", "beta", "least BER", "witness", "limits", "verdict"),
            rows=tuple(
                (
                    pair.group,
                    f"{pair.n:,}",
                    number(pair.beta),
                    number(min(auditor.balanced_error_rate for auditor in pair.auditors)),
                    number(pair.witness.impact_ratio),
                    interval(pair.witness.impact_ratio_interval),
                    pair.verdict,
                )
                for pair in certificate.pairs
            ),
            marked=tuple(
                index
                for index, pair in enumerate(certificate.pairs)
                if pair.verdict == "not certified"
            ),
        )
    yield Sheet(
        title=f"{worst.group} against {worst.reference}: predicting membership, out of fold",
        headers=("auditor", "BER", "limits", "bound", "floor", "limits", "reverse"),
        rows=tuple(
            (
                auditor.name,
                number(auditor.balanced_error_rate),
                interval(auditor.interval),
                number(auditor.impact_bound),
                number(auditor.impact_floor),
                interval(auditor.impact_floor_interval),
                number(auditor.reverse_floor),
            )
            for auditor in worst.auditors
        ),
        marked=tuple(
            index
            for index, auditor in enumerate(worst.auditors)
            if auditor.impact_floor_interval[1] < threshold
        ),
    )
    # A beta that was given is one number, and has no limits.
    lower_beta, upper_beta = worst.beta_interval
    beta_limits = UNDEFINED if lower_beta == upper_beta else interval(worst.beta_interval)
    yield Sheet(
        title="the two tests and the Bayesian form",
        headers=("", "value", "limits"),
        rows=(
            ("beta, the selection rate of the group", number(worst.beta), beta_limits),
            ("BER must exceed (paper)", number(worst.ber_threshold), UNDEFINED),
            ("ratio must exceed (tight)", number(threshold), UNDEFINED),
            (
                f"posterior BER of {worst.strongest}",
                number(posterior.balanced_error_rate),
                interval(posterior.balanced_error_rate_interval),
            ),
            (
                "posterior bound",
                number(posterior.impact_bound),
                interval(posterior.impact_bound_interval),
            ),
            (
                f"probability that it is below {threshold:g}",
                number(posterior.probability_below),
                UNDEFINED,
            ),
        ),
        name_width=40,
    )
    more = f" (the first {MAX_LEAKS_SHOWN})" if len(certificate.leaks) > MAX_LEAKS_SHOWN else ""
    yield Sheet(
        title=f"how much each feature reveals{more}",
        headers=("feature", "kind", "BER alone", "floor alone", f"{worst.strongest} loses"),
        rows=tuple(
            (
                leak.feature,
                leak.kind,
                number(leak.balanced_error_rate),
                number(leak.impact_floor),
                number(leak.loss),
            )
            for leak in certificate.leaks[:MAX_LEAKS_SHOWN]
        ),
    )
