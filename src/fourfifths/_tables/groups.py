"""Who is compared with whom: which column plays which part, and who belongs to which group.

From top to bottom: the roles of the columns, checked once, before anything is counted (`Roles`,
`assign_roles`); the values of these columns as people mean them (`prepare`, `as_meant`); who was
selected (`choose_favorable`); the groups and their sums (`Attribute`, `Tally`); and the reference
that all other groups are compared with (`choose_reference`). Audits, certificates, repairs and
trade-offs all choose by these functions, and check their numbers and choices by those at the end
(`check_share`, `check_whole`, `check_seed`, `check_choice`).

A group is one value of a protected column, or a tuple of values of several columns. A numeric
column is first cut into bands (`bands.py`). The roles that a shipped data set defines for its own
columns are filled in here, and only here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import combinations
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, cast

import narwhals as nw
import numpy as np

from fourfifths._arrays import BoolArray, CodeArray, FloatArray, IntArray
from fourfifths._tables.bands import Bands, age_advice, name_bands, with_bands
from fourfifths._tables.counts import (
    MISSING,
    SELECTED,
    CountedColumn,
    Counts,
    banding_advice,
    check_no_row_of_totals,
    check_no_total_rows,
    check_no_totals,
    count,
)
from fourfifths._tables.table import Table, Value
from fourfifths._tables.values import (
    CODE_TEXT,
    Reading,
    are_dates,
    folded,
    is_date,
    is_number,
    occurring_tokens,
    spellings_of,
    unknown_tokens,
    with_room_for_null,
    with_spellings,
    without_missing,
)
from fourfifths._text import listed, nearest, rows_have
from fourfifths.errors import (
    ColumnError,
    FourfifthsError,
    GroupError,
    OptionError,
    OutcomeError,
    TableError,
)

Group: TypeAlias = tuple[Value, ...]
GroupingArgument = Literal["protected", "stratify_by"]
ShareRange = Literal["(0, 1)", "(0, 1]", "[0, 1]", "[0.5, 1)", "[0.8, 1)", "(0, inf)"]
EXPECTED_IN_RANGE: Mapping[ShareRange, str] = {
    "(0, 1)": "between 0 and 1",
    "(0, 1]": "above 0, and 1 at most",
    "[0, 1]": "from 0 to 1",
    "[0.5, 1)": "from 0.5 to below 1",
    "[0.8, 1)": "from 0.8 to below 1",
    "(0, inf)": "above 0, like 0.8",
}
ALL_OTHERS = "(all others)"
MAX_NUMERIC_GROUPS = 20
# Pairs of outcomes in which the second is so clearly the favorable one that it need not be named.
# Of the plain answers it is only if the column's name does not say the opposite: see UNFAVORABLE.
PLAIN_ANSWERS = (
    ("0", "1"),
    ("0.0", "1.0"),
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
)
PLAIN_PAIRS = (
    *((no, yes) for yes in ("selected", "accepted") for no in (f"not {yes}", "rejected")),
    *((no, yes) for yes in ("approved", "granted") for no in (f"not {yes}", "denied", "rejected")),
    *((no, "approved") for no in ("declined", "disapproved")),
    *((no, "hired") for no in ("not hired", "rejected", "no hire")),
    *((no, "admitted") for no in ("not admitted", "rejected", "denied")),
    *((f"not {yes}", yes) for yes in ("offered", "promoted", "interviewed", "shortlisted")),
    *((no, "offered") for no in ("rejected", "no offer")),
    ("no offer", "offer"),
    ("refused", "granted"),
    ("no hire", "hire"),
    ("reject", "hire"),
    ("reject", "accept"),
    ("reject", "select"),
    ("deny", "approve"),
    ("not passed", "passed"),
    ("fail", "pass"),
    ("failed", "passed"),
    ("unsuccessful", "successful"),
)
# Words in the name of an outcome whose "yes" is bad for the person: 1 in such a column is asked
# about. As the name's words begin: "recid" is also recidivism, "terminat" terminated.
UNFAVORABLE = (
    *("arrest", "attrit", "bad", "ban", "charged", "churn", "convict", "declin", "default"),
    *("delinquen", "demot", "denial", "denied", "deny", "disciplin", "dismiss", "disqualif"),
    *("evict", "exclu", "expel", "fail", "fired", "flag", "fraud", "incarcerat", "inelig", "jail"),
    *("laid", "layoff", "loss", "neg", "no", "non", "not", "penal", "recid", "refus", "reject"),
    *("reoffen", "risk", "separat", "suspen", "terminat", "unfavo", "unsuccess", "violat"),
    *("withdraw", "withdrew", "adverse", "bankrupt", "complain", "late", "overdue", "warning"),
)
# Of these, only the whole word counts: "noted", "negotiated" and "latest" are something else.
WHOLE_WORDS = frozenset({"bad", "ban", "flag", "late", "neg", "no", "non", "not", "loss", "risk"})
NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The roles of a table's columns, with the defaults of a shipped data set filled in.

    Attributes
    ----------
    protected : tuple of str
    outcome : str or None
        None where a score takes its place, or where none is needed.
    favorable : Any
        A value, or several in a list; None where it is to be chosen from the values of the outcome.
    reference : mapping of str to value
        The groups that the user designated.
    default_reference : mapping of str to value
        Those that the data set designates, for rules that need one.
    weights, within, score : str or None
    bands : mapping of str to Bands
        Of the protected columns that are cut into groups.
    unknown : tuple
        Values that mean missing, in every column.
    counts : mapping of {"n", "selected", "not_selected"} to str
        The columns of a table with one row per group; empty for a table of persons.
    not_features : tuple of str
        Columns that are never features by default: the protected columns, the outcome, and the
        other protected columns and the split of a data set.
    """

    protected: tuple[str, ...]
    outcome: str | None
    favorable: Any
    reference: Mapping[str, Any]
    default_reference: Mapping[str, Any]
    weights: str | None
    within: str | None
    score: str | None
    bands: Mapping[str, Bands]
    unknown: tuple[Value, ...]
    counts: Mapping[CountedColumn, str]
    not_features: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns whose values are counted apart as people wrote them: not numbers in bands."""
        keys = (*self.protected, *(name for name in (self.within, self.outcome) if name))
        return tuple(name for name in keys if name not in self.bands)

    @property
    def designated(self) -> Mapping[str, Any]:
        """The user's reference groups, then the data set's."""
        return {**self.default_reference, **self.reference}


def assign_roles(
    table: Table,
    *,
    protected: str | Sequence[str] | None,
    outcome: str | None,
    favorable: Any,
    reference: Any,
    bands: Mapping[str, Sequence[float]] | None,
    ages: Mapping[str, date | str] | None = None,
    counts: Mapping[CountedColumn, str] | None = None,
    unknown: Any = (),
    weights: str | None = None,
    within: str | None = None,
    score: str | None = None,
    outcome_is: Literal["needed", "optional", "the score"] = "needed",
) -> Roles:
    """Check the columns and fill in the defaults of a shipped data set."""
    dataset = table.dataset
    columns = protected_columns(table, protected)
    if counts is not None:
        clashing = {"outcome": outcome, "favorable": favorable, "weights": weights, "score": score}
        outcome = _counted_outcome(counts, clashing)
        favorable = SELECTED
    elif outcome_is == "the score":
        # The outcome will be "above the median", a truth value.
        favorable = True
    else:
        if outcome is None and dataset:
            outcome = dataset.outcome
        if dataset and favorable is None and outcome == dataset.outcome:
            favorable = dataset.favorable
        if outcome is None and outcome_is == "needed":
            raise ColumnError(
                f"outcome: name the column that says who was selected (columns of {table.name}: "
                f"{listed(table.columns)})"
            )
    user_bands = read_bands(bands, ages)
    # A data set's reference is a group of its own bands, so other bands make it void.
    default_reference = {
        column: group
        for column, group in (dataset.reference if dataset else {}).items()
        if column not in user_bands
    }
    default_bands = {
        column: cut
        for column, cut in read_bands(dataset.bands if dataset else {}).items()
        if column in columns
    }
    not_features = [*columns, *([outcome] if outcome else [])]
    if dataset:
        not_features += [*dataset.protected, *dataset.other_protected]
        not_features += [dataset.split] if dataset.split else []
    roles = Roles(
        protected=columns,
        outcome=outcome,
        favorable=favorable,
        reference=_reference_mapping(reference, columns),
        default_reference=default_reference,
        weights=weights,
        within=within,
        score=score,
        bands=default_bands | user_bands,
        unknown=unknown_tokens(unknown),
        counts=dict(counts or {}),
        not_features=tuple(dict.fromkeys(not_features)),
    )
    _check_columns(table, roles)
    return roles


def protected_columns(table: Table, protected: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the protected columns: those given, or those of the data set."""
    if protected is None:
        protected = table.dataset.protected if table.dataset else ()
    columns = (protected,) if isinstance(protected, str) else protected
    if not isinstance(columns, Iterable) or not all(isinstance(name, str) for name in columns):
        raise ColumnError(f"protected={protected!r}: expected the name of a column, or several")
    columns = tuple(dict.fromkeys(columns))
    if not columns:
        raise ColumnError(
            f"protected: name at least one column of {table.name} ({listed(table.columns)})"
        )
    return columns


