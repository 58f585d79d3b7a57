"""Parameters of foreign tools: validated against the server's schema, within bounds.

A schema is untrusted. What could make validation take forever is left out (patterns) or refused
(parts that reference each other over and over); the server validates the rest itself.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar

from pydantic import ConfigDict, model_validator

from ...policy.visible import visible
from ...tools.base import ToolParameters

MAX_NODES = 5_000
"""Parts of a schema; those that it references count each time."""
MAX_PROBLEMS = 5
MAX_TEXT_LENGTH, MAX_ENUM_LENGTH = 200, 300
_NAME = re.compile(r"[\w.$-]{1,64}", re.ASCII)
_LEFT_OUT = frozenset({"pattern", "patternProperties", "format", "contentEncoding", "$schema"})
_OWN_WORDS = frozenset({"description", "title"})
_NOT_SHOWN = _LEFT_OUT | {"examples", "default", "$comment", "$id"}


class ForeignParameters(ToolParameters):
    """Parameters as a server wants them. Each tool has a class of its own."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    wanted: ClassVar[dict[str, Any]] = {}
    described: ClassVar[dict[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _checked(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError("the parameters are not an object")
        problems = problems_of(given, cls.wanted)
        if problems:
            raise ValueError("; ".join(problems))
        return given

    @classmethod
    def model_json_schema(cls, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        """What the model is told of them."""
        return cls.described


def parameters_of(name: str, schema: dict[str, Any]) -> type[ForeignParameters]:
    """Raises ValueError if the schema cannot be used."""
    if schema.get("type", "object") != "object":
        raise ValueError("its parameters are not an object")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(map(_NAME.fullmatch, properties)):
        raise ValueError("a parameter's name is too long, or more than a word")
    wanted = _without(schema, _LEFT_OUT)
    if _nodes(wanted, wanted, ()) > MAX_NODES:
        raise ValueError("its parameters reference each other too often to check")
    whole = _without(schema, _NOT_SHOWN)
    described = {"type": "object", **_shortened(_inlined(whole, whole, ()))}
    return type(name, (ForeignParameters,), {"wanted": wanted, "described": described})


async def warm_up() -> None:
    """Import jsonschema before anybody waits for it: it can take a second, and only a Jupyter
    server has already imported it.
    """
    if "jsonschema" not in sys.modules:
        await asyncio.to_thread(importlib.import_module, "jsonschema")


def problems_of(given: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    from referencing.exceptions import Unresolvable

    validator = _validator(json.dumps(wanted, sort_keys=True))
    found: list[str] = []
    try:
        for error in islice(validator.iter_errors(given), MAX_PROBLEMS):
            place = ".".join(map(str, error.absolute_path))
            problem = f"'{place}': {error.message}" if place else error.message
            found.append(problem[:MAX_TEXT_LENGTH])
    except Unresolvable:
        return []  # a part of the schema is elsewhere: the server will say
    except RecursionError:
        return ["they are nested too deeply"]
    return found


@lru_cache(maxsize=256)
def _validator(text: str) -> Any:
    """Cached, because creating one takes much longer than using it."""
    from jsonschema import Draft202012Validator, SchemaError  # type: ignore[import-untyped]
    from referencing import Registry

    schema = json.loads(text)
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError) as error:
        raise ValueError("its parameters are not described in JSON Schema") from error
    return Draft202012Validator(schema, registry=Registry())  # which fetches nothing


def _without(value: Any, keys: frozenset[str], *, names: bool = False) -> Any:
    """Without these keywords; inside `properties` the same words are names."""
    if isinstance(value, dict):
        return {
            key: _without(item, keys, names=key in ("properties", "$defs") and not names)
            for key, item in value.items()
            if names or key not in keys
        }
    return [_without(item, keys) for item in value] if isinstance(value, list) else value


def _nodes(value: Any, whole: dict[str, Any], inside: tuple[str, ...]) -> int:
    if not isinstance(value, (dict, list)):
        return 0
    count = 1
    for item in value.values() if isinstance(value, dict) else value:
        count += _nodes(item, whole, inside)
        if count > MAX_NODES:
            return count
    reference = value.get("$ref") if isinstance(value, dict) else None
    if isinstance(reference, str) and reference.startswith("#/") and reference not in inside:
        count += _nodes(_found(whole, reference), whole, (*inside, reference))
    return count


def _inlined(value: Any, whole: dict[str, Any], inside: tuple[str, ...]) -> Any:
    """Resolve references: the schema goes into another one, where they would lead nowhere."""
    if isinstance(value, list):
        return [_inlined(item, whole, inside) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        known = reference.startswith("#/") and reference not in inside
        return _inlined(_found(whole, reference), whole, (*inside, reference)) if known else {}
    return {
        key: _inlined(item, whole, inside)
        for key, item in value.items()
        if key not in ("$defs", "definitions")
    }


def _found(whole: Any, reference: str) -> Any:
    for step in reference[2:].split("/"):
        whole = whole.get(step) if isinstance(whole, dict) else None
    return whole


def _shortened(value: Any) -> Any:
    """Few words of the server in a prompt, and none that are invisible."""
    if isinstance(value, dict):
        short = {key: _shortened(item) for key, item in value.items()}
        for key in _OWN_WORDS & short.keys():
            if isinstance(short[key], str):
                short[key] = visible(" ".join(short[key].split()))[:MAX_TEXT_LENGTH]
        if len(str(short.get("enum", ""))) > MAX_ENUM_LENGTH:
            del short["enum"]
        return short
    return [_shortened(item) for item in value] if isinstance(value, list) else value
