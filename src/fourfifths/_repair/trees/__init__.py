"""Gradient-boosted trees as LightGBM writes them: their text, and the scores of rows from it."""
