"""Numbers of features, weights and losses in memory."""
