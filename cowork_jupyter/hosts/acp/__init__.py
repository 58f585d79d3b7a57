"""Editors as host: the service over the Agent Client Protocol, `jupyter cowork acp`."""
