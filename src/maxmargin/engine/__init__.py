"""Where oracles run: threads over kernels that release the GIL."""
