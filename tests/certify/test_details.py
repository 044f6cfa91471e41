"""What is taken of a column without looking at a group, and which of it predicts the group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import hadamard
from sklearn.ensemble import HistGradientBoostingClassifier

import fourfifths
from fourfifths._certify.details import (
    DetailScores,
    bit_cuts,
    date_parts,
    decimals_of,
    find_details,
    find_parities,
    iso_days,
    look_up,
    number_parts,
    reference_shares,
    separation,
    text_parts,
)
from fourfifths._tables.sample import Features


def features_of(values, *, kinds=("number",), **more):
    values = np.asarray(values, dtype=float)
    return Features(
        names=tuple(f"c{place}" for place in range(values.shape[1])),
        kinds=tuple(kinds),
        values=values,
        groups=np.zeros(len(values), dtype=np.int64),
        sha256="",
        **more,
    )


def same_partition(first, second):
    """Return whether two codes say the same of which rows are alike."""
    pairs = set(zip(first, second, strict=True))
    return len(pairs) == len(set(first)) == len(set(second))


def test_digits_of_whole_numbers():
    values = np.array([*range(100, 150), 7.0, np.nan])
    parts = dict(number_parts(values))
    assert same_partition(parts["last digit"], [*(values[:-1] % 10), -1])
    assert same_partition(parts["last two digits"], [*(values[:-1] % 100), -1])
    assert parts["last digit"][-1] == 0
    assert "tenths" not in parts


def test_higher_digits_of_whole_numbers():
    values = np.arange(0.0, 40_000, 17)
    parts = dict(number_parts(values))
    texts = [f"{int(value):06d}" for value in values]
    assert same_partition(parts["third digit from the end"], [text[-3] for text in texts])
    assert same_partition(parts["fourth digit from the end"], [text[-4] for text in texts])
    assert "third digit from the end" not in dict(number_parts(values[:100]))


def test_days_that_are_counted_have_weekdays():
    values = np.arange(0.0, 9_000, 5)
    days = np.datetime64("1970-01-01") + values.astype("timedelta64[D]")
    weekdays = [day.item().weekday() for day in days]
    assert same_partition(dict(number_parts(values))["remainder by 7"], weekdays)
    assert "remainder by 7" not in dict(number_parts(values + 0.5))


def test_each_letter_of_a_text():
    texts = [f"{number:03d}{letter}" for number in range(30) for letter in "XY"]
    parts = dict(text_parts(texts, np.array([*range(60), np.nan])))
    assert same_partition(parts["letter 2"], [*(text[1] for text in texts), ""])
    assert same_partition(parts["letter 4"][:-1], [text[3] for text in texts])
    assert parts["letter 4"][-1] == 0


def test_digits_of_prices_are_cents():
    values = np.arange(40) + np.arange(40) * 7 % 100 / 100
    parts = dict(number_parts(values))
    assert same_partition(parts["last two digits"], np.arange(40) * 7 % 100)
    assert "hundredths" not in parts


def test_a_column_of_few_values_has_no_details():
    assert dict(number_parts(np.arange(20.0))) == {}


def test_single_values_of_codes_that_repeat():
    values = np.tile(np.arange(100.0) * 3, 5)
    parts = dict(number_parts(values))
    assert same_partition(parts["single values"], values)
    assert not any("ranges" in part for part in parts)


def test_ranges_of_neighbours_where_nothing_repeats():
    values = np.random.default_rng(0).normal(size=640)
    parts = dict(number_parts(values))
    assert "single values" not in parts
    for rows in (8, 32):
        codes = parts[f"ranges of {rows} rows"]
        assert np.bincount(codes)[1:].tolist() == [rows] * (640 // rows)
        assert np.all(np.diff(codes[np.argsort(values)]) >= 0)


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [([1, 2], 0), ([0.5, 1], 1), ([19.99, 1e5 + 0.01], 2), ([1 / 3], None), ([1e-7], None)],
)
def test_decimals_by_hand(numbers, decimals):
    assert decimals_of(np.array(numbers, dtype=float)) == decimals


def test_beginnings_and_ends_of_texts():
    texts = np.array([f"{letter}{place}" for letter in "abc" for place in range(10)])
    values = np.append(np.arange(30.0), np.nan)
    parts = dict(text_parts(texts, values))
    assert same_partition(parts["first 1"], [*(text[0] for text in texts), ""])
    assert same_partition(parts["last 1"], [*(text[-1] for text in texts), ""])
    assert parts["first 1"][-1] == parts["length"][-1] == 0
    assert dict(text_parts(texts[:20], values[:20])) == {}


def test_parts_of_dates():
    days = np.array(["2024-02-29", "2024-03-07", "NaT", "1969-12-25"], dtype="datetime64[D]")
    parts = dict(date_parts(days))
    # The first three are Thursdays, as 1 January 1970 was; the last was one too.
    assert parts["weekday"].tolist() == [1, 1, 0, 1]
    assert parts["month"].tolist() == [2, 3, 0, 12]
    assert parts["day of the month"].tolist() == [29, 7, 0, 25]


def test_hours_of_moments():
    moments = np.array([5.0, 5 + 13 / 24, 5 + 23.99 / 24])
    days = np.full(3, np.datetime64("2024-01-01"))
    assert dict(date_parts(days, moments=moments))["hour"].tolist() == [1, 14, 24]


@pytest.mark.parametrize(
    ("texts", "is_date"),
    [
        (["2024-02-29", "1999-12-31T10:00"], True),
        (["2024-02-30", "1999-12-31"], False),
        (["2024", "1999"], False),
        (["north", "south"], False),
    ],
)
def test_texts_that_are_dates(texts, is_date):
    assert (iso_days(np.array(texts)) is not None) == is_date


def test_details_know_their_column():
    values = np.column_stack([np.arange(50.0), np.zeros(50), np.arange(50) + 0.25])
    found = find_details(features_of(values, kinds=("number",) * 3))
    assert {found.sources[place] for place, name in enumerate(found.names) if "c0" in name} == {0}
    assert 1 not in found.sources
    assert found.codes.shape == (50, len(found.names))


def test_no_features_with_details_make_an_empty_matrix():
    assert find_details(features_of(np.zeros((9, 2)), kinds=("number",) * 2)).codes.shape == (9, 0)


def test_shares_by_hand():
    # Two rows of the share of all, 3/5, are added to each code; the last is for unknown codes.
    codes = np.array([0, 0, 2, 2, 2])
    shares = reference_shares(codes, np.array([True, False, True, True, False]))
    np.testing.assert_allclose(shares, [2.2 / 4, 0.6, 3.2 / 5, 0.6])
    np.testing.assert_allclose(look_up(shares, np.array([2, 9])), [0.64, 0.6])


def test_bits_are_columns_with_two_values():
    values = np.array([[0.0, 5, 1, 2], [1, 9, 1, 3], [np.nan, 5, 1, 4]])
    assert bit_cuts(values) == [(0, 0.5), (1, 7.0)]


def test_the_spectrum_is_that_of_the_hadamard_matrix():
    """Sets are ordered as the sums with the rows of scipy's matrix order them."""
    random = np.random.default_rng(1)
    bits = random.integers(0, 2, (400, 4))
    labels = (bits[:, 1] + bits[:, 3] + (random.random(400) < 0.2)) % 2 == 1
    cell = bits @ (1 << np.arange(4))
    difference = np.bincount(cell[labels], minlength=16) / labels.sum()
    difference -= np.bincount(cell[~labels], minlength=16) / (~labels).sum()
    best = int(np.argmax(np.abs(hadamard(16) @ difference)))
    assert best == 0b1010
    assert find_parities(bits, labels)[0].tolist() == [1, 3]


