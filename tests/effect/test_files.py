"""A repair from file to file: what is asked of the audits, and the least certified amount."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from certificates import Asked, auditor, certificate, pair
from pyarrow import parquet

import fourfifths
from fourfifths._effect.amount import least_certified_amount
from fourfifths._effect.files import FileRepair, apply_repair, repair_file
from fourfifths._effect.roles import AuditRoles
from fourfifths.errors import ColumnError, GroupError, OptionError, OutcomeError

# Two strata, A = [1, 2, 3, 4] and B = [10, 20, 30, 40], each row twice: an audit needs five rows of
# a stratum. By hand: level by level they agree on the midpoints of 1 and 10, 2 and 20, ...
GROUPS = ["A"] * 8 + ["B"] * 8
SCORES = [1.0, 2, 3, 4] * 2 + [10.0, 20, 30, 40] * 2
FULL = [5.5, 11, 16.5, 22] * 4
COLUMN: dict[str, Any] = {"protected": ["group"], "columns": ["score"]}
BY_COLUMN = {"scope": "column"}


def no_model(*_: Any, **__: Any) -> None:
    """Fit no model."""


def numbers(column: Any) -> list[float]:
    """Return a column of a CSV, which is text, as the numbers that it spells."""
    return [float(cell) for cell in column.to_pylist()]


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Make a CSV of group, score, note and hired."""
    path = tmp_path / "in.csv"
    hired = ["yes", "no"] * 8
    table = {"group": GROUPS, "score": SCORES, "note": list("pqrstuvw") * 2, "hired": hired}
    pd.DataFrame(table).to_csv(path, index=False)
    return str(path)


# --- the audits ---


def test_the_audits_are_of_the_repaired_columns_before_and_after(source: str) -> None:
    certify = Asked()
    result = repair_file(source, **COLUMN, options=BY_COLUMN).effect(certify=certify)
    before, after = certify.calls
    assert before["columns"] == after["columns"] == ["score"]
    assert before["protected"] == after["protected"] == ["group"]
    assert numbers(before["table"]["score"]) == SCORES
    # Out of fold, every value is written as one that a fit to the other rows has.
    assert set(numbers(after["table"]["score"])) != set(SCORES)
    assert len(after["table"]["score"]) == 16
    assert result.table == source
    assert (result.rows_changed, result.cells_changed) == (16, 16)
    [column] = result.columns
    # By hand: the strata are 22.5 apart on average, then not at all.
    assert (column.distance, column.distance_after) == (pytest.approx(22.5), 0)
    assert result.not_repaired == ("note", "hired")


def test_without_outcome_and_beta_only_the_error_rate_is_told(source: str) -> None:
    result = repair_file(source, **COLUMN, options=BY_COLUMN).effect(certify=Asked())
    assert result.before is not None
    assert result.before.balanced_error_rate == 0.4
    assert math.isnan(result.before.impact_floor)
    assert result.before.verdict is None
    text = str(result)
    assert "BER of the strongest auditor" in text
    assert "verdict" not in text
    assert json.loads(result.to_json())["before"]["impact_floor"] is None


def test_with_beta_the_floor_and_the_verdict_are_told(source: str) -> None:
    roles = AuditRoles(beta=0.5)
    repaired = repair_file(source, **COLUMN, options=BY_COLUMN, roles=roles)
    words = " ".join(str(repaired.effect(certify=Asked())).split())
    assert "BER of the strongest auditor 0.400 (0.350 to 0.450)" in words
    assert "impact floor of that auditor 0.900 (0.800 to 1.000) 0.900 (0.800 to 1.000)" in words
    assert "verdict inconclusive inconclusive" in words
    for word in ("fair", "compliant", "unbiased", "illegal"):
        assert word not in words.lower()


def test_roles_are_handed_to_the_audit(source: str) -> None:
    certify = Asked()
    roles = AuditRoles(outcome="hired", reference={"group": "A"}, beta=(0.2, 0.3))
    repaired = repair_file(source, **COLUMN, roles=roles, options=BY_COLUMN)
    repaired.effect(certify=certify, model_impact=no_model)
    for call in certify.calls:
        assert call["reference"] == {"group": "A"}
        assert call["beta"] == (0.2, 0.3)
        assert (call["outcome"], call["favorable"]) == ("hired", None)


@pytest.mark.parametrize("role", ["protected", "stratify_by"])
def test_the_audit_is_of_bands_too(tmp_path: Path, role: str) -> None:
    ages = [{"A": "039", "B": "40.0"}[group] for group in GROUPS]  # an edge is in the band above
    pd.DataFrame({"age": ages, "score": SCORES}).to_csv(tmp_path / "in.csv", index=False)
    certify = Asked()
    strata: dict[str, Any] = {role: ["age"]}
    path = str(tmp_path / "in.csv")
    options: dict[str, Any] = {"columns": ["score"], "options": BY_COLUMN}
    repair_file(path, **strata, bands={"age": [40]}, **options).effect(certify=certify)
    assert certify.calls[0]["protected"] == ["age"]
    assert certify.calls[0]["table"]["age"].to_pylist() == ["under 40"] * 8 + ["40 and over"] * 8


