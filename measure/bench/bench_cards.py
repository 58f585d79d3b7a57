"""Cards in a real browser: how soon an event is painted, that a long stream stays smooth, and
what a page full of them asks its server.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.ui.chromium import ARGUMENTS, HELP, find_chromium
from tests.ui.crowd import CARDS, PER_PAGE, crowded_lab, reloaded, until_live, write_cards
from tests.ui.gallery import open_gallery
from tests.ui.person import open_notebook

from .rows import Row

ROUNDS = 100
DELTAS = 5_000

PAINTED = """async rounds => {
  const { kernel, seq } = window.last;
  const times = [];
  for (let sent = 1; sent <= rounds; sent += 1) {
    const data = { text: `word ${sent} ` };
    const whose = { context_id: 'ctx', job_id: 'j', task_id: null, created_at: '' };
    const event = { seq: seq + sent, type: 'text-delta', ...whose, data };
    // Not in step with the screen: in the middle of any frame, as the network is.
    await new Promise(resolve => setTimeout(resolve, 20 + 17 * Math.random()));
    const began = performance.now();
    kernel.tell({ subscription: kernel.subscription, event });
    while (!document.querySelector('.cw-tail')?.textContent.includes(data.text.trim())) {
      await new Promise(requestAnimationFrame);
    }
    // A message that is sent in a frame comes after that frame was painted.
    await new Promise(resolve => requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    }));
    times.push(performance.now() - began);
  }
  return times;
}"""

AT_REST = """async milliseconds => {
  let [longest, last] = [0, performance.now()];
  for (const end = last + milliseconds; last < end; ) {
    const now = await new Promise(requestAnimationFrame);
    [longest, last] = [Math.max(longest, now - last), now];
  }
  return longest;
}"""


def measure() -> Iterator[Row]:
    with streaming_card() as page:
        times: list[float] = page.evaluate(PAINTED, ROUNDS)
    yield Row(
        "an event to the painted card",
        statistics.median(times),
        "ms",
        50,
        f"median of {ROUNDS}, longest {max(times):.0f} ms; of these up to two frames of 17 ms",
    )
    with streaming_card() as page:
        memory = page.context.new_cdp_session(page)
        page.evaluate(f"stream({DELTAS}, 2)")  # compiles and allocates what every stream needs
        page.reload()
        page.wait_for_selector("body[data-ready]")
        rest: float = page.evaluate(AT_REST, 5000)
        before = heap(memory)
        began: float = page.evaluate("performance.now()")
        slow: list[int] = page.evaluate(f"stream({DELTAS}, 2)")
        seconds = (page.evaluate("performance.now()") - began) / 1000
        grown = heap(memory) - before
    note = (
        f"{DELTAS:,} text deltas, {DELTAS / seconds:.0f} a second; 0 when none took over 100 ms. "
        f"At rest, just before, the longest took {rest:.0f} ms"
    )
    yield Row("longest dropped frame while text streams", max(slow, default=0), "ms", 100, note)
    note = f"{grown / DELTAS:.0f} B a delta, its text among them"
    yield Row("memory that a card keeps of them", grown / 1e6, "MB", 1, note)
    yield from measure_reload()


def measure_reload() -> Iterator[Row]:
    """A notebook with many cards, opened, then reloaded."""
    with TemporaryDirectory() as folder, crowded_lab(Path(folder)) as lab, browser() as page:
        write_cards(lab, "cards.ipynb")
        open_notebook(page, lab, "cards.ipynb")
        until_live(page, CARDS)
        traffic = reloaded(page)
    asked = traffic.requests.total()
    yield Row("sockets of a page with 30 cards", len(traffic.sockets), "", 1, "32 once")
    limit = CARDS + len(PER_PAGE)
    yield Row("requests at its reload", asked, "", limit, "one for each card; 277 once")


@contextmanager
def browser() -> Iterator[Page]:
    executable = find_chromium()
    assert executable, HELP
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield chromium.new_page(viewport={"width": 1280, "height": 800})
        chromium.close()


@contextmanager
def streaming_card() -> Iterator[Page]:
    with browser() as page:
        open_gallery(page, "light", only="thinking")
        yield page


def heap(session: CDPSession) -> int:
    """Bytes of JavaScript that are still reachable."""
    session.send("HeapProfiler.collectGarbage")
    used: int = session.send("Runtime.getHeapUsage")["usedSize"]
    return used
