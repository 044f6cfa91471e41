"""The data sets of the paper, shipped in the package, each with its roles."""

from fourfifths.datasets.catalog import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
