"""What every result can do."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from certificates import auditor
from counted import measure
from curves import curve

import fourfifths
from fourfifths._certify.verification import Claim, Verification
from fourfifths._effect.amount import CertifiedAmount, Step
from fourfifths._effect.result import RepairEffect
from fourfifths._repair.explain import Cell, Explanation
from fourfifths._results import Result, entry_of, flat, of_one_type, plain
from fourfifths.errors import OptionError

NAN, INFINITY = float("nan"), float("inf")


@dataclass(frozen=True, kw_only=True, repr=False)
class Figures(Result):
    name: str
    rate: float
    rate_interval: tuple[float, float]
    parts: tuple[str, ...]
    secret: float

    _schema: ClassVar[str | None] = "fourfifths/figures/1"
    _not_in_json: ClassVar[tuple[str, ...]] = ("secret",)

    def __str__(self) -> str:
        return f"{self.name} <{self.rate}>\nmore"


FIGURES = Figures(
    name="Señora", rate=NAN, rate_interval=(0.1, NAN), parts=("a", "b"), secret=INFINITY
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (3, 3),
        ("x", "x"),
        (0.5, 0.5),
        (NAN, None),
        (INFINITY, "inf"),
        ((0.1, 0.2), [0.1, 0.2]),
        ((NAN, NAN), None),
        ((), []),
        ({"a": NAN, "b": (1, NAN)}, {"a": None, "b": [1, None]}),
    ],
)
def test_plain_values(value, expected):
    assert plain(value) == expected


def test_a_dataclass_becomes_a_mapping():
    found = plain(auditor(0.4))
    assert found["balanced_error_rate"] == 0.4
    assert found["impact_bound"] is None


def test_a_flat_record_has_one_value_per_column():
    record = {"x": 1, "x_interval": [0.5, None], "y_interval": None, "m": {"a": 1}, "l": [1, 2]}
    assert flat(record) == {
        "x": 1,
        "x_low": 0.5,
        "x_high": None,
        "y_low": None,
        "y_high": None,
        "m": "a: 1",
        "l": "1; 2",
    }


def test_the_schema_comes_first_and_what_is_kept_back_is_not_there():
    assert FIGURES.to_dict() == {
        "schema": "fourfifths/figures/1",
        "name": "Señora",
        "rate": None,
        "rate_interval": [0.1, None],
        "parts": ["a", "b"],
    }
    assert next(iter(FIGURES.to_dict())) == "schema"


def test_json_is_the_mapping_as_text():
    assert json.loads(FIGURES.to_json()) == FIGURES.to_dict()
    assert "Señora" in FIGURES.to_json()


def test_the_representation_is_the_text():
    assert repr(FIGURES) == str(FIGURES) == "Señora <nan>\nmore"


def test_a_notebook_shows_the_text_and_reads_no_markup():
    assert "<strong>Señora &lt;nan&gt;</strong>" in FIGURES._repr_html_()
    impact = measure({"<b>": (3, 5), "&": (6, 8)})
    fragment = impact._repr_html_()
    assert '<th scope="row" class="name" dir="auto">&lt;b&gt;</th>' in fragment
    assert "<b>" not in fragment
    assert "<script" not in fragment


def test_by_default_a_result_is_one_record():
    assert FIGURES.to_records() == [
        {
            "schema": "fourfifths/figures/1",
            "name": "Señora",
            "rate": None,
            "rate_low": 0.1,
            "rate_high": None,
            "parts": "a; b",
        }
    ]


def test_markdown_comes_from_the_text():
    assert FIGURES.to_markdown() == "# Señora &lt;nan&gt;\n\n- more\n"


KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


def explanation(*values: object) -> Explanation:
    cells = tuple(
        Cell(column=f"c{index}", value=value, rank=NAN, level=NAN, consensus=value, repaired=value)
        for index, value in enumerate(values)
    )
    return Explanation(stratum="A", because="full repair", cells=cells)


def amount() -> CertifiedAmount:
    step = Step(
        amount=1.0,
        verdict="certified",
        balanced_error_rate=0.49,
        impact_floor=0.9,
        impact_floor_interval=(0.85, 0.95),
    )
    return CertifiedAmount(
        amount=1.0, curve=(step,), tolerance=0.05, confidence=0.95, certificate=None
    )


def verification() -> Verification:
    claim = Claim(
        verdict="certified",
        threshold=0.8,
        confidence=0.95,
        beta=0.2,
        auditors=("trees",),
        auditors_not_asked=("svm",),
        features=("score",),
        columns_not_audited=(),
        protected=("group",),
        outcome=None,
        favorable=None,
        unknown=(),
        rows_audited=10,
        rows_of_known_group=10,
        rows_in_table=10,
        same_file=None,
    )
    return Verification(
        same_data=True,
        same_certificate=True,
        file_sha256=None,
        claim=claim,
        require={},
        unmet=(),
        differences=(),
        remarks=(),
        certificate=type("Stub", (), {"verdict": "certified"})(),
    )


def repair_effect() -> RepairEffect:
    return RepairEffect(
        table="t.csv",
        rows=2,
        rows_changed=1,
        cells=2,
        cells_changed=1,
        columns=(),
        before=None,
        after=None,
        raised=False,
        not_repaired=(),
        notes=(),
    )


TEAL = {"Black": (26, 48), "White": (206, 259)}
RESULTS = {
    "Impact": (lambda: measure(TEAL), 2),
    "AttributeImpact": (lambda: measure(TEAL).attributes[0], 2),
    "GroupImpact": (lambda: measure(TEAL)["Black"], 1),
    "Verification": (verification, 1),
    "RepairEffect": (repair_effect, 0),
    "CertifiedAmount": (amount, 1),
    "Tradeoff": (curve, 2),
    "Explanation": (lambda: explanation(1.5, 2), 2),
}
EVERY_RESULT = pytest.mark.parametrize(("make", "rows"), RESULTS.values(), ids=RESULTS)


@EVERY_RESULT
def test_every_result_shows_itself_in_each_way(make, rows):
    result = make()
    assert isinstance(result, Result)
    assert str(result) == repr(result)
    assert result._repr_html_().startswith('<div class="fourfifths">')
    assert result.to_html().startswith("<!doctype html>")
    assert result.to_markdown().startswith("# ")
    assert json.loads(result.to_json()) == result.to_dict()
    assert len(result.to_records()) == rows
    for kind, type_ in KINDS.items():
        frame = result.to_frame(kind)
        assert isinstance(frame, type_)
        assert len(frame) == rows


@pytest.mark.parametrize(
    "name", ["GroupImpact", "Verification", "RepairEffect", "CertifiedAmount", "Explanation"]
)
def test_what_has_no_picture_says_so(name):
    with pytest.raises(OptionError, match=f"plot: there is no picture of {name}; there is one"):
        RESULTS[name][0]().plot()


def test_a_certificate_is_a_result():
    assert issubclass(fourfifths.Certificate, Result)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [((1.5, 2), [1.5, 2.0]), ((1, None), [1, None]), (("low", 2.5), ["low", "2.5"])],
    ids=["numbers", "missing", "texts and numbers"],
)
def test_a_column_of_a_frame_has_one_type(kind, values, expected):
    column = explanation(*values).to_frame(kind)["value"]
    found = column.to_pylist() if kind == "pyarrow" else column.to_list()
    assert [None if value != value else value for value in found] == expected


def test_another_kind_of_frame_is_an_error():
    with pytest.raises(OptionError, match=r"kind='xlsx': expected one of 'pandas', 'polars'"):
        FIGURES.to_frame("xlsx")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_library_that_is_not_installed_is_named(kind):
    # In a fresh Python: here the library has been loaded already.
    code = f"""
