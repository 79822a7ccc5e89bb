"""One driver, one plane store, and the solvers that use them."""
