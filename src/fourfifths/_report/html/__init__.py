"""Pages and fragments of HTML."""
