"""The rules by name: the arithmetic of each, and its status in law with source and date checked.

A law that states a number has an arithmetic. A law without one is a `checklist`: duties and
questions, and never a finding. The number of another rule is not lent to it.

This module imports neither NumPy nor SciPy, because the shell reads `RULES` for ``--help``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Literal

from fourfifths._impact.rules import FOUR_FIFTHS, Duties, Rule, Status

RuleName = Literal[
    "feldman2015",
    "ugesp",
    "ofccp",
    "nyc-ll144",
    "lending-air",
    "nydfs-cl7",
    "co-insurance",
    "nj-lad",
    "ca-feha",
    "il-ihra",
    "fha",
    "co-sb26-189",
    "ct-sb5",
    "eu-ai-act-10",
    "uk-ea-19",
]

DEFAULT_RULE: RuleName = "ugesp"

# A reference of fewer rows makes every comparison one of small numbers: one of its two expected
# counts is at most half of its rows, and so below 5 (`exact_below_expected`).
MIN_REFERENCE_ROWS = 10
CHECKED = date(2026, 11, 18)


def checklist(name: RuleName, title: str, *, status: Status) -> Rule:
    """Return the profile of a law without a number.

    Rates and ratios are shown all the same. The law says neither which group is the reference nor
    which are small, so the highest rate is taken unless a group is designated.
    """
    return Rule(
        name=name,
        title=title,
        reference="highest",
        decision="checklist",
        lines=(),
        minimum_rows=MIN_REFERENCE_ROWS,
        status=status,
    )


# The three steps that New Jersey's rules and the federal housing rule have in common.
BURDEN_QUESTIONS = (
    "Which practice is it, and does it cause the difference, now or predictably?",
    "Is it necessary to achieve a substantial, legitimate, nondiscriminatory interest, and what "
    "evidence shows that?",
    "Could a practice with a less discriminatory effect serve that interest?",
)
# What courts may look at in a claim about an automated tool, in California and in Connecticut.
TESTING_QUESTIONS = (
    "Was the tool tested for discrimination before and during its use?",
    "How good, how recent and how wide was the test, what did it show, and what was done about it?",
)

RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(
            name="feldman2015",
            title="Disparate impact as the paper defines it",
            reference="designated",
            decision="ratio",
            boundary="at or below",
            status=Status(
                kind="definition",
                jurisdiction="none",
                source=(
                    "Feldman, Friedler, Moeller, Scheidegger, Venkatasubramanian, Certifying and "
                    "removing disparate impact, KDD 2015 (2015-08-10), definition 1.1"
                ),
                standing="A definition in a paper; it has no standing in law.",
                checked_on=CHECKED,
                checked_against="definition 1.1 in arXiv 1412.3756",
            ),
        ),
        Rule(
            name="ugesp",
            title="Uniform Guidelines on Employee Selection Procedures: the four-fifths rule",
            reference="highest",
            decision="ratio or test",
            minimum_share=Fraction(2, 100),
            minimum_rows=MIN_REFERENCE_ROWS,
            status=Status(
                kind="guidance",
                jurisdiction="United States: employment",
                in_force_from=date(1978, 9, 25),
                source=(
                    "29 CFR 1607.4(D), 1607.15(A)(2) (43 FR 38290, 1978-08-25); Questions and "
                    "Answers 44 FR 11996 (1979-03-02), no. 10-27"
                ),
                standing=(
                    "A rule of thumb of the enforcement agencies; courts use it beside "
                    "significance tests. Title VII disparate impact itself is statute, 42 U.S.C. "
                    "2000e-2(k). Executive Order 14281 (2025-04-23) told federal agencies to "
                    "deprioritise its enforcement. The EEOC has put on its agenda the rescission "
                    "of part 1607 (RIN 3046-AB43, final rule stage) and of its recordkeeping (RIN "
                    "3046-AB45, proposed rule stage); no such rule was found in text that ends in "
                    "July 2026."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "the agenda entries at reginfo.gov; section 4(A) to (C) of part 1607 at "
                    "law.cornell.edu, and 4(D) as others quote it; the rest was not read again"
                ),
                duties=Duties(
                    retain="records of the impact by sex, race, ethnic group (29 CFR 1607.15(A))",
                    search_for_alternatives=(
                        "as part of a validity study, procedures with less adverse impact (29 CFR "
                        "1607.3(B))"
                    ),
                ),
            ),
        ),
        Rule(
            name="ofccp",
            title="OFCCP: the 80% trigger, two and three standard deviations",
            reference="highest",
            decision="test",
            line_is="trigger",
            standard_deviations=2.0,
            strong_standard_deviations=3.0,
            minimum_share=Fraction(2, 100),
            minimum_rows=MIN_REFERENCE_ROWS,
            total_minority=True,
            status=Status(
                kind="guidance",
                jurisdiction="United States: federal contractors",
                in_force_from=date(1965, 9, 24),
                in_force_to=date(2025, 1, 21),
                source=(
                    "Executive Order 11246; Federal Contract Compliance Manual, chapter 1O (impact "
                    "ratio and standard deviation analysis); Hazelwood School District v. United "
                    "States, 433 U.S. 299 (1977), n. 14 and 17"
                ),
                standing=(
                    "Agency practice under Executive Order 11246, which Executive Order 14173 "
                    "revoked on 2025-01-21. The rescission of its regulations was proposed on "
                    "2025-07-01 (90 FR 28472, RIN 1250-AA17); no final rule was found in text that "
                    "ends in July 2026. The 2020 rule that wrote 2 and 3 standard deviations into "
                    "41 CFR 60 was rescinded on 2023-08-04 (88 FR 51717). Courts still count "
                    "standard deviations. The manual compared minorities together with all others, "
                    "and a rate under 80% of the other was a reason to look further, not a "
                    "finding."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "90 FR 28472, chapter 1O at dol.gov, and a quotation of page 48 of the manual "
                    "of July 2013; 88 FR 51717 was not read"
                ),
                duties=Duties(retain="personnel records (41 CFR 60-1.12; historical)"),
            ),
        ),
        Rule(
            name="nyc-ll144",
            title="New York City Local Law 144: automated employment decision tools",
            reference="highest",
            decision="none",
            lines=(),
            minimum_share=Fraction(2, 100),
            small_groups="include",
            score="above median",
            status=Status(
                kind="law",
                jurisdiction="New York City: employment, automated tools",
                in_force_from=date(2023, 1, 1),
                source=(
                    "New York City Administrative Code 20-870 to 20-874; 6 RCNY 5-300 to 5-304 "
                    "(rule of 2023-04-06)"
                ),
                standing=(
                    "Enforced from 2023-07-05. It requires that impact ratios be published and "
                    "draws no line between pass and fail. A bias audit may be at most a year old."
                ),
                checked_on=CHECKED,
                checked_against="a copy of 6 RCNY 5-302 and summaries of 5-301, 5-303 and 5-304",
                duties=Duties(
                    publish=(
                        "a summary of the latest bias audit and the tool's distribution date, on "
                        "the website, before use (20-871(a)(2), 6 RCNY 5-303)"
                    ),
                    retain=(
                        "the summary stays posted at least six months after the last use (6 RCNY "
                        "5-303)"
                    ),
                    notify=(
                        "candidates and employees who reside in the city, at least 10 business "
                        "days before use (20-871(b), 6 RCNY 5-304)"
                    ),
                ),
                questions=(
                    "Was the bias audit made by an independent auditor within the last year?",
                    "Are sex, race and ethnicity, and their intersections all shown?",
                ),
            ),
        ),
        Rule(
            name="lending-air",
            title="Adverse impact ratio in lending",
            reference="designated",
            decision="ratio and test",
            lines=(FOUR_FIFTHS, Fraction(9, 10)),
            score="mean difference",
            status=Status(
                kind="practice",
                jurisdiction="United States: lending",
                source=(
                    "Industry practice: Hall, Cox, Dickerson and others, A United States fair "
                    "lending perspective on machine learning, Frontiers in Artificial Intelligence "
                    "4 (2021-06-07)"
                ),
                standing=(
                    "No lending regulator has written the ratio into a rule. Regulation B no "
                    "longer provides for an effects test under ECOA (CFPB final rule of "
                    "2026-04-22, in force 2026-07-21); the Fair Housing Act and state laws are "
                    "separate."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "summaries of the CFPB's rule (Federal Register document 2026-07804); the "
                    "article's numbers were not read again"
                ),
            ),
        ),
        Rule(
            name="nydfs-cl7",
            title="New York Insurance Circular Letter No. 7 (2024): AI and external consumer data",
            reference="designated",
            decision="none",
            lines=(),
            score="mean difference",
            status=Status(
                kind="guidance",
                jurisdiction="New York: insurance underwriting and pricing",
                in_force_from=date(2024, 7, 11),
                source=(
                    "New York State Department of Financial Services, Insurance Circular Letter "
                    "No. 7 (2024-07-11); N.Y. Ins. Law articles 24 and 26, section 4224"
                ),
                standing=(
                    "It says how the department reads the insurance law, and does not change it. "
                    "It names the adverse impact ratio among several metrics, compares protected "
                    "classes with a control group, and draws no line."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "the opening of the letter and summaries of it; its list of metrics was not "
                    "read in the letter itself"
                ),
                duties=Duties(
                    retain=(
                        "documentation of the systems, the data and the tests, for the department "
                        "to examine (11 NYCRR 243)"
                    ),
                    notify=(
                        "applicants, that such data or systems were used, and the reasons of an "
                        "adverse decision"
                    ),
                    search_for_alternatives=(
                        "the third step: a variable or method with a less adverse effect; at least "
                        "every year"
                    ),
                ),
                questions=(
                    "Does the use have a disproportionate adverse effect on a protected class?",
                    "If so, is there a legitimate, lawful and articulable explanation?",
                    "If so, is there a less discriminatory alternative that serves the same need?",
                ),
            ),
        ),
        Rule(
            name="co-insurance",
            title="Colorado: draft regulation on quantitative testing in life insurance",
            reference="designated",
            decision="test and gap",
            lines=(),
            gap=Fraction(5, 100),
            status=Status(
                kind="draft",
                jurisdiction="Colorado: life insurance underwriting",
                source=(
                    "Colorado Division of Insurance, draft proposed regulation on quantitative "
                    "testing of external consumer data, algorithms and predictive models "
                    "(September 2023), under C.R.S. 10-3-1104.9 (SB 21-169); beside it 3 CCR "
                    "702-10, Regulation 10-1-1"
                ),
                standing=(
                    "A draft: p below .05 and a difference of at least 5 percentage points. The "
                    "Division had adopted no testing rule by October 2025 (bulletin B-10.004), and "
                    "none was found in text that ends in July 2026. The draft is reported to take "
                    "both from a regression with estimated race and controls; here unadjusted "
                    "rates are compared ('fourfifths adjusted' takes controls). Regulation 10-1-1 "
                    "on governance is law: for life insurers from 2023-11-14, for auto and health "
                    "insurers from 2025-10-15."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "the Division's announcements and law firms' summaries; the two numbers only "
                    "on a third party's page, the draft's text could not be read"
                ),
                questions=(
                    "Is the difference still there with the draft's controls?",
                    "Which variables cause it?",
                    "Was it reported to the Division under Regulation 10-1-1, and remedied?",
                ),
            ),
        ),
        checklist(
            "nj-lad",
            "New Jersey Law Against Discrimination: rules on disparate impact",
            status=Status(
                kind="law",
                jurisdiction="New Jersey: employment, housing, lending, services, contracting",
                in_force_from=date(2025, 12, 15),
                source=(
                    "N.J.A.C. 13:16 (R.2025 d.150), above all 13:16-2.2; N.J.S.A. 10:5-1 and "
                    "following"
                ),
                standing=(
                    "It asks for empirical evidence that is not hypothetical or speculative, and "
                    "covers automated tools, a vendor's too. No number was found in it."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "a copy of 13:16-2.2, the Attorney General's announcement of December 2025, "
                    "and summaries; the rest of the chapter could not be read"
                ),
                duties=Duties(
                    search_for_alternatives=(
                        "a practice is unlawful despite its interest if a less discriminatory "
                        "alternative exists (13:16-2.2)"
                    )
                ),
                questions=(
                    *BURDEN_QUESTIONS,
                    "In employment: is it job related and consistent with business necessity?",
                    "Was an automated tool, a vendor's too, tested before it was used?",
                ),
            ),
        ),
        checklist(
            "ca-feha",
            "California Fair Employment and Housing Act: automated-decision systems",
            status=Status(
                kind="law",
                jurisdiction="California: employment",
                in_force_from=date(2025, 10, 1),
                source="2 CCR 11008.1, 11009, 11013, 11016, 11017; Gov. Code 12940",
                standing=(
                    "A system or criterion with an adverse impact on a protected basis is unlawful "
                    "unless it is job related. Tests for discrimination, or their absence, are "
                    "evidence. No number was found in the amendments; 2 CCR 11017 was known to "
                    "adopt the Uniform Guidelines, whose arithmetic is the rule ugesp, but its "
                    "present text was not checked."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "the Civil Rights Council's announcement of 2025-06-30 and law firms' "
                    "summaries; the sections themselves could not be read"
                ),
                duties=Duties(
                    retain=(
                        "applications, personnel records, selection criteria and data of the "
                        "automated-decision system, four years (2 CCR 11013)"
                    ),
                ),
                questions=(
                    "Is the selection criterion job related?",
                    *TESTING_QUESTIONS,
                    "Does the system need an accommodation for a disability or a religion?",
                ),
            ),
        ),
        checklist(
            "il-ihra",
            "Illinois Human Rights Act: artificial intelligence in employment",
            status=Status(
                kind="law",
                jurisdiction="Illinois: employment",
                in_force_from=date(2026, 1, 1),
                source="775 ILCS 5/2-101 and 5/2-102(L); Public Act 103-0804 (HB 3773)",
                standing=(
                    "Artificial intelligence must not have the effect of subjecting employees to "
                    "discrimination, and zip codes must not stand for a protected class. The act "
                    "has no number. The department's rules on notice and records (Subpart J) were "
                    "proposed on 2026-05-15 and withdrawn on 2026-06-02; nothing later was found "
                    "in text that ends in July 2026."
                ),
                checked_on=CHECKED,
                checked_against="the summary of the enrolled bill, and trackers of the rules",
                duties=Duties(
                    notify=(
                        "employees, that artificial intelligence is used for recruitment, hiring, "
                        "promotion, training, discipline, discharge or terms of employment "
                        "(5/2-102(L)(2))"
                    ),
                ),
                questions=(
                    "For which decisions is artificial intelligence used?",
                    "Are zip codes, or what follows from them, among its inputs?",
                ),
            ),
        ),
        checklist(
            "fha",
            "Fair Housing Act: discriminatory effect",
            status=Status(
                kind="law",
                jurisdiction="United States: housing and its financing",
                in_force_from=date(2023, 5, 1),
                source=(
                    "24 CFR 100.500 (78 FR 11460, 2013-02-15; reinstated by 88 FR 19450, "
                    "2023-03-31); 42 U.S.C. 3601 and following; Texas Department of Housing and "
                    "Community Affairs v. Inclusive Communities Project, 576 U.S. 519 (2015)"
                ),
                standing=(
                    "The regulation has no number. HUD proposed to remove it on 2026-01-14 (91 FR "
                    "1475, RIN 2529-AB09); no final rule was found in text that ends in July 2026. "
                    "The statute, as the Supreme Court reads it, covers disparate impact, and asks "
                    "for robust causality."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "91 FR 1475 and summaries of the rules of 2013 and 2023; the date of the "
                    "latter was not checked"
                ),
                duties=Duties(
                    search_for_alternatives=(
                        "a practice with a less discriminatory effect defeats its justification "
                        "(24 CFR 100.500)"
                    )
                ),
                questions=BURDEN_QUESTIONS,
            ),
        ),
        checklist(
            "co-sb26-189",
            "Colorado SB 26-189: automated decision-making technology",
            status=Status(
                kind="law",
                jurisdiction=(
                    "Colorado: employment, housing, lending, insurance, education, health care, "
                    "public services"
                ),
                in_force_from=date(2027, 1, 1),
                source="Colorado Senate Bill 26-189 (signed 2026-05-14)",
                standing=(
                    "It replaces SB 24-205, and with it the duties to assess impact and manage "
                    "risk. It has no number. The Attorney General enforces it, and is to adopt "
                    "rules before 2027-01-01; none were found in text that ends in July 2026."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "the Attorney General's page on the act, the official summary of the bill, and "
                    "law firms' summaries"
                ),
                duties=Duties(
                    retain="records that show how the act was followed, at least 3 years",
                    notify=(
                        "consumers, clearly, where they meet the technology; and within 30 days of "
                        "an adverse outcome, its role in plain language"
                    ),
                ),
                questions=(
                    "Does the technology materially influence a consequential decision?",
                    "Can a consumer correct wrong data and ask for a human review?",
                    "Does the developer's documentation name intended uses and known limits?",
                ),
            ),
        ),
        checklist(
            "ct-sb5",
            "Connecticut Public Act 26-15 (SB 5): automated employment-related decisions",
            status=Status(
                kind="law",
                jurisdiction="Connecticut: employment",
                in_force_from=date(2026, 10, 1),
                source="Connecticut Public Act 26-15 (Substitute Senate Bill 5), sections 7 to 14",
                standing=(
                    "From 2026-10-01 the use of such a technology is no defense against a claim of "
                    "discrimination, and tests for discrimination are evidence. Notices are due "
                    "from 2027-10-01. It has no number and asks for no audit."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "the opening of the act and law firms' summaries; sections 7 to 14 were not "
                    "read themselves"
                ),
                duties=Duties(
                    notify=(
                        "from 2027-10-01: applicants and employees who interact with the "
                        "technology; and in writing before the decision, with its purpose, trade "
                        "name, personal data and their sources, and a contact"
                    ),
                ),
                questions=(
                    "Is the output a substantial factor in an employment-related decision?",
                    *TESTING_QUESTIONS,
                ),
            ),
        ),
        checklist(
            "eu-ai-act-10",
            "EU AI Act, Article 10: data and data governance of high-risk systems",
            status=Status(
                kind="law",
                jurisdiction="European Union: high-risk AI systems (Annex III)",
                in_force_from=date(2027, 12, 2),
                source="Regulation (EU) 2024/1689, Article 10(2)(f) and (g), 10(3), 10(5)",
                standing=(
                    "In force since 2024-08-01, applied in stages. It has no number. For Annex III "
                    "the date of application was 2026-08-02; the Digital Omnibus on AI, adopted by "
                    "the Council on 2026-06-29, moves it to 2027-12-02. Its publication in the "
                    "Official Journal was expected in July 2026 and could not be checked."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "reports on the Digital Omnibus; the text of Article 10 was not read again"
                ),
                duties=Duties(
                    retain=(
                        "the provider's technical documentation, 10 years after the system was "
                        "placed on the market (Article 18)"
                    ),
                ),
                questions=(
                    "Were training, validation and test data examined for possible biases that "
                    "lead to discrimination prohibited by Union law?",
                    "What was done to detect, prevent and mitigate them?",
                    "Are the data relevant and sufficiently representative of the persons on whom "
                    "the system is to be used?",
                    "If special categories of personal data were used for this, were the "
                    "safeguards of Article 10(5) kept?",
                ),
            ),
        ),
        checklist(
            "uk-ea-19",
            "Equality Act 2010, section 19: indirect discrimination",
            status=Status(
                kind="law",
                jurisdiction="Great Britain: work, services, premises, education",
                in_force_from=date(2010, 10, 1),
                source="Equality Act 2010 (c. 15), section 19; section 19A from 2024-01-01",
                standing=(
                    "A provision, criterion or practice that puts persons with a characteristic at "
                    "a particular disadvantage is unlawful unless it is a proportionate means of "
                    "achieving a legitimate aim. The act has no number."
                ),
                checked_on=CHECKED,
                checked_against=(
                    "the text of sections 19 and 19A at legislation.gov.uk; the date of "
                    "commencement was not read there"
                ),
                questions=(
                    "Which provision, criterion or practice is it, and to whom is it applied?",
                    "Does it put persons who share the characteristic at a particular disadvantage "
                    "compared with persons who do not?",
                    "Does it put the claimant at that disadvantage?",
                    "Is it a proportionate means of achieving a legitimate aim?",
                ),
            ),
        ),
    )
}
