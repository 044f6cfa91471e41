"""Analyses beside the audit: a file for each, of the same name in every room."""