def _counted_outcome(counts: Mapping[CountedColumn, str], clashing: Mapping[str, Any]) -> str:
    """Check the columns of a table with one row per group; return the one that is the outcome."""
    names = (("n", "selected"), ("not_selected", "selected"))
    if not isinstance(counts, Mapping) or tuple(sorted(counts)) not in names:
        raise OptionError(
            f"counts={counts!r}: expected the columns of two numbers, as in counts={{'n': "
            "'Applicants', 'selected': 'Hired'}, or 'selected' and 'not_selected'"
        )
    for name, value in clashing.items():
        if value is not None:
            raise OptionError(
                f"counts={dict(counts)!r}, {name}={value!r}: the counts say who was selected; "
                f"leave {name} out"
            )
    return counts["selected"]


def _reference_mapping(reference: Any, protected: tuple[str, ...]) -> Mapping[str, Any]:
    if reference is None:
        return {}
    if isinstance(reference, Mapping):
        for column in reference:
            if column not in protected:
                raise ColumnError(
                    f"reference: {column!r} is not a protected column; expected {listed(protected)}"
                )
        return reference
    if len(protected) > 1:
        raise OptionError(
            f"reference={reference!r}: with several protected columns, say which it belongs to: "
            f"reference={{{protected[0]!r}: ...}}"
        )
    return {protected[0]: reference}


