"""What a cell means: one rule for every column of every table.

A column is numeric if all its values are numbers, missing ones aside. Missing are null, NaN, empty
text, and the values that the user calls `unknown`. If nearly all values of a text column are
numbers, an error names the others: taking them for categories, or for missing, would be a guess.

Files from people hold more than that. Values that differ only in case or in spaces are one value.
A text like "Prefer not to say" means that a value is not known. Numbers are written as "1.234,5",
"$1,200" or "83,3%", and dates in several orders. All this is decided on the different values of a
column, never row by row, and what was assumed is said in a note.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, TypeVar, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fourfifths._arrays import IntArray
from fourfifths._text import in_rows, listed, number_text
from fourfifths.errors import ColumnError, FourfifthsError, WeightsError

# [0-9], because the regular expressions of some libraries read \d as the digits of any script.
NUMBER = r"^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$"
WHOLE_NUMBER = r"^[-+]?[0-9]+$"
# A number that nobody reads otherwise. Not 1.500: 1500 where the comma is the decimal mark.
CLEAR_NUMBER = (
    r"^[-+]?(?:(?:[0-9]+|(?:0[0-9]*|[0-9]{4,})?\.[0-9]+|[0-9]+\.(?:[0-9]{0,2}|[0-9]{4,}))"
    r"(?:[eE][-+]?[0-9]+)?|[0-9]+\.[0-9]{3}[eE][-+]?[0-9]+)$"
)
INFINITY = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)
# A text column with at least this share of numbers was meant to hold numbers.
MIN_NUMBER_SHARE = 0.95
MAX_WHOLE_DIGITS = 18  # of a 64-bit integer
MAX_EXACT_INTEGER = 2**53  # from here on, floating-point numbers skip whole numbers
# A column of these types is a category even if all its texts are numbers: somebody said so.
DECLARED_CATEGORIES = (nw.Categorical, nw.Enum)
TEXT_TYPES = (nw.String, *DECLARED_CATEGORIES)
# A zip or department code: as a number it would lose its zero.
CODE_TEXT = r"^0[0-9]+$"
Frame = TypeVar("Frame", nw.DataFrame[Any], nw.LazyFrame[Any])
Column = TypeVar("Column", nw.Expr, nw.Series[Any])
DecimalMark = Literal[".", ","]
ValueRole = Literal["group", "outcome", "number"]
ValueKind = Literal["number", "category"]  # what a column is if nobody asks for one of them

# Texts that mean "not known" wherever a group, an outcome or a number is expected; in lower case.
# Not "na", which may be Native American, nor "none" and "not applicable", which may be a group
# (of disabilities), nor "other".
NOT_KNOWN = frozenset(
    {
        *("?", "??", "???", ".", "..", "...", "-", "--", "---", "\N{EN DASH}", "\N{EM DASH}"),
        *("n/a", "n.a.", "n.a", "n\\a", "#n/a", "#na", "<na>", "nan", "null", "<null>", "(null)"),
        *("#null!", "#value!", "#ref!", "#name?", "(blank)", "blank", "missing", "(missing)"),
        *("unknown", "(unknown)", "unk", "unk.", "not known", "unspecified", "not specified"),
        *("not stated", "unstated", "not reported", "unreported", "not recorded", "not provided"),
        *("not given", "not available", "no answer", "no response", "no data", "not answered"),
        *("not indicated", "did not answer", "did not disclose", "did not respond"),
        *("did not specify", "did not state", "undisclosed", "not disclosed", "non-disclosed"),
        *("unknown/not reported", "not reported/unknown", "race unknown", "unknown race"),
        *("sex unknown", "gender unknown", "race/ethnicity unknown", "not identified"),
    }
)
# These mean it of a group, but may be a decision: a loan that was declined, an offer refused.
NOT_KNOWN_GROUPS = NOT_KNOWN | {"declined", "decline", "refused", "withheld"}
# In a column of numbers, these are not numbers either.
NOT_KNOWN_NUMBERS = NOT_KNOWN_GROUPS | {"na", "none", "nil", "not applicable"}
# As a group these may be either: they stay one, and a note asks.
PERHAPS_NOT_KNOWN = frozenset({"na", "none", "not applicable"})
_ANSWER = (
    r"(?:answer|disclose|say|state|self[- ]?identify|self[- ]?report|identify|respond|specify|"
    r"provide|share|report|tell|reply|self[- ]?disclose|be identified)\b.*"
)
REFUSAL = re.compile(
    r"(?:i |candidate |applicant |employee |respondent )?(?:"
    r"(?:would )?(?:prefer|prefers|preferred|choose|chooses|chose|wish|wishes|elect|elected|opt|"
    rf"opted)(?: |d )?not to {_ANSWER}|"
    r"(?:do not|don't|does not|doesn't|did not|didn't) (?:wish|want|care|choose|like) to "
    rf"{_ANSWER}|"
    rf"declin(?:e|es|ed) to {_ANSWER}|"
    rf"(?:would |'d )?rather not {_ANSWER})"
)
# Zero-width letters and marks of direction: nobody sees them.
INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad"))
ROWS_PER_PIECE = 32_768  # of texts that are looked at together: their bytes stay in the cache


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the user says about how a table is to be read; all of it may be left to the package.

    Attributes
    ----------
    sheet : str or None
        The sheet of a workbook.
    header_row : int or None
        The line, or row of a sheet, that holds the names of the columns; the first is 1.
    decimal : {".", ","} or None
        The decimal mark of numbers that are written as text.
    known : tuple
        Values that are groups or outcomes, although they look like "not known".
    exact_values : bool
        Whether values that differ only in case or in surrounding spaces are kept apart.
    hive : bool
        Whether the names of the folders that Parquet files are in, such as year=2025, are columns.
    """

    sheet: str | None = None
    header_row: int | None = None
    decimal: DecimalMark | None = None
    known: tuple[Any, ...] = ()
    exact_values: bool = False
    hive: bool = False


