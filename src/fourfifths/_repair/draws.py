"""Draws that belong to a row: the same row gets the same draw, in any call, batch or process.

A fitted repair is a function. What it writes for a row depends on the row and, where something has
to be drawn, on a hash of the seed and of the row's key. Without a key, the row's content takes its
place, with the number of equal rows before it in the same call. The group is never part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fourfifths._arrays import FloatArray, HashArray, IntArray
from fourfifths._tables.identity import (
    content_hash,
    key_hash,
    key_words,
    mix,
    places_among_equals,
)
from fourfifths._tables.load import Rows

# What a draw is for. Draws of one row for different purposes are independent of each other.
Purpose = Literal["plan", "order", "tie", "leaf", "variety", "amount", "column", "sample"]
PURPOSES: tuple[Purpose, ...] = (
    *("plan", "order", "tie", "leaf", "variety", "amount", "column"),
    "sample",
)
SEED_LIMIT = 2**64  # a seed is hashed as one word
BITS_DROPPED = np.uint64(11)  # a float holds 53 of 64 bits
UNIT = 2.0**-53


@dataclass(frozen=True, kw_only=True)
class RowDraws:
    """The draws of the rows of one call.

    Attributes
    ----------
    rows : uint64 array
        A word for each row: the hash of the seed and its key, or of its content and its place
        among equal rows.
    content : uint64 array
        A word for each row: the hash of the seed and its content alone.
    is_keyed : bool
        Whether `rows` come from keys.
    """

    rows: HashArray
    content: HashArray
    is_keyed: bool

    def uniforms(self, purpose: Purpose, index: int = 0) -> FloatArray:
        """Return a number in [0, 1) for each row; `index` tells draws of one purpose apart."""
        return uniform_of(self.rows, purpose, index)

    def content_uniforms(self) -> FloatArray:
        """Return a number in [0, 1) for each row that rows of equal content share."""
        return uniform_of(self.content, "order")

    def take(self, positions: IntArray | slice) -> RowDraws:
        """Return the draws of some of the rows."""
        return RowDraws(
            rows=self.rows[positions], content=self.content[positions], is_keyed=self.is_keyed
        )


def uniform_of(words: HashArray, purpose: Purpose, index: int = 0) -> FloatArray:
    """Return a number in [0, 1) for each word.

    Examples
    --------
    >>> words = np.arange(10_000, dtype=np.uint64)
    >>> float(uniform_of(words, "tie").mean().round(1))
    0.5
    """
    salt = mix(np.array([PURPOSES.index(purpose) * 2**32 + index], dtype=np.uint64))
    return (mix(words ^ salt) >> BITS_DROPPED).astype(np.float64) * UNIT


def seed_of(random_state: int | None) -> int:
    """Return `random_state` itself, or a new seed if it is None."""
    if random_state is not None:
        return int(random_state)
    return int(np.random.SeedSequence().generate_state(1, dtype=np.uint64)[0])


def draws_of(
    rows: Rows,
    columns: Sequence[FloatArray],
    *,
    seed: int,
    key: str | None,
    places: IntArray | None = None,
) -> RowDraws:
    """Return the draws of rows, by their key or else by their content.

    Parameters
    ----------
    rows : Rows
    columns : sequence of float array
        The content: the columns that are repaired, as numbers.
    seed : int
    key : str or None
        The column that identifies a row; two rows with the same key are an error.
    places : int array, optional
        How many rows of the table before each row are equal to it. It is needed if these rows are
        only some of the table's, because they do not show it. With a key, it means that rows with
        the same key need not be looked for.
    """
    content = content_words(columns, len(rows), seed=seed)
    if key is not None:
        words = key_hash(rows, key) if places is None else key_words(rows, key)
        return RowDraws(rows=keyed_identity(words, seed=seed), content=content, is_keyed=True)
    if places is None:
        places = places_among_equals(content)
    identity = placed_identity(content, places)
    return RowDraws(rows=identity, content=content, is_keyed=False)


def content_words(columns: Sequence[FloatArray], row_count: int, *, seed: int) -> HashArray:
    """Return a word for each row: the hash of the seed and its content."""
    return mix(content_hash(columns, row_count) ^ mix(np.array([seed], dtype=np.uint64)))


def keyed_identity(words: HashArray, *, seed: int) -> HashArray:
    """Return the words that a row's draws come from, of rows whose keys have these words."""
    return mix(words ^ mix(np.array([seed], dtype=np.uint64)))


def placed_identity(content: HashArray, places: IntArray) -> HashArray:
    """Return the words that a row's draws come from, of rows without a key."""
    return mix(content ^ mix(places.astype(np.uint64)))
