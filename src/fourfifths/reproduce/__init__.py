"""The paper's experiments, on top of the public names only."""
