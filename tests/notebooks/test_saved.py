"""What stands in the notebooks as they are shared: to be read without a kernel or our extension."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .place import NOTEBOOKS, ROOT

PAGES = sorted(NOTEBOOKS.glob("*.ipynb"))
CARDS = ("application/vnd.cowork.card+json", "application/vnd.cowork.record+json")
OURS = re.compile(r"^%%(?:plan|act)\b|^%cowork\b", re.MULTILINE)
PRIVATE = re.compile(
    r"/(?:home|root|Users|tmp|private|var|opt|mnt)/|site-packages|127\.0\.0\.1:\d|localhost:\d"
    r"|COWORK_KERNEL_TOKEN=|\bsk-\w|\btoken=\w"
)


def cells(page: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(page.read_text("utf-8"))["cells"]
    return [one for one in found if one["cell_type"] == "code"]


def bundles(page: Path) -> list[dict[str, Any]]:
    return [out["data"] for cell in cells(page) for out in cell["outputs"] if "data" in out]


def test_all_pages_are_here() -> None:
    names = {"quickstart", "roles", "analysis", "parallel", "review", "tools", "skills", "headless"}
    assert {page.stem for page in PAGES} == names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_cell_was_run_in_order_and_none_failed(page: Path) -> None:
    counts = [cell["execution_count"] for cell in cells(page)]
    assert counts == list(range(1, len(counts) + 1))
    outputs = [out for cell in cells(page) for out in cell["outputs"]]
    assert [out for out in outputs if out["output_type"] == "error"] == []
    assert "Traceback" not in json.dumps([out for out in outputs if out.get("name") == "stderr"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_whatever_is_ours_reads_as_markdown_too(page: Path) -> None:
    for cell in cells(page):
        if OURS.search("".join(cell["source"])) and "checkpoints = " not in "".join(cell["source"]):
            shown = [out["data"] for out in cell["outputs"] if "data" in out]
            assert any("".join(one.get("text/markdown", "")).strip() for one in shown), cell
    for bundle in bundles(page):
        if any(kind in bundle for kind in CARDS):
            assert "".join(bundle["text/markdown"]).strip()
            assert "".join(bundle["text/plain"]).strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_cards_are_records_that_no_kernel_and_no_server_stands_behind(page: Path) -> None:
    for bundle in bundles(page):
        assert CARDS[0] not in bundle
        assert not [kind for kind in bundle if "widget" in kind]
        card = bundle.get(CARDS[1])
        if card:
            said = card["snapshot"]
            assert said["status"] in ("completed", "failed")
            assert said["started_at"]
            assert said["ended_at"]
            assert said["model"]
            assert said["asked_by"] == "ada"
            assert said["permissions"] == said["questions"] == []
    assert "widgets" not in json.loads(page.read_text("utf-8"))["metadata"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_nothing_tells_of_the_machine_it_was_made_on(page: Path) -> None:
    for cell in cells(page):
        text = json.dumps([_without_pictures(out) for out in cell["outputs"]])
        assert str(ROOT) not in text
        assert not PRIVATE.search(text), PRIVATE.search(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([\w./-]+)\)", page.read_text("utf-8")):
        assert (NOTEBOOKS / link).exists(), link


def test_the_data_is_small() -> None:
    files = [path for path in NOTEBOOKS.rglob("*") if path.suffix == ".csv"]
    assert sum(path.stat().st_size for path in files) < 200_000


def _without_pictures(output: dict[str, Any]) -> dict[str, Any]:
    data = {key: one for key, one in output.get("data", {}).items() if key != "image/png"}
    return {**output, "data": data}
