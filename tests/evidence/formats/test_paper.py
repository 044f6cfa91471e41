"""Tables that are too wide for a page."""

from __future__ import annotations

import pytest

from fourfifths._evidence.formats.paper import MAX_COLUMNS, narrow_sheets
from fourfifths._report.document import Sheet


@pytest.mark.parametrize("count", [1, 5, 9, 12, 30])
def test_every_column_is_shown_once_and_names_each_time(count):
    headers = ("name", *(f"h{number}" for number in range(count)))
    sheet = Sheet(title="t", headers=headers, rows=(tuple(f"{head}!" for head in headers),))
    sheets = [*narrow_sheets(sheet)]
    assert all(narrow.headers[0] == "name" for narrow in sheets)
    assert [head for narrow in sheets for head in narrow.headers[1:]] == [*headers[1:]]
    assert all(len(narrow.headers) <= MAX_COLUMNS for narrow in sheets)
    for narrow in sheets:
        assert narrow.rows == (tuple(f"{head}!" for head in narrow.headers),)
    assert [narrow.title for narrow in sheets[1:]] == ["t (continued)"] * (len(sheets) - 1)
