"""A file that is larger than memory as a table that can be repaired: it is read in chunks."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

import narwhals as nw
import numpy as np

from fourfifths._arrays import CodeArray, FloatArray
from fourfifths._progress import Advance, steps
from fourfifths._tables.engines.cells import Cells, added, counted
from fourfifths._tables.engines.chunks import ChunkedTable
from fourfifths._tables.engines.engine import ScannedEngine
from fourfifths._tables.engines.places import EqualRows, temporary_file
from fourfifths._tables.files import room_for_temporary_files
from fourfifths._tables.identity import content_hash, text_hash
from fourfifths._tables.load import Rows
from fourfifths._tables.strata import Strata
from fourfifths._tables.table import no_rows
from fourfifths._tables.types import ColumnType, plain_numbers, to_numbers
from fourfifths._tables.values import PLAIN, NumberFormat, occurring_tokens


@dataclass(kw_only=True)
class ChunkEngine(ScannedEngine):
    """A file that is read in chunks.

    Attributes
    ----------
    source : ChunkedTable
    sizes : list of int
        The rows of each chunk, after the scan.
    """

    source: ChunkedTable
    sizes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        files = ExitStack()
        weakref.finalize(self, files.close)
        self._cell_file = temporary_file(files)  # which of the cells each row has
        self._other_texts: set[str] = set()  # columns with texts that are not plain numbers

    @property
    def schema(self) -> Rows:
        """No rows, with the columns and their types."""
        return self.source.empty

    def scan(self, cells: Sequence[str], columns: Sequence[str] | None) -> None:
        """Look at all values, in one pass over the file."""
        read = self.prepare_digests(cells, columns)
        unknown = self.source.unknown
        needed = None if unknown else list(dict.fromkeys([*cells, *read]))
        total: Cells | None = None
        with steps("looking at values", self.source.about_rows) as progress:
            for rows in self.source.chunks(needed, coded=() if unknown else cells):
                self.row_count += len(rows)
                self.sizes.append(len(rows))
                chunk_cells, cell_of_row = counted(rows, cells)
                if total is None:
                    total = chunk_cells
                else:
                    total, cell_of_cell = added(total, chunk_cells, cells)
                    cell_of_row = cell_of_cell.take(cell_of_row)
                with room_for_temporary_files():
                    self._cell_file.write(cell_of_row.astype(np.int32).data)
                for name in read:
                    self.digests[name].add(rows, self._kept_numbers(rows, name))
                lacking = [token for token in unknown if token not in self.tokens]
                if lacking:
                    self.tokens.update(occurring_tokens(rows.dataframe, lacking))
                progress.advance("looking at values", len(rows))
        if total is None or not self.row_count:
            raise no_rows(self.source.table.name)
        self.cells = total

    def _kept_numbers(self, rows: Rows, name: str) -> FloatArray | None:
        """Keep and return the numbers of a column whose texts have all been plain numbers so far.

        Of other columns none are kept, and None is returned.
        """
        is_text = rows.dataframe[name].dtype == nw.String
        if is_text and not rows.unknown and name not in self._other_texts:
            typed = ColumnType(name=name, kind="number")
            numbers = plain_numbers(rows.dataframe[name], typed, rows.reading)
            if numbers is not None:
                self.source.numbers.add(name, numbers)
                return numbers
        self._other_texts.add(name)
        self.source.numbers.drop(name)
        return None

    def number_chunks(
        self, column_types: Sequence[ColumnType], *, advance: Advance
    ) -> Iterator[list[FloatArray]]:
        """Yield columns as numbers, chunk by chunk; none is infinite, and whole ones are exact.

        A column of a Parquet file is read by itself. Of a CSV only what the scan could not keep is
        read, once.
        """
        if self.source.file.kind == "parquet":
            for rows in self.source.chunks([typed.name for typed in column_types]):
                yield rows.checked_numbers(column_types)
                advance("reading rows", len(rows))
            return
        first_row = 0
        for size in self.sizes:
            yield [
                self.source.numbers.read(typed.name, first_row, row_count=size)
                for typed in column_types
            ]
            advance("reading rows", size)
            first_row += size

    def read_numbers(self, column_types: Sequence[ColumnType]) -> None:
        """Read the numbers of columns of a CSV, but for those that the scan has kept."""
        lacking = [
            typed
            for typed in column_types
            if typed.kind not in ("number", "integer")
            or typed.number_format != PLAIN
            or not self.source.numbers.holds(typed.name, self.row_count)
        ]
        names = [typed.name for typed in lacking]
        for name in names:
            self.source.numbers.drop(name)
        if self.source.file.kind == "parquet" or not names:
            return
        for rows in self.source.chunks(names):
            for name, numbers in zip(names, rows.checked_numbers(lacking), strict=True):
                self.source.numbers.add(name, numbers)

    def stratum_codes(self, strata: Strata) -> Iterator[CodeArray]:
        """Yield the stratum of each row, chunk by chunk; -1 for rows without one.

        The scan has counted the stratifying columns, so the file need not be read again.
        """
        assert self.cells is not None
        code_of_cell = strata.codes_of(self.cells.rows, unseen="keep")
        self._cell_file.seek(0)
        for size in self.sizes:
            content = self._cell_file.read(size * np.dtype(np.int32).itemsize)
            yield code_of_cell.take(np.frombuffer(content, dtype=np.int32))

    def count_distinct(self, name: str, number_format: NumberFormat | None) -> int:
        """Return how many different values, or numbers, a column has, in one pass over it."""
        equal_rows = EqualRows(self.row_count)
        with closing(equal_rows):
            for rows in self.source.chunks([name]):
                column = rows.column(name)
                if number_format is None:
                    equal_rows.add(text_hash(column.filter(~column.is_null())))
                    continue
                typed = ColumnType(name=name, kind="integer", number_format=number_format)
                numbers = to_numbers(column, typed, reading=rows.reading)
                present = numbers[~np.isnan(numbers)]
                equal_rows.add(content_hash([present], present.size))
            equal_rows.finish()
            return equal_rows.row_count - equal_rows.repeated_rows
