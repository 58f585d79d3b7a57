"""Diagrams in an agent's reply are drawn, and none of them makes the browser call an address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.scripted import Scripted, ScriptedServer, text
from tests.scripted.server import last_words

from .lab import LabServer
from .visit import open_lab, open_panel, say

pytestmark = pytest.mark.slow

HARMLESS = "flowchart LR\n  A[Load sales.csv] -->|clean| B{Any gaps?}\n  style A fill:#f9f;"

LABELS = {  # a label in each of the types that Mermaid knows
    "flowchart": "flowchart LR\n  A[{}]",
    "graph": "graph TD;\n  A[{}] -->|{}| B;",
    "swimlane": "swimlanes\n  A[{}]",
    "sequence": "sequenceDiagram\n  participant A as {}\n  A->>A: {}\n  Note over A: {}",
    "class": "classDiagram\n  class A[{}]\n  note for A {}",
    "state": "stateDiagram-v2\n  state {} as s1\n  s1 --> [*] : {}",
    "state-v1": "stateDiagram\n  s1 : {}",
    "er": "erDiagram\n  A ||--o| B : {}",
    "gantt": "gantt\n  title {}\n  section {}\n  {} :a1, 2026-01-01, 3d",
    "journey": "journey\n  title {}\n  section {}\n  {}: 5: Me",
    "pie": "pie title {}\n  {} : 40",
    "quadrant": "quadrantChart\n  title {}\n  x-axis {}\n  A: [0.3, 0.6]",
    "requirement": "requirementDiagram\n  requirement a {\n  id: 1\n  text: {}\n  }",
    "gitgraph": "gitGraph\n  commit id: {}",
    "c4": "C4Context\n  title {}\n  Person(a, {}, {})",
    "mindmap": "mindmap\n  root(({}))\n    {}",
    "timeline": "timeline\n  title {}\n  2026 : {}",
    "sankey": "sankey-beta\n{},B,10",
    "xychart": "xychart-beta\n  title {}\n  x-axis [{}]\n  bar [1]",
    "block": "block-beta\n  a[{}]",
    "packet": "packet-beta\n  0-15: {}",
    "kanban": "kanban\n  todo[{}]\n    t1[{}]",
    "architecture": "architecture-beta\n  service db(database)[{}]",
    "radar": "radar-beta\n  title {}\n  axis a[{}]\n  curve c{1}",
    "treemap": "treemap-beta\n{}\n  {}: 10",
    "zenuml": "zenuml\n  title {}\n  A.{}",
}
PAYLOADS = {
    "img": "\"<img src='{address}'>\"",
    "bare": "<img src={address}>",
    "image": "\"<svg><image href='{address}'/></svg>\"",
    "style": "\"<b style='background:url({address})'>x</b>\"",
    "entity": "\"#lt;img src='{address}'#gt; #60;img src='{address}'#62;\"",
    "markdown": '"`![x]({address})`"',
}
OTHERS = {  # ways that are no label
    "shape": 'flowchart LR\n  A@{{ img: "{address}", label: "x", h: 60 }}',
    "fill": "flowchart LR\n  A\n  style A fill:url({address})",
    "classdef": "flowchart LR\n  A:::x\n  classDef x background:url({address})",
    "css": '%%{{init: {{"themeCSS": "* {{background:url({address})}}"}}}}%%\nflowchart LR\n  A',
    "settings": "---\nconfig:\n  themeCSS: '@import url({address});'\n---\nflowchart LR\n  A",
    "sprite": 'C4Context\n  Person(a, "A", "b", $sprite="{address}")',
    "font": '%%{{init: {{"fontFamily": "x; background: url({address})"}}}}%%\nflowchart LR\n  A',
}


@dataclass
class Listener:
    """An address outside, which keeps what was asked of it."""

    called: list[str] = field(default_factory=list)

    def __enter__(self) -> Listener:
        called = self.called

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                called.append(self.path)
                self.send_error(404)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/{name}"


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with Listener() as made:
        yield made


@pytest.fixture(scope="module")
def drawing_lab(
    tmp_path_factory: pytest.TempPathFactory, listener: Listener
) -> Iterator[LabServer]:
    """A Lab whose model replies with the diagrams that it is asked for by the payload's name."""

    def answer(body: dict[str, Any]) -> Scripted:
        return text(reply(last_words(body, "user").split()[-1], listener))

    with ScriptedServer(answer) as model:
        environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
        with LabServer(tmp_path_factory.mktemp("drawing"), environment) as lab:
            yield lab


def reply(name: str, listener: Listener) -> str:
    """All diagrams with this payload, also in a quotation and a list; a harmless one comes last."""
    if name in PAYLOADS:
        sources = [
            label.replace("{}", PAYLOADS[name].format(address=listener.address(f"{name}-{kind}")))
            for kind, label in LABELS.items()
        ]
    else:
        sources = [one.format(address=listener.address(kind)) for kind, one in OTHERS.items()]
    fences = [f"```mermaid\n{source}\n```" for source in sources]
    quoted = "\n".join(f"> {line}" for line in fences[0].split("\n"))
    listed = "- " + fences[0].replace("\n", "\n  ")
    return "\n\n".join([*fences, quoted, listed, f"```mermaid\n{HARMLESS}\n```", "That is all."])


@pytest.mark.parametrize("name", [*PAYLOADS, "others"])
def test_no_diagram_makes_a_request(
    page: Page, drawing_lab: LabServer, listener: Listener, name: str
) -> None:
    listener.called.clear()
    open_lab(page, drawing_lab)
    panel = open_panel(page)
    say(panel, f"Draw it as {name}")
    drawn = panel.locator("img[src^='data:image/svg']")
    expect(drawn).to_have_count(1)
    expect(panel).to_contain_text("That is all.")
    assert listener.called == []
