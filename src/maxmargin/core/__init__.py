"""What every family stands on, and nothing of any family."""
