"""Pure functions of arrays: confidence intervals, tests, ROC curves and bounds."""
