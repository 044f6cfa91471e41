"""Rows with which SQL can go wrong: texts that a dialect may replace, numbers at their limits."""

import numpy as np
import pyarrow as pa

# What a dialect, a driver or a notebook may take for more than letters.
PIECES = [
    *("${spark.app.name}", "${", "$x", "$1", "{{x}}", "{d '2020-01-01'}", "?", ":x", "@x", "%s"),
    *("'", "''", '"', "`", "\\", "\\\\", "\\'", "\\u0024{x}", "\\n", "\n", "\r\n", "\t", "\x01"),
    *("--", "/*", "*/", ";", "%", "_", ".", "*", "a", "B", " ", "\u00e9", "\u00df", "\u4e2d"),
    *("\U0001f600", "NULL", "x'00'", "0", "1e5", "-"),
]


def hostile_texts(count, seed):
    """Return different texts that begin with a letter and its number, also in other cases."""
    random = np.random.default_rng(seed)
    return [
        f"t{index}" + "".join(random.choice(PIECES, random.integers(1, 6)))
        for index in range(count)
    ]


def hostile_rows(seed=0, *, row_count=160, strata, grades):
    """Return rows of strata and grades, with columns of all types that SQL repairs to the bit."""
    random = np.random.default_rng(seed)
    group = random.integers(0, len(strata), row_count)
    number = random.normal(size=row_count) + group
    number[:10] = [0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 0.1, 1 / 3, np.nan, 2.0**60]
    whole = random.integers(-100, 100, row_count)
    large = whole * 10**13
    large[:2] = [2**53 - 1, 1 - 2**53]
    missing = [None, "", " ", "\t \n", "\r\v\f"]
    is_missing = random.random(row_count) < 0.2
    grade = np.minimum(group % 3 + random.integers(0, len(grades), row_count), len(grades) - 1)
    grade = np.where(is_missing, len(grades) + random.integers(0, 5, row_count), grade)
    return pa.table(
        {
            "group": pa.array(np.array(strata, dtype=object)[group], pa.string()),
            "number": pa.array(number, mask=random.random(row_count) < 0.1),
            "tiny": pa.array(whole.astype(np.int8), mask=random.random(row_count) < 0.1),
            "large": pa.array(large),
            "flag": pa.array(whole > 10 * group, mask=random.random(row_count) < 0.1),
            "grade": pa.array(np.array([*grades, *missing], dtype=object)[grade], pa.string()),
            "other": pa.array(whole.astype(np.float32)),
        }
    )


def repaired_columns(grades):
    """Return the columns of `hostile_rows` that are repaired, and as what."""
    return {"number": None, "tiny": None, "large": None, "flag": None, "grade": grades}


def refused_columns(row_count):
    """Return columns that a statement refuses: the values at the fit, the new ones, a message."""
    random = np.random.default_rng(7)
    number = np.round(random.normal(size=row_count), 3)
    whole = random.integers(-50, 50, row_count)
    texts = pa.array([str(value) for value in number])
    decimals = pa.array(number).cast(pa.decimal128(10, 3))
    return {
        "float32": (
            number,
            number.astype(np.float32),
            "expected the type DOUBLE, found (?i:float);",
        ),
        "decimal": (decimals, decimals, r"expected the type DOUBLE, found (?i:decimal)\(10,3\);"),
        "text": (texts, texts, "expected the type DOUBLE, found (?i:varchar|string);"),
        "truth": (number, number > 0, "expected the type DOUBLE, found (?i:boolean);"),
        "fraction": (whole, number, "expected the type BIGINT, found (?i:double);"),
        "digits": (
            whole,
            pa.array([str(value) for value in whole]),
            "expected the type BIGINT, found (?i:varchar|string);",
        ),
        "large": (whole, np.append(whole[1:], 2**53 + 1), "a whole number is 2..53 or larger"),
        "negative": (
            whole,
            np.append(whole[1:], -(2**53) - 1),
            "a whole number is 2..53 or larger",
        ),
        "whole": (number, np.append(whole[1:], 2**53 + 1), "a whole number is 2..53 or larger"),
    }
