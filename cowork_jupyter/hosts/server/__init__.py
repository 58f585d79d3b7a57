"""The Jupyter server as host: thin handlers over the service."""