def test_noise_has_no_parity():
    random = np.random.default_rng(2)
    for _ in range(20):
        bits = random.integers(0, 2, (500, 10))
        assert find_parities(bits, random.random(500) < 0.5) == []


def test_separation_in_standard_errors():
    random = np.random.default_rng(3)
    labels = np.arange(4000) % 2 == 1
    columns = random.normal(size=(4000, 2)) + np.array([0.0, 0.5]) * labels[:, None]
    noise, signal = separation(columns, labels)
    # A difference of .5 is 15.8 standard errors of sqrt(2 / 2000); noise is standard normal.
    assert abs(noise) < 4
    assert signal == pytest.approx(15.8, abs=4)


def scores_of(codes, labels, train):
    model = DetailScores(
        HistGradientBoostingClassifier(max_iter=20, random_state=0), feature_count=1
    )
    values = np.column_stack([np.zeros(len(codes)), codes])
    return model.fit(values[train], labels[train]), values


def test_a_code_that_tells_is_kept_and_noise_is_not():
    random = np.random.default_rng(4)
    codes = np.column_stack([random.integers(1, 60, 2000), random.integers(1, 60, 2000)])
    labels = codes[:, 0] % 2 == 0
    train = np.arange(2000) < 1500
    model, values = scores_of(codes, labels, train)
    assert model.kept_.tolist() == [0]
    guessed = model.decision_function(values[~train]) > 0
    assert np.mean(guessed == labels[~train]) > 0.95


