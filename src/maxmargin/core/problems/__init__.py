"""A user's Python methods behind the same contract as compiled structures."""
