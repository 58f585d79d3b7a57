import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { describe, expect, it, vi } from 'vitest';

import { followView, CurrentConversation } from '../../../src/lab/model/currentConversation';
import { PanelState } from '../../../src/lab/panel/panelState';
import { FakeServer, settled } from '../../runs';
import { FakeActivityFeed } from './fakeActivityFeed';

function looking(): {
  currentConversation: CurrentConversation;
  feed: FakeActivityFeed;
  server: FakeServer;
} {
  const [server, feed] = [new FakeServer(), new FakeActivityFeed()];
  const items = [
    { id: 'c1', role: 'planner', updated_at: '2026-11-14T14:00:00Z' },
    { id: 'c2', role: 'actor', updated_at: '2026-11-14T15:00:00Z' }
  ];
  server.answers.set('GET context?notebook=a%20b.ipynb', { items, next: null });
  server.answers.set('GET context?notebook=new.ipynb', { items: [], next: null });
  server.answers.set('GET context/c1', items[0]);
  return { currentConversation: new CurrentConversation(server, feed), feed, server };
}

describe('the conversation in view', () => {
  it('is asked for only on a page that hears our news', async () => {
    const { currentConversation, feed, server } = looking();
    currentConversation.lookAt({ notebook: 'a b.ipynb' });
    await settled();
    expect(server.asked).toEqual([]);
    feed.tell(null);
    await settled();
    expect(currentConversation.conversation).toMatchObject({ id: 'c2', role: 'actor' });
  });

  it('follows what the user turns to, and what happens there', async () => {
    const { currentConversation, feed, server } = looking();
    feed.tell({});
    currentConversation.lookAt({ context: 'c1' });
    await settled();
    expect(currentConversation.conversation?.role).toBe('planner');
    server.answers.set('GET context/c1', { id: 'c1', role: 'reviewer' });
    feed.tell({ c1: ['role-changed'] });
    await settled();
    expect(currentConversation.conversation?.role).toBe('reviewer');
    for (const place of [{ notebook: 'new.ipynb' }, null]) {
      currentConversation.lookAt(place);
      await settled();
      expect(currentConversation.conversation).toBeNull();
    }
  });

  it('switches its role', async () => {
    const { currentConversation, feed, server } = looking();
    feed.tell({});
    currentConversation.lookAt({ context: 'c1' });
    await settled();
    server.answers.set('POST context/c1/role', {});
    await currentConversation.switchRole('tester', true);
    expect(server.changes).toEqual([
      { method: 'POST', path: 'context/c1/role', body: { role: 'tester', confirm: true } }
    ]);
  });

  it('is the one opened in the panel, or that of the notebook in front', () => {
    const lookAt = vi.fn();
    const place = new PanelState();
    const currentChanged = new Signal<object, void>({});
    const notebooks = { currentWidget: { context: { path: 'a.ipynb' } }, currentChanged };
    followView(
      { lookAt } as unknown as CurrentConversation,
      place,
      notebooks as unknown as INotebookTracker
    );
    currentChanged.emit();
    place.open('c1');
    place.write('Some words');
    place.goBack();
    expect(lookAt.mock.calls).toEqual([
      [{ notebook: 'a.ipynb' }],
      [{ context: 'c1' }],
      [{ notebook: 'a.ipynb' }]
    ]);
  });
});