def test_without_a_telling_detail_nothing_is_fitted():
    random = np.random.default_rng(5)
    codes = random.integers(1, 60, (1000, 2))
    model, values = scores_of(codes, random.random(1000) < 0.5, np.arange(1000) < 800)
    assert model.classifier_ is None
    assert np.all(model.decision_function(values) == 0)


def test_single_values_of_noise_do_not_leak_their_own_label():
    # Each code occurs about twice, so a share that counted the row itself would tell its group.
    random = np.random.default_rng(6)
    for seed in range(10):
        labels = np.random.default_rng(seed).random(1000) < 0.5
        model, _ = scores_of(random.integers(1, 500, (1000, 1)), labels, np.arange(1000) < 1000)
        assert model.kept_.size == 0


def hidden(kind, rows, seed):
    """Return a table whose group is a function of one kind of detail."""
    random = np.random.default_rng(seed)
    noise = random.normal(size=rows)
    days = np.datetime64("2015-01-01") + random.integers(0, 3000, rows).astype("timedelta64[D]")
    if kind.startswith("parity"):
        count = int(kind.split()[1])
        bits = random.integers(0, 2, (rows, 2 * count))
        columns = {f"b{place}": bits[:, place] for place in range(2 * count)}
        is_group = bits[:, :count].sum(axis=1) % 2 == 1
    elif kind == "last digit":
        columns = {"x": random.integers(10_000, 99_999, rows), "z": noise}
        is_group = columns["x"] % 10 >= 5
    elif kind == "cents":
        cents = random.integers(1_000, 99_999, rows)
        columns = {"x": cents / 100, "z": noise}
        is_group = cents % 100 >= 50
    elif kind in ("weekday", "weekday in text"):
        is_group = days.astype(np.int64) % 7 >= 4
        column = days.astype(str) if "text" in kind else pd.to_datetime(days)
        columns = {"day": column, "z": noise}
    elif kind == "prefix":
        first = random.integers(0, 26, rows)
        numbers = random.integers(0, 999_999, rows)
        letters = np.array(list("QWERTYUIOPASDFGHJKLZXCVBNM"))
        codes = [f"{letters[place]}{number}" for place, number in zip(first, numbers, strict=True)]
        columns, is_group = {"code": codes, "z": noise}, first % 2 == 0
    elif kind.startswith("areas"):
        count = int(kind.split()[1])
        of_group = random.random(count) < 0.5
        area = random.integers(0, count, rows)
        columns = {"area": np.char.add("area ", area.astype(str)), "z": noise}
        if "number" in kind:
            columns["area"] = area + 10_000
        is_group = of_group[area]
    elif kind == "stripes":
        columns = {"x": random.random(rows), "z": noise}
        is_group = np.floor(400 * columns["x"]) % 2 == 1
    else:  # one Gaussian column, in stripes that are blurred
        columns = {"x": noise}
        is_group = (np.floor(25 * noise) % 2 == 1) ^ (random.random(rows) < 0.2)
    return pd.DataFrame({"g": np.where(is_group, "a", "r"), **columns})


def verdict_on(kind, rows, seed=0, **options):
    return fourfifths.certify(
        hidden(kind, rows, seed), protected="g", reference="r", beta=0.5, **options
    ).verdict


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parity 4", "last digit"])
def test_a_hidden_rule_is_found_by_the_details(kind):
    assert verdict_on(kind, 800, auditors=["details"], folds=2) == "not certified"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("parity 3", 1500),
        ("parity 4", 1500),
        ("parity 5", 1500),
        ("last digit", 1500),
        ("cents", 1500),
        ("weekday", 1500),
        ("weekday in text", 1500),
        ("prefix", 1500),
        ("areas 1500", 4000),
        ("areas 1500 as number", 4000),
        ("areas 8000", 12_000),
        ("areas 8000 as number", 12_000),
        ("stripes", 6000),
        ("one Gaussian column", 4000),
    ],
)
def test_the_panel_finds_every_kind_of_hidden_rule(kind, rows, seed):
    assert verdict_on(kind, rows, seed) == "not certified"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_the_panel_finds_nothing_in_noise(seed):
    random = np.random.default_rng(seed)
    table = hidden("last digit", 1500, seed).assign(area=random.integers(0, 300, 1500))
    table["g"] = random.permutation(table["g"])
    found = fourfifths.certify(table, protected="g", reference="r", beta=0.5)
    assert found.verdict != "not certified"