def is_text(dtype: nw.dtypes.DType) -> bool:
    """Return whether a column of this type holds text."""
    return any(dtype == text_type for text_type in TEXT_TYPES)


def holds_no_text(dtype: nw.dtypes.DType) -> bool:
    """Return whether the values of a column of this type cannot be written as text."""
    return dtype.is_nested() or dtype in (nw.Binary, nw.Duration, nw.Unknown)


def is_nested(column: nw.Series[Any]) -> bool:
    """Return whether a column holds lists, records or the like, of which few things can be asked.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = nw.from_native(pa.table({"skills": [["law"], []], "age": [30, 40]}))
    >>> is_nested(table["skills"]), is_nested(table["age"])
    (True, False)
    """
    if column.dtype == nw.Unknown and column.implementation.is_pyarrow():
        import pyarrow as pa  # narwhals does not know its maps

        native: Any = column.to_native()
        return bool(pa.types.is_nested(native.type))
    return column.dtype.is_nested()


def unknown_tokens(unknown: Any) -> tuple[Any, ...]:
    """Return the user's `unknown` values as a tuple; a single value need not be in a list.

    Examples
    --------
    >>> unknown_tokens("?"), unknown_tokens(["?", -1])
    (('?',), ('?', -1))
    """
    is_one = isinstance(unknown, str) or not isinstance(unknown, Iterable)
    tokens = [unknown] if is_one else list(unknown)
    # None is missing by itself; as a token it would mean the text "None".
    return tuple(token for token in tokens if token is not None)


@dataclass(frozen=True, kw_only=True)
class MissingText:
    """Which texts mean that a value is missing; spaces around them do not matter.

    Attributes
    ----------
    texts : frozenset of str
    numbers : str or None
        A regular expression of the tokens that are numbers: -999 also means "-999.0", as a CSV
        file may have it.
    """

    texts: frozenset[str]
    numbers: str | None

    @classmethod
    def of(cls, unknown: Sequence[Any]) -> MissingText:
        """Return what is missing by itself, and by the user's tokens.

        Examples
        --------
        >>> missing = MissingText.of(["n/a", -999])
        >>> [text for text in (" ", "n/a", "-999.0", "-99", "0") if text in missing]
        [' ', 'n/a', '-999.0']
        """
        tokens = [str(token).strip() for token in unknown]
        patterns = []
        for token in filter(is_number, tokens):
            # 1e3, 1000 and 1000.0 are one number: in plain digits, without zeros at the end.
            digits = format(Decimal(token).normalize(), "f")
            tail = "0*" if "." in digits else r"(?:\.0*)?"
            patterns.append(re.escape(digits) + tail)
        numbers = f"^(?:{'|'.join(patterns)})$" if patterns else None
        return cls(texts=frozenset(["", *tokens]), numbers=numbers)

    def __contains__(self, text: str) -> bool:
        text = text.strip()
        is_token = self.numbers is not None and re.match(self.numbers, text) is not None
        return text in self.texts or is_token

    def marks(self, column: nw.Expr) -> nw.Expr:
        """Return which values of a text column are missing; null where they already are null."""
        text = column.cast(nw.String()).str.strip_chars()
        is_missing = text.is_in(sorted(self.texts))
        return is_missing if self.numbers is None else is_missing | text.str.contains(self.numbers)


def folded(text: str) -> str:
    r"""Return a text without differences that mean nothing: case, and outer or doubled spaces.

    Examples
    --------
    >>> folded("  Prefer  NOT to say "), folded("Stra\u00dfe") == folded("STRASSE")
    ('prefer not to say', True)
    """
    if text.isascii():
        return " ".join(text.lower().split())
    plain = unicodedata.normalize("NFC", text.translate(INVISIBLE)).casefold()
    plain = unicodedata.normalize("NFC", plain).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return " ".join(plain.split())


def whole_number(text: str) -> str:
    """Return a text without the zeros after the point of a whole number.

    Examples
    --------
    1.0 and 1 are one number in two spellings; 01 and 1 may be two identifiers.

    >>> [whole_number(text) for text in ("1.0", "10.00", "01.0", "1.5", "v1.0")]
    ['1', '10', '01.0', '1.5', 'v1.0']
    """
    match = re.fullmatch(r"(0|[1-9]\d*)\.0+", text)
    return match[1] if match else text


def means_not_known(text: str, role: ValueRole, known: Iterable[Any] = ()) -> bool:
    """Return whether a text means that a value is not known, unless it is one of `known`.

    Examples
    --------
    >>> [means_not_known(text, "group") for text in ("Prefer not to say", "N/A", "None", "Other")]
    [True, True, False, False]
    >>> means_not_known("Declined", "outcome"), means_not_known("None", "number")
    (False, True)
    """
    plain = folded(text)
    if plain in {folded(str(value)) for value in known}:
        return False
    texts = {"group": NOT_KNOWN_GROUPS, "outcome": NOT_KNOWN, "number": NOT_KNOWN_NUMBERS}[role]
    return plain in texts or REFUSAL.fullmatch(plain) is not None


@dataclass(frozen=True, kw_only=True)
class Spellings:
    """The values of a column as people mean them.

    Attributes
    ----------
    values : tuple
        One spelling of each value, the most frequent, in the order in which they came first.
    members : tuple of tuple
        For each value, all that the table holds for it.
    unknown : tuple
        What the table holds for values that are not known.
    matched : tuple
        The user's tokens for "not known" that occur.
    notes : tuple of str
        What was assumed.
    """

    values: tuple[Any, ...]
    members: tuple[tuple[Any, ...], ...]
    unknown: tuple[Any, ...]
    matched: tuple[Any, ...]
    notes: tuple[str, ...]


