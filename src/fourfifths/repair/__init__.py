"""What to change: fitted repairs, applied to any table, saved as text."""
