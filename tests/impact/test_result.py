"""Looking up groups and attributes, and the public contract of ``--format json``."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pandas as pd
import pytest
from counted import frame, measure, measure_aggregated, stratified
from jsonschema import Draft202012Validator

import fourfifths

SCHEMA = Path(__file__).parents[2] / "docs" / "schema" / "impact.schema.json"
RICCI = {
    "captain": {"Black": (3, 8), "White": (16, 25)},
    "lieutenant": {"Black": (6, 19), "White": (25, 43)},
}
GROUP_KEYS = {
    *("group", "n", "selected", "selection_rate", "selection_rate_interval", "impact_ratio"),
    *("impact_ratio_interval", "likelihood_ratio", "difference", "z", "fisher_p", "shortfall"),
    *("flip", "share", "finding", "why"),
}
NOT_NUMBERS = {
    *("group", "values", "interval_method", "finding", "because", "why"),
    *("stratified", "against_largest"),
}


def unknown(**options):
    table = frame({"A": (3, 8), "B": (16, 25), "?": (2, 5)})
    return fourfifths.impact(table, protected="group", outcome="hired", unknown=["?"], **options)


def sampled(**options):
    table = frame({"A": (3, 8), "B": (16, 25)}).assign(w=[1.0, 2.5, 0.5] * 11)
    return fourfifths.impact(table, protected="group", outcome="hired", weights="w", **options)


def of_type(values):
    table = pd.DataFrame({"group": values, "hired": [1, 0, 1, 1]})
    return fourfifths.impact(table, protected="group", outcome="hired")


def loans():
    return fourfifths.impact(
        "german", score="duration", rule="lending-air", reference="26 and over"
    )


AUDITS = {
    "total": lambda: measure({"A": (3, 8), "B": (16, 25), "C": (9, 40)}, rule="ofccp"),
    "several favorable values": lambda: fourfifths.impact(
        pd.DataFrame({"group": list("AABB"), "hired": ["yes", "no", "late", "yes"]}),
        protected="group",
        outcome="hired",
        favorable=["yes", "late"],
    ),
    "Teal": lambda: measure({"Black": (26, 48), "White": (206, 259)}),
    "no one selected": lambda: measure_aggregated({"A": (0, 8), "B": (0, 25)}),
    "no one selected in the group": lambda: measure({"A": (0, 8), "B": (9, 25)}),
    "no one selected in the reference": lambda: measure({"A": (2, 8), "B": (0, 25)}, reference="B"),
    "everyone selected": lambda: measure({"A": (8, 8), "B": (25, 25)}, favorable="yes"),
    "equal rates": lambda: measure({"A": (4, 8), "B": (4, 8)}),
    "one person each": lambda: measure({"A": (0, 1), "B": (1, 1)}),
    "unknown membership": unknown,
    "unknown membership, reference of none": lambda: fourfifths.impact(
        pd.DataFrame({"group": ["A", "B", None], "hired": ["yes", "no", "yes"]}),
        protected="group",
        outcome="hired",
        reference="B",
    ),
    "sampling weights": sampled,
    "every pair": lambda: measure({"A": (3, 8), "B": (16, 25), "C": (9, 40)}, pairs="all"),
    "every pair with sampling weights": lambda: sampled(pairs="all"),
    "largest is not the reference": lambda: measure({"A": (3, 12), "B": (16, 25), "C": (9, 40)}),
    "excluded": lambda: measure(
        {"few": (1, 10), "men": (300, 500), "women": (250, 490)},
        rule="nyc-ll144",
        small_groups="exclude",
    ),
    "counts": lambda: measure_aggregated({"A": (3, 8), "B": (16, 25)}),
    "strata": lambda: fourfifths.impact(
        stratified(RICCI), protected="group", outcome="hired", within="job"
    ),
    "one stratum": lambda: fourfifths.impact(
        stratified({"captain": RICCI["captain"]}),
        protected="group",
        outcome="hired",
        within="job",
    ),
    "joint": lambda: fourfifths.impact("adult", protected=["sex", "race"]),
    "score above the median": lambda: fourfifths.impact(
        "ricci", score="combined", rule="nyc-ll144"
    ),
    "mean difference": loans,
    "truth values": lambda: of_type([True, False, True, False]),
    "whole numbers": lambda: of_type([1, 2, 1, 2]),
    "floats": lambda: of_type([1.5, 2.0, 1.5, 2.0]),
} | {rule: lambda rule=rule: fourfifths.impact("german", rule=rule) for rule in fourfifths.RULES}
EVERY_AUDIT = pytest.mark.parametrize("audit", AUDITS.values(), ids=AUDITS)


@functools.cache
def text_of(audit):
    return audit().to_json()


def answer_of(audit):
    return json.loads(text_of(audit))


def groups(answer):
    return [group for attribute in answer["attributes"] for group in attribute["groups"]]


@pytest.fixture(scope="module")
def joint():
    table = pd.DataFrame(
        {
            "sex": ["F", "F", "M", "M"] * 5,
            "race": ["B", "W", "B", "W"] * 5,
            "hired": ["yes", "no", "yes", "yes"] * 5,
        }
    )
    return fourfifths.impact(table, protected=["sex", "race"], outcome="hired")


@pytest.mark.parametrize(
    ("key", "index"),
    [("sex", 0), ("race", 1), (("sex",), 0), (("sex", "race"), 2), ("sex & race", 2)],
)
def test_a_key_that_names_an_attribute_returns_it(joint, key, index):
    assert joint[key] is joint.attributes[index]


def test_a_group_is_looked_up_in_its_attribute(joint):
    assert joint["sex"]["F"].selected == 5
    assert joint["sex & race"]["F & B"].selected == 5
    assert joint["sex", "race"]["F", "W"].selected == 0


def test_with_one_attribute_a_key_is_a_group_or_the_attribute():
    result = measure({"A": (3, 8), "B": (16, 25)})
    assert result["A"].n == 8
    assert result["group"] is result.attributes[0]
    assert result["group",] is result.attributes[0]
    assert result["group"]["A"] is result["A"]


def test_a_group_may_be_looked_up_by_its_value():
    result = of_type([1, 2, 1, 2])
    assert result[1] is result["1"]
    assert result[1].values == {"group": 1}


def test_where_a_group_has_the_name_of_the_attribute_the_attribute_wins():
    result = measure({"group": (3, 8), "B": (16, 25)})
    assert isinstance(result["group"], fourfifths.AttributeImpact)
    assert result["group"]["group"].n == 8


def test_a_key_that_is_nothing_names_what_there_is():
    with pytest.raises(KeyError, match=r"no group 'Martian'; there are 'A', 'B'"):
        measure({"A": (3, 8), "B": (16, 25)})["Martian"]


def test_a_group_without_its_attribute_is_told_how_to_name_it(joint):
    with pytest.raises(KeyError, match=r"no protected attribute 'F'") as caught:
        joint["F"]
    message = caught.value.args[0]
    assert "there are 'sex', 'race', 'sex & race'" in message
    assert "as in result['sex']['F']" in message


@pytest.mark.parametrize("key", [("race", "sex"), 3, None, ("sex", 1)])
def test_another_key_is_no_attribute(joint, key):
    with pytest.raises(KeyError, match="no protected attribute"):
        joint[key]


def test_a_result_runs_over_its_attributes(joint):
    assert [attribute.name for attribute in joint] == ["sex", "race", "sex & race"]


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_the_schema_is_of_draft_2020_12():
    assert json.loads(SCHEMA.read_text())["$schema"] == (
        "https://json-schema.org/draft/2020-12/schema"
    )


@EVERY_AUDIT
def test_every_audit_keeps_the_contract(audit, validator):
    assert [error.message for error in validator.iter_errors(answer_of(audit))] == []


@pytest.mark.parametrize(
    "broken",
    [
        lambda answer: answer.pop("rule"),
        lambda answer: answer.update(attributes=[]),
        lambda answer: answer["attributes"][0].pop("unknown"),
        lambda answer: answer["attributes"][0]["groups"][0].pop("impact_ratio"),
        lambda answer: answer["attributes"][0]["groups"][0].update(n="48"),
        lambda answer: answer["attributes"][0]["groups"][0].update(selection_rate=1.5),
        lambda answer: answer["attributes"][0]["groups"][0].update(selection_rate_interval=[0.1]),
    ],
)
def test_the_schema_refuses_what_is_broken(broken, validator):
    answer = answer_of(AUDITS["Teal"])
    broken(answer)
    assert not validator.is_valid(answer)


@EVERY_AUDIT
def test_every_key_of_the_contract_is_there(audit):
    answer = answer_of(audit)
    assert {"rule", "attributes"} <= answer.keys()
    for attribute in answer["attributes"]:
        assert {"protected", "reference", "unknown", "groups"} <= attribute.keys()
    assert all(group.keys() >= GROUP_KEYS for group in groups(answer))


@EVERY_AUDIT
def test_every_undefined_number_has_a_reason(audit):
    for group in groups(answer_of(audit)):
        for name in group.keys() - NOT_NUMBERS:
            value = group[name]
            parts = value if isinstance(value, list) else [value]
            undefined = any(part is None for part in parts)
            assert undefined == (name in group["why"]), name


@EVERY_AUDIT
def test_a_reason_is_a_sentence(audit):
    for group in groups(answer_of(audit)):
        assert all(len(reason.split()) > 2 for reason in group["why"].values())


def test_an_undefined_number_within_strata_has_a_reason():
    group = groups(answer_of(AUDITS["one stratum"]))[0]
    assert group["stratified"]["breslow_day"] is None
    reasons = group["why"] | group["stratified"].get("why", {})
    assert any("breslow_day" in name for name in reasons)


@EVERY_AUDIT
def test_the_reference_is_among_the_groups(audit):
    for attribute in answer_of(audit)["attributes"]:
        named = [group["group"] for group in attribute["groups"]]
        assert attribute["reference"] in named
        findings = [group["finding"] for group in attribute["groups"]]
        assert findings.count("reference") == 1


@EVERY_AUDIT
def test_shares_sum_to_one(audit):
    for attribute in answer_of(audit)["attributes"]:
        assert sum(group["share"] for group in attribute["groups"]) == pytest.approx(1)


def test_values_keep_their_type():
    assert groups(answer_of(AUDITS["whole numbers"]))[0]["values"] == {"group": 1}
    assert groups(answer_of(AUDITS["truth values"]))[0]["values"] == {"group": False}
    assert groups(answer_of(AUDITS["joint"]))[-1]["values"] == {"sex": "Male", "race": "White"}


def test_infinite_groups_are_still_json():
    answer = json.loads(of_type([1.0, float("inf")] * 2).to_json())
    assert [group["group"] for group in groups(answer)] == ["1.0", "inf"]


def test_the_same_audit_gives_the_same_text():
    assert AUDITS["joint"]().to_json() == AUDITS["joint"]().to_json()