def test_a_data_set_brings_its_roles() -> None:
    certify = Asked()
    repair_file("ricci").effect(certify=certify, model_impact=no_model)
    call = certify.calls[0]
    assert (call["outcome"], call["favorable"]) == ("passed", "yes")
    assert call["reference"] == {"race": "W"}


WARNING = (
    "Warning: the repair made the strata easier to tell apart: the BER of the strongest auditor "
    "fell from 0.400 to 0.100 (trees). Values that only one stratum can have give it away; a "
    "repair by blocks (scope blocks) writes none of them."
)


@pytest.mark.parametrize("upper", [0.34, 0.36])
def test_a_warning_if_the_repair_raised_predictability(source: str, upper: float) -> None:
    found = iter([auditor(0.4, (0.35, 0.45)), auditor(0.1, (0.05, upper))])
    result = repair_file(source, **COLUMN, options=BY_COLUMN).effect(
        certify=lambda *_, **__: certificate(pair(next(found)))
    )
    assert (WARNING in " ".join(str(result).split())) is (upper < 0.35)


# Raw, the groups share two of three values. A quarter of the way to the consensus has .25, 1.25,
# 2.25 in one group only and .75, 1.75, 2.75 in the other.
SHIFTED = [(group, low + step) for group, low in (("A", 0), ("B", 1)) for step in range(3)] * 40


@pytest.mark.slow
def test_trees_see_what_geometric_repair_gives_away(tmp_path: Path) -> None:
    table = pd.DataFrame(SHIFTED, columns=["group", "score"])
    table.to_csv(tmp_path / "in.csv", index=False)
    options = BY_COLUMN | {"method": "geometric"}
    repaired = repair_file(str(tmp_path / "in.csv"), **COLUMN, amount=0.5, options=options)
    assert set(numbers(repaired.after.dataframe.to_native()["score"])) == {
        *(0.25, 1.25, 2.25),
        *(0.75, 1.75, 2.75),
    }
    trees = partial(fourfifths.certify, auditors=["trees"], folds=2)
    result = repaired.effect(certify=trees)
    assert result.raised is True
    assert result.before is not None
    assert result.after is not None
    assert result.before.balanced_error_rate == pytest.approx(1 / 3, abs=0.05)
    assert result.after.balanced_error_rate < 0.25


@pytest.mark.slow
def test_an_outcome_adds_the_impact_of_a_model(tmp_path: Path) -> None:
    # The score is the outcome: 4 of 16 of A, 8 of 16 of B.
    selected = [at < 4 for at in range(16)] + [at < 8 for at in range(16)]
    table = pd.DataFrame({"group": ["A"] * 16 + ["B"] * 16, "score": selected})
    table["hired"] = table["score"].map({True: "yes", False: "no"})
    table.assign(score=10 * table["score"]).to_csv(tmp_path / "in.csv", index=False)
    roles = AuditRoles(outcome="hired", reference={"group": "B"})
    repaired = repair_file(
        str(tmp_path / "in.csv"), **COLUMN, amount=0, roles=roles, options=BY_COLUMN
    )
    result = repaired.effect(certify=Asked())
    assert result.before is not None
    model = result.before.model
    assert model is not None
    assert (model.group, model.reference) == ("A", "B")
    assert model.impact_ratio == 0.5
    assert model.utility == 1
    assert result.before.verdict == "inconclusive"


@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_numbers_and_words_are_a_note(tmp_path: Path, scope: str) -> None:
    mixed = ["1", "2", "lots", "none"] * 4
    pd.DataFrame({"group": GROUPS, "x": mixed}).to_csv(tmp_path / "in.csv", index=False)
    columns: dict[str, Any] = {"protected": ["group"], "columns": ["x"]}
    repaired = repair_file(str(tmp_path / "in.csv"), **columns, options={"scope": scope})
    note = "column 'x' holds numbers and words; it was repaired as categories"
    assert repaired.notes == (note,)
    assert repaired.effect("quick").notes[0] == note
    assert repaired.effect("quick").columns[0].kind == "category"


# --- roles that are misspelt ---


