"""`openapi.json`, made from the declarations that also validate and answer."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from .._version import __version__
from ..domain.base_models import Data
from .models import ErrorAnswer
from .routes import NDJSON, Route, RouteTable

_AS_UPSTREAM = {
    "default": {
        "description": "What the model's own server answered, unchanged.",
        "content": {"application/json": {}, "text/event-stream": {}},
    }
}
_PASSED_THROUGH: dict[str, Any] = {
    "/v1/models": {
        "get": {
            "operationId": "upstream_models",
            "summary": "The OpenAI API's list of models, passed through.",
            "responses": _AS_UPSTREAM,
        }
    },
    "/v1/chat/completions": {
        "post": {
            "operationId": "upstream_chat_completions",
            "summary": "The OpenAI API's chat completions, passed through, streaming included.",
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "responses": _AS_UPSTREAM,
        }
    },
}
"""Not in the table: bytes are passed through."""

_SOCKET: dict[str, Any] = {
    "/context/{id}/events/ws": {
        "get": {
            "operationId": "events_socket",
            "summary": "A WebSocket: the stored events after a position, then each new one.",
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                {
                    "name": "after",
                    "in": "query",
                    "schema": {"type": "integer", "minimum": 0, "default": 0},
                },
            ],
            "responses": {
                "101": {
                    "description": "Each message is one event. If there is no such conversation, "
                    "the socket is closed with the code 4404.",
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Event"}}
                    },
                },
                "4XX": {
                    "description": "What is wrong with the request.",
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}
                    },
                },
            },
        }
    }
}
"""Not in the table: OpenAPI knows no sockets, only how one is requested."""

REFERENCE = "#/components/schemas/{model}"


class OpenApi(BaseModel):
    """An OpenAPI document."""

    model_config = ConfigDict(extra="allow")

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]


_one_at_a_time = Lock()


def description_of(table: RouteTable) -> OpenApi:
    """The same as `describe_api`, made once for all who ask at the same time or later."""
    with _one_at_a_time:
        return _described(table)


@cache
def _described(table: RouteTable) -> OpenApi:
    return describe_api(table)


def describe_api(table: RouteTable) -> OpenApi:
    paths: dict[str, dict[str, Any]] = {}
    schemas = _schemas(table)
    paths.update(_PASSED_THROUGH | _SOCKET)
    for route in table.routes:
        paths.setdefault(f"/{route.path}", {})[route.method.lower()] = _operation(route, schemas)
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Cowork for Jupyter", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas["$defs"]},
    }
    return OpenApi.model_validate(document)


class _WhatIsSent(GenerateJsonSchema):
    """Marks fields with defaults as required in answers: they are sent, too.

    Only None in `Data` is left out.
    """

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        """Titles would only repeat the names."""
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        json_schema = super().model_schema(schema)
        if self.mode == "serialization" and "properties" in json_schema:
            bases = [base for base in schema["cls"].__mro__ if issubclass(base, BaseModel)]
            is_data = issubclass(schema["cls"], Data)
            whole = {
                name
                for base in bases
                if not issubclass(base, Data)
                for name, field in base.model_fields.items()
                if not (is_data and field.default is None)  # None is left out
            }
            needed = whole.union(json_schema.get("required", ()))
            json_schema["required"] = [name for name in json_schema["properties"] if name in needed]
        return json_schema


def _schemas(table: RouteTable) -> dict[str, Any]:
    incoming = {
        (model, "validation") for route in table.routes for model in (route.body, route.query)
    }
    outgoing = {(route.answer, "serialization") for route in table.routes}
    wanted = [pair for pair in incoming | outgoing if pair[0]] + [(ErrorAnswer, "serialization")]
    references, schema = models_json_schema(
        sorted(wanted, key=lambda pair: (pair[0].__name__, pair[1])),  # type: ignore[arg-type]
        ref_template=REFERENCE,
        schema_generator=_WhatIsSent,
    )
    return {"references": references, "$defs": schema.get("$defs", {})}


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    references = schemas["references"]
    operation: dict[str, Any] = {
        "operationId": route.endpoint.__name__,
        "summary": (route.endpoint.__doc__ or "").strip(),
        "parameters": [*_path_parameters(route), *_query_parameters(route, schemas)],
        "responses": _responses(route, references),
    }
    if route.body:
        schema = references[(route.body, "validation")]
        content = {"application/json": {"schema": schema}}
        required = any(field.is_required() for field in route.body.model_fields.values())
        operation["requestBody"] = {"required": required, "content": content}
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in route.parameters
    ]


def _query_parameters(route: Route, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    reference = schemas["references"][(route.query, "validation")]["$ref"]
    properties = schemas["$defs"][reference.rsplit("/", 1)[1]]["properties"]
    needed = {name for name, field in route.query.model_fields.items() if field.is_required()}
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": of}
        for name, of in properties.items()
    ]


def _responses(route: Route, references: Any) -> dict[str, Any]:
    failure = {"application/json": {"schema": references[(ErrorAnswer, "serialization")]}}
    good: dict[str, Any] = {"description": "Done."}
    if route.answer:
        schema = references[(route.answer, "serialization")]
        good["content"] = {NDJSON if route.streams else "application/json": {"schema": schema}}
    if route.downloads:
        good["content"] = {download.partition(";")[0]: {} for download in route.downloads}
    return {
        str(route.status): good,
        "4XX": {"description": "What is wrong with the request.", "content": failure},
        "5XX": {"description": "What is wrong here.", "content": failure},
    }
