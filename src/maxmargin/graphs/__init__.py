"""Graphs: Markov random fields over any graph, with a label for every node."""
