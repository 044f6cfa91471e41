"""What happened: selection rates, impact ratios, tests, and what a rule makes of them."""