def spellings_of(
    name: str,
    row_counts: Mapping[Any, float],
    *,
    role: ValueRole,
    unknown: Sequence[Any] = (),
    reading: Reading,
) -> Spellings:
    """Return which values of a column are one, and which are not known.

    Parameters
    ----------
    name : str
        The column.
    row_counts : mapping of value to number of rows
        Missing values are not among them.
    role : {"group", "outcome"}
    unknown : sequence
        The user's tokens for "not known".
    reading : Reading

    Examples
    --------
    >>> rows = {"Yes": 40, "yes ": 3, "No": 50, "N/A": 2}
    >>> spelled = spellings_of("hired", rows, role="outcome", reading=Reading())
    >>> spelled.values, spelled.members[0], spelled.unknown
    (('Yes', 'No'), ('Yes', 'yes '), ('N/A',))
    """
    members: dict[Any, list[Any]] = {}
    unknown_values, looks_unknown, matched = [], [], []
    for value in row_counts:
        token = matching_token(value, unknown, reading)
        if token is not None:
            matched.append(token)
            unknown_values.append(value)
        elif isinstance(value, str) and not folded(value):
            unknown_values.append(value)
        elif isinstance(value, str) and means_not_known(value, role, reading.known):
            unknown_values.append(value)
            looks_unknown.append(value)
        else:
            is_folded = isinstance(value, str) and not reading.exact_values
            # The type too, because 1 equals True and 1.0, and text is never one of them.
            spelled = folded(value) if is_folded else value
            # Codes of groups stay as they are written.
            if is_folded and role == "outcome":
                spelled = whole_number(spelled)
            members.setdefault((type(value), spelled), []).append(value)
    examples = [
        # Of equally many, one without spaces around it, then the first in the alphabet.
        min(
            spellings,
            key=lambda value: (
                -row_counts[value],
                str(value) != str(value).translate(INVISIBLE).strip(),
                str(value),
            ),
        )
        for spellings in members.values()
    ]
    notes = []
    merged = [
        (value, [spelling for spelling in spellings if spelling != value])
        for value, spellings in zip(examples, members.values(), strict=True)
        if len(spellings) > 1
    ]
    if merged:
        all_spellings = [spelling for _, spellings in merged for spelling in spellings]
        rows = int(sum(row_counts[spelling] for spelling in all_spellings))
        value, spellings = merged[0]
        rest = ", and others likewise" if len(merged) > 1 else ""
        is_of_number = isinstance(value, str) and is_number(value)
        difference = "in how a number is written" if is_of_number else "in case or in spaces"
        notes.append(
            f"column {name!r}: {listed(spellings, limit=3)} {is_or_are(spellings)} taken for "
            f"{value!r}{rest} ({in_rows(rows)}), because they differ only {difference}; "
            "exact_values=True keeps them apart"
        )
    if looks_unknown:
        rows = int(sum(row_counts[value] for value in looks_unknown))
        kind = "a group" if role == "group" else "a value"
        notes.append(
            f"column {name!r}: {listed(looks_unknown, limit=5)} {is_or_are(looks_unknown)} taken "
            f"for not known ({in_rows(rows)}); known={[str(looks_unknown[0])]!r} keeps it as "
            f"{kind}"
        )
    return Spellings(
        values=tuple(examples),
        members=tuple(map(tuple, members.values())),
        unknown=tuple(unknown_values),
        matched=tuple(dict.fromkeys(matched)),
        notes=tuple(notes),
    )


def is_or_are(values: Sequence[Any]) -> str:
    return "is" if len(values) == 1 else "are"


def matching_token(value: Any, unknown: Sequence[Any], reading: Reading) -> Any:
    """Return which of the user's tokens for "not known" a value is; None if it is not a token."""
    for token in unknown:
        if isinstance(value, bool):
            is_token = str(token).strip().lower() == str(value).lower()
        elif isinstance(value, str):
            text, token_text = value.strip(), str(token).strip()
            if not reading.exact_values:
                text, token_text = folded(text), folded(token_text)
            numbers = MissingText.of([token]).numbers
            is_number_token = numbers is not None and re.match(numbers, text) is not None
            is_token = text == token_text or is_number_token
        elif isinstance(value, Real | Decimal):  # a Decimal is no Real
            is_token = is_number(str(token)) and float(token) == float(value)
        else:
            moment = _moment(str(token).strip())
            is_token = str(value) == str(token).strip() or (
                moment is not None and value in (moment, moment.date())
            )
        if is_token:
            return token
    return None


def without_missing(
    column: nw.Expr, dtype: nw.dtypes.DType, unknown: Sequence[Any] = ()
) -> nw.Expr:
    """Return a column in which every missing value is null.

    A token of `unknown` means a text as it is written, and a number whatever its type.
    """
    if dtype.is_float():
        # Asked of what is not null: DuckDB takes the limits that a Parquet file states, which leave
        # NaN out, for those of all numbers, so that it would see no NaN in the column itself.
        present = nw.when(~column.is_null()).then(column)
        column = nw.when(~present.is_nan()).then(column)
    texts = [str(token).strip() for token in unknown]
    comparable, tokens = column, list[Any]()
    if dtype == nw.Boolean:
        truths = {"true": True, "false": False}
        tokens = [truths[text.lower()] for text in texts if text.lower() in truths]
    elif dtype.is_numeric():
        # As floats, because polars does not compare whole numbers with a list of floats.
        comparable = as_floats(column, dtype)
        tokens = [float(text) for text in texts if is_number(text)]
    elif isinstance(dtype, nw.Datetime) and dtype.time_zone is None:
        # Not as text: each library writes a moment in a way of its own.
        tokens = [moment for moment in map(_moment, texts) if moment is not None]
    elif is_text(dtype) or (unknown and not holds_no_text(dtype)):
        return nw.when(~MissingText.of(unknown).marks(column)).then(column)
    return nw.when(~comparable.is_in(tokens)).then(column) if tokens else column


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else None


