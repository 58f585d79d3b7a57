"""Reads the cards that a page shows, as a person would."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page

from .cards import ShownCard

STATUSES = {
    "Working…": "running",
    "Waiting for you": "waiting",
    "Plan ready": "ready",
    "Completed": "completed",
    "Failed": "failed",
    "Stopped": "cancelled",
    "Interrupted": "interrupted",
}

READ = """() => {
  // Not innerText, which is empty where a card is scrolled out of sight and not laid out.
  const text = node => (node?.textContent ?? '').trim();
  const all = (node, selector) => [...node.querySelectorAll(selector)];
  const asks = (run, sort) => all(run, ':scope > .cw-card').slice(1)
    .filter(card => new RegExp('^' + sort, 'i').test(text(card.querySelector('.cw-pill'))));
  const notebookOf = run => {
    const panel = run.closest('.jp-NotebookPanel');
    const tab = panel && document.querySelector(`[data-id="${panel.id}"]`);
    return tab && /^Path: (.*)$/m.exec(tab.title)?.[1];
  };
  return all(document, '.cw-run[data-job-id]').map(run => {
    const card = run.querySelector(':scope > .cw-card');
    const head = card.querySelector('.cw-head');
    return {
      context_id: run.dataset.contextId,
      job_id: run.dataset.jobId,
      host: run.dataset.host,
      notebook: notebookOf(run) ?? null,
      in_panel: run.closest('.cw-panel') !== null,
      is_record: card.querySelector('.cw-record') !== null,
      role: text(head.querySelector('.cw-pill')),
      status: text(head.querySelector(':scope > .cw-title, :scope > .cw-working')),
      goal: text(card.querySelector('.cw-goal')),
      is_editing: card.querySelector('.cw-body textarea') !== null,
      steps: all(card, '.cw-steps > .cw-step').map(step => ({
        action: text(step.querySelector('.cw-step-action')),
        status: [...step.classList].find(one => one.startsWith('cw-step-'))?.slice(8) ?? '',
        result: text(step.querySelector('.cw-step-main > .cw-md'))
      })),
      buttons: all(card, 'button').map(text),
      said_by_user: all(card, '.cw-said-user').map(text),
      said_by_agents: all(card, '.cw-said:not(.cw-said-user):not([aria-busy])').map(text),
      lines: all(card, '.cw-line').map(text),
      questions: asks(run, 'question').map(ask => text(ask.querySelector('.cw-goal'))),
      permissions: asks(run, 'permission').flatMap(ask => {
        const several = all(ask, '.cw-batch > li');
        return several.length > 0 ? several.map(text) : [text(ask)];
      }),
      text: text(card)
    };
  });
}"""


def cards_on(page: Page, named: str) -> list[ShownCard]:
    """All cards of a server's runs on a page, from top to bottom."""
    found: list[dict[str, Any]] = page.evaluate(READ)
    return [
        _card(one, f"{named}, {_place(one)}, card {number}")
        for number, one in enumerate(found, start=1)
        if one["host"] == "server"
    ]


def _place(read: dict[str, Any]) -> str:
    return "panel" if read["in_panel"] else read["notebook"] or "notebook"


def _card(read: dict[str, Any], where: str) -> ShownCard:
    status = read["status"]
    running = re.match(r"Step \d+ of \d+", status)
    return ShownCard.model_validate(
        {
            **read,
            "where": where,
            "card_id": read["job_id"],
            "role": read["role"].lower(),
            "status": "running" if running else STATUSES.get(status, status),
            "said_by_user": [one.removeprefix("You").strip() for one in read["said_by_user"]],
        }
    )
