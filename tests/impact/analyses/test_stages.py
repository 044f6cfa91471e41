"""The steps of a selection, and the bottom line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from referencing import Registry, Resource

import fourfifths
from fourfifths.errors import ColumnError, GroupError, OptionError, TableError, WeightsError

SCHEMAS = Path(__file__).parents[3] / "docs" / "schema"
STAGES = ["interviewed", "offered", "hired"]
# Connecticut v. Teal, 457 U.S. 440, at 443 and 444: 48 black and 259 white candidates took the
# examination, 26 and 206 passed, 11 and 35 were promoted.
TEAL = pd.DataFrame(
    {
        "race": ["Black"] * 3 + ["White"] * 3,
        "passed": ["yes", "yes", "no"] * 2,
        "promoted": ["yes", "no", None] * 2,
        "n": [11, 15, 22, 35, 171, 53],
    }
)


def teal(**options):
    roles = {"protected": "race", "stages": ["passed", "promoted"], "persons": "n"}
    return fourfifths.stages(TEAL, **roles | options)


def people(rows: str) -> pd.DataFrame:
    """Return a table from lines like "F y n -": a group, and a letter for each stage."""
    words = {"y": "yes", "n": "no", "-": None}
    records = [line.split() for line in rows.strip().splitlines()]
    return pd.DataFrame(
        [[group, *(words[state] for state in states)] for group, *states in records],
        columns=["sex", *STAGES[: len(records[0]) - 1]],
    )


def hires(seed: int = 0, rows: int = 400) -> pd.DataFrame:
    """Return random applicants; what comes after a stage that was not reached is blank."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"sex": rng.choice(["F", "M"], rows), "race": rng.choice(["A", "B", "C"], rows)}
    )
    went_on = np.ones(rows, dtype=bool)
    for stage in STAGES:
        answer = rng.random(rows) < np.where(frame["sex"] == "M", 0.7, 0.5)
        frame[stage] = np.where(went_on, np.where(answer, "yes", "no"), None)
        went_on &= answer
    return frame


def test_connecticut_v_teal():
    result = teal(reference="White")
    passed, promoted, whole = (step.impact["Black"] for step in result.parts)
    assert (passed.selected, passed.n) == (26, 48)
    assert round(passed.selection_rate, 4) == 0.5417
    assert passed.impact_ratio == pytest.approx((26 / 48) / (206 / 259))
    assert round(passed.impact_ratio, 3) == 0.681
    assert passed.finding == "adverse impact is indicated under ugesp"
    assert (promoted.selected, promoted.n) == (11, 26)
    assert round(100 * whole.selection_rate, 1) == 22.9
    assert round(100 * result["bottom line"]["White"].selection_rate, 1) == 13.5
    assert round(whole.impact_ratio, 3) == 1.696
    assert whole.finding == "not indicated"


def test_each_step_is_compared_with_the_highest_rate_of_that_step():
    result = teal()
    references = [step.impact.attributes[0].reference for step in result.parts]
    assert references == ["White", "Black", "Black"]
    assert any("need not be the same group" in note for note in result.notes)
    assert not any("need not be the same group" in note for note in teal(reference="White").notes)


def test_with_one_reference_the_ratios_of_the_steps_multiply_to_the_bottom_line():
    result = fourfifths.stages(hires(), protected="sex", stages=STAGES, reference="M")
    steps = [result[stage]["F"].impact_ratio for stage in STAGES]
    assert np.prod(steps) == pytest.approx(result["bottom line"]["F"].impact_ratio)


@pytest.mark.slow
def test_a_step_is_what_impact_says_of_those_who_reached_the_stage_before():
    table = hires()
    result = fourfifths.stages(table, protected=["sex", "race"], stages=STAGES)
    pools = [table, table[table.interviewed == "yes"], table[table.offered == "yes"]]
    for stage, pool in zip(STAGES, pools, strict=True):
        alone = fourfifths.impact(pool, protected=["sex", "race"], outcome=stage)
        assert [attribute.to_dict() for attribute in result[stage]] == [
            attribute.to_dict() for attribute in alone
        ]
    whole = fourfifths.impact(
        table.assign(hired=table.hired.fillna("no")), protected=["sex", "race"], outcome="hired"
    )
    assert result["bottom line"].to_records() == whole.to_records()


def as_dates(table):
    return table.assign(
        **{stage: np.where(table[stage] == "yes", "2024-03-01", None) for stage in STAGES}
    )


def as_real_dates(table):
    return as_dates(table).assign(
        **{stage: pd.to_datetime(as_dates(table)[stage]) for stage in STAGES}
    )


