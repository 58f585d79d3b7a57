"""The language model: build requests, stream replies, parse what the model writes.

`client` streams chunks, `reader` turns them into a `Reply`, `protocols` shapes the request. The
OpenAI library is imported with the first request, not before.
"""
