"""Every change can be seen and taken back, data files included."""
