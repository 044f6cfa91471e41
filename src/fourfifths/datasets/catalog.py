"""The shipped data sets: where each comes from, and the role of each column.

``scripts/build_datasets.py`` builds the files and checks the hashes of their sources.
"""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from fourfifths._text import listed, nearest
from fourfifths.errors import OptionError

if TYPE_CHECKING:
    import duckdb

DatasetName = Literal["ricci", "german", "adult"]


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A shipped table with its roles.

    It can be passed wherever a table is expected, and supplies every role that the call does not
    name. `table` is a DuckDB relation: ``.df()`` converts it to a pandas dataframe, ``.pl()`` to a
    polars dataframe, ``.arrow()`` to a pyarrow table.

    Attributes
    ----------
    name, title : str
    rows : int
    protected : tuple of str
        The attribute that the paper audits.
    other_protected : tuple of str
        Further columns that are protected attributes, or reveal one. They are never features.
    outcome, favorable : str
    reference : mapping of str to str
        The designated reference group of each protected column.
    bands : mapping of str to tuple of numbers
        The edges that cut a numeric protected column into groups. An edge belongs to the group
        above it.
    orders : mapping of str to tuple of str
        The categories of each ordered column, lowest first.
    order_source : str
        Where these orders come from.
    split : str or None
        The column whose values "train" and "test" split the rows.
    source, licence : str

    Examples
    --------
    >>> data = load("ricci")
    >>> data.protected, data.outcome, data.favorable, data.rows
    (('race',), 'passed', 'yes', 118)
    """

    name: DatasetName
    title: str
    rows: int
    protected: tuple[str, ...]
    outcome: str
    favorable: str
    reference: Mapping[str, str]
    source: str
    licence: str
    other_protected: tuple[str, ...] = ()
    bands: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    order_source: str = ""
    split: str | None = None

    @property
    def path(self) -> Path:
        """The Parquet file in the package."""
        return Path(__file__).parent / "files" / f"{self.name}.parquet"

    @property
    def table(self) -> duckdb.DuckDBPyRelation:
        """The rows, as a DuckDB relation on a connection of its own."""
        # Imported when first used: `import fourfifths` loads neither narwhals nor DuckDB.
        import narwhals as nw

        # DuckDB's default connection belongs to the caller, and two threads must not share it.
        connection = nw.Implementation.DUCKDB.to_native_namespace().connect()
        connection.execute("SET enable_progress_bar = false")
        # DuckDB reads a path as a glob pattern; the package may lie in a folder such as "a[b]".
        path = glob.escape(str(self.path))
        rows: duckdb.DuckDBPyRelation
        rows = nw.scan_parquet(path, backend="duckdb", connection=connection).to_native()
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the roles and the source as values that JSON can hold."""
        return {
            "name": self.name,
            "title": self.title,
            "rows": self.rows,
            "protected": list(self.protected),
            "other_protected": list(self.other_protected),
            "outcome": self.outcome,
            "favorable": self.favorable,
            "reference": dict(self.reference),
            "bands": {column: list(edges) for column, edges in self.bands.items()},
            "orders": {column: list(order) for column, order in self.orders.items()},
            "order_source": self.order_source,
            "split": self.split,
            "source": self.source,
            "licence": self.licence,
        }


UCI_LICENCE = "CC BY 4.0 (UCI Machine Learning Repository)"
RICCI = Dataset(
    name="ricci",
    title="New Haven firefighters' promotion exams of 2003 (Ricci v. DeStefano)",
    rows=118,
    protected=("race",),
    outcome="passed",
    favorable="yes",
    reference={"race": "W"},
    source=(
        "W. Miao, Journal of Statistics Education 18(3), 2010, from the district court's record, "
        "554 F. Supp. 2d 142; passed = combined >= 70, combined = .6 written + .4 oral"
    ),
    licence="facts of a public court record",
)
GERMAN = Dataset(
    name="german",
    title="German credit, 1000 loan applicants",
    rows=1_000,
    protected=("age",),
    other_protected=("personal_status", "foreign_worker"),
    outcome="credit",
    favorable="good",
    reference={"age": "26 and over"},
    bands={"age": (26,)},
    orders={
        "checking_status": ("below 0 DM", "0 to 200 DM", "200 DM or more", "no checking account"),
        "savings": (
            "below 100 DM",
            "100 to 500 DM",
            "500 to 1000 DM",
            "1000 DM or more",
            "unknown or no savings account",
        ),
        "employment": (
            "unemployed",
            "below 1 year",
            "1 to 4 years",
            "4 to 7 years",
            "7 years or more",
        ),
        "job": (
            "unemployed or unskilled, non-resident",
            "unskilled, resident",
            "skilled",
            "management, self-employed or highly qualified",
        ),
    },
    order_source="the order of the codes (A11 to A14, and so on) in UCI's description of the data",
    source="H. Hofmann, Statlog (German Credit Data), UCI, 1994, doi:10.24432/C5NC77",
    licence=UCI_LICENCE,
)
ADULT = Dataset(
    name="adult",
    title="Adult (census income), United States, 1994",
    rows=48_842,
    protected=("sex",),
    other_protected=("race",),
    outcome="income",
    favorable=">50K",
    reference={"sex": "Male", "race": "White"},
    orders={
        "education": (
            "Preschool",
            "1st-4th",
            "5th-6th",
            "7th-8th",
            "9th",
            "10th",
            "11th",
            "12th",
            "HS-grad",
            "Some-college",
            "Assoc-voc",
            "Assoc-acdm",
            "Bachelors",
            "Masters",
            "Prof-school",
            "Doctorate",
        )
    },
    order_source="the data's own education-num, 1 to 16",
    split="split",
    source="B. Becker and R. Kohavi, Adult, UCI, 1996, doi:10.24432/C5XW20",
    licence=UCI_LICENCE,
)
CATALOG: Mapping[str, Dataset] = {data.name: data for data in (RICCI, GERMAN, ADULT)}


def names() -> tuple[DatasetName, ...]:
    """Return the names that `load` accepts.

    Examples
    --------
    >>> names()
    ('ricci', 'german', 'adult')
    """
    return get_args(DatasetName)


def load(name: DatasetName) -> Dataset:
    """Return a shipped data set with its roles.

    Parameters
    ----------
    name : {"ricci", "german", "adult"}

    Examples
    --------
    >>> load("adult").table.aggregate("count(*)").fetchall()
    [(48842,)]
    """
    if name not in CATALOG:
        raise OptionError(
            f"name={name!r} is not a shipped data set; expected one of {listed(CATALOG)}"
            f"{nearest(name, CATALOG)}"
        )
    return CATALOG[name]