def as_numbers(table):
    return table.assign(**{stage: table[stage].map({"yes": 1, "no": 0}) for stage in STAGES})


@pytest.mark.parametrize("kind", [as_dates, as_real_dates, as_numbers, pl.from_pandas])
def test_flags_dates_and_numbers_say_the_same(kind):
    expected = fourfifths.stages(hires(), protected="sex", stages=STAGES)
    result = fourfifths.stages(kind(hires()), protected="sex", stages=STAGES)
    assert result.to_records() == expected.to_records()


def test_a_last_stage_says_the_same():
    table = hires()
    reached = (table[STAGES] == "yes").sum(axis=1)
    last = table.assign(status=np.array(["applied", "Interviewed ", "offered", "hired"])[reached])
    result = fourfifths.stages(
        last,
        protected="sex",
        stage_column="status",
        order=["applied", "interviewed", "offered", "hired"],
    )
    expected = fourfifths.stages(table, protected="sex", stages=STAGES)
    assert [step.after for step in result.steps] == ["applied", "interviewed", "offered"]
    for step, other in zip(result.parts, expected.parts, strict=True):
        assert step.impact.to_records() == other.impact.to_records()


def test_a_file_says_the_same(tmp_path):
    hires().to_csv(tmp_path / "h.csv", index=False)
    result = fourfifths.stages(tmp_path / "h.csv", protected="sex", stages=STAGES)
    expected = fourfifths.stages(hires(), protected="sex", stages=STAGES)
    assert result.to_records() == expected.to_records()


def test_a_stage_at_which_no_one_stopped_need_not_occur():
    table = pd.DataFrame({"sex": list("FFMM"), "status": ["new", "hired", "new", "hired"]})
    result = fourfifths.stages(
        table, protected="sex", stage_column="status", order=["new", "offered", "hired"]
    )
    assert [(step.pool, step.reached) for step in result.steps] == [(4, 2), (2, 2)]


def test_a_blank_is_missing_only_where_the_stage_before_was_reached():
    # Women: one hired, one whose offer is blank, one not interviewed. Men: one hired, one refused.
    result = fourfifths.stages(
        people("F y y y\nF y - -\nF n - -\nM y y y\nM y n -"), protected="sex", stages=STAGES
    )
    assert [step.missing for step in result.steps] == [0, 1, 0]
    assert [step.pool for step in result.steps] == [5, 4, 2]
    assert result["offered"].outcome_missing == 1
    # The woman whose offer is blank may have been hired.
    assert result.bottom_line.missing == 1
    assert [(group.selected, group.n) for group in result["bottom line"].attributes[0].groups] == [
        (1, 2),
        (1, 2),
    ]


def test_the_bottom_line_is_known_if_a_later_stage_was_not_reached():
    # The first woman's interview is blank, but she was not hired for certain.
    result = fourfifths.stages(
        people("F - - n\nF y y y\nM y y y\nM n - -"), protected="sex", stages=STAGES
    )
    assert [step.missing for step in result.parts] == [1, 0, 0, 0]


def test_blanks_beside_nothing_but_yes_are_asked_about():
    table = people("F y y -\nF y - -\nM n - -\nM y y y").assign(
        hired=[None, None, None, "yes"], offered=["yes", None, None, "yes"]
    )
    with pytest.raises(ColumnError, match=r"'offered'.*'yes' and 1 blanks.*blank='not reached'"):
        fourfifths.stages(table, protected="sex", stages=STAGES)
    result = fourfifths.stages(table, protected="sex", stages=STAGES, blank="not reached")
    assert [(step.pool, step.reached, step.missing) for step in result.parts] == [
        (4, 3, 0),
        (3, 2, 0),
        (2, 1, 0),
        (4, 1, 0),
    ]


def test_a_skipped_stage_is_an_error_with_the_number_of_rows():
    table = people("F y y y\nF n y n\nF - - y\nM y y y\nM y n -")
    with pytest.raises(
        TableError, match=r"2 rows reached .* like 'offered' without 'interviewed'.*skips='allow'"
    ):
        fourfifths.stages(table, protected="sex", stages=STAGES)
    result = fourfifths.stages(table, protected="sex", stages=STAGES, skips="allow")
    assert result.skipped == 2
    assert [(step.pool, step.reached) for step in result.steps] == [(5, 5), (5, 4), (4, 3)]
    assert any(note.startswith("2 rows reached a stage without") for note in result.notes)


def test_a_late_step_without_two_groups_says_why_and_is_not_compared():
    table = people("F n - -\nF n - -\nM y y y\nM y y n")
    result = fourfifths.stages(table, protected="sex", stages=STAGES)
    assert result.steps[1].impact is None
    assert "fewer than two groups" in result.steps[1].why
    with pytest.raises(KeyError, match=r"has no comparison: .*fewer than two groups"):
        result["offered"]
    assert "not compared" in str(result)


