"""What could happen: whether a rule that uses only some columns can have disparate impact."""
