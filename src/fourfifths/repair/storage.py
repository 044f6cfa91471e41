"""A fitted repair as JSON that people can read and compare."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np

from fourfifths.files import write_whole
from fourfifths.repair.categories import CategoryColumn
from fourfifths.repair.kinds import Typed
from fourfifths.repair.model import Column, Model
from fourfifths.repair.profiles import Profiles
from fourfifths.repair.stratification import Strata

KIND = "fourfifths repair"
SCHEMA = 1
CAUTION = (
    "This repair treats rows by the strata named below. Changing scores or other data by race, sex "
    "or another protected attribute can itself be disparate treatment: see Ricci v. DeStefano, 557 "
    "U.S. 557 (2009), the Civil Rights Act of 1991 on adjusting test scores (42 U.S.C. 2000e-2(l)) "
    "and the appendix of Feldman et al. (2015). Ask a lawyer before it is used to decide about "
    "people."
)


@dataclass(frozen=True)
class Saved:
    """Everything of a fitted repair."""

    settings: Mapping[str, Any]
    names: tuple[str, ...] | None
    n_features: int
    strata: Strata
    typed: tuple[Typed, ...]
    model: Model


def save_repair(path: str | PathLike[str], saved: Saved) -> None:
    """Write a repair, whole or not at all."""
    document = {
        "kind": KIND,
        "schema": SCHEMA,
        "fourfifths": version("fourfifths"),
        "caution": CAUTION,
        "settings": {name: _plain(value) for name, value in saved.settings.items()},
        "names": None if saved.names is None else list(saved.names),
        "n_features": saved.n_features,
        "strata": {
            "by": list(saved.strata.by),
            "groups": [list(group) for group in saved.strata.groups],
            "pooled": [list(group) for group in saved.strata.pooled],
            "rows": list(saved.strata.rows),
        },
        "columns": [
            _column(typed, column)
            for typed, column in zip(saved.typed, saved.model.columns, strict=True)
        ],
        "profiles": None if saved.model.profiles is None else _profiles(saved.model.profiles),
    }
    write_whole(path, _text(document) + "\n")


def _column(typed: Typed, column: Column) -> dict[str, Any]:
    document = {
        "name": typed.name,
        "kind": typed.kind,
        "categories": list(typed.categories),
        "consensus": column.consensus.tolist(),
    }
    if isinstance(column, CategoryColumn):
        return document | {"shares": column.shares.tolist()}
    strata = [
        {
            "size": each.size,
            "knots": each.knots.tolist(),
            "below": each.below.tolist(),
            "upto": each.upto.tolist(),
        }
        for each in column.strata
    ]
    return document | {"values": column.values.tolist(), "strata": strata}


def _profiles(profiles: Profiles) -> dict[str, Any]:
    return {each.name: getattr(profiles, each.name).tolist() for each in fields(profiles)}


def _plain(value: Any) -> Any:
    """Return a setting as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any, indent: str = "") -> str:
    """Return JSON with a line for each list of plain values, so that two repairs compare well."""
    inner = indent + " "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        return "[\n" + ",\n".join(inner + _text(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)
