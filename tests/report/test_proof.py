"""A proof as a page, and as JSON."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import fourfifths
from fourfifths._repair.proof import CurvePoint, PairProof, Proof, StratumBlocks
from fourfifths._report.document import to_document
from fourfifths._report.markdown import document_markdown
from fourfifths._report.terminal import document_text

NAN = float("nan")
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "proof.schema.json").read_text()
)
PAIR = PairProof(
    group="Black",
    reference="White",
    impact_floor=0.8123,
    reverse_floor=0.8345,
    table_floor=0.9912,
    table_reverse_floor=0.9734,
    total_variation=0.0456,
    balanced_error_rate=0.4772,
)
CERTIFIED = Proof(
    verdict="certified",
    because="proven for every rule: none has an impact ratio below 0.812",
    beta=0.109,
    threshold=0.8,
    confidence=0.95,
    impact_floor=0.8123,
    table_floor=0.9734,
    blocks=32,
    pairs=(PAIR,),
    strata=(
        StratumBlocks(stratum="Black", rows=1234, placing_rows=864, cells=16, tied_rows=None),
        StratumBlocks(stratum="White", rows=5678, placing_rows=3975, cells=32, tied_rows=None),
    ),
    curve=(CurvePoint(beta=0.05, impact_floor=0.7111), CurvePoint(beta=0.5, impact_floor=0.9222)),
    rows_needed=None,
    columns=("score", "school"),
    assumptions=("new rows are like those that were placed", "only repaired columns are used"),
    versions={"fourfifths": "0.1.0"},
)
OPEN = replace(
    CERTIFIED,
    verdict="inconclusive",
    because="no rule has an impact ratio below 0.612, which does not reach the threshold 0.8",
    impact_floor=0.6123,
    pairs=(replace(PAIR, impact_floor=0.6123),),
    rows_needed=20_000,
)
NOTHING = replace(
    CERTIFIED,
    verdict="inconclusive",
    because="only a share 0.5 of the rows is repaired, so nothing is proven",
    impact_floor=NAN,
    table_floor=NAN,
    pairs=(),
    curve=(),
)
EVERY_PROOF = pytest.mark.parametrize(
    "proof", [CERTIFIED, OPEN, NOTHING], ids=["certified", "open", "nothing"]
)


def repairer(rows: int, **options) -> fourfifths.Repairer:
    """Return a repair of a score on which two groups, or three, are a standard deviation apart."""
    random = np.random.default_rng(0)
    group = random.choice(options.pop("groups", ["A", "B"]), rows)
    score = random.normal(size=rows) + (group == "B")
    table = pd.DataFrame({"id": range(rows), "group": group, "score": score})
    table["hired"] = np.where(score + random.normal(size=rows) > 0.5, "yes", "no")
    made = fourfifths.Repairer("group", columns=["score"], keep="hired", **options)
    return made.fit(table)


# --- the page ---


def test_every_figure_of_a_pair_and_of_a_group_is_shown():
    pairs, groups, curve = to_document(CERTIFIED).sections[0].sheets
    assert "32 blocks" in pairs.title
    assert "95% confidence" in pairs.title
    # The lower of the two floors that were counted, .9912 and .9734, stands for the table.
    assert pairs.rows == (("Black", "White", "0.812", "0.835", "0.973", "0.477"),)
    assert groups.rows == (("Black", "1,234", "864", "16"), ("White", "5,678", "3,975", "32"))
    assert curve.rows == (("5%", "0.711"), ("50%", "0.922"))


def test_the_headline_says_what_is_proven_and_for_which_rules():
    assert to_document(CERTIFIED).headline == (
        "certified, proven for every rule: beta 10.9%, no impact ratio below 0.812 on new rows"
    )
    assert to_document(OPEN).headline == (
        "inconclusive, an impact ratio of 0.8 is not proven: beta 10.9%, no impact ratio below "
        "0.612 on new rows"
    )
    assert to_document(NOTHING).headline == "inconclusive: nothing is proven of this repair"
    tones = [to_document(proof).tone for proof in (CERTIFIED, OPEN, NOTHING)]
    assert tones == ["good", "open", "open"]


def test_the_reason_is_a_sentence_and_what_is_assumed_are_notes():
    document = to_document(OPEN)
    [sentence] = document.sections[0].sentences
    assert sentence.text == (
        "No rule has an impact ratio below 0.612, which does not reach the threshold 0.8."
    )
    assert document.notes == (
        "assumed: new rows are like those that were placed",
        "assumed: only repaired columns are used",
    )


@EVERY_PROOF
def test_the_page_fits_80_columns(proof):
    long = replace(proof.strata[0], stratum="people of a group with a rather long name")
    for shown in (proof, replace(proof, strata=(long, *proof.strata[1:]))):
        text = document_text(to_document(shown), width=80)
        assert max(map(len, text.splitlines())) <= 80
        assert "…" not in text


@EVERY_PROOF
def test_the_words_of_the_page(proof):
    for page in (document_text(to_document(proof)), document_markdown(to_document(proof))):
        assert ("proven for every rule" in page) is (proof.verdict == "certified")
        assert "nan" not in page.lower()
        for word in ("fair", "compliant", "unbiased", "illegal"):
            assert word not in page.lower()
        assert "Not legal advice." in " ".join(page.split())


def test_a_legend_explains_only_what_is_shown():
    [legend] = to_document(NOTHING).closing
    assert not legend.startswith("floor")
    [legend] = to_document(OPEN).closing
    for head in ("floor:", "reverse:", "table:", "BER:", "placing rows:", "parts:"):
        assert head in legend


@pytest.mark.parametrize(("rows", "verdict"), [(4_000, "certified"), (200, "inconclusive")])
def test_a_real_proof_is_shown_as_it_is(rows, verdict):
    proof = repairer(rows, blocks=4).proof_
    assert proof.verdict == verdict
    page = str(proof)
    assert page.startswith(f"{verdict}, ")
    assert f"{proof.impact_floor:.3f}" in page
    assert ("roven for every rule" in page) is (verdict == "certified")
    assert max(map(len, document_text(to_document(proof), width=80).splitlines())) <= 80


# --- JSON ---


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (4_000, {"blocks": 4}),
        (200, {"blocks": 2}),
        (200, {"blocks": 2, "key": "id"}),
        (600, {"blocks": 8, "groups": ["A", "B", "C"]}),
    ],
    ids=["certified", "inconclusive", "with a key", "three groups"],
)
def test_real_proofs_fit_the_schema(rows, options):
    proof = repairer(rows, **options).proof_
    written = json.loads(proof.to_json())
    jsonschema.validate(written, SCHEMA)
    assert written["impact_floor"] == proof.impact_floor
    assert written["impact_floor"] == min(
        min(pair["impact_floor"], pair["reverse_floor"]) for pair in written["pairs"]
    )
    assert (written["strata"][0]["tied_rows"] is None) is ("key" in options)


def test_a_repair_in_part_fits_the_schema_too():
    proof = repairer(200, blocks=2, amount=0.5).certificate()
    written = json.loads(proof.to_json())
    jsonschema.validate(written, SCHEMA)
    assert (written["impact_floor"], written["pairs"], written["curve"]) == (None, [], [])


def test_the_schema_is_strict_and_knows_every_field():
    written = json.loads(CERTIFIED.to_json())
    jsonschema.validate(written, SCHEMA)
    names = {field.name for field in fields(Proof)} | {"schema"}
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"]) == names
    for kind, part in (("pair", PairProof), ("stratum", StratumBlocks), ("point", CurvePoint)):
        assert set(SCHEMA["$defs"][kind]["required"]) == {field.name for field in fields(part)}
    for broken in ({**written, "more": 1}, {**written, "verdict": "maybe"}):
        with pytest.raises(jsonschema.ValidationError, match=r"more|maybe"):
            jsonschema.validate(broken, SCHEMA)
