"""Structures as layers of torch."""
