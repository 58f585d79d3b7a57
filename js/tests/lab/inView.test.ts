import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { describe, expect, it, vi } from 'vitest';

import { followView } from '../../src/lab/followView';
import { InView } from '../../src/lab/inView';
import { PanelPlace } from '../../src/lab/panel/place';
import { FakeServer, settled } from '../runs';
import { FakeNews } from './fakeNews';

function looking(): { inView: InView; news: FakeNews; server: FakeServer } {
  const [server, news] = [new FakeServer(), new FakeNews()];
  const items = [
    { id: 'c1', updated_at: '2026-11-14T14:00:00Z' },
    { id: 'c2', updated_at: '2026-11-14T15:00:00Z' }
  ];
  server.answers.set('GET context?notebook=a%20b.ipynb', { items, next: null });
  server.answers.set('GET context?notebook=new.ipynb', { items: [], next: null });
  server.answers.set('GET context/c1/role', { role: 'planner' });
  server.answers.set('GET context/c2/role', { role: 'actor' });
  return { inView: new InView(server, news), news, server };
}

describe('the conversation in view', () => {
  it('is asked for only on a page that hears our news', async () => {
    const { inView, news, server } = looking();
    inView.lookAt({ notebook: 'a b.ipynb' });
    await settled();
    expect(server.asked).toEqual([]);
    news.tell(null);
    await settled();
    expect(inView.conversation).toEqual({ id: 'c2', addressee: 'actor' });
  });

  it('follows what the user turns to, and what happens there', async () => {
    const { inView, news, server } = looking();
    news.tell({});
    inView.lookAt({ context: 'c1' });
    await settled();
    expect(inView.conversation?.addressee).toBe('planner');
    server.answers.set('GET context/c1/role', { role: 'reviewer' });
    news.tell({ c1: ['role-changed'] });
    await settled();
    expect(inView.conversation?.addressee).toBe('reviewer');
    for (const place of [{ notebook: 'new.ipynb' }, null]) {
      inView.lookAt(place);
      await settled();
      expect(inView.conversation).toBeNull();
    }
  });

  it('switches its role', async () => {
    const { inView, news, server } = looking();
    news.tell({});
    inView.lookAt({ context: 'c1' });
    await settled();
    server.answers.set('POST context/c1/role', {});
    await inView.switchRole('tester', true);
    expect(server.changes).toEqual([
      { method: 'POST', path: 'context/c1/role', body: { role: 'tester', confirm: true } }
    ]);
  });

  it('is the one opened in the panel, or that of the notebook in front', () => {
    const lookAt = vi.fn();
    const place = new PanelPlace();
    const currentChanged = new Signal<object, void>({});
    const notebooks = { currentWidget: { context: { path: 'a.ipynb' } }, currentChanged };
    followView({ lookAt } as unknown as InView, place, notebooks as unknown as INotebookTracker);
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
