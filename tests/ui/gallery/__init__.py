"""Every card in every state, drawn by the built script with a made-up kernel behind it."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Page, Route

HERE = Path(__file__).parent
STATIC = HERE.parent.parent.parent / "cowork_jupyter" / "static"
THEMES = Path(sys.prefix) / "share/jupyter/lab/themes/@jupyterlab"
ADDRESS = "http://gallery.test"


def open_gallery(page: Page, theme: str, only: str = "") -> None:
    """Show all cards, or one of them, in one of Lab's themes. Nothing goes over the network."""

    def answer(route: Route) -> None:
        name = route.request.url.partition("?")[0].rpartition("/")[2]
        if name == "theme.css":
            path = THEMES / f"theme-{theme}-extension" / "index.css"
        else:
            path = (STATIC if name.startswith("card.") else HERE) / name
        if path.is_file():
            route.fulfill(path=path)
        else:
            route.fulfill(status=404)

    page.route(f"{ADDRESS}/**", answer)
    is_light = "true" if theme == "light" else "false"
    page.add_init_script(
        "document.addEventListener('DOMContentLoaded', () => "
        f"document.body.setAttribute('data-jp-theme-light', '{is_light}'))"
    )
    page.goto(f"{ADDRESS}/index.html?only={only}")
    page.wait_for_selector("body[data-ready]")
