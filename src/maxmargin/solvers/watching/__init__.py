"""What whoever waits for a fit gets to see of it."""
