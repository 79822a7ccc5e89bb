"""Rooms of inference over a field: one algorithm each, compiled, on flat arrays."""
