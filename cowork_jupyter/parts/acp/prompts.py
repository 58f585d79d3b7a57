"""Reads a client's prompt: text, resources, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from acp import RequestError, schema
from pydantic import ValidationError

from ...api.models import MAX_BYTES, MAX_PICTURES, NewPicture
from ...domain.errors import InvalidInput
from ...domain.messages import ImagePart

_INVALID = -32602
_NOT_TAKEN = f"A picture must be a PNG, JPEG, WebP or GIF of at most {MAX_BYTES // 1_000_000} MB."


@dataclass(frozen=True)
class ClientPrompt:
    text: str
    pictures: Sequence[ImagePart] = ()


def read_prompt(blocks: Sequence[Any]) -> ClientPrompt:
    """Raises RequestError for content that is not supported."""
    pictures = [block for block in blocks if isinstance(block, schema.ImageContentBlock)]
    if len(pictures) > MAX_PICTURES:
        raise RequestError(_INVALID, f"A prompt takes at most {MAX_PICTURES} pictures.")
    words = (_text(block) for block in blocks if block not in pictures)
    text = "\n\n".join(filter(None, words))
    if not text.strip():
        raise RequestError(_INVALID, "This prompt has no text.")
    return ClientPrompt(text, [_picture(block) for block in pictures])


def _text(block: Any) -> str:
    match block:
        case schema.TextContentBlock():
            return block.text
        case schema.ResourceContentBlock():
            return f"[{block.title or block.name}]({block.uri})"
        case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as given):
            return f"{given.uri}:\n```\n{given.text}\n```"
    raise RequestError(_INVALID, f"This agent does not accept content of type '{block.type}'.")


def _picture(block: schema.ImageContentBlock) -> ImagePart:
    given = {"media_type": block.mime_type, "data": block.data}
    try:
        return NewPicture.model_validate(given).part()
    except InvalidInput as error:
        raise RequestError(_INVALID, error.message) from None
    except ValidationError:
        raise RequestError(_INVALID, _NOT_TAKEN) from None