def as_floats(column: Column, dtype: nw.dtypes.DType) -> Column:
    """Return a column of numbers as the nearest floating-point numbers.

    Decimals go by way of their text: Arrow's own cast multiplies by a power of ten, so that a third
    of all decimals miss the nearest number by one unit in the last place, and DuckDB's does with
    more than 18 digits. What a decimal is must not depend on the kind of table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = nw.from_native(pa.chunked_array([[Decimal("499.9")]]), series_only=True)
    >>> as_floats(column, column.dtype).to_list()
    [499.9]
    """
    number: Column = column.cast(nw.String()) if dtype.is_decimal() else column
    floats: Column = number.cast(nw.Float64())
    return floats


def is_number(value: Any) -> bool:
    """Return whether a value is a number, or a text that reads as one.

    Examples
    --------
    >>> is_number("-1.5e3"), is_number(7), is_number("n/a"), is_number(True)
    (True, True, False, False)
    """
    if isinstance(value, str):
        return re.match(NUMBER, value.strip()) is not None
    return isinstance(value, Real) and not isinstance(value, bool)


def with_room_for_null(frame: Frame, name: str) -> Frame:
    """Return a frame whose column `name` can be null and still be what it is.

    pandas makes floats of numpy's whole numbers, and objects of its booleans, once one is missing;
    its own nullable types stay.
    """
    dtype = frame.collect_schema()[name]
    is_pandas = frame.implementation is nw.Implementation.PANDAS
    if not is_pandas or not (dtype.is_integer() or dtype == nw.Boolean):
        return frame
    native: Any = frame.to_native()
    if not isinstance(native[name].dtype, np.dtype):
        return frame
    nullable_type = "boolean" if dtype == nw.Boolean else str(dtype)
    converted = nw.from_native(native.astype({name: nullable_type}), eager_only=True)
    return cast(Frame, converted.lazy() if isinstance(frame, nw.LazyFrame) else converted)


def known_values(column: nw.Series[Any], unknown: Sequence[Any] = ()) -> nw.Series[Any]:
    """Return a column in memory in which every missing value is null."""
    if not unknown and (column.dtype.is_integer() or column.dtype == nw.Boolean):
        return column
    if is_nested(column):  # no value means missing
        return column
    if column.dtype == nw.String:
        # The different texts are few, and most columns have none that means missing.
        texts = in_arrow(column.unique())
        if _with_nulls(texts, unknown).null_count() == texts.null_count():
            return column
    values = _with_nulls(column, unknown)
    # Nothing new is missing: the column stays what it is, with the order of its categories.
    if int(values.null_count()) == int(column.null_count()) and not column.dtype.is_float():
        return column
    return values.alias(column.name)


def in_arrow(column: nw.Series[Any]) -> nw.Series[Any]:
    """Return a short column in Arrow, where a function takes far less time than in pandas."""
    import pyarrow as pa  # loading it takes longer than a small audit

    try:
        values = pa.chunked_array([column.to_arrow()])
    except pa.ArrowTypeError as error:  # Python's objects, of which pandas looks at the first only
        raise ColumnError(
            f"column {column.name!r}: holds numbers and texts, some of them the same; make all of "
            "them numbers or texts first (in pandas with astype(str))"
        ) from error
    series: nw.Series[Any] = nw.from_native(values, series_only=True)
    return series


def _with_nulls(column: nw.Series[Any], unknown: Sequence[Any]) -> nw.Series[Any]:
    """Return a column, under another name, in which every missing value is null."""
    # Under another name, because polars reads a name like "*" as more than a name.
    frame = column.alias("value").to_frame()
    if unknown:
        frame = with_room_for_null(frame, "value")
    return frame.select(without_missing(nw.col("value"), column.dtype, unknown))["value"]


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


# --- numbers that are written as text ---

_SPACES = " \t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
_CURRENCIES = (*"$\N{EURO SIGN}\N{POUND SIGN}\N{YEN SIGN}\N{INDIAN RUPEE SIGN}",)
_CURRENCIES = (*_CURRENCIES, "USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY", "INR", "US$")
_CURRENCY = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_MINUS = "\N{MINUS SIGN}"
_APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_NUMBER_TEXT = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+{_MINUS}])?[{_SPACES}]*(?P<before>{_CURRENCY})?[{_SPACES}]*"
    rf"(?P<inner_sign>[-+{_MINUS}])?(?P<body>[0-9.,][0-9.,{_APOSTROPHES}{_SPACES}]*?)"
    rf"(?P<exponent>[eE][-+]?[0-9]+)?[{_SPACES}]*(?P<after>%|{_CURRENCY})?(?P<close>\))?"
)


def _body_pattern(decimal: str, grouping: str) -> re.Pattern[str]:
    separators = f"[{re.escape(grouping)}{_APOSTROPHES}{_SPACES}]"
    grouped = rf"[1-9][0-9]{{0,2}}(?:({separators})[0-9]{{3}}(?:\1[0-9]{{3}})*)|[0-9]+"
    mark = re.escape(decimal)
    return re.compile(rf"(?:(?:{grouped})(?:{mark}[0-9]*)?|{mark}[0-9]+)")


_BODIES: Mapping[DecimalMark, re.Pattern[str]] = {
    ".": _body_pattern(".", ","),
    ",": _body_pattern(",", "."),
}


