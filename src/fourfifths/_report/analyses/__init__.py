"""The pages of further analyses."""