def read_bands(
    bands: Mapping[str, Sequence[float]] | None, ages: Mapping[str, Any] | None = None
) -> dict[str, Bands]:
    """Return the bands of each column, or raise if the edges are not increasing numbers.

    Parameters
    ----------
    bands : mapping of column to edges
    ages : mapping of column to day
        The columns that hold dates of birth, and the day on which the ages count.
    """
    for name, mapping in (("bands", bands), ("ages", ages)):
        if mapping is not None and not isinstance(mapping, Mapping):
            expected = "edges" if name == "bands" else "a day, as in ages={'born': '2026-01-01'}"
            raise ColumnError(f"{name}={mapping!r}: expected a mapping of column to {expected}")
    days = {column: read_day(column, day) for column, day in (ages or {}).items()}
    checked = {}
    for column, edges in (bands or {}).items():
        try:
            numbers = [float(edge) for edge in edges]
        except (TypeError, ValueError):
            numbers = []
        if not numbers or numbers != sorted(set(numbers)) or not np.all(np.isfinite(numbers)):
            raise ColumnError(
                f"bands: the edges of {column!r} are {edges!r}; "
                "expected one or more numbers, each larger than the one before"
            )
        checked[column] = Bands(column=column, edges=tuple(numbers), on=days.get(column))
    for column in days:
        if column not in checked:
            raise ColumnError(
                f"ages: {column!r} has no bands; say where the ages are cut, as in "
                f"bands={{{column!r}: [40]}}, which makes 'under 40' and '40 and over'"
            )
    return checked


def read_day(column: str, day: Any) -> date:
    """Return the day on which ages count."""
    if isinstance(day, datetime):
        return day.date()
    if isinstance(day, date):
        return day
    try:
        return date.fromisoformat(str(day))
    except ValueError:
        raise OptionError(
            f"ages: the day of {column!r} is {day!r}; expected a date such as '2026-01-01'"
        ) from None


def edges_of(bands: Mapping[str, Bands]) -> dict[str, list[float]]:
    """Return the edges of each column: the argument `bands` that makes these bands again."""
    return {column: list(cut.edges) for column, cut in bands.items()}


def days_of_ages(bands: Mapping[str, Bands]) -> dict[str, str]:
    """Return the day of each column of dates: the argument `ages` that makes these bands again."""
    return {column: cut.on.isoformat() for column, cut in bands.items() if cut.on is not None}


def _check_columns(table: Table, roles: Roles) -> None:
    """Check that each column exists and that none has two roles."""
    assignments = [("protected", column) for column in roles.protected]
    for role in ("outcome", "weights", "within", "score"):
        column = getattr(roles, role)
        if column is not None and not (role == "outcome" and roles.counts):
            assignments.append((role, column))
    assignments += [("counts", column) for column in roles.counts.values()]
    role_of: dict[str, str] = {}
    for role, column in assignments:
        kind = table.dtype(table.column(column, role))
        if kind.is_nested():
            raise ColumnError(f"{role}={column!r}: expected plain values, found {kind}")
        if role == "protected" and is_date(kind) and column not in roles.bands:
            raise holds_dates(role, column)
        if column in role_of:
            raise ColumnError(
                f"{role_of[column]}={column!r} and {role}={column!r}: the same column cannot be "
                "both"
            )
        role_of[column] = role
    check_banded(roles.bands, roles.protected)