@dataclass(frozen=True, kw_only=True)
class NumberText:
    """A text that is a number, by one decimal mark or by the other.

    Attributes
    ----------
    readings : mapping of {".", ","} to float
        What it is by each decimal mark that it can be read with.
    unit : str
        A currency sign, "%" or nothing.
    """

    readings: Mapping[DecimalMark, float]
    unit: str

    @classmethod
    def of_plain(cls, text: str) -> NumberText:
        """Return a number that Python can read as well."""
        decimals: tuple[DecimalMark, ...] = (".",) if "." in text else (".", ",")
        return cls(readings=dict.fromkeys(decimals, float(text)), unit="")

    @classmethod
    def of(cls, text: str) -> NumberText | None:
        """Return what a text can mean as a number, or None if it is not a number.

        Examples
        --------
        >>> [NumberText.of(text).readings for text in ("1.500", "83,3%", "(1,200.50)", "1 200")]
        [{'.': 1.5, ',': 1500.0}, {',': 83.3}, {'.': -1200.5}, {'.': 1200.0, ',': 1200.0}]
        """
        match = _NUMBER_TEXT.fullmatch(text.strip())
        if match is None:
            return None
        signs = [sign for sign in (match["sign"], match["inner_sign"]) if sign]
        is_bracketed = match["open"] is not None
        if is_bracketed != (match["close"] is not None) or len(signs) + is_bracketed > 1:
            return None
        if match["before"] and match["after"]:
            return None
        is_negative = is_bracketed or any(sign != "+" for sign in signs)
        body = match["body"].strip(_SPACES)
        readings: dict[DecimalMark, float] = {}
        for decimal, pattern in _BODIES.items():
            if pattern.fullmatch(body):
                digits = "".join(letter for letter in body if letter.isdigit() or letter == decimal)
                number = float(digits.replace(decimal, ".") + (match["exponent"] or ""))
                readings[decimal] = -number if is_negative else number
        if not readings:
            return None
        return cls(readings=readings, unit=match["before"] or match["after"] or "")

    @property
    def decides(self) -> DecimalMark | None:
        """The decimal mark that this text shows; None if it shows none."""
        return next(iter(self.readings)) if len(self.readings) == 1 else None

    @property
    def is_ambiguous(self) -> bool:
        """Whether the two decimal marks make two numbers of it."""
        return len(set(self.readings.values())) > 1


@dataclass(frozen=True, kw_only=True)
class NumberFormat:
    """How the numbers of a text column are written.

    Attributes
    ----------
    decimal : {".", ","}
    is_percent : bool
        Whether "%" follows each number; 83,3% is 83.3.
    """

    decimal: DecimalMark = "."
    is_percent: bool = False

    def plain(self, column: Any) -> Any:
        """Return a column, or expression, of these texts as texts that every library reads."""
        text = column.str.strip_chars()
        text = text.str.replace_all(rf"{_CURRENCY}|[%)+{_APOSTROPHES}{_SPACES}]", "")
        text = text.str.replace_all(rf"[({_MINUS}]", "-")
        text = text.str.replace_all("." if self.decimal == "," else ",", "", literal=True)
        return text.str.replace_all(self.decimal, ".", literal=True)

    def check_unit(self, name: str, fitted_format: NumberFormat) -> None:
        """Raise if these numbers are in percent and those of the fit are not, or the reverse."""
        if self.is_percent != fitted_format.is_percent:
            fitted, new = (
                "are in percent" if number_format.is_percent else "are not in percent"
                for number_format in (fitted_format, self)
            )
            raise ColumnError(
                f"column {name!r}: the numbers {new}, but those that the repair was fitted to "
                f"{fitted}; write them alike"
            )

    def number(self, text: str) -> float:
        """Return the number that a text means."""
        number_text = NumberText.of(text)
        assert number_text is not None
        return number_text.readings[self.decimal]

    def written(self, texts: Iterable[str]) -> list[str]:
        """Return plain numbers as the column writes them.

        Examples
        --------
        >>> NumberFormat(decimal=",", is_percent=True).written(["83.3"])
        ['83,3%']
        """
        if self == PLAIN:
            return list(texts)
        unit = "%" if self.is_percent else ""
        return [text.replace(".", self.decimal) + unit for text in texts]


PLAIN = NumberFormat()


@dataclass(frozen=True, kw_only=True)
class NumberTexts:
    """The different texts of a column that are not plain numbers, and what they are.

    Attributes
    ----------
    numbers : mapping of str to NumberText
    missing : tuple of str
        Those that mean "not known".
    words : tuple of str
        All others.
    """

    numbers: Mapping[str, NumberText]
    missing: tuple[str, ...]
    words: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], known: Sequence[Any] = ()) -> NumberTexts:
        """Sort the texts."""
        numbers = dict[str, NumberText]()
        missing, words = list[str](), list[str]()
        for text in texts:
            number = NumberText.of(text)
            if number is not None:
                numbers[text] = number
            else:
                (missing if means_not_known(text, "number", known) else words).append(text)
        return cls(numbers=numbers, missing=tuple(missing), words=tuple(words))

    def number_format(
        self, name: str, *, clear: Sequence[str], decimal: DecimalMark | None
    ) -> NumberFormat:
        """Return the one format that all numbers of the column have, or raise.

        Parameters
        ----------
        name : str
            The column, for errors.
        clear : sequence of str
            Plain numbers of the column: one with a decimal point and one without, if there are.
        decimal : {".", ","} or None
            The decimal mark that the user declares.
        """
        numbers = {**{text: NumberText.of_plain(text) for text in clear}, **self.numbers}
        examples: dict[DecimalMark, str] = {}
        for text, number in numbers.items():
            if number.decides:
                examples.setdefault(number.decides, text)
        if len(examples) == 2:
            raise ColumnError(
                f"column {name!r}: {examples['.']!r} has a decimal point and {examples[',']!r} a "
                "decimal comma; write all numbers of a column alike"
            )
        example = next(iter(examples), None)
        if decimal is not None and example not in (None, decimal):
            raise ColumnError(
                f"column {name!r}: decimal={decimal!r}, but {examples[example]!r} is not a "
                "number with that decimal mark; correct these cells, or give the other mark"
            )
        ambiguous = next((text for text, number in numbers.items() if number.is_ambiguous), None)
        if ambiguous is not None and example is None and decimal is None:
            point, comma = (number_text(numbers[ambiguous].readings[mark]) for mark in _BODIES)
            raise ColumnError(
                f"column {name!r}: {ambiguous!r} may be {point} or {comma}, and no other value of "
                f"the column shows which; give decimal='.' for {point}, or decimal=',' for {comma}"
            )
        units = {number.unit: text for text, number in numbers.items()}
        if len({*units} - {""}) > 1 or ("%" in units and len(units) > 1):
            first, second = list(units.values())[:2]
            raise ColumnError(
                f"column {name!r}: {first!r} and {second!r} are in different units; write all "
                "numbers of a column in one"
            )
        return NumberFormat(decimal=decimal or example or ".", is_percent="%" in units)

    def notes(self, name: str, number_format: NumberFormat, *, missing_rows: int) -> list[str]:
        """Return what was assumed about the column."""
        notes = []
        if self.missing:
            notes.append(
                f"column {name!r}: {listed(self.missing, limit=3)} {is_or_are(self.missing)} "
                f"taken for missing ({in_rows(missing_rows)})"
            )
        numbers = {text: number_format.number(text) for text in self.numbers}
        # What every library reads alike needs no note.
        texts = [
            text for text, number in numbers.items() if not is_number(text) or float(text) != number
        ]
        if texts:
            text = max(texts, key=lambda text: (self.numbers[text].unit != "", len(text)))
            notes.append(f"column {name!r}: {text!r} is read as {number_text(numbers[text])}")
        return notes


