"""Tables that are not in memory: read in chunks, digested, and written as they go."""
