"""Weighted hypergraphs: any dynamic programme, and the door for one in Python."""

from maxmargin.hypergraph.graph import Hypergraph, HypergraphBuilder, check_k

__all__ = ["Hypergraph", "HypergraphBuilder", "check_k"]
