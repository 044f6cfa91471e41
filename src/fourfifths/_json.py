"""JSON that others may have written or damaged: read strictly, and sealed with a hash of itself.

The hash notices damage: a lost entry, an edit by hand. It does not stop a forger, who can compute
it again. A signature does (`fourfifths._evidence.signing`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NoReturn

from fourfifths.errors import FourfifthsError

CONTENT_HASH = "content_sha256"
MAX_DEPTH = 100  # lists and objects within each other; ours have fewer than ten
MAX_KEY_SHOWN = 60  # letters
# Of numbers and between them: most of a long file. None follows a backslash in JSON, so a text that
# lost some of them ends where it did.
_NUMBER_LETTERS = b"0123456789.,+- \n"
# Texts, of which an unclosed one ends with the file, so that no letter is looked at twice.
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


def read_json(
    path: str | PathLike[str], *, max_bytes: int, error: type[FourfifthsError], expected: str
) -> Any:
    """Return the content of a JSON file; whatever is wrong with it is one line.

    Parameters
    ----------
    path : path
    max_bytes : int
        A larger file is refused before it is read.
    error : type
        What is raised.
    expected : str
        What the file should be, for errors.
    """
    name = fspath(path)
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(max_bytes + 1)
    except FileNotFoundError:
        raise error(f"{name}: no such file") from None
    except OSError as problem:
        raise error(f"{name}: cannot be read: {problem.strerror}") from problem
    if len(content) > max_bytes:
        raise error(f"{name}: is larger than {max_bytes:,} bytes; expected {expected}")
    try:
        return parse_json(content)
    except ValueError as problem:
        raise error(f"{name}: not JSON: {problem}; expected {expected}") from None


def parse_json(content: bytes) -> Any:
    """Return the content of JSON; a repeated key, NaN or deep nesting is a ValueError.

    Examples
    --------
    >>> parse_json(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parse_json(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'a' occurs twice
    """
    if depth_of(content) > MAX_DEPTH:
        raise ValueError(f"lists or objects are nested more than {MAX_DEPTH} deep")
    return json.loads(
        content.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
    )


def depth_of(content: bytes) -> int:
    """Return how many lists and objects are open at once, at most.

    Examples
    --------
    >>> depth_of(b'{"a": [1, "[[["], "b": {}}')
    2
    """
    import numpy as np  # not before it is needed: the help of a command does not wait for it

    structure = _TEXTS.sub(b"", content.translate(None, _NUMBER_LETTERS))
    letters = np.frombuffer(structure, dtype=np.uint8)
    opening, closing = (
        np.isin(letters, np.frombuffer(brackets, dtype=np.uint8)) for brackets in (b"[{", b"]}")
    )
    return int(np.max(np.cumsum(opening) - np.cumsum(closing), initial=0))


def canonical_json(content: Any) -> bytes:
    """Return JSON in one way only: keys sorted, no spaces, ASCII, floats as short as they can be.

    Examples
    --------
    >>> canonical_json({"b": [1, 0.1], "a": "x"})
    b'{"a":"x","b":[1,0.1]}'
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of everything but the hash itself."""
    rest = {key: value for key, value in content.items() if key != CONTENT_HASH}
    return hashlib.sha256(canonical_json(rest)).hexdigest()


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return content with its hash as the last entry.

    Examples
    --------
    >>> sealed({"a": 1})["content_sha256"] == sealed(sealed({"a": 1}))["content_sha256"]
    True
    """
    rest = {key: value for key, value in content.items() if key != CONTENT_HASH}
    return rest | {CONTENT_HASH: content_hash(rest)}


def is_intact(content: Mapping[str, Any]) -> bool:
    """Return whether content has the hash that it states."""
    try:
        return bool(content.get(CONTENT_HASH) == content_hash(content))
    except ValueError:  # 1e999 is read as infinity, which is no JSON
        return False


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {key[:MAX_KEY_SHOWN]!r} occurs twice")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
