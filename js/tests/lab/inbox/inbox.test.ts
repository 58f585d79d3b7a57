import { describe, expect, it, vi } from 'vitest';

const { emit, dismiss } = vi.hoisted(() => ({ emit: vi.fn(), dismiss: vi.fn() }));
vi.mock('@jupyterlab/apputils', () => ({ Notification: { emit, dismiss } }));

import { CoworkModel } from '../../../src/lab/model/coworkModel';
import { Inbox } from '../../../src/lab/inbox/inbox';
import { notifyAboutInbox } from '../../../src/lab/inbox/notifications';
import { FakeServer, PERMISSION, QUESTION } from '../../runs';
import { PATIENCE } from '../../screen';
import { FakeActivityFeed } from '../model/fakeActivityFeed';

const PLACE = {
  context_id: 'c1',
  title: 'Sales',
  notebook: 'a.ipynb',
  created_at: '2026-11-14T14:02:00Z'
};
const ITEMS = [
  { kind: 'question', ...QUESTION, ...PLACE },
  { kind: 'permission', ...PERMISSION, ...PLACE, context_id: 'c2' }
];

function answering(items: unknown[]): FakeServer {
  const server = new FakeServer();
  server.answers.set('GET inbox', { items, next: null });
  return server;
}

describe('the inbox', () => {
  it('asks nothing before there are news', () => {
    const server = answering([]);
    expect(new Inbox(server, new FakeActivityFeed()).items).toEqual([]);
    expect(server.asked).toEqual([]);
  });

  it('holds what waits, as cards show it', async () => {
    const inbox = new Inbox(answering(ITEMS), new FakeActivityFeed());
    await inbox.refresh();
    expect(inbox.items.map(({ kind, context, title }) => [kind, context, title])).toEqual([
      ['question', 'c1', 'Sales'],
      ['permission', 'c2', 'Sales']
    ]);
    expect(inbox.items[0]).toMatchObject({ question: { question: QUESTION.question } });
    expect(inbox.items[1]).toMatchObject({ request: { resource: 'pip install pyarrow' } });
  });

  it('asks again when something was asked or answered, not when somebody only talks', async () => {
    const feed = new FakeActivityFeed();
    const server = answering(ITEMS);
    const inbox = new Inbox(server, feed);
    feed.tell({ c1: ['message'] });
    expect(server.asked).toHaveLength(0);
    feed.tell({ c1: ['question-asked'] });
    await vi.waitFor(() => expect(inbox.items).toHaveLength(2), PATIENCE);
  });

  it('asks once more for news that come while it asks, however many', async () => {
    const feed = new FakeActivityFeed();
    const server = answering(ITEMS);
    new Inbox(server, feed);
    for (let count = 0; count < 5; count += 1) {
      feed.tell({ c1: ['question-asked'] });
    }
    await vi.waitFor(() => expect(server.asked).toHaveLength(2), PATIENCE);
  });

  it('keeps what it knew when the server does not answer', async () => {
    const server = answering(ITEMS);
    const inbox = new Inbox(server, new FakeActivityFeed());
    await inbox.refresh();
    server.answers.delete('GET inbox');
    await inbox.refresh();
    expect(inbox.items).toHaveLength(2);
  });
});

describe('the notification', () => {
  function watching(isSeen: boolean): {
    model: CoworkModel;
    server: FakeServer;
    showPanel: () => void;
  } {
    vi.clearAllMocks();
    emit.mockReturnValue('n1');
    const server = answering([ITEMS[0]]);
    const model = new CoworkModel(server, new FakeActivityFeed());
    const showPanel = vi.fn();
    notifyAboutInbox(model, { isSeen: () => isSeen, showPanel });
    return { model, server, showPanel };
  }

  it('says what waits, leads there, and goes when nothing waits any more', async () => {
    const { model, server, showPanel } = watching(false);
    await model.inbox.refresh();
    const [words, kind, options] = emit.mock.calls[0] as [
      string,
      string,
      { actions: { callback: () => void }[] }
    ];
    expect([words, kind]).toEqual([
      'Cowork is waiting for you in a.ipynb: What about rows without region?',
      'warning'
    ]);
    options.actions[0]?.callback();
    expect(showPanel).toHaveBeenCalled();
    server.answers.set('GET inbox', { items: [], next: null });
    await model.inbox.refresh();
    expect(dismiss).toHaveBeenCalledWith('n1');
  });

  it('says each thing once, and two things in one message', async () => {
    const { model, server } = watching(false);
    await model.inbox.refresh();
    await model.inbox.refresh();
    expect(emit).toHaveBeenCalledOnce();
    server.answers.set('GET inbox', { items: ITEMS, next: null });
    await model.inbox.refresh();
    expect(dismiss).toHaveBeenCalledWith('n1');
    expect(emit.mock.calls[1]?.[0]).toBe('2 items are waiting for you in a.ipynb');
  });

  it('is not there when the user sees it already, or does not want it', async () => {
    await watching(true).model.inbox.refresh();
    const { model } = watching(false);
    await model.prefer({ notify: false });
    await model.inbox.refresh();
    expect(emit).not.toHaveBeenCalled();
  });
});
