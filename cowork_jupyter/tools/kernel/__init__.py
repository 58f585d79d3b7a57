"""Running code in kernels, and looking at their variables."""
