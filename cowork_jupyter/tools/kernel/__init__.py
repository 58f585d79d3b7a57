"""Kernels: running code in them, and looking at what they hold."""
