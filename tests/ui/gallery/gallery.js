// Draws the cards with the real script; a made-up kernel answers them.
import widget from './card.js';
import { ANSWERS, CARDS } from './cards.js';

class Kernel {
  listeners = new Set();
  constructor(example) { this.example = example; }
  get() { return this.example.card; }
  on(name, listener) { if (name === 'msg:custom') this.listeners.add(listener); }
  off(_name, listener) { this.listeners.delete(listener); }
  tell(content) { for (const listener of this.listeners) listener(content, []); }
  async send({ id, method, path }) {
    await null;
    const { card, events = [], unknown, silent } = this.example;
    const answer = (status, body) => this.tell({ id, status, body });
    const gone = { error: { code: 'not_found', message: 'There is no such run.', retryable: false, details: {} } };
    if (method === 'SUBSCRIBE') {
      this.subscription = id;
      answer(silent ? 503 : 200, silent ? { error: { code: 'busy', message: 'Busy.', retryable: true, details: {} } } : null);
      events.forEach(event => this.tell({ subscription: id, event }));
    } else if (path === 'jobs/j/card?whole=true') {
      answer(unknown ? 404 : 200, unknown ? gone : { card, markdown: '', state: wholeState(card) });
    } else if (method !== 'UNSUBSCRIBE') {
      const body = ANSWERS[`${method} ${path}`];
      answer(body ? 200 : 404, body ?? gone);
    }
  }
}

function wholeState({ snapshot: { jobs, tasks, plan, revision, made_at, stale, permissions, questions, messages, effects = [], guidance = [] } }) {
  const busy = jobs.find(({ status }) => status === 'running')?.id ?? null;
  return { seq: 0, busy, messages, jobs, tasks, plan: { plan, revision, made_at, stale }, checkpoints: 0, decisions: [], summaries: [], effects, guidance, permissions, questions, reproduction: null, audit: null };
}

const frame = () => new Promise(requestAnimationFrame);

/** Until all is drawn: a while on a fast machine, and on a slow one until it has nothing else to do. */
const drawn = async () => {
  await new Promise(resolve => setTimeout(resolve, 400));
  for (let painted = 0; painted < 5; painted += 1) await frame();
  await new Promise(resolve => requestIdleCallback(resolve, { timeout: 10_000 }));
};

/** The button with these words, once it is there. */
async function button(el, words) {
  for (;;) {
    const found = [...el.querySelectorAll('button')].find(one => one.textContent.includes(words));
    if (found) return found;
    await frame();
  }
}

async function show(name, example) {
  const place = document.createElement('article');
  const title = document.createElement('h2');
  title.textContent = name;
  const el = document.createElement('div');
  el.dataset.card = name;
  place.append(title, el);
  document.querySelector('main').append(place);
  const kernel = new Kernel(example);
  await widget.render({ model: kernel, el });
  return kernel;
}

/** So many pieces of a reply, some at once every 10 ms; gives the frames that took longer than 100 ms meanwhile. */
window.stream = async (count, atOnce = 2) => {
  const { kernel, seq } = window.last;
  const slow = [];
  let frame = performance.now();
  let going = true;
  const watch = now => {
    if (now - frame > 100) slow.push(Math.round(now - frame));
    frame = now;
    if (going) requestAnimationFrame(watch);
  };
  requestAnimationFrame(watch);
  const began = performance.now();
  for (let sent = 1; sent <= count; ) {
    // By the clock: on a busy machine the pauses are longer than asked for.
    const due = Math.ceil(((performance.now() - began) / 10 + 1) * atOnce);
    for (const end = Math.min(due, count); sent <= end; sent += 1) {
      const event = { seq: seq + sent, type: 'text-delta', context_id: 'ctx', job_id: 'j', task_id: null, created_at: '', data: { text: `word ${sent} ` } };
      kernel.tell({ subscription: kernel.subscription, event });
    }
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  await drawn();
  going = false;
  return slow;
};

const wanted = new URLSearchParams(location.search).get('only');
for (const [name, example] of Object.entries(CARDS)) {
  if (!wanted || wanted === name) {
    window.last = { kernel: await show(name, example), seq: (example.events ?? []).length };
  }
}
await drawn();
for (const [name, { click = [] }] of Object.entries(CARDS)) {
  const el = document.querySelector(`[data-card="${name}"]`);
  for (const words of el ? click : []) (await button(el, words)).click();
}
await drawn();
document.body.dataset.ready = 'true';
