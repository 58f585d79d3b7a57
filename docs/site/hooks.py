"""What mkdocs calls while it builds: adds the pages that are made, and keeps the network out."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.site import DRAWN, ROOT
from docs.site.reference import generated_files

_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
_LOADED = re.compile(r"<(?:script|img|iframe)[^>]+src=\"?https?:|<link[^>]+stylesheet[^>]+https?:")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference and the documents of the repository; newer pictures replace older ones."""
    made = {**generated_files(), **_documents()}
    for uri, text in made.items():
        files.append(File.generated(config, uri, content=text))
    for picture in list(files.media_files()):
        drawn = DRAWN / Path(picture.src_uri).name
        if picture.src_uri.startswith("images/") and drawn.exists():
            files.append(File.generated(config, picture.src_uri, abs_src_path=str(drawn)))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Reading a page asks nobody else for anything."""
    found = _LOADED.search(output)
    if found:
        raise PluginError(f"{page.file.src_uri} loads something from elsewhere: {found[0]}")
    return output


def _documents() -> dict[str, str]:
    """The files at the top of the repository, with links that lead somewhere from here."""
    return {
        f"{name.lower()}.md": _without_source_links((ROOT / f"{name}.md").read_text("utf-8"))
        for name in ("ARCHITECTURE", "CHANGELOG")
    }


def _without_source_links(text: str) -> str:
    """Links to pages lead to the pages; those into the source tree become their words."""
    return _LINK.sub(_page_link, text)


def _page_link(link: re.Match[str]) -> str:
    words, target = link.groups()
    if target.startswith(("https:", "http:", "#")):
        return link[0]
    page = target.removeprefix("docs/")
    return words if page == target else f"[{words}]({page})"
