"""scikit-learn estimators: they validate, encode, let the driver solve, and decode."""