def occurring_tokens(frame: nw.DataFrame[Any], unknown: Sequence[Any]) -> tuple[Any, ...]:
    """Return those of the user's tokens for "not known" that a table in memory holds."""

    def occurs(token: Any) -> bool:
        for name in frame.columns:
            column = frame[name]
            missing = int(known_values(column).null_count())
            if int(known_values(column, [token]).null_count()) > missing:
                return True
            if is_text(column.dtype):
                lower = column.cast(nw.String()).str.strip_chars().str.to_lowercase()
                if bool((lower == folded(str(token))).any()):
                    return True
        return False

    return tuple(token for token in unknown if occurs(token))


def with_spellings(
    column: nw.Series[Any],
    *,
    role: ValueRole,
    unknown: Sequence[Any] = (),
    reading: Reading,
    row_counts: IntArray | None = None,
) -> tuple[nw.Series[Any], Spellings]:
    """Return a column in memory with one spelling of each value, and what was done to it.

    `row_counts` says for how many rows of a table each value stands, if the values are all
    different; without it, for one.
    """
    column = known_values(column)
    if row_counts is None:
        present = column.filter(~column.is_null()).alias("value")
        counted = present.value_counts(name="rows")
        counts = dict(zip(counted["value"].to_list(), counted["rows"].to_list(), strict=True))
    else:
        counts = dict(zip(column.to_list(), row_counts.tolist(), strict=True))
        counts.pop(None, None)
    ordered = dict(sorted(counts.items(), key=lambda entry: str(entry[0])))
    spellings = spellings_of(str(column.name), ordered, role=role, unknown=unknown, reading=reading)
    renamed = {
        member: value
        for value, members in zip(spellings.values, spellings.members, strict=True)
        for member in members
        if member != value
    }
    if spellings.unknown:
        frame = with_room_for_null(column.alias("value").to_frame(), "value")
        is_unknown = nw.col("value").is_in(list(spellings.unknown))
        column = frame.select(nw.when(~is_unknown).then(nw.col("value")))["value"].alias(
            column.name
        )
    if renamed:
        # Plain text, because the type may not have the categories in another order.
        column = column.cast(nw.String())
        values = [renamed.get(value, value) for value in ordered]
        column = column.replace_strict(list(ordered), values, return_dtype=nw.String())
    return column, spellings


def read_numbers(
    column: nw.Series[Any],
    *,
    must: bool = False,
    reading: Reading | None = None,
    number_format: NumberFormat | None = None,
    notes: list[str] | None = None,
    may_round: bool = False,
) -> nw.Series[Any] | None:
    """Return a text column as numbers, or None if it holds words; see `numbers_and_format`."""
    numbers, _ = numbers_and_format(
        column,
        must=must,
        reading=reading,
        number_format=number_format,
        notes=notes,
        may_round=may_round,
    )
    return numbers