import sys
sys.modules[{kind!r}] = None
from fourfifths._repair.explain import Cell, Explanation
cell = Cell(column="x", value=1, rank=0.5, level=0.5, consensus=1, repaired=1)
result = Explanation(stratum="A", because="", cells=(cell,))
result.to_frame({kind!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith(
        f"fourfifths.errors.OptionError: kind='{kind}': {kind} is not installed; pip install {kind}"
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, None, 2], [1, None, 2]),
        ([1, 0.5, None], [1.0, 0.5, None]),
        ([1, "a", None], ["1", "a", None]),
    ],
)
def test_a_column_has_one_type(values, expected):
    converted = of_one_type(values)
    assert converted == expected
    assert [type(value) for value in converted] == [type(value) for value in expected]


# ---------------------------------------------------------------- entries by name

ENTRIES = {"2019": "a", "F & Black": "b", "True": "c"}


@pytest.mark.parametrize(
    ("key", "entry"),
    [("2019", "a"), (2019, "a"), ("F & Black", "b"), (("F", "Black"), "b"), (True, "c")],
)
def test_an_entry_has_a_name_a_value_or_the_values_of_a_joint_group(key, entry):
    assert entry_of(ENTRIES, key, "group") == entry


def test_a_key_without_an_entry_names_the_nearest():
    message = r"no group 'F & Blac'; there are '2019', .*; did you mean 'F & Black'\?"
    with pytest.raises(KeyError, match=message):
        entry_of(ENTRIES, ("F", "Blac"), "group")


def test_a_joint_group_is_named_alike_in_every_analysis():
    random = np.random.default_rng(7)
    table = pd.DataFrame(
        {
            "sex": random.choice(["F", "M"], 400),
            "year": random.choice([2019, 2020], 400),
            "hired": random.choice(["yes", "no"], 400),
            "score": random.normal(size=400).round(1),
            "age": random.integers(20, 60, 400),
        }
    )
    protected = ["sex", "year"]
    results = [
        fourfifths.impact(table, protected=protected, outcome="hired"),
        fourfifths.cuts(table, protected=protected, score="score"),
        fourfifths.adjusted(table, protected=protected, outcome="hired", controls="age"),
    ]
    for result in results:
        joint = result["sex", "year"]
        assert joint["F", 2019] is joint["F & 2019"]
        assert result["year"][2019] is result["year"]["2019"]


def test_a_year_is_a_group_of_a_published_table():
    table = pd.DataFrame({"year": [2019, 2020], "n": [40, 50], "selected": [10, 20]})
    result = fourfifths.check(table, group="year", n="n", selected="selected")
    assert result[2019].group == "2019"
