"""How a result is shown as text."""
