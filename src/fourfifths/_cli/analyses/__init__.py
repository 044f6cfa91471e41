"""The commands of further analyses."""
