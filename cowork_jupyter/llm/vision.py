"""Pictures in a conversation: which of them the model is shown, and what it reads otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..domain.messages import ContentPart, ImagePart, Message, TextPart
from ..domain.settings import PictureChoice
from .failures import ModelError

MAX_SENT = 4
"""Pictures of one request: the newest ones. Each costs as much as a page of text."""

_SEEING = re.compile(
    r"vision|multimodal|omni|llava|moondream|minicpm-v|pixtral|molmo|internvl|cogvlm|smolvlm|idefics"
    r"|(?:^|[-_/.\d])vl(?:$|[-_:.\d])|\dv(?:$|[-_:])"  # qwen2.5-vl, glm-4.5v
    r"|gpt-(?:4o|4\.1|4\.5|4-turbo|[5-9])|(?:^|/)o(?:[13](?:$|-(?!mini))|4)|gemini|gemma-?[3-9]"
    r"|claude-(?!2|instant)|llama-?4|grok-[4-9]|mistral-(?:medium-3|small-3\.[1-9]|large-3)",
    re.IGNORECASE,
)
"""Names of models that are known to see."""
_ABOUT_PICTURES = re.compile(r"image|picture|vision|multi-?modal|mmproj", re.IGNORECASE)


class VisionSupport:
    """Knows which models can be shown pictures: by the user's word, by name, and by trying."""

    def __init__(self, choice: PictureChoice = "auto") -> None:
        self._choice = choice
        self._blind: set[str] = set()

    def sees(self, model: str) -> bool:
        """Whether to show pictures to the model of this name."""
        if self._choice == "no" or model in self._blind:
            return False
        return self._choice == "yes" or _SEEING.search(model) is not None

    def is_lost(self, model: str, error: ModelError) -> bool:
        """Whether a request with pictures failed for them; then none are sent from now on.

        Servers say it in many words or in none. What is refused for good with pictures in it is
        worth one attempt without them.
        """
        if error.retryable and not _ABOUT_PICTURES.search(error.message):
            return False
        self._blind.add(model)
        return True


def with_pictures(newest_first: Iterable[Message], most: int) -> Iterator[Message]:
    """The messages with this many of their pictures, the newest; the others are named in words."""
    why = "shown earlier" if most else "not shown to this model"
    for message in newest_first:
        pictures = message.pictures
        kept = pictures[max(0, len(pictures) - most) :]
        most -= len(kept)
        yield message if len(kept) == len(pictures) else _named(message, kept, why)


def _named(message: Message, kept: list[ImagePart], why: str) -> Message:
    content: list[ContentPart] = [
        TextPart(text=f"\n[{_name(part)}, {why}]")
        if isinstance(part, ImagePart) and not any(part is picture for picture in kept)
        else part
        for part in message.content
    ]
    return message.model_copy(update={"content": content})


def _name(picture: ImagePart) -> str:
    """`image 640×480 PNG`."""
    size = f" {picture.size[0]}×{picture.size[1]}" if picture.size else ""
    return f"image{size} {picture.media_type.rpartition('/')[2].upper()}"
