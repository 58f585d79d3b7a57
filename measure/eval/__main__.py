"""Asks the questions in several ways and compares: `python -m measure.eval --help`."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from .asking import Asked, Attempt, Server, Strike
from .by_guide import print_second_time
from .ours import as_third, in_notebook, in_terminal, second_time, with_skill
from .questions import QUESTIONS
from .tables import Tables, make_tables, write_tables
from .tasks import TASKS, write_notebook
from .without_us import bare, plain_loop

OUTPUT = Path(__file__).parent / "output" / "eval.json"
Way = Callable[[Server, Asked, Path], Attempt]
WAYS: dict[str, Way] = {
    "bare": bare,
    "loop": plain_loop,
    "notebook": in_notebook,
    "terminal": in_terminal,
    "skill": with_skill,
    "again": second_time,
    "third": as_third,
}


@dataclass(frozen=True)
class Result:
    """One question, answered in one way."""

    question: str
    way: str
    right: bool
    attempt: Attempt


def main() -> int:
    options = _options()
    server = Server(options.base_url, options.model, options.api_key, options.protocol)
    tables = make_tables()
    everything: list[Asked] = [*QUESTIONS, *TASKS]
    chosen = [asked for asked in everything if options.half in ("all", asked.half)]
    if options.only:
        chosen = [asked for asked in everything if asked.id.startswith(tuple(options.only))]
    chosen = chosen[: options.most]
    results: list[Result] = []
    for number, question in enumerate(chosen, start=1):
        for name in options.ways:
            attempt, is_right = _attempt(WAYS[name], server, question, tables)
            results.append(Result(question.id, name, is_right, attempt))
            mark = "✓" if is_right else "✗"
            figures = f"{attempt.turns} turns, {attempt.seconds:.0f} s"
            print(f"{number}/{len(chosen)} {mark} {name:9} {question.id}: {figures}", flush=True)
            _write(options.model, results)
    _print_table(options.ways, results)
    print_second_time()
    return 0


def _write(model: str, results: list[Result]) -> None:
    """After each attempt, because a run may be stopped."""
    OUTPUT.parent.mkdir(exist_ok=True)
    plain = {"model": model, "results": [asdict(result) for result in results]}
    written = json.dumps(plain, indent=1, ensure_ascii=False)
    OUTPUT.write_text(written, encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    variables = os.environ
    parser.add_argument("--base-url", default=variables.get("COWORK_BASE_URL"))
    parser.add_argument("--model", default=variables.get("COWORK_MODEL", ""))
    parser.add_argument("--api-key", default=variables.get("COWORK_API_KEY") or "none")
    parser.add_argument("--protocol", default="", help="Cowork.tool_protocol of our agent")
    usual = [way for way in WAYS if way not in ("skill", "again", "third")]
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=usual)
    parser.add_argument("--half", choices=["tune", "report", "all"], default="report")
    parser.add_argument("--most", type=int, default=None, help="no more questions than these")
    parser.add_argument("--only", nargs="+", default=[], help="questions, by how their ids begin")
    options = parser.parse_args()
    if not options.base_url:
        parser.error("which server? Set COWORK_BASE_URL (and COWORK_MODEL), or give --base-url")
    return options


def _attempt(way: Way, server: Server, question: Asked, tables: Tables) -> tuple[Attempt, bool]:
    """In a folder of its own; whatever breaks is a wrong answer, not the end."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        write_tables(tables, folder)
        write_notebook(folder)
        try:
            attempt = way(server, question, folder)
            # pandas has a truth of its own
            return attempt, bool(question.is_right(attempt.answer, tables, folder))
        except Exception as error:
            traceback.print_exc(limit=3)
            return Attempt(strikes=[Strike("run", type(error).__name__, str(error))]), False


def _print_table(ways: list[str], results: list[Result]) -> None:
    print(f"\n{'way':10} {'right':>8} {'turns':>6} {'tokens':>7} {'seconds':>8}  strikes")
    for way in ways:
        mine = [result.attempt for result in results if result.way == way]
        turns, tokens, seconds = (
            statistics.median(getattr(attempt, name) for attempt in mine)
            for name in ("turns", "tokens", "seconds")
        )
        right = sum(result.right for result in results if result.way == way)
        strikes = Counter(str(strike) for attempt in mine for strike in attempt.strikes)
        said = ", ".join(f"{count} × {strike}" for strike, count in strikes.most_common())
        share = f"{right}/{len(mine)}"
        print(f"{way:10} {share:>8} {turns:6.0f} {tokens:7.0f} {seconds:8.1f}  {said}")


if __name__ == "__main__":
    sys.exit(main())
