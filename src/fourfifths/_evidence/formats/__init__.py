"""The formats of a report: one renderer each, found by the ending of the file's name."""
