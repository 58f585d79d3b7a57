"""The terminal as host: `jupyter cowork …`."""
