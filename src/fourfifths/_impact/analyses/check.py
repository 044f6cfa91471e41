"""`check`: a published table of rates and ratios, recomputed from its counts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

from fourfifths._arrays import Interval
from fourfifths._results import Record, Result, entry_of, flat
from fourfifths._tables.counts import names_total
from fourfifths._tables.groups import check_whole
from fourfifths._tables.table import TableLike, Value, no_rows, open_table
from fourfifths._tables.values import folded, means_not_known
from fourfifths._text import listed, number_text
from fourfifths.errors import ColumnError, GroupError, OptionError, TableError

Verdict = Literal["follows", "does not follow", "not given"]
Range = tuple[Fraction, Fraction]
PRINTED = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s*(?P<percent>%?)")
# 6 RCNY 5-301(d): a category under this share may be left out of the impact ratios.
MINIMUM_SHARE = Fraction(2, 100)
# A ratio column without % signs, and with a number from here on, holds percentages.
SMALLEST_PERCENTAGE_RATIO = 10


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A printed rate or ratio: the text, and the numbers that round to it.

    Attributes
    ----------
    text : str
    value : Fraction
        45% is 0.45.
    step : Fraction
        The value of a 1 in the last printed digit.
    """

    text: str
    value: Fraction
    step: Fraction

    def follows_from(self, limits: Range) -> bool:
        """Return whether a number in the range rounds to what is printed; a half either way."""
        low, high = limits
        return low <= self.value + self.step / 2 and high >= self.value - self.step / 2

    def is_cut_off(self, limits: Range) -> bool:
        """Return whether what is printed is the number with the further digits cut off."""
        low, high = limits
        return low < self.value + self.step and high >= self.value

    def show(self, exact: Fraction) -> str:
        """Return another number in the same form."""
        is_percent = "%" in self.text
        scale = 100 if is_percent or self.step >= 1 else 1
        digits = max(0, -Decimal(float(self.step * scale)).adjusted())
        return f"{float(exact * scale):.{digits}f}{'%' if is_percent else ''}"


@dataclass(frozen=True, kw_only=True)
class CheckedGroup:
    """One row of the published table.

    Attributes
    ----------
    group : str
    n : int
    selected : int or None
        As published or, if only the rate is, the one number of persons that gives it. None where
        no number does, or several do.
    rate_printed, ratio_printed : str or None
        As published.
    ratio_number : float or None
        The printed ratio as a number: 68% is 0.68.
    rate, impact_ratio : float
        Recomputed; the ratio to the highest rate. Where only rounded rates are published and
        several numbers of persons give them, from the printed rates.
    rate_verdict, ratio_verdict : {"follows", "does not follow", "not given"}
    remarks : tuple of str
        What the printed figures should be, and what may have happened.
    impact_ratio_bounds : tuple of float
        Between which limits the ratio to the group with the highest rate would lie, if the groups
        of the people of unknown group were known. Without such people, the ratio.
    """

    group: str
    n: int
    selected: int | None
    rate_printed: str | None
    rate: float
    rate_verdict: Verdict
    ratio_printed: str | None
    ratio_number: float | None
    impact_ratio: float
    ratio_verdict: Verdict
    remarks: tuple[str, ...]
    impact_ratio_bounds: Interval


