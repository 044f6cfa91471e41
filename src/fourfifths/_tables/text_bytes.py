"""The bytes of the texts of an Arrow array: many texts are looked at together, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS_PER_PIECE = 32_768  # their bytes stay in the processor's cache


def bytes_and_offsets(texts: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the bytes of the texts of an Arrow array, and where each text begins; the end too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> content, offsets = bytes_and_offsets(pa.array(["ab", None, "c"]))
    >>> content.tobytes(), offsets.tolist()
    (b'abc', [0, 2, 2, 3])
    """
    import pyarrow as pa

    _, offset_buffer, byte_buffer = texts.buffers()
    offset_type = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    offsets = np.frombuffer(offset_buffer, dtype=offset_type)[texts.offset :][: len(texts) + 1]
    content = np.frombuffer(byte_buffer or b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    return content, offsets - offsets[0]
