"""From an estimator to a fitted model: parameters, settings, the one way of a fit."""
