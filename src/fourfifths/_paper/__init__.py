"""The paper's experiments, rerun: figures, tables, and what became of each claim."""
