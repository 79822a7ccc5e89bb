"""What is seen of two aligned positions, as arrays."""
