"""Base models of event and message data, with one model per tag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    create_model,
    field_validator,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class Data(BaseModel):
    """Facts that are stored and shown exactly as they were written.

    Unset empty fields are not written. Unknown fields, from newer versions, are kept. Without
    fields of its own it holds data that fits no model.
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
        """Hide that other fields are kept, which is no promise."""
        schema = handler(core_schema)
        handler.resolve_ref_schema(schema).pop("additionalProperties", None)
        return schema


class Tagged(BaseModel):
    _tag: ClassVar[str]
    _models: ClassVar[Mapping[Any, Any]]
    _readers: ClassVar[dict[Any, TypeAdapter[Any]]]
    _root: ClassVar[type[BaseModel]]

    @classmethod
    def __init_subclass__(
        cls, tag: str = "", models: Mapping[Any, Any] | None = None, **others: Any
    ) -> None:
        super().__init_subclass__(**others)
        if models is not None:  # else it is one of the variants in the schema
            cls._tag, cls._models, cls._root = tag, models, cls
            cls._readers = {kind: TypeAdapter(model) for kind, model in models.items()}

    @field_validator("data", mode="wrap", check_fields=False)
    @classmethod
    def _by_tag(cls, raw: Any, _handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        """Validate by tag, except for our own instances.

        Data stored by an old version that fits no model is kept as it is.
        """
        if isinstance(raw, BaseModel):
            return raw
        try:
            return cls._readers[info.data[cls._tag]].validate_python(raw)
        except ValidationError:
            return Data.model_validate(raw)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        if cls is not cls._root:
            return handler(core_schema)
        variants = [_variant(cls, cls._tag, kind, model) for kind, model in cls._models.items()]
        union: Any = Union[tuple(variants)]  # noqa: UP007 (there is no other way to compute one)
        adapter: TypeAdapter[Any] = TypeAdapter(Annotated[union, Field(discriminator=cls._tag)])
        reference = handler(core_schema)
        schema = handler.resolve_ref_schema(reference)
        schema.clear()
        schema.update(handler(adapter.core_schema))
        return reference


def _variant(envelope: type[BaseModel], tag: str, kind: str, model: Any) -> type[BaseModel]:
    words = "".join(word.capitalize() for word in re.split("[-_]", kind))
    fields: dict[str, Any] = {tag: (Literal[kind], ...), "data": (model, ...)}
    return create_model(f"{words}{envelope.__name__}", __base__=envelope, **fields)
