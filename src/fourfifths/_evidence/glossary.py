"""The words of the tables in plain English, for readers who know the law and not statistics."""

from __future__ import annotations

from collections.abc import Iterable

from fourfifths._evidence.report import Part, Term

TERMS: tuple[Term, ...] = (
    Term(
        name="adjusted p",
        heads=("adjusted p",),
        definition=(
            "Fisher's p, made stricter because every pair of groups was compared: with many "
            "comparisons, small p-values turn up by chance."
        ),
    ),
    Term(
        name="adverse impact",
        definition=(
            "A group is selected less often than the group it is compared with, and the difference "
            "is large enough to count under the rule named in this report. It describes outcomes, "
            "not intentions."
        ),
    ),
    Term(
        name="auditor (classifier)",
        heads=("auditor", "strongest auditor"),
        definition=(
            "In the certificate: a classifier that tries to predict the group from the other "
            "columns. The better it predicts, the more harm a rule on those columns can do. It is "
            "not the person who audits."
        ),
    ),
    Term(
        name="balanced error rate (BER)",
        heads=("BER", "least BER", "BER alone"),
        definition=(
            "How often a classifier that predicts the group is wrong, averaged over both groups. "
            "0.5 is guessing; 0 is always right."
        ),
    ),
    Term(
        name="beta",
        heads=("beta",),
        definition=(
            "A selection rate. Statements with beta hold for rules that select at least this share "
            "of the group."
        ),
    ),
    Term(
        name="bound",
        heads=("bound",),
        definition="The lowest impact ratio that the balanced error rate allows, at beta.",
    ),
    Term(
        name="certified",
        heads=("verdict",),
        definition=(
            "Found: with the stated confidence, no rule that these auditors can find has an impact "
            "ratio below the threshold. Proven: no rule at all can have one. 'Inconclusive' means "
            "that there are too few rows to say."
        ),
    ),
    Term(
        name="choice p",
        heads=("choice p",),
        definition=(
            "The p-value, adjusted because the comparison group was chosen for its high rate; a "
            "group named in advance would differ less."
        ),
    ),
    Term(
        name="confidence interval",
        heads=("95%", "limits", "90%", "99%"),
        definition=(
            "The range of values that the data are compatible with. A method with 95% intervals "
            "misses the true value in at most about 5 of 100 studies. Few rows give wide intervals."
        ),
    ),
    Term(
        name="detectable (smallest detectable effect)",
        heads=("detectable",),
        definition=(
            "With this many rows, an impact ratio closer to 1 than this would probably go "
            "unnoticed by the test (power 80%)."
        ),
    ),
    Term(
        name="expected",
        heads=("expected",),
        definition=(
            "How many of the group would have been selected if both groups had the same rate."
        ),
    ),
    Term(
        name="Fisher p",
        heads=("Fisher p", "exact p", "one-sided p"),
        definition=(
            "The p-value of Fisher's exact test: how often chance alone would make a difference at "
            "least this large if both groups had the same selection rate. One-sided: only "
            "differences to the disadvantage of the group count."
        ),
    ),
    Term(
        name="floor",
        heads=("floor", "floor alone", "impact floor of that auditor"),
        definition=(
            "The lowest impact ratio that a rule can have if it selects at least beta of the "
            "group: found by an auditor, or proven for every rule."
        ),
    ),
    Term(
        name="four-fifths line (4/5)",
        definition=(
            "An impact ratio of 0.8. Under the Uniform Guidelines a lower ratio is generally "
            "regarded as evidence of adverse impact, unless numbers are small."
        ),
    ),
    Term(
        name="h",
        heads=("h",),
        definition=(
            "Cohen's h, the size of a difference between two rates: 0.2 is called small, 0.5 "
            "medium, 0.8 large."
        ),
    ),
    Term(
        name="Holm p",
        heads=("Holm p",),
        definition="The p-value, made stricter for the number of comparisons in this audit.",
    ),
    Term(
        name="impact ratio",
        heads=("ratio", "impact ratio", "Impact ratio"),
        definition=(
            "The selection rate of a group divided by that of the group it is compared with. 1 "
            "means equal rates; below 1, the group is selected less often."
        ),
    ),
    Term(
        name="mid-p",
        heads=("mid-p", "one-sided mid-p"),
        definition=(
            "Fisher's p with half the weight on outcomes as likely as the one that happened; less "
            "cautious where numbers are small."
        ),
    ),
    Term(
        name="n",
        heads=("n", "Applicants"),
        definition="How many persons of the group are in the data.",
    ),
    Term(
        name="one moved",
        heads=("one moved",),
        definition=(
            "The impact ratio if one selection had gone to the side with the lower rate instead. "
            "If that reverses the finding, the numbers are too small to rely on."
        ),
    ),
    Term(
        name="phi",
        heads=("phi",),
        definition=(
            "The correlation of membership in the group with being selected; 0 means that there is "
            "none."
        ),
    ),
    Term(
        name="points",
        heads=("points",),
        definition="The difference between the two selection rates in percentage points.",
    ),
    Term(
        name="reference",
        heads=("compared with", "against", "reference"),
        definition=(
            "The group that the others are compared with: named in advance, or the one with the "
            "highest selection rate, as the rule says."
        ),
    ),
    Term(
        name="reverse",
        heads=("reverse",),
        definition="The floor of rules that harm the reference instead of the group.",
    ),
    Term(
        name="SD (standard deviations)",
        heads=("SD",),
        definition=(
            "How many standard deviations the number selected is from the expected number. Courts "
            "have treated more than two or three as a sign that it is not chance."
        ),
    ),
    Term(
        name="scoring rate",
        heads=("Scoring rate",),
        definition="The share of a group whose score is above the median score of all.",
    ),
    Term(
        name="selection rate",
        heads=("rate", "Selection rate"),
        definition="How many of a group were selected, divided by how many there were.",
    ),
    Term(
        name="sensitivity, specificity, LR+",
        heads=("sensitivity", "specificity", "LR+"),
        definition=(
            "Being selected, read as a test for the comparison group: the share of that group "
            "that it catches, the share of the other that it leaves out, and 1 / impact ratio."
        ),
    ),
    Term(
        name="shortfall",
        heads=("shortfall", "shortfall to pooled"),
        definition=(
            "How many more of the group would have been selected at the comparison group's rate, "
            "or at the rate of both together."
        ),
    ),
    Term(
        name="unknown membership",
        heads=("at least", "at most"),
        definition=(
            "Persons whose group is not recorded. 'At least' and 'at most' are the lowest and the "
            "highest ratio possible, whatever groups they belong to."
        ),
    ),
    Term(
        name="utility",
        heads=("utility",),
        definition=(
            "How well a model of the outcome predicts: 1 minus its balanced error rate. 0.5 is "
            "guessing; 1 is always right."
        ),
    ),
    Term(
        name="witness",
        heads=("witness",),
        definition="The impact ratio of the most harmful rule that an auditor found.",
    ),
    Term(
        name="within a column (strata)",
        heads=("Tarone", "Breslow-Day", "CMH", "odds ratio", "one figure for all"),
        definition=(
            "Groups compared separately within each value of another column (a job, a site), then "
            "together: CMH tests all of them at once; Tarone and Breslow-Day ask whether one "
            "figure may stand for all of them."
        ),
    ),
    Term(
        name="z",
        heads=("z",),
        definition=(
            "The difference of the rates in standard errors (two-sample test, pooled variance); "
            "beyond about 2 it is called statistically significant at the 5% level."
        ),
    ),
)
ALWAYS_EXPLAINED = ("adverse impact", "impact ratio", "selection rate")


def terms_of(parts: Iterable[Part]) -> tuple[Term, ...]:
    """Return the terms that the tables of these parts use, in alphabetical order."""
    heads: set[str] = set()
    texts: list[str] = []
    for part in parts:
        for sheet in part.sheets:
            heads.update(sheet.headers)
        texts += [chart.title for chart in part.charts]
    has_line = "4/5" in " ".join(texts) or "ratio" in heads
    return tuple(
        term
        for term in sorted(TERMS, key=lambda term: term.name.lower())
        if heads.intersection(term.heads)
        or term.name in ALWAYS_EXPLAINED
        or (has_line and term.name.startswith("four-fifths"))
    )
