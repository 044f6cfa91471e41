"""`least_certified_amount`: the search, the rows that it is made on, and what it returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from certificates import auditor, certificate, pair

from fourfifths import Repairer, least_certified_amount
from fourfifths._effect.amount import CertifiedAmount, Step, least_amount
from fourfifths.errors import ColumnError, FourfifthsError, GroupError, OptionError

# A is 0 and B is 10: geometric repair by an amount makes A five times the amount.
APART = pd.DataFrame({"g": ["A", "B"] * 20, "x": [0.0, 10.0] * 20, "id": range(40)})


def geometric(**options: Any) -> Repairer:
    return Repairer("g", columns=["x"], method="geometric", scope="column", **options)


def columns_of(table: Any) -> dict[str, list[Any]]:
    return {name: nw.from_native(table)[name].to_list() for name in nw.from_native(table).columns}


def amount_of(table: Any) -> float:
    """Return the amount by which APART was repaired."""
    columns = columns_of(table)
    [value] = {x for g, x in zip(columns["g"], columns["x"], strict=True) if g == "A"}
    return float(value) / 5


@dataclass
class CertifiedFrom:
    """A `certify` that certifies from an amount on, and keeps what it was asked, call by call."""

    least: float
    otherwise: str = "not certified"
    calls: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, table: Any, **options: Any) -> Any:
        assert options.pop("progress") is False  # one bar for the search, none for each amount
        self.calls.append((table, options))
        amount = amount_of(table)
        found = auditor(0.3 + amount / 5, floor=amount, floor_interval=(amount / 2, 1.0))
        verdict = "certified" if amount >= self.least else self.otherwise
        return certificate(pair(found), verdict=verdict)


def always(*_: Any, **__: Any) -> Any:
    """Certify whatever it is."""
    return certificate(verdict="certified")


# --- the search ---


@pytest.mark.parametrize(
    ("least", "tolerance", "tried", "expected"),
    [
        # By hand: full, none, then halves until what is left is no wider than the tolerance.
        (0.3, 0.05, [1, 0, 1 / 2, 1 / 4, 3 / 8, 5 / 16, 9 / 32], 5 / 16),
        (0.3, 0.25, [1, 0, 1 / 2, 1 / 4], 1 / 2),
        (0.5, 0.5, [1, 0, 1 / 2], 1 / 2),
        (0.9, 0.25, [1, 0, 1 / 2, 3 / 4], 1),
        (1.0, 0.9, [1, 0, 1 / 2], 1),
        (0.0, 0.05, [1, 0], 0),
        (1.1, 0.05, [1], None),
    ],
)
def test_halves_by_hand(
    least: float, tolerance: float, tried: list[float], expected: float | None
) -> None:
    certify = CertifiedFrom(least)
    found = least_certified_amount(
        APART, geometric(), beta=0.5, tolerance=tolerance, certify=certify
    )
    assert [amount_of(table) for table, _ in certify.calls] == pytest.approx(tried)
    assert found.amount == expected
    assert [step.amount for step in found.curve] == sorted(tried)
    assert (found.tolerance, found.confidence) == (tolerance, 0.95)


def test_the_curve_has_the_figures_of_each_amount() -> None:
    certify = CertifiedFrom(0.4)
    found = least_certified_amount(APART, geometric(), beta=0.5, tolerance=0.5, certify=certify)
    assert [step.amount for step in found.curve] == [0, 0.5, 1]
    assert [step.verdict for step in found.curve] == ["not certified", "certified", "certified"]
    for step in found.curve:
        assert step.balanced_error_rate == pytest.approx(0.3 + step.amount / 5)
        assert step.impact_floor == pytest.approx(step.amount)
        assert step.impact_floor_interval == pytest.approx((step.amount / 2, 1))
    assert found.certificate.verdict == "certified"
    assert found.certificate.worst.auditors[0].impact_floor == pytest.approx(0.5)


def test_inconclusive_is_not_certified() -> None:
    certify = CertifiedFrom(0.3, "inconclusive")
    found = least_certified_amount(APART, geometric(), beta=0.5, tolerance=0.25, certify=certify)
    assert found.amount == 1 / 2
    assert found.curve[0].verdict == "inconclusive"


def test_where_not_even_full_repair_is_certified_its_certificate_is_kept() -> None:
    certify = CertifiedFrom(2)
    found = least_certified_amount(APART, geometric(), beta=0.5, certify=certify)
    assert found.amount is None
    [step] = found.curve
    assert (step.amount, step.verdict) == (1, "not certified")
    assert found.certificate.verdict == "not certified"


def test_of_several_auditors_the_least_error_and_the_least_floor() -> None:
    worst = pair(
        auditor(0.40, name="trees", floor=0.95, floor_interval=(0.9, 1.0)),
        auditor(0.45, name="svm", floor=0.85, floor_interval=(0.8, 0.9)),
    )
    better = pair(auditor(0.2, floor=0.1))  # another pair, which does not decide
    done = certificate(worst, better, verdict="certified")
    step = least_certified_amount(
        APART, geometric(), beta=0.5, certify=lambda *_, **__: done
    ).curve[0]
    assert (step.balanced_error_rate, step.impact_floor) == (0.40, 0.85)
    assert step.impact_floor_interval == (0.8, 0.9)


# --- what certify is asked ---


@pytest.mark.parametrize(
    ("tolerance", "looks", "confidence"),
    [(0.05, 7, 0.95), (0.25, 4, 0.8), (0.3, 4, 0.95), (0.5, 3, 0.8)],
)
def test_the_confidence_is_shared_among_all_looks(
    tolerance: float, looks: int, confidence: float
) -> None:
    certify = CertifiedFrom(0.3)
    least_certified_amount(
        APART, geometric(), beta=0.5, tolerance=tolerance, confidence=confidence, certify=certify
    )
    assert len(certify.calls) <= looks
    for _, options in certify.calls:
        assert options["confidence"] == pytest.approx(1 - (1 - confidence) / looks)


def test_options_are_handed_over() -> None:
    certify = CertifiedFrom(0)
    table = APART.assign(hired="no")
    least_certified_amount(
        table,
        geometric(),
        outcome="hired",
        favorable="yes",
        reference="A",
        columns=["x", "id"],
        beta=(0.2, 0.3),
        threshold=0.7,
        auditors=["trees"],
        confidence=0.9,
        folds=3,
        max_rows=1000,
        tolerance=0.5,
        certify=certify,
    )
    for _, options in certify.calls:
        assert options == {
            "protected": ["g"],
            "bands": {},
            "ages": {},
            "outcome": "hired",
            "favorable": "yes",
            "unknown": (),
            "reference": {"g": "A"},
            "columns": ["x", "id"],
            "beta": (0.2, 0.3),
            "threshold": 0.7,
            "auditors": ["trees"],
            "confidence": pytest.approx(1 - 0.1 / 3),
            "folds": 3,
            "max_rows": 1000,
        }


def test_by_default_a_rule_may_use_the_repaired_columns() -> None:
    certify = CertifiedFrom(0)
    least_certified_amount(APART, geometric(), beta=0.5, certify=certify)
    assert certify.calls[0][1]["columns"] == ["x"]


def test_bands_and_joint_strata_are_handed_over() -> None:
    made = []

    def certify(table: Any, **options: Any) -> Any:
        made.append(options)
        return certificate(verdict="certified")

    table = APART.assign(age=[30, 30, 50, 50] * 10)
    repairer = Repairer(["g", "age"], bands={"age": [40]}, columns=["x"], scope="column")
    assert least_certified_amount(table, repairer, beta=0.5, certify=certify).amount == 0
    assert made[0]["protected"] == ["g", "age"]
    assert made[0]["bands"] == {"age": [40]}


# --- the rows ---


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_every_row_is_handed_over_once(convert: Callable[[Any], Any]) -> None:
    certify = CertifiedFrom(0.3)
    native = convert(APART)
    least_certified_amount(native, geometric(), beta=0.5, tolerance=0.5, certify=certify)
    for handed, _ in certify.calls:
        assert type(handed) is type(native)
        columns = columns_of(handed)
        rows = sorted(zip(columns["id"], columns["g"], strict=True))
        assert rows == list(zip(APART["id"], APART["g"], strict=True))


def test_rows_are_repaired_by_fits_that_had_not_seen_them() -> None:
    # Whole numbers, each of one row: what was not fitted can never be written.
    random = np.random.default_rng(0)
    numbers = random.permutation(200)
    table = pd.DataFrame({"g": ["A", "B"] * 100, "x": numbers, "own": numbers})
    seen = []

    def certify(handed: Any, **_: Any) -> Any:
        seen.append(handed)
        return certificate(verdict="certified")

    repairer = Repairer("g", columns=["x"], scope="column")
    least_certified_amount(table, repairer, beta=0.5, certify=certify)
    full, none = seen
    assert (none["x"] == none["own"]).all()
    assert (full["x"] != full["own"]).all()
    assert full["x"].isin(numbers).all()
    # Fitted to the rows themselves, many would stay where they are.
    fitted = repairer.fit_transform(table)
    assert (fitted["x"] == fitted["own"]).any()


def test_the_seed_splits_the_rows_and_leaves_their_order() -> None:
    # Whole numbers, each of one row: what is written depends on the rows that were fitted.
    numbers = np.random.default_rng(0).permutation(40)
    table = APART.assign(x=numbers)
    handed: list[Any] = []

    def certify(repaired: Any, **_: Any) -> Any:
        handed.append(repaired)
        return certificate(verdict="certified")

    repairer = Repairer("g", columns=["x"], scope="column")
    for seed in (1, 1, 2):
        least_certified_amount(table, repairer, beta=0.5, random_state=seed, certify=certify)
    first, _, again, _, other, _ = (repaired["x"].tolist() for repaired in handed)
    assert first == again
    assert first != other
    assert all(repaired["id"].tolist() == APART["id"].tolist() for repaired in handed)


def test_the_repairer_itself_is_not_changed() -> None:
    certify = CertifiedFrom(0.3)
    repairer = geometric(amount=0.123)
    least_certified_amount(APART, repairer, beta=0.5, tolerance=0.5, certify=certify)
    assert repairer.amount == 0.123
    assert not hasattr(repairer, "strata_")


def test_a_file_is_a_table(tmp_path: Any) -> None:
    certify = CertifiedFrom(0.3)
    APART.to_parquet(tmp_path / "t.parquet")
    found = least_certified_amount(
        tmp_path / "t.parquet", geometric(), beta=0.5, tolerance=0.5, certify=certify
    )
    assert found.amount == 1 / 2


def test_a_csv_is_a_table(tmp_path: Any) -> None:
    certify = CertifiedFrom(0.3)
    APART.to_csv(tmp_path / "t.csv", index=False)
    found = least_certified_amount(
        tmp_path / "t.csv", geometric(), beta=0.5, tolerance=0.5, certify=certify
    )
    assert found.amount == 1 / 2


# --- as text, table and JSON ---


FOUND = CertifiedAmount(
    amount=0.5,
    curve=(
        Step(
            amount=0.0,
            verdict="not certified",
            balanced_error_rate=0.3,
            impact_floor=0.5,
            impact_floor_interval=(0.45, 0.55),
        ),
        Step(
            amount=0.5,
            verdict="certified",
            balanced_error_rate=0.48,
            impact_floor=0.9,
            impact_floor_interval=(0.81, 1.0),
        ),
        Step(
            amount=1.0,
            verdict="certified",
            balanced_error_rate=0.5,
            impact_floor=float("nan"),
            impact_floor_interval=(0.85, float("nan")),
        ),
    ),
    tolerance=0.05,
    confidence=0.95,
    certificate=certificate(),
)


def test_as_text() -> None:
    assert str(FOUND).splitlines()[:3] == [
        "the least certified amount is 0.5, on held-out rows",
        "amount 0.000: not certified, BER 0.300, floor 0.500 (0.450 to 0.550)",
        "amount 0.500: certified, BER 0.480, floor 0.900 (0.810 to 1.000)",
    ]
    nothing = CertifiedAmount(
        amount=None,
        curve=FOUND.curve[-1:],
        tolerance=0.05,
        confidence=0.95,
        certificate=certificate(),
    )
    assert str(nothing).startswith(
        "no amount is certified, not even full repair, on held-out rows\namount 1.000: "
    )


def test_as_json() -> None:
    document = json.loads(json.dumps(FOUND.to_dict(), allow_nan=False))
    assert (document["amount"], document["tolerance"], document["confidence"]) == (0.5, 0.05, 0.95)
    assert document["curve"][0] == {
        "amount": 0.0,
        "verdict": "not certified",
        "balanced_error_rate": 0.3,
        "impact_floor": 0.5,
        "impact_floor_interval": [0.45, 0.55],
    }
    assert document["curve"][2]["impact_floor"] is None


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_as_a_table(kind: Any) -> None:
    columns = columns_of(FOUND.to_frame(kind))
    assert list(columns) == [
        "amount",
        "verdict",
        "balanced_error_rate",
        "impact_floor",
        "impact_floor_low",
        "impact_floor_high",
    ]
    assert columns["amount"] == [0, 0.5, 1]
    assert columns["verdict"] == ["not certified", "certified", "certified"]
    assert columns["impact_floor_low"] == [0.45, 0.81, 0.85]


# --- errors ---


@pytest.mark.parametrize("tolerance", [0, 1, -0.1, 1.5, float("nan")])
def test_a_tolerance_is_between_0_and_1(tolerance: float) -> None:
    certify = CertifiedFrom(0)
    with pytest.raises(OptionError, match=r"tolerance=.*: expected a number between 0 and 1"):
        least_certified_amount(APART, geometric(), beta=0.5, tolerance=tolerance, certify=certify)
    assert certify.calls == []


def test_the_repairer_names_its_columns() -> None:
    certify = CertifiedFrom(0)
    with pytest.raises(GroupError, match="repairer: name its protected columns"):
        least_certified_amount(APART, Repairer(columns=["x"]), beta=0.5, certify=certify)
    assert certify.calls == []


def test_a_column_that_is_not_there() -> None:
    certify = CertifiedFrom(0)
    with pytest.raises(ColumnError, match="columns: no column 'y'"):
        least_certified_amount(APART, Repairer("g", columns=["y"]), beta=0.5, certify=certify)
    assert certify.calls == []


@pytest.mark.parametrize("confidence", [1, 2])
def test_a_confidence_is_below_1(confidence: float) -> None:
    with pytest.raises(OptionError, match=r"confidence=.*: expected a number between 0 and 1"):
        least_certified_amount(APART, geometric(), beta=0.5, confidence=confidence)


@pytest.mark.parametrize("confidence", [0, -1])
def test_a_confidence_is_above_0(confidence: float) -> None:
    certify = CertifiedFrom(0)
    with pytest.raises(OptionError, match=r"confidence=.*: expected a number between 0 and 1"):
        least_certified_amount(APART, geometric(), beta=0.5, confidence=confidence, certify=certify)
    assert certify.calls == []


def test_without_outcome_and_beta_there_is_no_rate_to_certify_for() -> None:
    with pytest.raises(ColumnError, match="outcome: name the column that says who was selected"):
        least_certified_amount(APART, geometric())


@pytest.mark.parametrize("rows", [8, 40], ids=["all", "one"])
def test_strata_that_are_too_small_to_split(rows: int) -> None:
    certify = CertifiedFrom(0)
    small = APART.iloc[:rows]
    if rows == 40:
        small = pd.concat([small, small.iloc[:4].assign(g="C")])
    with pytest.raises(FourfifthsError, match="rows"):
        least_certified_amount(small, geometric(), beta=0.5, certify=certify)
    assert certify.calls == []


def test_a_stratum_of_five_rows_can_be_split() -> None:
    table = pd.concat([APART, APART.iloc[:5].assign(g="C")])
    assert least_certified_amount(table, geometric(), beta=0.5, certify=always).amount == 0


def test_a_category_of_one_row() -> None:
    table = APART.assign(x=["rare", *["u", "v"] * 19, "u"])
    assert least_certified_amount(table, geometric(), beta=0.5, certify=always).amount == 0


# --- with real auditors ---


def shifted(n: int) -> pd.DataFrame:
    random = np.random.default_rng(0)
    group = np.repeat(["A", "B"], n // 2)
    shift = np.where(group == "A", 1.0, 0.0)
    return pd.DataFrame(
        {"g": group, "x": random.normal(size=n) + shift, "y": random.normal(size=n)}
    )


@pytest.mark.slow
def test_rows_that_differ_are_certified_after_some_repair() -> None:
    found = least_certified_amount(
        shifted(1_200),
        Repairer("g", columns=["x", "y"], scope="column"),
        beta=0.5,
        threshold=0.7,
        auditors=["naive-bayes"],
        folds=2,
        tolerance=0.5,
    )
    verdicts = {step.amount: step.verdict for step in found.curve}
    assert verdicts[0.0] == "not certified"
    assert verdicts[1.0] == "certified"
    assert found.certificate.verdict == "certified"
    errors = [step.balanced_error_rate for step in found.curve]
    assert errors == sorted(errors)


@pytest.mark.slow
def test_six_thousand_rows_are_certified_at_four_fifths() -> None:
    repairer = Repairer("g", columns=["x", "y"], scope="column")
    found = least_certified_amount(shifted(6_000), repairer, beta=0.5)
    assert found.amount is not None
    assert 0.5 < found.amount < 1
    assert all(
        (step.verdict == "certified") == (step.amount >= found.amount) for step in found.curve
    )


@pytest.mark.parametrize(
    ("least", "tolerance", "expected"),
    # By halves from 0 and 1 down to the tolerance: above .3 lie 1/2, then 1/2 and 3/8, then 5/16.
    [(0.3, 0.5, 0.5), (0.3, 0.25, 0.5), (0.3, 0.125, 0.375), (0.0, 0.1, 0.0), (1.5, 0.1, None)],
)
def test_the_least_amount_by_halves(least: float, tolerance: float, expected: float | None) -> None:
    assert least_amount(lambda amount: amount >= least, tolerance) == expected


@pytest.mark.parametrize("name", ["confidence", "tolerance"])
@pytest.mark.parametrize("value", ["0.9", True, 0, 1, None])
def test_confidence_and_tolerance_are_shares(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=rf"{name}={value!r}: expected a number between 0 and 1"):
        least_certified_amount(APART, geometric(), **{name: value})
