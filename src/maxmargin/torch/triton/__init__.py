"""Kernels for a GPU, in Triton: ``chains.py`` and ``charts.py`` have the calls."""
