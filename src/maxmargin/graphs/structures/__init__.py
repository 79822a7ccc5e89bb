"""A class of batches for every method of inference: what a fit needs is compiled alone."""
