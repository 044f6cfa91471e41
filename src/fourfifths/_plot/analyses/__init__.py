"""The pictures of further analyses."""
