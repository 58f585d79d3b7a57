"""Our tools for agents of others, over the Model Context Protocol.

Here is only the protocol. What is offered, and what becomes of a call, is up to the `Desk`;
who may come at all, to the host. The SDK is imported by the modules beside this one, so hosts
import those when somebody comes.
"""