@dataclass(frozen=True, kw_only=True, repr=False)
class Check(Result):
    """A published table, recomputed.

    Attributes
    ----------
    table : str
    rows : int
        The sum of n.
    highest : str
        The group with the highest recomputed rate.
    ratio_reference : str or None
        The group whose rate explains most of the printed ratios.
    unknown_count, unknown_selected, total : int or None
        As stated by the caller.
    left_out : int or None
        People of the total who are in no group and not unknown either.
    errors : int
        How many printed figures do not follow.
    groups : tuple of CheckedGroup
    statements : tuple of str
    notes : tuple of str
    """

    _schema: ClassVar[str | None] = "fourfifths/check/1"

    table: str
    rows: int
    highest: str
    ratio_reference: str | None
    unknown_count: int | None
    unknown_selected: int | None
    total: int | None
    left_out: int | None
    errors: int
    groups: tuple[CheckedGroup, ...]
    statements: tuple[str, ...]
    notes: tuple[str, ...]

    def __getitem__(self, group: object) -> CheckedGroup:
        """Return a group by its name or value."""
        return entry_of({checked.group: checked for checked in self.groups}, group, "group")

    def to_records(self) -> list[Record]:
        """Return one flat record for each group."""
        records = []
        for group in self.to_dict()["groups"]:
            lower, upper = group.pop("impact_ratio_bounds") or (None, None)
            records.append(flat(group) | {"ratio_at_least": lower, "ratio_at_most": upper})
        return records


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row as read: exact numbers, and the range of rates that its figures allow."""

    group: str
    n: int
    selected: int | None
    rate: Printed | None
    ratio: Printed | None
    rates: Range

    @property
    def best_rate(self) -> Fraction:
        """The rate; what is printed, if several numbers of people round to it."""
        is_exact = self.rates[0] == self.rates[1] or self.rate is None
        return self.rates[0] if is_exact or self.rate is None else self.rate.value


def check(
    table: TableLike,
    *,
    group: str,
    n: str,
    selected: str | None = None,
    rate: str | None = None,
    ratio: str | None = None,
    unknown_count: int | None = None,
    unknown_selected: int | None = None,
    total: int | None = None,
) -> Check:
    """Recompute a published table of selection rates and impact ratios.

    A printed number stands for all numbers that round to it: 0.68 for those from 0.675 to 0.685.
    All comparisons are of exact fractions. How many digits are printed is taken from the whole
    column, because a final 0 is often dropped.

    Parameters
    ----------
    table : dataframe or path
        One row for each group.
    group, n : str
        The columns of the groups' names and sizes.
    selected, rate, ratio : str, optional
        The columns of the numbers selected, of the rates and of the ratios; `selected` or `rate`
        is needed. Rates and ratios may be written as 0.45, .45, 45% or 45.0.
    unknown_count, unknown_selected : int, optional
        How many people belong to no known group, and how many of those were selected.
    total : int, optional
        How many people were assessed in all.

    Examples
    --------
    The example of New York City's rule, 6 RCNY 5-301(d): of 28 people, no number is 64.2%.

    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {
    ...         "category": ["Hispanic or Latino", "White", "Black"],
    ...         "applicants": [28, 40, 32],
    ...         "rate": ["64.2%", "37.5%", "50.0%"],
    ...         "ratio": ["1.00", "0.58", "0.78"],
    ...     }
    ... )
    >>> result = check(table, group="category", n="applicants", rate="rate", ratio="ratio")
    >>> result["Hispanic or Latino"].remarks
    ('rate: 64.2% of 28 is not a whole number of people; 18 of 28 is 64.3% (cut off, not rounded)',)
    >>> result["White"].ratio_verdict
    'follows'
    """
    if selected is None and rate is None:
        raise OptionError(
            "name the column of the numbers selected, or of the rates: selected=... or rate=..."
        )
    for argument, people in (
        ("unknown_count", unknown_count),
        ("unknown_selected", unknown_selected),
        ("total", total),
    ):
        if people is not None:
            check_whole(argument, people, minimum=0)
    if unknown_selected is not None and unknown_selected > (unknown_count or 0):
        raise OptionError(
            f"unknown_selected={unknown_selected}: is more than unknown_count={unknown_count or 0}"
        )

    rows, name, notes = read_rows(
        table, group=group, n=n, selected=selected, rate=rate, ratio=ratio
    )

    size = sum(row.n for row in rows)
    compared = [row for row in rows if not may_be_left_out(row, rows, size=size)]
    highest = max(compared, key=lambda row: (row.rates[1], row.rates[0]))
    if highest.rates[1] == 0:
        raise TableError(f"{name}: nobody is selected in any group, so there are no ratios")
    reference = reference_of_ratios(rows, highest)
    checked = tuple(
        checked_group(
            row,
            highest=highest,
            reference=reference,
            unknown=unknown_count or 0,
            unknown_selected=unknown_selected,
        )
        for row in rows
    )

    left_out = None if total is None else total - size - (unknown_count or 0)
    return Check(
        table=name,
        rows=size,
        highest=highest.group,
        ratio_reference=None if reference is None else reference.group,
        unknown_count=unknown_count,
        unknown_selected=unknown_selected,
        total=total,
        left_out=left_out,
        errors=sum(
            (row.rate_verdict == "does not follow") + (row.ratio_verdict == "does not follow")
            for row in checked
        ),
        groups=checked,
        statements=tuple(
            statements(
                rows,
                checked,
                highest=highest,
                reference=reference,
                unknown=unknown_count,
                total=total,
                left_out=left_out,
            )
        ),
        notes=notes,
    )


def read_rows(
    table: TableLike,
    *,
    group: str,
    n: str,
    selected: str | None,
    rate: str | None,
    ratio: str | None,
) -> tuple[list[Row], str, tuple[str, ...]]:
    """Read the published table; return its rows, its name and the notes of reading it."""
    opened = open_table(table).without_empty_rows()
    columns = {"group": group, "n": n, "selected": selected, "rate": rate, "ratio": ratio}
    named = {argument: column for argument, column in columns.items() if column is not None}
    for argument, column in named.items():
        opened.column(column, argument)
    cells = opened.rows(opened.frame.select(*(opened.names[column] for column in named.values())))
    if not cells:
        raise no_rows(opened.name)
    values = dict(zip(named, (list(column) for column in zip(*cells, strict=True)), strict=True))
    groups = ["" if value is None else str(value).strip() for value in values["group"]]
    for label in groups:
        if not label or groups.count(label) > 1:
            raise ColumnError(
                f"group={group!r}: expected a name for each row, all different, "
                f"found {label!r} {groups.count(label)} times"
            )
    sizes = [
        whole_number(value, f"n={n!r}", label)
        for value, label in zip(values["n"], groups, strict=True)
    ]
    check_names(groups, sizes, argument=f"group={group!r}", known=opened.reading.known)
    empty: list[Any] = [None] * len(groups)
    selections = [
        None if is_blank(value) else whole_number(value, f"selected={selected!r}", label)
        for value, label in zip(values.get("selected", empty), groups, strict=True)
    ]
    rates = read_printed(values.get("rate", empty), f"rate={rate!r}", percent_from=1)
    ratios = read_printed(
        values.get("ratio", empty), f"ratio={ratio!r}", percent_from=SMALLEST_PERCENTAGE_RATIO
    )
    rows = [
        row_of(label, size, selected=count, rate=printed_rate, ratio=printed_ratio)
        for label, size, count, printed_rate, printed_ratio in zip(
            groups, sizes, selections, rates, ratios, strict=True
        )
    ]
    return rows, opened.name, opened.notes


def may_be_left_out(row: Row, rows: Sequence[Row], *, size: int) -> bool:
    """Return whether a group was left out of the ratios, and is small enough for that."""
    has_ratios = any(other.ratio is not None for other in rows)
    return has_ratios and row.ratio is None and Fraction(row.n, size) < MINIMUM_SHARE


def check_names(
    groups: Sequence[str], sizes: Sequence[int], *, argument: str, known: Iterable[Value]
) -> None:
    """Raise if a row is no group by its name: a total, or people whose group is not known."""
    kept_names = {folded(str(value)) for value in known}
    for label, size in zip(groups, sizes, strict=True):
        if folded(label) in kept_names:
            continue
        if names_total(label):
            meaning, option = "a total of the other rows", "total"
        elif means_not_known(label, "group"):
            meaning, option = "people of unknown group", "unknown_count"
        else:
            continue
        raise GroupError(
            f"{argument}: {label!r} looks like {meaning}; remove the row and give {option}={size}, "
            f"or, if it is a group, give known=[{label!r}]"
        )


def row_of(
    label: str, size: int, *, selected: int | None, rate: Printed | None, ratio: Printed | None
) -> Row:
    """Return a row, and the range of rates that its figures allow."""
    if size < 1:
        raise TableError(f"the row of {label!r} has n = {size}; leave it out")
    if selected is not None:
        if selected > size:
            raise TableError(
                f"the row of {label!r} has {selected} selected of {size}; expected at most all"
            )
        limits = Fraction(selected, size), Fraction(selected, size)
    elif rate is not None:
        counts = possible_counts(rate, size)
        selected = counts[0] if len(counts) == 1 else None
        # If no number of people has this rate, the nearest one is taken.
        counts = counts or [min(round(rate.value * size), size)]
        limits = Fraction(counts[0], size), Fraction(counts[-1], size)
    else:
        raise TableError(
            f"the row of {label!r} has neither a number selected nor a rate; leave it out, or "
            "fill it in"
        )
    return Row(group=label, n=size, selected=selected, rate=rate, ratio=ratio, rates=limits)


def is_blank(value: Value) -> bool:
    """Return whether a cell holds nothing, or a sign that it holds nothing."""
    return value is None or str(value).strip().lower() in ("", "-", "--", "n/a", "na", "*")


def whole_number(value: Value, argument: str, label: str) -> int:
    """Return a number of people; 1,234 and 1234.0 are read too."""
    text = str(value).strip()
    plain_text = text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", text) else text
    if re.fullmatch(r"[1-9]\d{0,2}(\.000)+", text):
        raise ColumnError(
            f"{argument}: {text!r} in the row of {label!r} may be {text.replace('.', '')} or "
            f"{text.partition('.')[0]}; write it without the point"
        )
    if not re.fullmatch(r"\d+(\.0*)?", plain_text):
        raise ColumnError(
            f"{argument}: expected a whole number of people, found {text!r} in the row of {label!r}"
        )
    return int(Fraction(plain_text))


def read_printed(
    values: Sequence[Value], argument: str, *, percent_from: int
) -> list[Printed | None]:
    """Return each printed number, with the digits of the whole column.

    Parameters
    ----------
    values : sequence
    argument : str
        For errors.
    percent_from : int
        If a number without a % sign is larger, all numbers without one are percentages.
    """
    texts = [None if is_blank(value) else shown(value) for value in values]
    matches = [None if text is None else PRINTED.fullmatch(text) for text in texts]
    for text, match in zip(texts, matches, strict=True):
        if text is not None and match is None:
            raise ColumnError(f"{argument}: expected a number like 0.45 or 45%, found {text!r}")
    bare = [Fraction(match["number"]) for match in matches if match and not match["percent"]]
    is_percent = any(number > percent_from for number in bare)
    scales = [
        Fraction(1, 100) if match and (match["percent"] or is_percent) else Fraction(1)
        for match in matches
    ]
    steps = [
        scale / 10 ** len(match["number"].partition(".")[2])
        for match, scale in zip(matches, scales, strict=True)
        if match
    ]
    return [
        None
        if match is None or text is None
        else Printed(text=text, value=Fraction(match["number"]) * scale, step=min(steps))
        for text, match, scale in zip(texts, matches, scales, strict=True)
    ]


def shown(value: Value) -> str:
    """Return a cell as it is printed."""
    return number_text(value) if isinstance(value, float) else str(value).strip()


def possible_counts(printed: Printed, n: int) -> Sequence[int]:
    """Return the numbers of people of n whose rate rounds to what is printed."""
    low = math.ceil((printed.value - printed.step / 2) * n)
    high = math.floor((printed.value + printed.step / 2) * n)
    return range(max(low, 0), min(high, n) + 1)


def ratio_range(row: Row, reference: Row) -> Range:
    """Return the ratios that the rates of two rows allow."""
    if row is reference:
        return Fraction(1), Fraction(1)
    low, high = reference.rates
    return row.rates[0] / high, row.rates[1] / (low or high)


def reference_of_ratios(rows: Sequence[Row], highest: Row) -> Row | None:
    """Return the row that most printed ratios refer to; the highest rate if it fits as well."""
    if all(row.ratio is None for row in rows):
        return None
    candidates = [highest, *(row for row in rows if row is not highest and row.rates[1] > 0)]

    def explained(reference: Row) -> int:
        return sum(row.ratio.follows_from(ratio_range(row, reference)) for row in rows if row.ratio)

    return max(candidates, key=explained)


def checked_group(
    row: Row,
    *,
    highest: Row,
    reference: Row | None,
    unknown: int,
    unknown_selected: int | None,
) -> CheckedGroup:
    """Compare the printed figures of a row with what follows from the counts."""
    remarks = []
    rate_verdict: Verdict = "not given"
    if row.rate is not None:
        follows = row.rate.follows_from(row.rates)
        rate_verdict = "follows" if follows else "does not follow"
        if not follows:
            remarks.append(rate_remark(row, row.rate))
    ratio_verdict: Verdict = "not given"
    ratios = ratio_range(row, highest)
    if row.ratio is not None:
        follows = row.ratio.follows_from(ratios)
        ratio_verdict = "follows" if follows else "does not follow"
        if not follows:
            remarks.append(ratio_remark(row, row.ratio, highest=highest, reference=reference))
    bounds = float(ratios[0]), float(ratios[1])
    if row is not highest and unknown:
        bounds = unknown_bounds(row, highest, unknown=unknown, unknown_selected=unknown_selected)
    return CheckedGroup(
        group=row.group,
        n=row.n,
        selected=row.selected,
        rate_printed=None if row.rate is None else row.rate.text,
        rate=float(row.best_rate),
        rate_verdict=rate_verdict,
        ratio_printed=None if row.ratio is None else row.ratio.text,
        ratio_number=None if row.ratio is None else float(row.ratio.value),
        impact_ratio=float(row.best_rate / highest.best_rate),
        ratio_verdict=ratio_verdict,
        remarks=tuple(remarks),
        impact_ratio_bounds=bounds,
    )


def rate_remark(row: Row, printed: Printed) -> str:
    """Say what a printed rate should be."""
    count = row.rates[0] * row.n
    correct = f"{count} of {row.n} is {printed.show(row.rates[0])}"
    cut_off = " (cut off, not rounded)" if printed.is_cut_off(row.rates) else ""
    if row.selected is None:
        share = f"{printed.text} of {row.n}"
        return f"rate: {share} is not a whole number of people; {correct}{cut_off}"
    return f"rate: {printed.text} is printed; {correct}{cut_off}"


def ratio_remark(row: Row, printed: Printed, *, highest: Row, reference: Row | None) -> str:
    """Say what a printed ratio should be, and what may have happened."""
    low, high = (printed.show(limit) for limit in ratio_range(row, highest))
    correct = low if low == high else f"from {low} to {high}"
    causes = []
    if printed.is_cut_off(ratio_range(row, highest)):
        causes.append("cut off, not rounded")
    elif row.rate and highest.rate and highest.rate.value:
        from_rates = row.rate.value / highest.rate.value
        if printed.follows_from((from_rates, from_rates)):
            causes.append("computed from the rounded rates")
    is_other = reference is not None and reference is not highest
    if reference and is_other and printed.follows_from(ratio_range(row, reference)):
        causes.append(f"it is the ratio to {reference.group}")
    cause = f" ({'; '.join(causes)})" if causes else ""
    return f"ratio: {printed.text} is printed; the ratio to {highest.group} is {correct}{cause}"


def unknown_bounds(
    row: Row, highest: Row, *, unknown: int, unknown_selected: int | None
) -> Interval:
    """Return the lowest and the highest ratio, whatever groups the unknown people belong to.

    At the lower bound all of them join the group who are not selected, and the reference those who
    are; at the upper bound the reverse.
    """
    count, size = row.rates[0] * row.n, row.n
    count_reference, size_reference = highest.rates[1] * highest.n, highest.n

    def lower(not_selected: int) -> Fraction:
        rest = unknown - not_selected
        return (count / (size + not_selected)) / (
            (count_reference + rest) / (size_reference + rest)
        )

    top = row.rates[1] * row.n
    low_reference = (highest.rates[0] or highest.rates[1]) * highest.n

    def upper(not_selected: int) -> Fraction:
        rest = unknown - not_selected
        reference_rate = low_reference / (size_reference + not_selected)
        return ((top + rest) / (size + rest)) / reference_rate

    if unknown_selected is not None:
        not_selected = unknown - unknown_selected
        return float(lower(not_selected)), float(upper(not_selected))
    # The logarithm of the lower bound is convex in the number not selected, that of the upper one
    # concave, so that the first step that does not improve on the last ends the search.
    lowest = first_true(lambda step: lower(step + 1) >= lower(step), unknown)
    largest = first_true(lambda step: upper(step + 1) <= upper(step), unknown)
    return float(lower(lowest)), float(upper(largest))


def first_true(test: Callable[[int], bool], end: int) -> int:
    """Return the first step of 0, 1, ... at which a test is true, or `end`; by bisection."""
    start = 0
    while start < end:
        middle = (start + end) // 2
        if test(middle):
            end = middle
        else:
            start = middle + 1
    return start


def statements(
    rows: Sequence[Row],
    checked: Sequence[CheckedGroup],
    *,
    highest: Row,
    reference: Row | None,
    unknown: int | None,
    total: int | None,
    left_out: int | None,
) -> Iterator[str]:
    """Yield what is to be said of the table as a whole."""
    verdicts = [verdict for row in checked for verdict in (row.rate_verdict, row.ratio_verdict)]
    wrong, printed = verdicts.count("does not follow"), len(verdicts) - verdicts.count("not given")
    if not printed:
        yield "no rate or ratio is printed, so there was nothing to compare"
    elif wrong:
        yield f"{wrong} of {printed} printed figures do not follow from the counts"
    else:
        yield f"all {printed} printed figures follow from the counts within the rounding shown"
    yield f"the highest rate is that of {highest.group}, {float(highest.best_rate):.1%}"
    if reference is not None and reference is not highest:
        yield (
            f"the printed ratios are ratios to {reference.group}, not to {highest.group}, which "
            "has the highest rate"
        )
    size = sum(row.n for row in rows)
    without_ratio = [row for row in rows if row.ratio is None]
    if without_ratio and reference is not None:
        shares = ", ".join(f"{row.group} ({row.n / size:.1%} of n)" for row in without_ratio)
        yield f"without a printed ratio: {shares}"
        large = [row.group for row in without_ratio if Fraction(row.n, size) >= MINIMUM_SHARE]
        higher = [row.group for row in without_ratio if row.rates[1] > highest.rates[1]]
        if higher:
            yield (
                f"the rate of {listed(higher)} is higher, but under {float(MINIMUM_SHARE):.0%} of "
                "n a category may be left out of the ratios (6 RCNY 5-301(d))"
            )
        if large:
            yield (
                f"not under {float(MINIMUM_SHARE):.0%} of n, and without a printed ratio: "
                f"{listed(large)}; 6 RCNY 5-301(d) lets a category be left out only under 2%"
            )
    if left_out is not None and total is not None:
        yield total_statement(total, left_out)
    if unknown:
        yield unknown_statement(checked, highest=highest, unknown=unknown, size=size)


def total_statement(total: int, left_out: int) -> str:
    """Say whether the rows and the people of unknown group add up to the total."""
    if left_out > 0:
        return f"{left_out:,} of the total of {total:,} people are in no row and not unknown"
    if left_out < 0:
        return f"the rows and the unknown hold {-left_out:,} people more than the total, {total:,}"
    return f"the rows and the unknown add up to the total of {total:,} people"


def unknown_statement(
    checked: Sequence[CheckedGroup], *, highest: Row, unknown: int, size: int
) -> str:
    """Say what the people of unknown group could change most."""
    text = f"{unknown:,} people of unknown group are {unknown / (size + unknown):.1%} of all"
    compared = [row for row in checked if row.group != highest.group]
    if not compared:
        return text
    widest = max(compared, key=lambda row: row.impact_ratio_bounds[1] - row.impact_ratio_bounds[0])
    low, high = widest.impact_ratio_bounds
    return (
        f"{text}; if their groups were known, the ratio of {widest.group} to {highest.group} "
        f"could be anything from {low:.2f} to {high:.2f}"
    )
