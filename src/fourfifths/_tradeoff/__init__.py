"""What a repair costs."""
