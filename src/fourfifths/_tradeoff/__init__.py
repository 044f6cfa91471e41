"""What a repair costs: models of the outcome, before and after each amount of repair."""
