"""The HTTP API over the service, for any host: routes, models, endpoints.

The Jupyter server serves it over HTTP, a kernel without a server over its comm.
"""
