"""Models that leave some of their fields unwritten where there is nothing to say."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, GetJsonSchemaHandler, model_serializer
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class SparseModel(BaseModel):
    """As the contract has it: what `only_if_any` names is written, and required, only if it says
    something.
    """

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