@pytest.mark.parametrize(
    ("roles", "error", "says"),
    [
        (AuditRoles(outcome="hierd"), ColumnError, "outcome: no column 'hierd' in .* did you mean"),
        (AuditRoles(outcome="note"), OutcomeError, "outcome='note': holds 8 values"),
        (AuditRoles(outcome="hired", favorable="y"), OutcomeError, "favorable='y': never occurs"),
        (
            AuditRoles(outcome="score", favorable="1.0"),
            ColumnError,
            "columns: 'score' is the outcome",
        ),
        (AuditRoles(outcome="group"), ColumnError, "protected='group' and outcome='group'"),
        (AuditRoles(reference={"note": "p"}), ColumnError, "'note' is not a protected column"),
        (AuditRoles(reference={"group": "C"}), GroupError, "reference='C': not among the groups"),
        (AuditRoles(beta=7.0), OptionError, "beta=7.0: expected a selection rate"),
    ],
)
@pytest.mark.parametrize("how", ["fit", "apply"])
def test_misspelt_roles_are_an_error_before_there_is_anything_to_write(
    source: str, tmp_path: Path, how: str, roles: AuditRoles, error: Any, says: str
) -> None:
    if how == "fit":
        start = partial(repair_file, source, **COLUMN)
    else:
        repair_file(source, **COLUMN).repairer.save(tmp_path / "r.json")
        start = partial(apply_repair, source, tmp_path / "r.json")
    with pytest.raises(error, match=says):
        start(roles=roles)


def test_a_repair_of_values_that_are_no_column_is_for_python(source: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"score": SCORES})
    repairer = fourfifths.Repairer(columns=["score"], scope="column")
    repairer.fit(table, protected=GROUPS).save(tmp_path / "r.json")
    with pytest.raises(GroupError, match="fitted to protected values that are not a column"):
        apply_repair(source, tmp_path / "r.json")


def test_a_column_named_twice_is_repaired_once(source: str) -> None:
    repaired = repair_file(source, protected=["group", "group"], columns=["score", "score"])
    assert [column.name for column in repaired.repairer.column_types_] == ["score"]
    assert repaired.repairer.strata_.by == ("group",)


# --- the least certified amount ---


def certified_from(least: float) -> Callable[..., Any]:
    """Return a search whose `certify` certifies from an amount on, read off the mean of A."""

    def certify(table: Any, **_: Any) -> Any:
        frame = table.to_pandas()
        mean = frame.loc[frame["group"] == "A", "score"].astype(float).mean()
        verdict = "certified" if mean >= 5 * least - 1e-9 else "not certified"
        found = auditor(0.3 + mean / 100, floor=0.75, floor_interval=(0.7, 0.8))
        return certificate(pair(found), verdict=verdict)

    return partial(least_certified_amount, certify=certify)


# A is 0 and B is 10: a repair by the geometric amount a makes A 5 a.
APART = pd.DataFrame({"group": ["A", "B"] * 10, "score": ["0.0", "10.0"] * 10})


@pytest.fixture
def certified(tmp_path: Path) -> Callable[[float], FileRepair]:
    """Repair APART by the least amount that is certified."""
    APART.to_csv(tmp_path / "in.csv", index=False)
    return lambda least: repair_file(
        str(tmp_path / "in.csv"),
        **COLUMN,
        amount="certified",
        roles=AuditRoles(beta=0.5),
        options=BY_COLUMN | {"method": "geometric"},
        least_certified_amount=certified_from(least),
    )


def test_the_least_certified_amount_is_found_told_and_used(
    certified: Callable[[float], FileRepair], tmp_path: Path
) -> None:
    repaired = certified(0.3)
    assert repaired.certified_amount is not None
    # By hand: 1, 0, 1/2, 1/4, 3/8, 5/16, 9/32.
    curve = repaired.certified_amount.curve
    assert [step.amount for step in curve] == [0, 1 / 4, 9 / 32, 5 / 16, 3 / 8, 1 / 2, 1]
    assert [step.verdict for step in curve] == ["not certified"] * 3 + ["certified"] * 4
    text = str(repaired.certified_amount)
    assert text.startswith("the least certified amount is 0.3125, on held-out rows\n")
    repaired.repairer.save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["settings"]["amount"] == 0.3125
    repaired.write(tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["score"].tolist() == [1.5625, 10 - 1.5625] * 10


def test_nothing_to_repair_where_the_table_is_certified_as_it_is(
    certified: Callable[[float], FileRepair], tmp_path: Path
) -> None:
    repaired = certified(0)
    assert str(repaired.certified_amount).startswith("the least certified amount is 0, on held-")
    repaired.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "in.csv").read_bytes()


def test_where_nothing_is_certified_there_is_no_repair(
    certified: Callable[[float], FileRepair],
) -> None:
    message = (
        r"^amount='certified': no amount is certified, not even full repair, on held-out rows; "
        r"amount 1\.000: not certified, BER 0\.350, floor 0\.750 \(0\.700 to 0\.800\)$"
    )
    with pytest.raises(OptionError, match=message):
        certified(1.1)


