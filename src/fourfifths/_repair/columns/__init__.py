"""The paper's repairs: each column by itself, from the ranks of its values in their strata."""
