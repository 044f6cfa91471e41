"""Pure functions of arrays: intervals, tests, bounds."""