def numbers_and_format(
    column: nw.Series[Any],
    *,
    must: bool = False,
    reading: Reading | None = None,
    number_format: NumberFormat | None = None,
    notes: list[str] | None = None,
    row_counts: IntArray | None = None,
    may_round: bool = False,
) -> tuple[nw.Series[Any] | None, NumberFormat]:
    """Return a text column as numbers, or None if it holds words, and how it writes numbers.

    Parameters
    ----------
    column : series of text
        Missing values are null.
    must : bool
        Whether anything that is not a number is an error. Without it, it is one only if nearly
        all values are numbers.
    reading : Reading, optional
    number_format : NumberFormat, optional
        How the numbers were written in the rows that a repair was fitted to: a single new row may
        not show it.
    notes : list of str, optional
        What was assumed is added to it.
    row_counts : int array, optional
        For how many rows of a table each value stands; by default for one.
    may_round : bool
        Whether whole numbers that floating-point numbers cannot hold are rounded, because other
        rows of the column have fractions. By default they are an error.
    """
    name, reading = str(column.name), reading or Reading()
    text = column.cast(nw.String())
    distinct = text.filter(~text.is_null()).unique()
    stripped = distinct.str.strip_chars()
    if (stripped != distinct).any():  # rows are many, and rarely have spaces
        text, distinct = text.str.strip_chars(), stripped.unique()
    unclear = distinct.filter(~distinct.str.contains(CLEAR_NUMBER))
    fitted_format = number_format
    if len(unclear) or fitted_format not in (None, PLAIN) or reading.decimal == ",":
        texts = NumberTexts.of(sorted(unclear.to_list()), reading.known)
        has_numbers = len(texts.numbers) > 0 or len(unclear) < len(distinct)
        if not has_numbers and not must:
            return None, PLAIN
        if texts.words:
            words = [*texts.words, *texts.missing]
            check_words(
                name,
                words,
                word_rows=rows_with(text, words, row_counts),
                row_count=rows_where(~text.is_null(), row_counts),
                must=must,
            )
            return None, PLAIN
        clear = distinct.filter(distinct.str.contains(CLEAR_NUMBER))
        has_point = clear.str.contains(".", literal=True)
        number_format = texts.number_format(
            name,
            # A plain number with a decimal point and one without, as far as they occur.
            clear=[
                *clear.filter(has_point).head(1).to_list(),
                *clear.filter(~has_point).head(1).to_list(),
            ],
            decimal=fitted_format.decimal if fitted_format else reading.decimal,
        )
        if fitted_format and has_numbers:
            number_format.check_unit(name, fitted_format)
        if notes is not None:
            missing_rows = rows_with(text, texts.missing, row_counts)
            notes += texts.notes(name, number_format, missing_rows=missing_rows)
        if texts.missing:
            text = known_values(text, texts.missing)
        if texts.numbers:
            text = number_format.plain(text)
        distinct = text.filter(~text.is_null()).unique()
    if not len(distinct) and not must:
        return None, PLAIN
    return _plain_numbers(text, distinct, may_round=may_round), number_format or PLAIN


def rows_with(text: nw.Series[Any], values: Iterable[str], row_counts: IntArray | None) -> int:
    """Return how many rows have one of some texts."""
    texts = list(values)
    return rows_where(text.is_in(texts), row_counts) if texts else 0


def rows_where(mask: nw.Series[Any], row_counts: IntArray | None = None) -> int:
    """Return how many rows a mask is true for; each value may stand for several rows."""
    if row_counts is None:
        return int(mask.sum())
    return int(row_counts[np.asarray(mask.fill_null(value=False).to_numpy(), dtype=bool)].sum())


def _plain_numbers(
    text: nw.Series[Any], distinct: nw.Series[Any], *, may_round: bool
) -> nw.Series[Any]:
    """Convert texts of plain numbers to integers, or to floats if not all are whole."""
    # Arrow reads no plus sign.
    text, distinct = (texts.str.replace_all(r"^\+", "") for texts in (text, distinct))
    is_whole = len(distinct) > 0 and bool(distinct.str.contains(WHOLE_NUMBER).all())
    if is_whole and may_round:
        is_whole = float(distinct.cast(nw.Float64()).abs().max()) < MAX_EXACT_INTEGER
    if is_whole and (distinct.str.len_chars() > MAX_WHOLE_DIGITS).any():
        raise beyond_exact(text.name)
    if not is_whole:
        return text.cast(nw.Float64())
    if text.null_count() and text.implementation is nw.Implementation.PANDAS:
        # By way of floats, because pandas makes no whole numbers of texts beside missing ones.
        native: Any = text.cast(nw.Float64()).to_native()
        numbers: nw.Series[Any] = nw.from_native(native.astype("Int64"), series_only=True)
        return numbers
    return text.cast(nw.Int64())


def check_words(
    name: str, words: Sequence[str], *, word_rows: int, row_count: int, must: bool = False
) -> None:
    """Raise an error if nearly all values of a text column are numbers, but not these words."""
    number_rows = row_count - word_rows
    words = sorted(words)
    if number_rows and all(INFINITY.fullmatch(word) for word in words):
        raise infinite(f"column {name!r}", listed(words, limit=3))
    remedy = f"unknown={[str(word) for word in words[:3]]!r}"
    if number_rows < MIN_NUMBER_SHARE * row_count:
        if not must:
            return
        raise ColumnError(
            f"column {name!r}: expected numbers, found {listed(words, limit=3)}; convert the "
            f"column or leave it out, or, if they mean that the value is missing, give {remedy}"
        )
    raise ColumnError(
        f"column {name!r}: {number_rows:,} of {row_count:,} values are numbers, but "
        f"{listed(words, limit=3)} {'is' if len(words) == 1 else 'are'} not; correct or "
        f"empty these cells, or, if they mean that the value is missing, give {remedy}"
    )


def are_codes(column: nw.Series[Any], known: Sequence[Any] = ()) -> bool:
    """Return whether a column of texts holds whole numbers of which one begins with a zero.

    Texts that mean "not known", except those in `known`, may be among them.

    Examples
    --------
    >>> import narwhals as nw
    >>> import pyarrow as pa
    >>> columns = {"zip": ["01034", "n/a"], "floor": ["0", "12"], "share": ["0.5", "01"]}
    >>> table = nw.from_native(pa.table(columns))
    >>> [are_codes(table[name]) for name in columns]
    [True, False, False]
    """
    if column.dtype != nw.String:
        return False
    texts = column.filter(~column.is_null()).unique().str.strip_chars()
    if not bool(texts.str.contains(CODE_TEXT).any()):
        return False
    others = texts.filter(~texts.str.contains(WHOLE_NUMBER)).to_list()
    return all(means_not_known(text, "number", known) for text in others)


def codes_note(name: Any) -> str:
    """Return the note on a column that `are_codes` is true of."""
    return f"column {name!r} holds codes with leading zeros; they are categories"