def test_a_late_step_that_no_one_reached():
    result = fourfifths.stages(
        people("F n - n\nF n - n\nM n - n\nM n - n"), protected="sex", stages=STAGES[:1]
    )
    assert result["interviewed"]["F"].selection_rate == 0
    result = fourfifths.stages(
        people("F n n\nM n n"), protected="sex", stages=STAGES[:2], reference="M"
    )
    assert result.steps[1].why == "no one reached interviewed"


def test_a_stage_may_be_called_like_a_protected_column_or_what_is_counted():
    table = pd.DataFrame({"sex": list("FFMM"), "at": ["new", "sex", "sex", "number of persons"]})
    order = ["new", "sex", "number of persons"]
    result = fourfifths.stages(table, protected="sex", stage_column="at", order=order)
    assert [(step.pool, step.reached) for step in result.steps] == [(4, 3), (3, 1)]
    assert result["sex"]["F"].selected == 1


@pytest.mark.parametrize("persons", [["1", "-1", "1", "1"], ["1", "0.5", "1", "1"], [0, 0, 0, 0]])
def test_numbers_of_persons_are_whole(persons):
    table = pd.DataFrame({"sex": list("FFMM"), "hired": list("ynyn"), "n": persons})
    with pytest.raises(WeightsError, match="persons='n': expected a whole number of persons"):
        fourfifths.stages(table, protected="sex", stages="hired", persons="n")
    with pytest.raises(ColumnError, match="persons='m': no such column"):
        fourfifths.stages(table, protected="sex", stages="hired", persons="m")
    with pytest.raises(ColumnError, match="persons='sex': is protected, too"):
        fourfifths.stages(table, protected="sex", stages="hired", persons="sex")


def test_unknown_groups_and_bands():
    table = pd.DataFrame({"age": [30, 30, 50, 50, -1], "hired": ["yes", "no", "yes", "?", "yes"]})
    result = fourfifths.stages(
        table, protected="age", stages="hired", bands={"age": [40]}, unknown=["?", -1]
    )
    step = result.steps[0]
    assert (step.pool, step.reached, step.missing) == (5, 3, 1)
    assert step.impact.attributes[0].unknown == 1
    assert {group.group: group.n for group in step.impact.attributes[0].groups} == {
        "under 40": 2,
        "40 and over": 1,
    }


def test_ages_on_a_day():
    table = pd.DataFrame({"born": ["1980-05-01", "2000-01-01"] * 2, "hired": ["y", "n", "n", "y"]})
    result = fourfifths.stages(
        table,
        protected="born",
        stages="hired",
        bands={"born": [40]},
        ages={"born": "2026-01-01"},
    )
    assert {group.group for group in result["hired"].attributes[0].groups} == {
        "under 40",
        "40 and over",
    }


def test_a_stage_that_is_bad_for_a_person_is_an_error():
    table = pd.DataFrame({"sex": list("FFMM"), "rejected": list("ynyn")})
    with pytest.raises(ColumnError, match="because of 'rejected' in the name"):
        fourfifths.stages(table, protected="sex", stages="rejected")


def test_a_value_that_means_not_known_is_missing_and_noted():
    table = pd.DataFrame({"sex": list("FFMM"), "hired": ["yes", "n/a", "Yes", "no"]})
    result = fourfifths.stages(table, protected="sex", stages="hired")
    assert result.steps[0].missing == 1
    assert any("'n/a' is taken for not known" in note for note in result.notes)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"stages": []}, OptionError, "name each stage once"),
        ({"stages": ["hired", "hired"]}, OptionError, "name each stage once"),
        ({"stages": ["hird"]}, ColumnError, r"stages='hird': no such column.*did you mean 'hired'"),
        ({"stages": ["sex"]}, ColumnError, "cannot be both"),
        ({"stages": ["race"]}, ColumnError, "holds 'A', 'B', 'C'; expected yes and no"),
        ({"stages": STAGES, "stage_column": "race"}, OptionError, "give one of them"),
        ({"stages": STAGES, "order": ["A"]}, OptionError, "is for the values of one column"),
        ({"stage_column": "race"}, OptionError, "expected two or more different values"),
        ({"stage_column": "race", "order": "A,B"}, OptionError, "expected two or more"),
        ({"stage_column": "race", "order": ["A", "a"]}, OptionError, "two or more different"),
        (
            {"stage_column": "race", "order": ["A", "B"]},
            ColumnError,
            r"\d+ rows hold 'C', which is not in order=\['A', 'B'\].*unknown=\['C'\]",
        ),
        ({"stages": STAGES, "blank": "no"}, OptionError, "blank='no': expected one of"),
        ({"stages": STAGES, "skips": "yes"}, OptionError, "skips='yes': expected one of"),
        ({"stages": STAGES, "rule": "feldman2015"}, GroupError, "designated group"),
        ({"stages": STAGES, "reference": "X"}, GroupError, "reference='X': not among the groups"),
    ],
)
def test_errors(options, error, match):
    with pytest.raises(error, match=match):
        fourfifths.stages(hires(), **{"protected": "sex"} | options)


