"""The page about HTTP, from the same declarations that validate and answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from cowork_jupyter.api.routes import RouteTable

_HEAD = """# HTTP

All routes are under `{base_url}cowork/` of a Jupyter server and use its logins and tokens. Programs
can read the same description in [openapi.json](openapi.json). Errors are returned as
`{"error": {"code", "message", "retryable", "details"}}` with a matching status. Requests with
unknown fields are refused. Routes that a kernel's own token may call are marked.

`WS context/{id}/events/ws?after=SEQ` streams the events of a conversation; after a reconnect,
nothing is missed or repeated.
"""


def http_page(document: dict[str, Any], table: RouteTable) -> str:
    """Every route, then every model that a route takes or gives."""
    kernels = {(f"/{one.path}", one.method.lower()) for one in table.routes if one.kernel}
    lines = [_HEAD]
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    operations.sort(key=lambda one: (_group(one[0]), one[0], one[1]))
    for group, members in groupby(operations, lambda one: _group(one[0])):
        lines += [f"## {group}", ""]
        for path, method, operation in members:
            lines += _operation(path, method, operation, (path, method) in kernels)
    lines += ["## Models", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += _model(name, schema)
    return "\n".join(lines)


def _group(path: str) -> str:
    return path.strip("/").split("/")[0]


def _operation(
    path: str, method: str, operation: dict[str, Any], for_kernels: bool
) -> Iterator[str]:
    yield f"### {method.upper()} {path.lstrip('/')}"
    yield ""
    yield " ".join(operation["summary"].split())
    yield ""
    takes = [one for one in operation.get("parameters", []) if one["in"] == "query"]
    if takes:
        named = [f"`{one['name']}` ({_type(one['schema'])})" for one in takes]
        yield f"- query: {', '.join(named)}"
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        yield f"- body: {_type(schema)}" + ("" if body["required"] else " (optional)")
    for status, answer in operation["responses"].items():
        if status.isdecimal():
            content = answer.get("content", {})
            kinds = [
                _type(one["schema"]) if "schema" in one else f"`{kind}`"
                for kind, one in content.items()
            ]
            yield f"- returns {status}" + (f": {', '.join(kinds)}" if kinds else "")
    if for_kernels:
        yield "- a kernel's token may call it"
    yield ""


def _model(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f"### {name} {{ #{_anchor(name)} }}"
    yield ""
    if schema.get("description"):
        yield from (" ".join(schema["description"].split()), "")
    if "enum" in schema:
        yield from (", ".join(f"`{one}`" for one in schema["enum"]), "")
    properties = schema.get("properties", {})
    if properties:
        yield "| field | type | |"
        yield "| --- | --- | --- |"
    for field, of in properties.items():
        needed = "" if field in schema.get("required", []) else "optional"
        told = " ".join([needed, *of.get("description", "").split()]).strip().replace("|", "\\|")
        yield f"| `{field}` | {_type(of)} | {told} |"
    yield ""


def _anchor(name: str) -> str:
    """Where a model stands; its name alone may be a route's too."""
    return f"model-{name.lower()}"


def _type(schema: dict[str, Any]) -> str:
    """A type in words, with a link where it is a model."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{_anchor(name)})"
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[choice]))
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))
