"""What a repair costs: every method, scope, amount and model, on held-out rows."""
