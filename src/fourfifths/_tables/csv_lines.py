"""Tables of texts as the lines of a CSV file.

DuckDB writes values of every type. Texts need only be joined, which takes a quarter of its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from fourfifths._tables.text_bytes import ROWS_PER_PIECE, bytes_and_offsets

QUOTE = '"'
# As DuckDB has it: other programs may take a line that begins with # for a comment.
QUOTED_LETTERS = f"{QUOTE}#\r\n"


def can_be_joined(table: Any, delimiter: str) -> bool:
    """Return whether `csv_lines` can write an Arrow table: one of named columns of texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> can_be_joined(pa.table({"a": ["x"]}), ";"), can_be_joined(pa.table({"a": [1]}), ";")
    (True, False)
    """
    import pyarrow as pa

    are_texts = all(
        pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        for field in table.schema
    )
    return are_texts and all(table.column_names) and len(delimiter.encode()) == 1


def csv_lines(table: Any, *, delimiter: str, line_end: str) -> Iterator[memoryview]:
    r"""Yield the lines of a table of texts, without its header: the bytes of many at a time.

    They are those that DuckDB writes. A text is quoted if it is empty, or holds the delimiter, a
    quote, an end of a line or a #; nothing is written for a missing one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"name": ["Ann", "Lee, Bo", None], "note": ['an "A" x', "", "x"]})
    >>> lines = csv_lines(table, delimiter=",", line_end="\n")
    >>> print(b"".join(lines).decode(), end="")
    Ann,"an ""A"" x"
    "Lee, Bo",""
    ,x
    """
    import pyarrow as pa

    for batch in table.to_batches(max_chunksize=ROWS_PER_PIECE):
        if not batch.num_rows:
            continue
        # Offsets of 64 bits, because the lines of long texts may be longer than those of 32 reach.
        texts = [column.cast(pa.large_string()) for column in batch.columns]
        columns = [_quoted(column, delimiter) for column in texts]
        columns[-1] = _joined(columns[-1], line_end, between="")
        content, _ = bytes_and_offsets(_joined(*columns, between=delimiter))
        yield content.data


def _quoted(texts: Any, delimiter: str) -> Any:
    """Return texts with quotes around those that need them."""
    import pyarrow.compute as pc

    content, offsets = bytes_and_offsets(texts)
    letters = f"{delimiter}{QUOTED_LETTERS}"
    has_nothing = bool((np.diff(offsets) == 0).any())  # empty or missing
    needs_quotes = pc.equal(pc.binary_length(texts), 0) if has_nothing else None
    if content.size and _holds(content, letters):
        pattern = "[" + "".join(map(re.escape, letters)) + "]"
        is_special = pc.match_substring_regex(texts, pattern)
        needs_quotes = is_special if needs_quotes is None else pc.or_(is_special, needs_quotes)
    if needs_quotes is None:
        return texts
    doubled = pc.replace_substring(texts, QUOTE, 2 * QUOTE)
    return pc.if_else(needs_quotes, _joined(QUOTE, doubled, QUOTE, between=""), texts)


def _holds(content: Any, letters: str) -> bool:
    """Return whether bytes hold one of some letters."""
    lowest = content.min()
    # Digits and letters come after all of them but the delimiter, so one pass is enough for most.
    return any(lowest <= code and bool((content == code).any()) for code in letters.encode())


def _joined(*texts: Any, between: str) -> Any:
    """Return texts of columns joined row by row; nothing stands for a missing one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    large = [
        pa.scalar(text, pa.large_string()) if isinstance(text, str) else text
        for text in (*texts, between)
    ]
    return pc.binary_join_element_wise(*large, null_handling="replace", null_replacement="")
