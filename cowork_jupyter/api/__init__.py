"""The API of the contract over the service, for any host: routes, models, endpoints.

The Jupyter server answers with it over HTTP, and a kernel without a server over its comm.
"""
