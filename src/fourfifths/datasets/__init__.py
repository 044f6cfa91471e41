"""The paper's data sets, shipped in the package together with the roles of their columns."""

from fourfifths.datasets.catalog import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
