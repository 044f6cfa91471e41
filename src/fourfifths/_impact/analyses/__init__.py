"""Further analyses of what happened, each on the counts of one pass over the table."""