def check_limits(subject: str, name: Any, *, low: Any, high: Any, is_whole: bool) -> None:
    """Raise if numbers are infinite, or whole ones so large that floating-point numbers skip some.

    Parameters
    ----------
    subject : str
        What the error about an infinite number begins with: the argument or the column.
    name : str
        The column.
    low, high : number or None
        The smallest and the largest, None if there is none.
    is_whole : bool
        Whether the column holds nothing but whole numbers.
    """
    for limit in (low, high):
        if limit is None:
            continue
        if isinstance(limit, float) and math.isinf(limit):
            raise infinite(subject, number_text(limit))
        if is_whole and abs(limit) >= MAX_EXACT_INTEGER:
            raise beyond_exact(name)


def infinite(subject: str, values: str) -> FourfifthsError:
    """Return the error for infinite numbers; `values` shows them."""
    error = WeightsError if subject.startswith(("weights=", "persons=")) else ColumnError
    return error(
        f"{subject}: expected finite numbers, found {values}; correct or empty these cells, or "
        "leave the column out"
    )


def beyond_exact(name: Any) -> ColumnError:
    """Return the error for whole numbers that floating-point numbers cannot hold."""
    return ColumnError(
        f"column {name!r}: holds whole numbers beyond 2**53, which reading would change; it "
        "looks like an identifier; leave the column out"
    )


# --- dates that are written as text ---

DayOrder = Literal["day first", "month first"]
_TIME = r"(?:[ T][0-9:.,]+ ?(?:[ap]m)?(?:Z|[-+][0-9:]+)?)?"
_YEAR_FIRST = re.compile(
    rf"([0-9]{{4}})([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}}){_TIME}", re.IGNORECASE
)
_YEAR_LAST = re.compile(rf"([0-9]{{1,2}})([-/.])([0-9]{{1,2}})\2([0-9]{{4}}){_TIME}", re.IGNORECASE)
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_DAY_AND_NAME = re.compile(r"([0-9]{1,2})[- .]+([a-z]{3,9})[-,. ]+([0-9]{4})")
_NAME_AND_DAY = re.compile(r"([a-z]{3,9})[. ]+([0-9]{1,2})[,. ]+([0-9]{4})")
_MONTHS = "january february march april may june july august september october november december"


def date_readings(text: str) -> dict[DayOrder, date]:
    """Return the days that a text can mean; none if it is not a date with a year of four digits.

    Examples
    --------
    >>> [str(day) for day in date_readings("03/04/1980").values()]
    ['1980-04-03', '1980-03-04']
    >>> [str(day) for day in date_readings("13 Apr 1980").values()]
    ['1980-04-13', '1980-04-13']
    """
    text = text.strip()
    fields: dict[DayOrder, tuple[str, str, str]] = {}
    if match := _YEAR_LAST.fullmatch(text):
        first, mark, second, year = match.groups()
        fields["day first"] = (year, second, first)
        if mark != ".":  # with full stops, the day always comes first
            fields["month first"] = (year, first, second)
    else:
        lower = text.lower()
        if match := _YEAR_FIRST.fullmatch(text):
            year, _, month, day = match.groups()
        elif (
            (match := _COMPACT.fullmatch(text))
            or (match := _DAY_AND_NAME.fullmatch(lower))
            or (match := _NAME_AND_DAY.fullmatch(lower))
        ):
            first, second, third = match.groups()
            year, month, day = (
                (first, second, third)
                if match.re is _COMPACT
                else (third, _month(second), first)
                if match.re is _DAY_AND_NAME
                else (third, _month(first), second)
            )
        else:
            return {}
        fields = {"day first": (year, month, day), "month first": (year, month, day)}
    days: dict[DayOrder, date] = {}
    for order, numbers in fields.items():
        try:
            days[order] = date(*map(int, numbers))
        except ValueError:  # no such day
            continue
    return days


def _month(name: str) -> str:
    """Return the number of a month from the start of its English name; "0" if it is not a month."""
    numbers = [
        str(number) for number, month in enumerate(_MONTHS.split(), 1) if month.startswith(name)
    ]
    return numbers[0] if len(numbers) == 1 else "9" if name == "sept" else "0"


def are_dates(values: Iterable[Any]) -> bool:
    """Return whether all values are dates, or texts that read as dates and not as numbers."""
    return all(
        isinstance(value, date)
        or (isinstance(value, str) and not is_number(value) and bool(date_readings(value)))
        for value in values
    )


def read_dates(name: str, texts: Iterable[str], known: Sequence[Any] = ()) -> dict[str, date]:
    """Return the day that each text of a column means; what is not known is not among them.

    Whether the day or the month comes first must be the same in the whole column, and be seen from
    it: an order by which every text is a date.
    """
    readings = {}
    for text in texts:
        days = date_readings(text)
        if days:
            readings[text] = days
        elif not means_not_known(text, "number", known):
            raise ColumnError(
                f"ages: column {name!r} holds {text!r}; expected dates with a year of four digits, "
                "as in 1980-12-31; correct or empty these cells"
            )
    orders: tuple[DayOrder, ...] = ("day first", "month first")
    possible = [order for order in orders if all(order in days for days in readings.values())]
    if not possible:
        examples = [
            next(text for text, days in readings.items() if order not in days) for order in orders
        ]
        raise ColumnError(
            f"ages: column {name!r}: the day comes first in {examples[1]!r}, and the month in "
            f"{examples[0]!r}; write all dates alike, best as in 1980-12-31"
        )
    if len(possible) == 2:
        for text, days in readings.items():
            if len({*days.values()}) == 2:
                first, second = (f"{day.day} {day:%B} {day.year}" for day in days.values())
                raise ColumnError(
                    f"ages: column {name!r}: {text!r} may be {first} or {second}, and no other "
                    "value of the column shows which; write the dates as in 1980-12-31"
                )
    return {text: days[possible[0]] for text, days in readings.items()}


def is_date(dtype: nw.dtypes.DType) -> bool:
    """Return whether a column of this type holds dates, or dates with times."""
    return dtype == nw.Date or isinstance(dtype, nw.Datetime)
