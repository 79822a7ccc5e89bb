"""How kernels are compiled, cached and called: what needs numba."""
