"""How many rows before a row are equal to it, for tables that are not in memory.

Rows without a key are told apart by their content and their place among equal rows, so somebody
must see all rows. Each row is one word of 64 bits here. Words are put into buckets by their first
bits, on disk; equal words are in one bucket, and a bucket is small enough to be sorted in memory.
Only the places of rows that have an equal before them are kept.

The files have no names: nothing is left of them, however the process ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np

from fourfifths._arrays import HashArray, IntArray
from fourfifths._tables.files import room_for_temporary_files
from fourfifths._tables.identity import places_among_equals

ROWS_PER_BUCKET = 2_000_000
MAX_BUCKETS = 256
ENTRIES_PER_BLOCK = 4_000_000  # of a bucket that holds many equal rows
ENTRIES_PER_READ = 16_384
WORDS_PER_ENTRY = 2  # a row's word or place, and its number
ENTRY_BYTES = 16


class EqualRows:
    """Collects the words of all rows, and then says the place of each row among its equals.

    Parameters
    ----------
    row_count : int
        About how many rows there will be.
    rows_per_bucket, entries_per_block, entries_per_read : int
        How many are in a file, and how many are read at once: when equal rows are searched for, and
        when their places are looked up.

    Examples
    --------
    >>> rows = EqualRows(4)
    >>> rows.add(np.array([7, 8], dtype=np.uint64))
    >>> rows.add(np.array([7, 7], dtype=np.uint64))
    >>> rows.finish()
    >>> [places.tolist() for places in rows.places([3, 1])]
    [[0, 0, 1], [2]]
    >>> rows.close()
    """

    def __init__(
        self,
        row_count: int,
        *,
        rows_per_bucket: int = ROWS_PER_BUCKET,
        entries_per_block: int = ENTRIES_PER_BLOCK,
        entries_per_read: int = ENTRIES_PER_READ,
    ) -> None:
        self._files = ExitStack()
        self._entries_per_block = entries_per_block
        self._entries_per_read = entries_per_read
        bucket_count = min(max(row_count // rows_per_bucket, 1), MAX_BUCKETS)
        self._bits = int(bucket_count - 1).bit_length()
        self._buckets = [temporary_file(self._files) for _ in range(2**self._bits)]
        self._repeats: list[IO[bytes]] = []
        self.row_count = 0
        self.repeated_rows = 0
        self.first_repeated: int | None = None

    def close(self) -> None:
        """Remove the files."""
        self._files.close()

    def add(self, words: HashArray) -> None:
        """Take the words of the rows that follow."""
        entries = np.empty((words.size, WORDS_PER_ENTRY), dtype=np.uint64)
        entries[:, 0] = words
        entries[:, 1] = np.arange(self.row_count, self.row_count + words.size, dtype=np.uint64)
        self.row_count += words.size
        with room_for_temporary_files():
            if not self._bits:
                self._buckets[0].write(entries.data)
                return
            bucket = (words >> np.uint64(64 - self._bits)).astype(np.uint8)
            order = np.argsort(bucket, kind="stable")
            entries = entries[order]
            ends = np.cumsum(np.bincount(bucket, minlength=len(self._buckets)))
            for file, start, end in zip(self._buckets, np.append(0, ends), ends, strict=False):
                file.write(entries[start:end].data)

    def finish(self) -> None:
        """Find the equal rows."""
        with room_for_temporary_files():
            for bucket in self._buckets:
                repeats = temporary_file(self._files)
                for entries in _with_places(bucket, self._entries_per_block):
                    self.repeated_rows += len(entries)
                    if len(entries):
                        first = int(entries[0, 1])
                        earliest = self.first_repeated
                        self.first_repeated = first if earliest is None else min(first, earliest)
                    repeats.write(entries.data)
                bucket.close()
                self._repeats.append(repeats)

    def places(self, sizes: Any) -> Iterator[IntArray]:
        """Yield the places of the rows in chunks of these sizes, from the first row on."""
        repeats = self._repeats if self.repeated_rows else []
        cursors = [_Cursor(file, self._entries_per_read) for file in repeats]
        first_row = 0
        for size in sizes:
            places = np.zeros(size, dtype=np.int64)
            for cursor in cursors:
                for entries in cursor.before(first_row + size):
                    places[(entries[:, 1] - np.uint64(first_row)).astype(np.int64)] = entries[:, 0]
            yield places
            first_row += size


def _with_places(bucket: IO[bytes], entries_per_block: int) -> Iterator[Any]:
    """Yield the places and the numbers of the rows of a bucket that have an equal before them."""
    bucket.seek(0)
    seen = np.empty(0, dtype=np.uint64)
    seen_counts = np.empty(0, dtype=np.int64)
    while True:
        entries = _read(bucket, entries_per_block)
        if not len(entries):
            return
        words = np.ascontiguousarray(entries[:, 0])
        places = places_among_equals(words)
        if seen.size:
            index = np.minimum(np.searchsorted(seen, words), seen.size - 1)
            places += np.where(seen[index] == words, seen_counts[index], 0)
        is_last = len(entries) < entries_per_block
        if not is_last:
            distinct, counts = np.unique(words, return_counts=True)
            seen, index = np.unique(np.append(seen, distinct), return_inverse=True)
            both = np.append(seen_counts, counts)
            seen_counts = np.bincount(index, weights=both).astype(np.int64)
        repeated = np.flatnonzero(places)
        repeats = np.empty((repeated.size, WORDS_PER_ENTRY), dtype=np.uint64)
        repeats[:, 0], repeats[:, 1] = places[repeated], entries[repeated, 1]
        yield repeats


def _read(file: IO[bytes], count: int) -> Any:
    content = file.read(count * ENTRY_BYTES)
    return np.frombuffer(content, dtype=np.uint64).reshape(-1, WORDS_PER_ENTRY)


class _Cursor:
    """Reads entries in the order of their rows."""

    def __init__(self, file: IO[bytes], entries_per_read: int) -> None:
        self._file = file
        self._entries_per_read = entries_per_read
        self._position = 0
        self._waiting = np.empty((0, WORDS_PER_ENTRY), dtype=np.uint64)

    def before(self, end: int) -> Iterator[Any]:
        """Yield the entries of rows before this one that were not yet read."""
        while True:
            if not len(self._waiting):
                # Several passes may read the same file.
                self._file.seek(self._position)
                self._waiting = _read(self._file, self._entries_per_read)
                self._position += len(self._waiting) * ENTRY_BYTES
                if not len(self._waiting):
                    return
            count = int(np.searchsorted(self._waiting[:, 1], np.uint64(end)))
            yield self._waiting[:count]
            self._waiting = self._waiting[count:]
            if len(self._waiting):
                return


def temporary_file(files: ExitStack) -> IO[bytes]:
    """Return a file without a name, which `files` closes."""
    with room_for_temporary_files():
        file: IO[bytes] = tempfile.TemporaryFile(prefix="fourfifths-")  # noqa: SIM115
        return files.enter_context(file)
