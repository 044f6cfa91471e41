"""How the figures of a report are computed, and what they do not show."""

from __future__ import annotations

from fourfifths._evidence.evidence import Evidence

METHOD = (
    "Selection rate of a group: the number selected divided by the number of persons, x / n. Its "
    "interval is exact (Clopper and Pearson 1934).",
    "Impact ratio: the selection rate of the group divided by that of the reference, (x / n) / "
    "(x' / n'). Ratios are compared with a line on fractions of counts, not on rounded numbers. "
    "Intervals: exact where the two groups have at most 200 rows (Agresti and Min 2001), else by "
    "the score test (Koopman 1984; Miettinen and Nurminen 1985).",
    "Tests: the two-sample z-test with pooled variance, z = (p - p') / sqrt(q (1 - q) (1/n + "
    "1/n')) with q the pooled rate, and Fisher's exact test (1935). Where the reference is chosen "
    "for its rate, the p-value allows for that choice; several comparisons are adjusted by Holm's "
    "method (1979). A finding names the test that decided.",
    "Shortfall: n (x' / n') - x, the number of further selections at the reference's rate. "
    "Smallest detectable effect: the ratio at which the deciding test has power 80%.",
)
WEIGHTED_METHOD = (
    "Sampling weights: rates, ratios and shortfalls are weighted, so they do not follow from the "
    "counts of rows beside them: x and n stand for sums of weights. Intervals and tests use the "
    "effective number of rows instead of n (Korn and Graubard 1998), and there is no exact test."
)
UNKNOWN_METHOD = (
    "Unknown membership: the lowest and the highest ratio over all ways in which the persons "
    "without a recorded group could belong to the groups. These are bounds, not an estimate."
)
STRATA_METHOD = (
    "Within strata: Mantel and Haenszel (1959) for the common odds ratio and the test of all "
    "strata; Tarone (1985) and Breslow and Day (1980) for whether the odds ratio is the same in "
    "all of them."
)
CUTS_METHOD = (
    "Cuts: at each score that could be the cut, the rates and the ratio of those at or beyond it; "
    "the band holds for all cuts at once."
)
CERTIFICATE_METHOD = (
    "Certificate: classifiers (auditors) predict the group from the other columns, on rows that "
    "they were not fitted to. From how well they do it follows the lowest impact ratio of a rule "
    "that selects at least beta of the group, beta / R(beta), with R the best rate on the "
    "reference (Feldman, Friedler, Moeller, Scheidegger, Venkatasubramanian, KDD 2015, and the "
    "tight form of their bound). It speaks of rules that these auditors can find."
)
PROOF_METHOD = (
    "Proof: rows of each group are ordered by a score and cut into blocks of the same share; a "
    "repaired record depends on the block alone. The shares of new rows follow a known law "
    "(Wilks 1942; Tukey 1947), so the floor holds for every rule and every classifier."
)
TRADEOFF_METHOD = (
    "Search for less discriminatory alternatives: a model of the outcome on the table as it is and "
    "on repaired versions; impact ratio and utility on test rows that neither model nor repair has "
    "seen."
)
LIMITS = (
    "The figures describe the rows of this file. They cannot show whether these are the persons "
    "who applied, or whether the file is complete.",
    "A difference in rates says nothing about its cause, and nothing about whether the selection "
    "is related to the job.",
    "A difference that is not statistically significant is not a proof of equal rates; see the "
    "smallest detectable effect.",
)
CERTIFICATE_LIMITS = (
    "A certificate of the kind 'found' speaks of rules that the named auditors can find, at the "
    "stated beta. A different method might find a more harmful rule."
)
REPAIR_LIMITS = (
    "A repair changes data by a protected attribute, which can itself be disparate treatment "
    "(Ricci v. DeStefano, 557 U.S. 557 (2009)): ask a lawyer before using one. In this report it "
    "shows what is possible; nothing was changed in the file."
)
CLOSING_LIMIT = "This report is not legal advice and states no verdict on legality."


def method_of(evidence: Evidence) -> tuple[str, ...]:
    """Return the method of the analyses that were made."""
    has_unknown = any(attribute.unknown for attribute in evidence.impact)
    is_weighted = evidence.impact.weights is not None and evidence.impact.weights_are == "sampling"
    further = (
        (is_weighted, WEIGHTED_METHOD),
        (has_unknown, UNKNOWN_METHOD),
        (evidence.impact.within is not None, STRATA_METHOD),
        (evidence.cuts is not None, CUTS_METHOD),
        (bool(evidence.certificates), CERTIFICATE_METHOD),
        (evidence.repaired is not None, PROOF_METHOD),
        (evidence.tradeoff is not None, TRADEOFF_METHOD),
    )
    return (*METHOD, *(text for is_made, text in further if is_made))


def limits_of(evidence: Evidence) -> tuple[str, ...]:
    """Return what the analyses that were made do not show."""
    return (
        *LIMITS,
        *((CERTIFICATE_LIMITS,) if evidence.certificates else ()),
        *((REPAIR_LIMITS,) if evidence.repaired is not None else ()),
        CLOSING_LIMIT,
    )
