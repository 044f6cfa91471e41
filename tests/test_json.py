"""JSON that others wrote: what is not JSON, or not as it was written, is noticed."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourfifths._json import (
    CONTENT_HASH,
    canonical_json,
    depth_of,
    is_intact,
    parse_json,
    read_json,
    sealed,
)
from fourfifths.errors import TableError

PLAIN: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b'{"a": 1, "b": 2, "a": 1}', "the key 'a' occurs twice"),
        (b'{"x": {"a": 1, "a": 2}}', "the key 'a' occurs twice"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b"[Infinity]", "Infinity is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b'{"a": ', "Expecting value"),
        (b'"\\', "Unterminated string"),
        (b"\xff\xfe", "can't decode byte"),
        (b"", "Expecting value"),
        (b"9" * 5000, "4300 digits"),
        (b"[" * 1_000_000, "nested more than 100 deep"),
        (b'{"a":' * 1_000_000, "nested more than 100 deep"),
        (b'["' + b'\\"' * 1_000_000, "Unterminated string"),
    ],
)
def test_what_is_not_json_is_refused_at_once(content: bytes, match: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ValueError, match=match):
        parse_json(content)
    assert time.perf_counter() - start < 60  # seconds; squares of these lengths take hours


def test_a_million_keys_of_which_one_is_there_twice() -> None:
    keys = ",".join(f'"{key}":0' for key in range(200_000))
    with pytest.raises(ValueError, match="the key '7' occurs twice"):
        parse_json(f'{{{keys},"7":1}}'.encode())


@pytest.mark.parametrize(
    ("content", "depth"),
    [
        (b"1", 0),
        (b"[]", 1),
        (b"[[],[[]]]", 3),
        (b'["[[[", {"]": [1]}]', 3),
        (b'"\\"[["', 0),
        (b'["\\n", [[1]]]', 3),
    ],
)
def test_depth_by_hand(content: bytes, depth: int) -> None:
    assert depth_of(content) == depth


@given(PLAIN)
def test_what_json_wrote_is_read(content: Any) -> None:
    assert parse_json(json.dumps(content).encode()) == content
    assert parse_json(canonical_json(content)) == content


def test_the_hash_by_hand() -> None:
    by_hand = hashlib.sha256(b'{"a":[1,0.5,null],"b":"\\u00e9"}').hexdigest()
    assert sealed({"b": "é", "a": [1, 0.5, None]})[CONTENT_HASH] == by_hand


def test_every_change_is_noticed() -> None:
    content = sealed({"a": 1, "b": [True, None]})
    assert is_intact(content)
    assert is_intact(dict(reversed(content.items())))
    for changed in (
        content | {"a": 2},
        content | {"a": 1.0},
        content | {"b": [1, None]},
        content | {"c": None},
        {key: value for key, value in content.items() if key != "b"},
        content | {"a": float("inf")},
        content | {CONTENT_HASH: None},
    ):
        assert not is_intact(changed)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    def read(path: Path) -> Any:
        return read_json(path, max_bytes=100, error=TableError, expected="a list of names")

    with pytest.raises(TableError, match=r"none\.json: no such file"):
        read(tmp_path / "none.json")
    with pytest.raises(TableError, match="cannot be read: Is a directory"):
        read(tmp_path)
    (tmp_path / "large.json").write_text("[" + " " * 100 + "]")
    with pytest.raises(TableError, match="larger than 100 bytes; expected a list of names"):
        read(tmp_path / "large.json")
    (tmp_path / "cut.json").write_text("[1, ")
    with pytest.raises(
        TableError, match=r"cut\.json: not JSON: Expecting value.*; expected a list"
    ):
        read(tmp_path / "cut.json")
    # A device has no end.
    with pytest.raises(TableError, match="larger than 100 bytes"):
        read(Path("/dev/zero"))
