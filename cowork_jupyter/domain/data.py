"""What events and messages hold: a model for each kind, chosen by the tag beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeVar, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    create_model,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

D = TypeVar("D")


class Data(BaseModel):
    """Facts that are stored, and shown, exactly as they were written.

    Where nothing was said, nothing is written. What a newer version says beside these fields
    is kept. Alone, without fields of its own, it holds what fits no model.
    """

    model_config = ConfigDict(extra="allow")

    @model_serializer(mode="wrap")
    def _as_written(self, handler):  # type: ignore[no-untyped-def] # a type would be its schema
        written = self.model_fields_set
        return {name: value for name, value in handler(self).items() if value or name in written}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The fields that there are; that others are kept is no promise."""
        schema = handler(core_schema)
        handler.resolve_ref_schema(schema).pop("additionalProperties", None)
        return schema


def read(model: TypeAdapter[D], raw: Any) -> D | Data:
    """Data from the store; what an old version wrote there and fits no model is kept as it is."""
    try:
        return model.validate_python(raw)
    except ValidationError:
        return Data.model_validate(raw)


def tagged(
    envelope: type[BaseModel],
    tag: str,
    models: Iterable[tuple[str, Any]],
    core_schema: CoreSchema,
    handler: GetJsonSchemaHandler,
) -> JsonSchemaValue:
    """The JSON schema of an envelope whose `data` depends on its tag: a named variant for each."""
    variants = [_variant(envelope, tag, kind, model) for kind, model in models]
    union: Any = Union[tuple(variants)]  # noqa: UP007 (there is no other way to compute one)
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[union, Field(discriminator=tag)])
    reference = handler(core_schema)
    schema = handler.resolve_ref_schema(reference)
    schema.clear()
    schema.update(handler(adapter.core_schema))
    return reference


def _variant(envelope: type[BaseModel], tag: str, kind: str, model: Any) -> type[BaseModel]:
    words = "".join(word.capitalize() for word in re.split("[-_]", kind))
    fields: dict[str, Any] = {tag: (Literal[kind], ...), "data": (model, ...)}
    return create_model(f"{words}{envelope.__name__}", __base__=envelope, **fields)
