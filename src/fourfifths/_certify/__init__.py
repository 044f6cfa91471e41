"""What could happen."""
