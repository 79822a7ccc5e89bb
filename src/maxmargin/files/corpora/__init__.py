"""Data sets in folders, for training with little memory: what all families share."""
