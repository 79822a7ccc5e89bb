"""Solvers of data that are spread over workers, or stay on disk."""