def test_dates_beside_words_are_an_error():
    table = as_dates(hires())
    table.loc[0, "offered"] = "pending"
    with pytest.raises(ColumnError, match=r"holds dates, and 'pending'.*unknown=\['pending'\]"):
        fourfifths.stages(table, protected="sex", stages=STAGES)
    result = fourfifths.stages(
        table, protected="sex", stages=STAGES, unknown="pending", skips="allow"
    )
    assert result.steps[0].pool == 400


def test_an_empty_stage_is_an_error():
    table = hires().assign(hired=pd.Series([None] * 400, dtype=object))
    with pytest.raises(ColumnError, match="stages='hired': every value is missing"):
        fourfifths.stages(table, protected="sex", stages=STAGES)


@pytest.mark.slow
def test_the_json_keeps_to_its_schema():
    impact_schema, schema = (
        json.loads((SCHEMAS / f"{name}.schema.json").read_text()) for name in ("impact", "stages")
    )
    registry = Registry().with_resources(
        [(impact_schema["$id"], Resource.from_contents(impact_schema))]
    )
    validator = jsonschema.Draft202012Validator(schema, registry=registry)
    for result in (teal(), fourfifths.stages(hires(), protected=["sex", "race"], stages=STAGES)):
        validator.validate(json.loads(result.to_json()))


def test_one_record_per_step_and_group():
    frame = teal().to_frame()
    assert frame["step"].tolist() == ["passed"] * 2 + ["promoted"] * 2 + ["bottom line"] * 2
    assert frame["selected"].tolist() == [26, 206, 11, 35, 11, 35]
    with pytest.raises(KeyError, match="no stage 'x'; there are 'passed', 'promoted', 'bottom li"):
        teal()["x"]


def test_weights_are_those_of_the_audit_of_each_pool():
    rng = np.random.default_rng(3)
    frame = hires(seed=3).assign(w=rng.uniform(0.2, 3.0, 400))
    result = fourfifths.stages(frame, protected=["sex", "race"], stages=STAGES, weights="w")
    pools = {
        "interviewed": frame,
        "offered": frame[frame["interviewed"] == "yes"],
        "hired": frame[frame["offered"] == "yes"],
        "bottom line": frame.assign(hired=frame["hired"].fillna("no")),
    }
    for stage, pool in pools.items():
        outcome = "hired" if stage == "bottom line" else stage
        audit = fourfifths.impact(
            pool, protected=["sex", "race"], outcome=outcome, favorable="yes", weights="w"
        )
        for attribute, expected in zip(result[stage], audit, strict=True):
            for group, other in zip(attribute.groups, expected.groups, strict=True):
                for name in ("n", "selection_rate", "impact_ratio", "effective_n", "z", "choice_p"):
                    assert getattr(group, name) == pytest.approx(getattr(other, name), nan_ok=True)
    # By hand: the weighted rate of the first step.
    women = frame[frame["sex"] == "F"]
    rate = women.loc[women["interviewed"] == "yes", "w"].sum() / women["w"].sum()
    assert result["interviewed"]["sex"]["F"].selection_rate == pytest.approx(rate)
    assert result["interviewed"].weights_are == "sampling"
    assert any("w is taken as sampling weights" in note for note in result.notes)
    assert np.isnan(result["interviewed"]["sex"]["F"].fisher_p)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"weights": "w", "persons": "w"}, OptionError, "give one of them"),
        ({"weights": "sex"}, ColumnError, "weights='sex': is protected, too"),
        ({"weights": "hired"}, ColumnError, "stages='hired': is protected, or holds persons or"),
        ({"weights": "negative"}, WeightsError, "negative"),
        ({"confidence": 2}, OptionError, "confidence=2: expected a number from 0.5"),
    ],
)
def test_weights_that_are_none_are_errors(options, error, message):
    frame = hires().assign(w=1.0, negative=-1.0)
    with pytest.raises(error, match=message):
        fourfifths.stages(frame, protected="sex", stages=STAGES, **options)