def check_banded(bands: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Raise if bands are given for a column that no groups are made of."""
    for column in bands:
        if column not in columns:
            raise ColumnError(
                f"bands: {column!r} is not a protected column; expected {listed(columns)}"
            )


def prepare(table: Table, roles: Roles, features: Iterable[str] = ()) -> Table:
    """Return the table ready to be counted: missing numbers null, protected numbers in bands.

    Blank texts and the user's tokens for "not known" stay in the columns that are counted: `count`
    and `as_meant` take them out of the counts, where there are few values to look at.
    """
    number_columns = [*roles.bands, roles.weights, roles.score, *roles.counts.values(), *features]
    named_columns = [column for column in dict.fromkeys(number_columns) if column is not None]
    # In this order, because a token like -1 must not fall into the lowest band.
    table = table.with_missing(named_columns, roles.unknown)
    return with_bands(table, roles.bands) if roles.bands else table


def as_meant(counts: Counts, roles: Roles, table: Table) -> Counts:
    """Return the counts with values as people mean them.

    Bands have their names. Values that differ only in case or in spaces are one, and those that
    mean "not known" are missing.

    Parameters
    ----------
    counts : Counts
        Of the table that `prepare` returned.
    roles : Roles
    table : Table
        As it was opened.
    """
    matched = list[Value]()
    values = list[Value]()
    is_aggregated = roles.weights is not None and counts.exact
    if is_aggregated:
        check_no_total_rows(table)
    keys = [key for key in roles.keys if key in counts.values]
    check_no_second_header(
        {key: holds_name(key, counts.values[key], counts.codes[key]) for key in keys}, counts.rows
    )
    for key in keys:
        if is_aggregated:
            check_no_totals(key, counts.values[key], table.reading.known)
        elif key != roles.outcome:
            check_no_row_of_totals(key, counts.rows_of(key), table.reading.known)
        spellings = spellings_of(
            key,
            counts.rows_of(key),
            role="outcome" if key == roles.outcome else "group",
            unknown=roles.unknown,
            reading=table.reading,
        )
        matched += spellings.matched
        values += counts.values[key]
        counts = counts.respelled(key, spellings)
    for token in roles.unknown:
        if token not in matched and not _occurs(table, token, roles):
            raise unmatched_token(token, values)
    return name_bands(counts, roles.bands) if roles.bands else counts


def holds_name(column: str, values: Sequence[Value], codes: IntArray | CodeArray) -> BoolArray:
    """Mark the rows that hold the column's own name; -1 is the code of a missing value."""
    is_name = [folded(str(value)) == folded(column) for value in values]
    return np.array([*is_name, False], dtype=np.bool_)[codes]


def check_no_second_header(
    keys: Mapping[str, BoolArray],
    row_counts: FloatArray | IntArray,
    *,
    beside: Mapping[str, BoolArray] | None = None,
) -> None:
    """Raise if a row holds the names of the columns: it is no person.

    Parameters
    ----------
    keys : mapping of column to bool array
        Which rows hold the column's name; a row that repeats the header does in all of these.
    row_counts : array
        How many rows of the table each row stands for.
    beside : mapping of column to bool array, optional
        Further columns, of which such a row holds half of the names at least. A "Black" in the
        column of that name is a group, unless the row holds other names too, of which one is in
        no other row.
    """
    columns = {**keys, **(beside or {})}
    if len(columns) < 2:
        return
    is_header = np.all(np.stack([*keys.values()]), axis=0)
    if beside:
        is_header &= np.mean(np.stack([*beside.values()]), axis=0) >= 0.5
    names_in_header = [is_name for is_name in columns.values() if np.any(is_name & is_header)]
    # A name that other rows hold too is a value: a "Black" may be "hired", if others are either.
    are_values = all(np.any(is_name & ~is_header) for is_name in names_in_header)
    row_count = int(row_counts[is_header].sum())
    if row_count and not are_values:
        raise TableError(
            f"columns {listed(columns)}: {rows_have(row_count)} the names of the columns as "
            "values; remove what repeats the header"
        )


def holds_dates(argument: str, column: str | None) -> ColumnError:
    """Return the error for dates that are to be groups; without a column they were passed."""
    if column is None:
        return ColumnError(f"{argument}: the values are dates; pass groups of ages instead")
    return ColumnError(f"{argument}={column!r}: the column holds dates; {age_advice(column)}")


def unmatched_token(token: Value, values: Iterable[Value]) -> OptionError:
    """Return the error for a token of `unknown` that is not one of the values, with the nearest."""
    return OptionError(
        f"unknown={token!r}: never occurs in the columns that are used; correct it, or leave it "
        f"out{nearest(token, values)}"
    )


def check_tokens(frame: nw.DataFrame[Any], unknown: Sequence[Value]) -> None:
    """Raise if a token of `unknown` is in no column of a table in memory."""
    for token in unknown:
        if not occurring_tokens(frame, [token]):
            raise unmatched_token(token, ())


def _occurs(table: Table, token: Value, roles: Roles) -> bool:
    """Return whether a token is in any column, of those whose values are not counted apart."""
    for name in table.columns:
        if name in roles.keys or table.dtype(name).is_nested():
            continue
        # What is missing with the token and not without it.
        column, dtype = table.col(name), table.dtype(name)
        without = without_missing(column, dtype)
        is_token = ~without.is_null() & without_missing(column, dtype, [token]).is_null()
        frame = with_room_for_null(table.frame, table.names[name]).filter(is_token)
        if table.rows(frame.select(table.names[name]).head(1)):
            return True
    return False


def unknown_members(table: Table, roles: Roles) -> Table:
    """Return the table with protected values null that are blank or mean "not known"."""
    table = table.with_missing(roles.protected, ())
    for name in roles.protected:
        if name in roles.bands:
            continue
        spellings = spellings_of(
            name,
            count(table, [name]).rows_of(name),
            role="group",
            unknown=roles.unknown,
            reading=table.reading,
        )
        if spellings.unknown:
            column = table.col(name)
            is_unknown = column.is_in(list(spellings.unknown))
            table = table.with_column(name, nw.when(~is_unknown).then(column))
    return table


def choose_favorable(outcome: str, favorable: Any, values: Sequence[Value]) -> tuple[Value, ...]:
    """Return the values of the outcome that mean selected; mostly it is one."""
    if not values:
        raise OutcomeError(f"outcome={outcome!r}: every value is missing")
    if isinstance(favorable, np.ndarray):
        favorable = favorable.tolist()
    is_list = isinstance(favorable, list | tuple)
    if isinstance(favorable, set | frozenset | Mapping) or (is_list and not favorable):
        raise OutcomeError(
            f"favorable={favorable!r}: expected a value of outcome {outcome!r}, or several in a "
            "list"
        )
    if favorable is not None:
        return _favorable_among(values, favorable if is_list else [favorable], outcome)
    texts = tuple(folded(str(value)) for value in values)
    for pairs in (PLAIN_ANSWERS, PLAIN_PAIRS):
        for pair in pairs:
            if len(values) != 2 or set(texts) != set(pair):
                continue
            chosen = values[texts.index(pair[1])]
            words = unfavorable_words(outcome) if pairs is PLAIN_ANSWERS else []
            if words:
                raise OutcomeError(
                    f"outcome={outcome!r}: {str(chosen)!r} may be bad for a person here, because "
                    f"of {words[0]!r} in the name; say which value is favorable, as in "
                    f"favorable={str(values[1 - texts.index(pair[1])])!r}"
                )
            return (chosen,)
    if len(values) == 1:
        raise OutcomeError(
            f"outcome={outcome!r}: holds only {str(values[0])!r}; expected who was selected and "
            "who was not (a blank is missing, not a no)"
        )
    raise OutcomeError(
        f"outcome={outcome!r}: holds {len(values)} values, {listed(values)}; say which one is "
        f"favorable, as in favorable={str(values[0])!r}{_counts_advice(outcome, values)}"
    )


def _favorable_among(
    values: Sequence[Value], favorable: Sequence[Any], outcome: str
) -> tuple[Value, ...]:
    """Return the values that the user's names mean; two names must not mean the same."""
    meant: dict[Value, Any] = {}
    for name in favorable:
        message = f"favorable={name!r}: never occurs in outcome {outcome!r}"
        value = find_value(name, values, message=message, error=OutcomeError)
        if value in meant:
            raise OutcomeError(
                f"favorable={list(favorable)!r}: {meant[value]!r} and {name!r} are the same value "
                f"of outcome {outcome!r}; give each value once"
            )
        meant[value] = name
    if len(meant) == len(values) > 1:
        raise OutcomeError(
            f"favorable={list(favorable)!r}: these are all values of outcome {outcome!r}, so "
            "everyone would count as selected; leave out the unfavorable one"
        )
    return tuple(meant)


def _counts_advice(outcome: str, values: Sequence[Value]) -> str:
    """Say how to enter numbers of persons, if the outcome looks like them."""
    are_numbers = all(is_number(value) and float(value) >= 0 for value in values)
    if len(values) < 3 or not are_numbers:
        return ""
    return (
        f"; if it is a number of persons, give counts={{'n': ..., 'selected': {outcome!r}}} instead"
    )


def unfavorable_words(name: str) -> list[str]:
    """Return the words in the name of an outcome that make "yes" bad for a person.

    Examples
    --------
    >>> [unfavorable_words(name) for name in ("two_year_recid", "LoanDefault", "notified")]
    [['recid'], ['Default'], []]
    """
    return [
        word
        for word in NAME_WORDS.findall(name)
        if any(
            word.lower() == start if start in WHOLE_WORDS else word.lower().startswith(start)
            for start in UNFAVORABLE
        )
    ]


def favorable_cells(counts: Counts, outcome: str, favorable: Sequence[Value]) -> BoolArray:
    """Mark the cells of the counts whose outcome is one of the favorable values."""
    values = counts.values[outcome]
    codes = [values.index(value) for value in favorable if value in values]
    return np.isin(counts.codes[outcome], codes)


def favorable_names(favorable: Sequence[Value]) -> str | tuple[str, ...]:
    """Return the favorable values as a result holds them: one text, or a tuple of several.

    Examples
    --------
    >>> favorable_names([1]), favorable_names(["Hired", "Offer declined"])
    ('1', ('Hired', 'Offer declined'))
    """
    names = tuple(str(value) for value in favorable)
    return names[0] if len(names) == 1 else names


def outcome_of(
    column: nw.Series[Any],
    favorable: Any,
    unknown: Sequence[Value] = (),
    reading: Reading | None = None,
    notes: list[str] | None = None,
    row_counts: IntArray | None = None,
) -> tuple[BoolArray, BoolArray, tuple[Value, ...]]:
    """Return which rows have an outcome, which have a favorable one, and the favorable values.

    What was assumed about the values is added to `notes`. `row_counts` as in `with_spellings`.
    """
    column, spellings = with_spellings(
        column,
        role="outcome",
        unknown=unknown,
        reading=reading or Reading(),
        row_counts=row_counts,
    )
    if notes is not None:
        notes += spellings.notes
    is_known = ~np.asarray(column.is_null().to_numpy(), dtype=bool)
    chosen = choose_favorable(str(column.name), favorable, sorted(spellings.values, key=str))
    selected = np.zeros(is_known.shape, dtype=bool)
    for value in chosen:
        selected |= np.asarray((column == value).fill_null(value=False).to_numpy(), dtype=bool)
    return is_known, selected, chosen


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """The groups of one protected column, or of several jointly.

    Attributes
    ----------
    protected : tuple of str
    groups : tuple of tuple
        One value per protected column.
    codes : int array
        For each cell of the counts, its group; -1 where membership is unknown.
    """

    protected: tuple[str, ...]
    groups: tuple[Group, ...]
    codes: IntArray

    @property
    def name(self) -> str:
        """The protected column, or several joined by " & "."""
        return label(self.protected)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The groups' names for people; all differ, even those of 1 and "1"."""
        names = [label(group) for group in self.groups]
        exact_names = [" & ".join(repr(value) for value in group) for group in self.groups]
        return tuple(
            name if names.count(name) == 1 else exact_name
            for name, exact_name in zip(names, exact_names, strict=True)
        )

    def keep(self, kept: BoolArray) -> Attribute:
        """Return the attribute with only the groups where `kept` is true.

        Membership of the cells of all other groups becomes unknown.
        """
        # The appended entry is the one that the code -1 points to.
        new_codes = np.append(np.where(kept, np.cumsum(kept) - 1, MISSING), MISSING)
        groups = tuple(group for group, stays in zip(self.groups, kept, strict=True) if stays)
        return Attribute(protected=self.protected, groups=groups, codes=new_codes[self.codes])

    def pool_others(self, reference: Group) -> Attribute:
        """Return an attribute of one column with two groups: all others as one, the reference."""
        is_reference = self.codes == self.groups.index(reference)
        return Attribute(
            protected=self.protected,
            groups=((ALL_OTHERS,), reference),
            codes=np.where(self.codes == MISSING, MISSING, is_reference.astype(np.int64)),
        )


def label(group: Group) -> str:
    """Return a group's name for people.

    Examples
    --------
    >>> label(("Female", "Black"))
    'Female & Black'
    """
    return " & ".join(str(value) for value in group)


def attributes(counts: Counts, protected: Sequence[str]) -> list[Attribute]:
    """Return each protected column alone, then every two jointly, then all of them jointly."""
    for column in protected:
        check_groups(counts.values[column], "protected", column)
    single = [
        Attribute(
            protected=(column,),
            groups=tuple((value,) for value in counts.values[column]),
            codes=counts.codes[column],
        )
        for column in protected
    ]
    if len(single) == 1:
        return single
    # The cells are counted once, for all columns; of two columns they are summed over the others.
    pairs = list(combinations(protected, 2)) if len(single) > 2 else []
    joint = []
    for columns in (*pairs, tuple(protected)):
        column_codes = np.stack([counts.codes[column] for column in columns])
        is_known = np.all(column_codes != MISSING, axis=0)
        codes = np.full(is_known.shape, MISSING, dtype=np.int64)
        # Only combinations that occur are groups.
        combined, codes[is_known] = np.unique(
            column_codes[:, is_known], axis=1, return_inverse=True
        )
        groups = tuple(
            tuple(counts.values[column][code] for column, code in zip(columns, group, strict=True))
            for group in combined.T
        )
        joint.append(Attribute(protected=columns, groups=groups, codes=codes))
    return [*single, *joint]


def group_codes(
    table: Table, protected: Sequence[str], groups: Sequence[Sequence[Group]]
) -> nw.Expr:
    """Return the code of each row's group, or -1 if its group is unknown.

    Parameters
    ----------
    table : Table
    protected : sequence of str
    groups : sequence of sequence of tuple
        For each group and each protected column, the values that the table holds for it, as in
        `Counts.members`.
    """
    code: Any = nw.lit(-1)
    for index, group in enumerate(groups):
        # Nulls are not ignored: a joint group is known only if each of its columns is.
        is_group = nw.all_horizontal(
            *(
                table.col(column).is_in(list(members))
                if len(members) > 1
                else table.col(column) == members[0]
                for column, members in zip(protected, group, strict=True)
            ),
            ignore_nulls=False,
        )
        code = nw.when(is_group).then(nw.lit(index)).otherwise(code)
    expression: nw.Expr = code.cast(nw.Int64())
    return expression


def check_groups(
    values: Sequence[Value],
    argument: GroupingArgument,
    column: str | None = None,
    *,
    min_groups: int = 2,
) -> None:
    """Raise unless the distinct values of a column can be groups, or strata.

    Parameters
    ----------
    values : sequence
        Missing values are not among them.
    argument : {"protected", "stratify_by"}
        A protected column of many numbers needs bands. Strata may be many: schools by number.
    column : str, optional
        None for values that were passed with the table, which may be strata of any kind.
    min_groups : int
        1 for a column of several, which are groups jointly.
    """
    name = argument if column is None else f"{argument}={column!r}"
    content = "the values are" if column is None else "the column holds"
    if values and are_dates(values):
        raise holds_dates(argument, column)
    if any(isinstance(value, timedelta) for value in values):
        raise ColumnError(
            f"{name}: {content} durations; make numbers of it, such as days, and name the ones to "
            "cut it at with bands="
        )
    if len(values) < min_groups:
        kind = f"only {str(values[0])!r}" if values else "nothing but missing values"
        raise GroupError(f"{name}: {content} {kind}; expected at least two groups")
    numbers = [number for number in map(_number, values) if number is not None]
    texts = [value.strip() for value in values if isinstance(value, str)]
    holds_codes = any(re.match(CODE_TEXT, text) for text in texts)  # 01: of a department, or a zip
    may_be_many = argument == "stratify_by" or column is None or holds_codes
    if not may_be_many and len(numbers) == len(values) > MAX_NUMERIC_GROUPS:
        raise ColumnError(
            f"{name}: a numeric column with {len(values)} different values; "
            + banding_advice(str(column), numbers)
        )


def compatible(attribute: Attribute, counts: Counts, group: int) -> BoolArray:
    """Mark the cells of unknown membership that could belong to the group.

    In a joint group, one column may be known and rule the group out.
    """
    possible: BoolArray = attribute.codes == MISSING
    if len(attribute.protected) == 1:
        return possible
    for column, value in zip(attribute.protected, attribute.groups[group], strict=True):
        codes = counts.codes[column]
        possible = possible & ((codes == MISSING) | (codes == counts.values[column].index(value)))
    return possible


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Rows and selections per group.

    Attributes
    ----------
    rows, rows_selected : float array
        Number of persons: rows of the table, or the sum of weights that are counts.
    weight, weight_selected : float array
        Sum of weights, in units of `unit`; rates are ratios of these.
    effective : float array
        The effective sample size: this many persons, each counted once, would give a rate of the
        same variance, linearised. `rows` where persons are counted.
    unit : float
        How many units make a weight of 1.
    """

    rows: FloatArray
    rows_selected: FloatArray
    weight: FloatArray
    weight_selected: FloatArray
    effective: FloatArray
    unit: float = 1.0


def tally(codes: IntArray, counts: Counts, selected: BoolArray, group_count: int) -> Tally:
    """Sum the cells of each group; `selected` marks the cells with the favorable outcome."""
    is_known = codes != MISSING

    def total(values: FloatArray, cells: BoolArray) -> FloatArray:
        sums = np.bincount(codes[cells], weights=values[cells], minlength=group_count)
        return np.asarray(sums, dtype=np.float64)

    weight = total(counts.weight, is_known)
    weight_selected = total(counts.weight, is_known & selected)
    effective = weight
    if not counts.exact:
        from fourfifths._stats.proportions import linearised_size  # it loads scipy

        # A group of weight 0 has no rate, and no size either.
        has_weight = weight > 0
        effective = np.zeros(group_count)
        effective[has_weight] = linearised_size(
            weight_selected[has_weight] / weight[has_weight],
            squares_selected=total(counts.weight_squared, is_known & selected)[has_weight],
            squares_not_selected=total(counts.weight_squared, is_known & ~selected)[has_weight],
            weight=weight[has_weight],
        )
    return Tally(
        rows=total(counts.rows, is_known),
        rows_selected=total(counts.rows, is_known & selected),
        weight=weight,
        weight_selected=weight_selected,
        effective=effective,
        unit=counts.unit,
    )


def choose_reference(
    protected: Sequence[str],
    groups: Sequence[Group],
    *,
    designated: Mapping[str, Any],
    rates: FloatArray | None = None,
    sizes: FloatArray | None = None,
    otherwise: Literal["highest rate", "largest", "error"] = "error",
    reason: str = "",
) -> int:
    """Return the index of the group that all others are compared with.

    Parameters
    ----------
    protected : sequence of str
    groups : sequence of tuple
    designated : mapping of str to value
        The reference value of each protected column, as far as it is designated.
    rates, sizes : float array, optional
        The groups' selection rates and sizes, for the choice where no group is designated. A NaN
        rate is never the highest.
    otherwise : {"highest rate", "largest", "error"}
        What to do if `designated` lacks the value of a protected column.
    reason : str
        Why a group must be designated, for the error.
    """
    if all(column in designated for column in protected):
        reference = tuple(
            find_value(
                designated[column],
                sorted({group[index] for group in groups}, key=str),
                message=f"reference={designated[column]!r}: not among the groups of {column!r}",
            )
            for index, column in enumerate(protected)
        )
        if reference not in groups:
            raise GroupError(
                f"reference: no rows are {label(reference)!r} (groups: "
                f"{listed(label(group) for group in groups)})"
            )
        return list(groups).index(reference)
    if otherwise == "highest rate" and rates is not None:
        # Of equal rates the first in the order of the groups, which does not depend on the rows.
        return int(np.argmax(np.nan_to_num(rates, nan=-1.0)))
    if otherwise == "largest" and sizes is not None:
        return int(np.argmax(sizes))
    example = dict(zip(protected, groups[0], strict=True))
    raise GroupError(
        f"reference: {reason}; name it, as in reference={example!r} (groups: "
        f"{listed(label(group) for group in groups)})"
    )


def find_value(
    name: Any,
    values: Sequence[Value],
    *,
    message: str,
    error: type[FourfifthsError] = GroupError,
) -> Value:
    """Return the value that the user's `name` means: the same value, text or number.

    The shell and saved files know only texts, so "1" may have to mean 1 or 1.0; and of a text, case
    and spaces may differ. If no value, or more than one, is meant, raise `error` with the message
    and the values that there are.
    """
    same = [
        value
        for value in values
        if value == name and isinstance(value, bool) == isinstance(name, bool)
    ]
    # "true" means True, but a text "true" does not mean another text "True".
    same_text = [
        value
        for value in values
        if str(value) == str(name)
        or (isinstance(value, bool) and str(value).lower() == str(name).lower())
    ]
    number = _number(name)
    same_number = [value for value in values if number is not None and _number(value) == number]
    same_folded = [
        value
        for value in values
        if isinstance(value, str) and isinstance(name, str) and folded(value) == folded(name)
    ]
    # The strictest reading that leaves one value: both 1 and "1" may be there.
    for matches in (same, same_text, same_number, same_folded):
        if len(matches) == 1:
            return matches[0]
    raise error(f"{message}{nearest(name, values)} (values: {listed(values)})")


def _number(value: Value) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def is_share(value: Any, limits: ShareRange) -> bool:
    """Return whether a value is a number in a range; True and False are not numbers here.

    Examples
    --------
    >>> is_share(np.float32(0.5), "(0, 1)"), is_share(1, "(0, 1)"), is_share(True, "(0, 1]")
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    number = cast(Any, value)  # as it is: a whole number may be too large for a float
    low, high = (float(limit) for limit in limits[1:-1].split(", "))
    is_above = number >= low if limits[0] == "[" else number > low
    return bool(is_above and (number <= high if limits[-1] == "]" else number < high))


def check_share(name: str, value: Any, limits: ShareRange) -> float:
    """Return a number of the user's, such as a confidence, or raise unless it is in the range."""
    if not is_share(value, limits):
        raise OptionError(f"{name}={value!r}: expected a number {EXPECTED_IN_RANGE[limits]}")
    return float(value)


def check_whole(
    name: str, value: Any, *, minimum: int, maximum: int | None = None, alternative: str = ""
) -> int:
    """Return a whole number of the user's, or raise unless it is in the range.

    `alternative` says what else the user may give, for the error.
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < minimum or (maximum is not None and value > maximum):
        limits = f", {minimum} or more" if maximum is None else f" from {minimum} to {maximum}"
        raise OptionError(f"{name}={value!r}: expected {alternative}a whole number{limits}")
    return int(value)


def read_beta(beta: Any) -> float | tuple[float, float] | None:
    """Return the user's selection rate, or range of two, or raise unless they are rates."""
    if beta is None:
        return None
    limits = beta if isinstance(beta, tuple | list) else (beta, beta)
    if len(limits) != 2 or not all(is_share(limit, "(0, 1]") for limit in limits):
        raise OptionError(
            f"beta={beta!r}: expected a selection rate above 0 and up to 1, or a range of two"
        )
    low, high = map(float, limits)
    if low > high:
        raise OptionError(f"beta={beta!r}: the lower end is above the upper end")
    return (low, high) if isinstance(beta, tuple | list) else low


def check_seed(random_state: Any, *, bits: Literal[32, 64] = 32) -> int:
    """Return a seed, or raise unless it has so few bits: scikit-learn takes 32, a repair 64."""
    is_whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not is_whole or not 0 <= cast(int, random_state) < 2**bits:
        alternative = ", or None" if bits == 64 else ""
        raise OptionError(
            f"random_state={random_state!r}: expected a whole number from 0 to 2**{bits} - 1"
            f"{alternative}"
        )
    return int(random_state)


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise unless a value of the user's is one of the choices; None is not named as one."""
    allowed = tuple(choices)
    # By their types too: True is not 1.
    if not any(
        isinstance(value, type(choice) | np.bool_) and value == choice for choice in allowed
    ):
        named = [choice for choice in allowed if choice is not None]
        raise OptionError(
            f"{name}={value!r}: expected one of {listed(named)}{nearest(value, named)}"
        )
