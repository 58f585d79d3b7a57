"""The kernel as host: magics, cards and the Python API."""
