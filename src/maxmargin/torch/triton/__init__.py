"""Kernels for a GPU, in Triton; ``chains.py`` has the calls for chains."""
