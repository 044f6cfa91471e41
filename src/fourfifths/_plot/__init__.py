"""How a result is drawn."""
