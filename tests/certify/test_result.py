"""The JSON of a certificate is a contract."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths._certify.result import Certificate

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "certificate.schema.json").read_text()
)
QUICK = {"auditors": ["logistic", "naive-bayes"], "folds": 3}


def people(n: int, gap: float, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    group = np.repeat(["A", "B"], n)
    score = random.normal(size=2 * n) + gap * (group == "B")
    hired = np.where(random.random(2 * n) < 0.5, "yes", "no")
    return pd.DataFrame({"group": group, "score": score.round(6), "hired": hired})


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return fourfifths.certify(people(400, 1.0), protected="group", outcome="hired", **QUICK)


@pytest.mark.parametrize("gap", [0.0, 0.3, 1.0])
def test_every_verdict_fits_the_schema(gap):
    found = fourfifths.certify(people(400, gap), protected="group", outcome="hired", **QUICK)
    jsonschema.validate(json.loads(found.to_json()), SCHEMA)


@pytest.mark.slow
def test_several_groups_and_a_given_beta_fit_the_schema():
    found = fourfifths.certify("ricci", beta=(0.2, 0.4), **QUICK)
    written = json.loads(found.to_json())
    jsonschema.validate(written, SCHEMA)
    assert [pair["group"] for pair in written["pairs"]] != []
    pairs = {(pair["group"], pair["reference"]) for pair in written["pairs"]}
    assert pairs == {("B", "W"), ("H", "W"), ("H", "B"), ("not W", "W")}


def test_the_schema_is_strict(certificate):
    written = json.loads(certificate.to_json())
    for broken in ({**written, "more": 1}, {**written, "verdict": "maybe"}):
        with pytest.raises(jsonschema.ValidationError, match=r"more|maybe"):
            jsonschema.validate(broken, SCHEMA)


def test_the_keys_that_were_promised_are_there(certificate):
    written = json.loads(certificate.to_json())
    assert {
        *("verdict", "beta", "beta_interval", "threshold", "ber_threshold", "strongest"),
        *("auditors", "witness", "leaks", "data_sha256", "random_state"),
    } <= set(written)
    assert {
        *("name", "balanced_error_rate", "interval", "impact_bound"),
        *("impact_floor", "impact_floor_interval"),
    } <= set(written["auditors"][0])
    assert set(written["witness"]["rates"]) == {"A", "B"}
    assert {"feature", "balanced_error_rate", "impact_floor"} <= set(written["leaks"][0])
