"""Base classes of pydantic models, and readable validation errors.

Models of what a language model writes take nulls. Data of events and messages is kept as it was
written, with one model per tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Union

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
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError

EXACT = "exact"
"""Validation context for what people and programs send: slips that models may make are refused."""


class NullTolerantModel(BaseModel):
    """Written by a language model; many of them write `null` to leave something out."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, raw: Any, info: ValidationInfo) -> Any:
        if not isinstance(raw, dict):
            return raw
        if info.context == EXACT:
            _refuse_unknown(raw, cls)
        return {name: value for name, value in raw.items() if value is not None}


def _refuse_unknown(raw: dict[str, Any], model: type[BaseModel]) -> None:
    names = {"names": ", ".join(model.model_fields)}
    unknown = PydanticCustomError("unknown_field", "is unknown; choose from: {names}", names)
    problems = [
        InitErrorDetails(type=unknown, loc=(name,), input=value)
        for name, value in raw.items()
        if name not in model.model_fields
    ]
    if problems:
        raise ValidationError.from_exception_data(model.__name__, problems)


class SparseModel(BaseModel):
    """Fields in `only_if_any` are written, and required, only if they are not empty."""

    only_if_any: ClassVar[frozenset[str]]

    @model_serializer(mode="wrap")
    def _as_written(self, handler):  # type: ignore[no-untyped-def] # a type would be its schema
        written = handler(self)
        for name in self.only_if_any & written.keys():
            if not written[name]:
                del written[name]
        return written

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        described = handler.resolve_ref_schema(schema)
        required = described.get("required", [])
        described["required"] = [name for name in required if name not in cls.only_if_any]
        return schema


MAX_PROBLEMS = 10
_MAX_PLACE_LENGTH = 100


class FieldProblem(NamedTuple):
    """For example `steps[0].id`, `is missing`."""

    field: str
    why: str

    def __str__(self) -> str:
        return f"{self.field}: {self.why}" if self.field else self.why


def field_problems(error: ValidationError, fields: Iterable[str] = ()) -> list[FieldProblem]:
    """`fields` are those to suggest where there is one too many."""
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return [
        FieldProblem(_place(detail)[:_MAX_PLACE_LENGTH], _why(detail, fields)) for detail in details
    ]


def describe_problems(problems: list[FieldProblem], separator: str = "; ") -> str:
    more = len(problems) - MAX_PROBLEMS
    lines = [*map(str, problems[:MAX_PROBLEMS]), *([f"and {more} more"] if more > 0 else [])]
    return separator.join(lines)


def _place(detail: ErrorDetails) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"])
    return "".join(parts).removeprefix(".")


def _why(detail: ErrorDetails, fields: Iterable[str]) -> str:
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"] == "extra_forbidden":
        names = ", ".join(fields)
        return f"is unknown; choose from: {names}" if names else "is unknown"
    why = detail["msg"].removeprefix("Value error, ")
    # pydantic's own sentences begin with a capital; ours may begin with a name.
    follows_place = bool(detail["loc"]) and why == detail["msg"]
    return why[:1].lower() + why[1:] if follows_place else why


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
