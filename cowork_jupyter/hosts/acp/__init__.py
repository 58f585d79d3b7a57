"""Editors as host: the same service over the Agent Client Protocol, `jupyter cowork acp`."""