@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_a_rare_category_does_not_stop_the_search(tmp_path: Path, scope: str) -> None:
    table = pd.DataFrame({"group": [*GROUPS, "A"], "kind": [*["u", "v"] * 8, "rare"]})
    table.to_csv(tmp_path / "in.csv", index=False)
    repaired = repair_file(
        str(tmp_path / "in.csv"),
        protected=["group"],
        columns=["kind"],
        options={"scope": scope},
        amount="certified",
        roles=AuditRoles(beta=0.5),
        least_certified_amount=partial(
            least_certified_amount, certify=lambda *_, **__: certificate(verdict="certified")
        ),
    )
    assert repaired.repairer.amount == 0


# --- what is written ---


def test_in_parquet_only_text_is_read_as_numbers(tmp_path: Path) -> None:
    repaired_columns = {"score": pa.array(SCORES), "text": [str(score) for score in SCORES]}
    parquet.write_table(pa.table({"group": GROUPS, **repaired_columns}), tmp_path / "in.parquet")
    columns: dict[str, Any] = {"protected": ["group"], "columns": ["score", "text"]}
    repaired = repair_file(str(tmp_path / "in.parquet"), **columns, options=BY_COLUMN)
    repaired.write(tmp_path / "out.parquet")
    found = parquet.read_table(tmp_path / "out.parquet")
    assert found["score"].to_pylist() == found["text"].to_pylist() == FULL


@pytest.mark.parametrize("scope", ["blocks", "column"])
def test_a_saved_repair_is_applied_with_its_seed(source: str, tmp_path: Path, scope: str) -> None:
    options = {"scope": scope, "random_state": None}
    fitted = repair_file(source, **COLUMN, options=options, amount=0.5)
    fitted.repairer.save(tmp_path / "r.json")
    applied = apply_repair(source, tmp_path / "r.json")
    assert applied.repairer.seed_ == fitted.repairer.seed_
    assert applied.after.dataframe.to_dict(as_series=False) == fitted.after.dataframe.to_dict(
        as_series=False
    )


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()])
def test_numbers_in_every_type_of_text_stay_text_in_memory(
    tmp_path: Path, text: pa.DataType
) -> None:
    spelt = pa.array([str(score) for score in SCORES]).cast(text)
    parquet.write_table(pa.table({"group": GROUPS, "score": spelt}), tmp_path / "in.parquet")
    repaired = repair_file(str(tmp_path / "in.parquet"), **COLUMN, options=BY_COLUMN)
    assert repaired.after.dataframe.to_native()["score"].type == text
    assert numbers(repaired.after.dataframe.to_native()["score"]) == FULL


@pytest.mark.parametrize("cells", [["3", "20"], ["", ""], ["3.0", ""]])
def test_a_parquet_file_has_the_types_of_the_repair(
    source: str, tmp_path: Path, cells: list[str]
) -> None:
    repair_file(source, **COLUMN, options=BY_COLUMN).repairer.save(tmp_path / "r.json")
    new = pd.DataFrame({"group": ["A", "B"], "score": cells})
    new.to_csv(tmp_path / "new.csv", index=False)
    apply_repair(str(tmp_path / "new.csv"), tmp_path / "r.json").write(tmp_path / "new.parquet")
    found = parquet.read_table(tmp_path / "new.parquet")["score"]
    assert found.type == pa.float64()
    expected = [{"3": 16.5, "3.0": 16.5, "20": 11.0, "": None}[cell] for cell in cells]
    assert found.to_pylist() == expected


def test_only_repaired_cells_of_a_csv_are_written_anew(tmp_path: Path) -> None:
    # By hand: of three strata the median is A's value at each level, where B lies between.
    cells = {"A": ["+5", "007", " 8 ", "n/a", "9"], "B": ["5.0", "7", "8", "", "9."]}
    cells["C"] = ["6", "7.5", "08.5", "n/a", "1e1"]
    lines = [f"{group};{cell};0{cell}" for group, own in cells.items() for cell in own]
    text = "\r\n".join(["group;x;kept", *lines]) + "\r\n"
    (tmp_path / "in.csv").write_bytes(text.encode())
    path = str(tmp_path / "in.csv")
    columns: dict[str, Any] = {"protected": ["group"], "columns": ["x"]}
    repaired = repair_file(path, **columns, unknown=["n/a"], options=BY_COLUMN)
    repaired.write(tmp_path / "out.csv")
    found = (tmp_path / "out.csv").read_text().splitlines()
    assert found[:11] == text.splitlines()[:11]
    assert [line.split(";")[1] for line in found[11:]] == ["5", "7", "8", "n/a", "9"]
    assert [line.split(";")[2] for line in found[11:]] == [f"0{cell}" for cell in cells["C"]]
