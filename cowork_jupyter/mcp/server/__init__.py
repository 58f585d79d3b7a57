"""Our tools for foreign agents, over the Model Context Protocol.

Only the protocol: the `ToolHost` decides what is offered and what becomes of a call, and the
host who may connect. The modules here import the SDK, so hosts import them on first use.
"""
