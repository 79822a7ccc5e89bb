"""Training where true outputs have hidden parts."""
