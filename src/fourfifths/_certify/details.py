"""Details of columns that lines and histograms do not see: digits, weekdays, prefixes, codes.

A detail is a column of codes that is made from a feature without looking at any group: the last
digit of a number, the weekday of a date, the first letters of a text, every value of a column that
has many. `DetailScores` finds out on training rows which of them predict the group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold

from fourfifths._arrays import BoolArray, FloatArray, IntArray
from fourfifths._tables.sample import Features, days_of

# Histograms have 255 bins, dummy columns are 100: with fewer values, nothing is lost there.
MIN_VALUES = 64
MIN_TEXTS = 20
MAX_DECIMALS = 6
# If more than this share of a column's values are distinct, single values say nothing.
MAX_SHARE_DISTINCT = 0.8
# A column whose values seldom repeat is also cut into ranges of this many neighbouring rows.
MIN_SHARE_UNREPEATED = 1 / 3
ROWS_PER_RANGE = (8, 32)
# By trees, the first digits of a number are found as ranges of it.
HIGHER_DIGITS: Mapping[int, str] = {
    100: "third digit from the end",
    1_000: "fourth digit from the end",
}
PREFIX_LENGTHS = (1, 2, 3)
LETTER_POSITIONS = range(1, 12)  # from 0; the first letter is a prefix
SUFFIX_LENGTHS = (1, 2)
ISO_DATE = "0000-00-00"
# All parities of 16 columns are 65,536, which the fast transform finds in milliseconds.
MAX_BITS = 16
MAX_PARITIES = 4
# Standard errors. Of 65,536 parities of noise, the largest has about 4.3.
MIN_PARITY_DEVIATION = 5.0
MIN_DEVIATION = 3.0
MAX_DETAILS = 24
ENCODING_FOLDS = 3
PRIOR_ROWS = 2.0


@dataclass(frozen=True, kw_only=True)
class Details:
    """Codes made from the features.

    Attributes
    ----------
    names : tuple of str
        The feature and what was taken of it.
    sources : int array
        The position of the feature that each detail is made of.
    codes : float array, rows by details
        Whole numbers from 0 on, where 0 is missing.
    """

    names: tuple[str, ...]
    sources: IntArray
    codes: FloatArray


def find_details(features: Features) -> Details:
    """Return the details of all features; no group is looked at."""
    names: list[str] = []
    sources: list[int] = []
    codes: list[FloatArray] = []
    for position, (name, kind) in enumerate(zip(features.names, features.kinds, strict=True)):
        values = features.values[:, position]
        if name in features.dates:
            details = date_parts(days_of(values), moments=values)
        elif kind == "category":
            details = text_parts(features.texts.get(name, ()), values)
        else:
            details = number_parts(values)
        for detail, detail_codes in details:
            # One value only predicts nothing.
            if detail_codes.size and detail_codes.min() < detail_codes.max():
                names.append(f"{name}, {detail}")
                sources.append(position)
                codes.append(detail_codes.astype(np.float64))
    matrix = np.column_stack(codes) if codes else np.empty((features.groups.size, 0))
    return Details(names=tuple(names), sources=np.array(sources, dtype=np.int64), codes=matrix)


def number_parts(values: FloatArray) -> Iterator[tuple[str, IntArray]]:
    """Yield the digits of a number, and its single values or ranges, if it has many."""
    present = ~np.isnan(values)
    distinct, code = np.unique(values[present], return_inverse=True)
    if distinct.size <= MIN_TEXTS:
        return

    def coded(labels: NDArray[np.number]) -> IntArray:
        codes = np.zeros(values.size, dtype=np.int64)
        codes[present] = np.unique(labels, return_inverse=True)[1] + 1
        return codes

    for name, digits in digit_parts(distinct):
        yield name, coded(digits[code])
    if MIN_VALUES < distinct.size < MAX_SHARE_DISTINCT * code.size:
        yield "single values", coded(code)
    if distinct.size > MIN_SHARE_UNREPEATED * code.size:
        order = np.argsort(np.argsort(values[present], kind="stable"), kind="stable")
        for rows in ROWS_PER_RANGE:
            yield f"ranges of {rows} rows", coded(order // rows)


def digit_parts(numbers: FloatArray) -> Iterator[tuple[str, FloatArray]]:
    """Yield the digits of different numbers, from the last on and right after the decimal point.

    Examples
    --------
    >>> {name: digits.tolist() for name, digits in digit_parts(np.array([19.99, 3.05]))}
    {'last digit': [9.0, 5.0], 'last two digits': [99.0, 5.0], 'tenths': [9.0, 0.0]}
    """
    decimals = decimals_of(numbers)
    if decimals is not None:
        units = np.round(numbers * 10.0**decimals)
        yield "last digit", units % 10
        yield "last two digits", units % 100
        for digit, name in HIGHER_DIGITS.items():
            if numbers.size > digit:
                yield name, np.floor(np.abs(units) / digit) % 10
    if decimals == 0:
        # It is the weekday of a date that is stored as a number of days.
        yield "remainder by 7", numbers % 7
        return
    yield "tenths", np.floor(numbers * 10) % 10
    if decimals != 2:
        yield "hundredths", np.floor(numbers * 100) % 100


def decimals_of(numbers: FloatArray) -> int | None:
    """Return how many decimals the numbers have; None if they have more than six.

    Examples
    --------
    >>> decimals_of(np.array([3.0, 19.99])), decimals_of(np.array([np.pi]))
    (2, None)
    """
    for decimals in range(MAX_DECIMALS + 1):
        scaled = numbers * 10.0**decimals
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(np.abs(scaled), 1.0)):
            return decimals
    return None


def text_parts(texts: Sequence[str], values: FloatArray) -> Iterator[tuple[str, IntArray]]:
    """Yield the beginnings, ends and lengths of texts, the parts of dates, and single values."""
    if len(texts) <= MIN_TEXTS:
        return
    is_missing = np.isnan(values)
    code = np.where(is_missing, 0, values).astype(np.int64)

    def coded(labels: NDArray[np.generic]) -> IntArray:
        return np.where(is_missing, 0, np.unique(labels, return_inverse=True)[1][code] + 1)

    if len(texts) > MIN_VALUES:
        yield "single values", np.where(is_missing, 0, code + 1)
    for length in PREFIX_LENGTHS:
        yield f"first {length}", coded(np.array([text[:length] for text in texts]))
    for length in SUFFIX_LENGTHS:
        yield f"last {length}", coded(np.array([text[-length:] for text in texts]))
    for position in LETTER_POSITIONS:
        yield (
            f"letter {position + 1}",
            coded(np.array([text[position : position + 1] for text in texts])),
        )
    yield "length", coded(np.array([len(text) for text in texts]))
    days = iso_days(texts)
    if days is not None:
        for detail, detail_codes in date_parts(days):
            yield detail, np.where(is_missing, 0, detail_codes[code])


def iso_days(texts: Sequence[str]) -> NDArray[np.datetime64] | None:
    """Return the days of texts that all begin like 2024-03-05; None if some do not."""
    beginnings = np.array([text[: len(ISO_DATE)] for text in texts])
    try:
        days = beginnings.astype("datetime64[D]")
    except ValueError:
        return None
    # A text like "2024" is a date for numpy, but not for us.
    return days if all(len(text) == len(ISO_DATE) for text in beginnings) else None


def date_parts(
    days: NDArray[np.datetime64], *, moments: FloatArray | None = None
) -> Iterator[tuple[str, IntArray]]:
    """Yield the weekday, the month, the day of the month and, of `moments`, the hour."""
    is_missing = np.isnat(days)
    known_days = np.where(is_missing, np.datetime64("1970-01-01"), days)
    months = known_days.astype("datetime64[M]")
    day_numbers = known_days.astype("datetime64[D]").astype(np.int64)
    yield "weekday", np.where(is_missing, 0, day_numbers % 7 + 1)
    yield "month", np.where(is_missing, 0, months.astype(np.int64) % 12 + 1)
    first = months.astype("datetime64[D]").astype(np.int64)
    yield "day of the month", np.where(is_missing, 0, day_numbers - first + 1)
    yield "single days", np.where(is_missing, 0, day_numbers - day_numbers.min() + 1)
    if moments is not None:
        hours = np.floor((np.where(is_missing, 0, moments) % 1) * 24 + 1e-6).astype(np.int64)
        yield "hour", np.where(is_missing, 0, hours + 1)


class DetailScores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier on the features and on those of their details that predict the group.

    Each detail becomes a number: how often rows of this code are of the reference, counted on other
    training rows (target encoding, cross-fitted). The details whose numbers differ most between the
    groups are kept, and the classifier is fitted to them and to the features. If no detail differs,
    it is not fitted: the score is the same for all rows, and other auditors judge the features.

    Parameters
    ----------
    classifier : classifier
        Histogram trees, or anything that takes missing values.
    feature_count : int
        The first columns are features, all others are details.
    random_state : int

    Attributes
    ----------
    parities_ : list of int array
        Sets of yes-no columns whose parity predicts the group.
    kept_ : int array
        The positions of the details that are used, parities last.
    classifier_ : fitted, or None if no detail is kept
    """

    def __init__(self, classifier: object, *, feature_count: int, random_state: int = 0) -> None:
        self.classifier = classifier
        self.feature_count = feature_count
        self.random_state = random_state

    def fit(self, X: FloatArray, y: BoolArray) -> DetailScores:
        """Screen the details, and fit the classifier to those that are kept."""
        self.classes_ = np.array([False, True])
        y = np.asarray(y, dtype=np.bool_)
        self.medians_ = bit_cuts(X[:, : self.feature_count])
        self.parities_ = find_parities(self._bits(X), y)
        codes = self._codes(X)
        self.kept_ = np.empty(0, dtype=np.int64)
        self.classifier_ = None
        if not codes.shape[1] or min(y.sum(), (~y).sum()) < ENCODING_FOLDS:
            return self
        self.shares_ = [reference_shares(column, y) for column in codes.T]
        encoded = np.empty(codes.shape)
        folds = StratifiedKFold(ENCODING_FOLDS, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(y, y):
            for position, column in enumerate(codes.T):
                shares = reference_shares(column[train], y[train])
                encoded[test, position] = look_up(shares, column[test])
        deviations = separation(encoded, y)
        order = np.argsort(-deviations, kind="stable")[:MAX_DETAILS]
        self.kept_ = np.sort(order[deviations[order] > MIN_DEVIATION])
        if self.kept_.size:
            inputs = np.hstack([X[:, : self.feature_count], encoded[:, self.kept_]])
            self.classifier_ = clone(self.classifier).fit(inputs, y)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return how much each row looks like the reference; 0 if no detail is kept."""
        if self.classifier_ is None:
            return np.zeros(X.shape[0])
        codes = self._codes(X)
        encoded = [look_up(self.shares_[position], codes[:, position]) for position in self.kept_]
        inputs = np.column_stack([X[:, : self.feature_count], *encoded])
        return np.asarray(self.classifier_.decision_function(inputs), dtype=np.float64)

    def _codes(self, X: FloatArray) -> IntArray:
        bits = self._bits(X)
        parities = [bits[:, columns].sum(axis=1) % 2 for columns in self.parities_]
        return np.column_stack([X[:, self.feature_count :].astype(np.int64), *parities])

    def _bits(self, X: FloatArray) -> IntArray:
        columns = [X[:, column] > cut for column, cut in self.medians_]
        return np.column_stack(columns).astype(np.int64) if columns else np.empty((len(X), 0), int)


def reference_shares(codes: IntArray, y: BoolArray) -> FloatArray:
    """Return, for each code, the share of its rows that are of the reference.

    `PRIOR_ROWS` rows with the share of all rows are added to each code. The last element is for
    codes that do not occur.
    """
    rows = np.append(np.bincount(codes), 0)
    reference = np.append(np.bincount(codes[y], minlength=rows.size - 1), 0)
    return np.asarray((reference + PRIOR_ROWS * y.mean()) / (rows + PRIOR_ROWS))


def look_up(shares: FloatArray, codes: IntArray) -> FloatArray:
    """Return the share of each row's code."""
    return shares[np.minimum(codes, shares.size - 1)]


def bit_cuts(values: FloatArray) -> list[tuple[int, float]]:
    """Return which columns are yes or no, and a cut between their two values; the first 16."""
    cuts = []
    for column in range(values.shape[1]):
        present = values[:, column][~np.isnan(values[:, column])]
        if present.size and present.min() < present.max():
            low, high = present.min(), present.max()
            if np.all((present == low) | (present == high)):
                cuts.append((column, float((low + high) / 2)))
    return cuts[:MAX_BITS]


def find_parities(bits: IntArray, y: BoolArray) -> list[IntArray]:
    """Return the sets of two or more bits whose parity differs most between the groups.

    The Walsh-Hadamard transform of the difference of the groups' shares in the cells of all bits
    is, for every set of bits, twice the difference of the shares with an odd sum.

    Examples
    --------
    >>> bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 20)
    >>> [columns.tolist() for columns in find_parities(bits, bits.sum(1) % 2 == 1)]
    [[0, 1]]
    """
    count = bits.shape[1]
    if count < 2:
        return []
    cell = bits @ (1 << np.arange(count))
    shares = [
        np.bincount(cell[y == side], minlength=1 << count) / np.sum(y == side)
        for side in (True, False)
    ]
    spectrum = shares[0] - shares[1]
    for bit in range(count):
        halves = spectrum.reshape(-1, 2, 1 << bit)
        even, odd = halves[:, 0].copy(), halves[:, 1].copy()
        halves[:, 0], halves[:, 1] = even + odd, even - odd
    # The mean of values of +1 and -1 has a variance of at most 1 / n.
    deviation = np.abs(spectrum) / np.sqrt(1 / y.sum() + 1 / (~y).sum())
    sets = np.argsort(-deviation, kind="stable")[: MAX_PARITIES + count + 1]
    members = [np.flatnonzero(chosen >> np.arange(count) & 1) for chosen in sets]
    return [
        columns
        for chosen, columns in zip(sets, members, strict=True)
        if columns.size > 1 and deviation[chosen] > MIN_PARITY_DEVIATION
    ][:MAX_PARITIES]


def separation(encoded: FloatArray, y: BoolArray) -> FloatArray:
    """Return the difference of the groups' means of each column, in standard errors.

    It is negative where the rows that look like the reference are not of it.
    """
    means = [encoded[y == side].mean(axis=0) for side in (True, False)]
    errors = [encoded[y == side].var(axis=0) / np.sum(y == side) for side in (True, False)]
    error = np.sqrt(errors[0] + errors[1])
    return np.asarray((means[0] - means[1]) / np.where(error > 0, error, np.inf))
