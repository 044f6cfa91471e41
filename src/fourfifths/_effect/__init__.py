"""What a repair did."""
