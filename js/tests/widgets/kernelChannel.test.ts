import { describe, expect, it, vi } from 'vitest';

import { KernelChannel } from '../../src/widgets/kernelChannel';
import { describeChannel, event, type FarSide } from '../channelContract';
import { FakeModel } from './fakeModel';

function openOnFakeModel(): FarSide {
  const model = new FakeModel();
  const channel = new KernelChannel(model);
  const begun = (): FakeModel['sent'] => model.sent.filter(({ method }) => method === 'SUBSCRIBE');
  const ended = (id: number): boolean =>
    model.sent.some(
      ({ method, body }) =>
        method === 'UNSUBSCRIBE' && (body as { subscription: number }).subscription === id
    );
  return {
    channel,
    get subscriptions() {
      return begun().map(({ id, path, body }) => ({
        context: path.split('/')[1] ?? '',
        after: (body as { after: number }).after,
        open: !ended(id)
      }));
    },
    accept: n => model.emit('msg:custom', { id: begun()[n]?.id, status: 200, body: null }, []),
    send: (n, event) => model.emit('msg:custom', { subscription: begun()[n]?.id, event }, []),
    refuse: (n, why) =>
      model.emit(
        'msg:custom',
        { id: begun()[n]?.id, status: why === 'unknown' ? 404 : 503, body: null },
        []
      ),
    get asked() {
      return model.sent.map(({ method, path, body }) => ({ method, path, body }));
    },
    answer: (n, status, body) =>
      model.emit('msg:custom', { id: model.sent[n]?.id, status, body }, []),
    close: () => channel.dispose()
  };
}

describeChannel('KernelChannel', 15_000, openOnFakeModel);

describe('KernelChannel', () => {
  it('leaves messages alone that are no answers to it', async () => {
    const model = new FakeModel();
    const request = new KernelChannel(model).request('GET', 'health');
    for (const stray of [null, 'text', {}, { id: -1, status: 200 }, { id: 'x', status: 200 }]) {
      model.emit('msg:custom', stray);
    }
    model.emit('msg:custom', { id: model.sent[0]?.id, status: 200, body: 'mine' });
    await expect(request).resolves.toBe('mine');
  });

  it('never uses an id twice, not even from two cards of one widget', () => {
    const model = new FakeModel();
    new KernelChannel(model).request('GET', 'health').catch(() => undefined);
    new KernelChannel(model).request('GET', 'health').catch(() => undefined);
    expect(new Set(model.sent.map(({ id }) => id)).size).toBe(2);
  });

  it('says so when the card is no longer connected', async () => {
    const model = new FakeModel();
    model.send = () => {
      throw new Error('comm is closed');
    };
    await expect(new KernelChannel(model).request('GET', 'health')).rejects.toMatchObject({
      code: 'unreachable'
    });
  });

  it('tells those who wait, and stops listening, when it is disposed', async () => {
    const model = new FakeModel();
    const channel = new KernelChannel(model);
    const request = channel.request('GET', 'health');
    channel.dispose();
    await expect(request).rejects.toMatchObject({ code: 'unreachable' });
    expect(model.listening('msg:custom')).toBe(0);
  });
});

describe('the subscriptions of a KernelChannel', () => {
  const silent = { event: () => undefined, state: () => undefined };

  it('take events that overtake the answer', () => {
    const model = new FakeModel();
    const seen: number[] = [];
    new KernelChannel(model).subscribe('c1', 0, { ...silent, event: ({ seq }) => seen.push(seq) });
    model.emit('msg:custom', { subscription: model.sent[0]?.id, event: event(1) });
    expect(seen).toEqual([1]);
  });

  it('leave alone what another tab has subscribed to', () => {
    const model = new FakeModel();
    const seen: number[] = [];
    new KernelChannel(model).subscribe('c1', 0, { ...silent, event: ({ seq }) => seen.push(seq) });
    model.emit('msg:custom', { subscription: -1, event: event(1) });
    expect(seen).toEqual([]);
  });

  it('take back what a busy kernel has not answered before they ask again', async () => {
    vi.useFakeTimers();
    const model = new FakeModel();
    const channel = new KernelChannel(model);
    channel.subscribe('c1', 0, silent);
    await vi.advanceTimersByTimeAsync(15_000 + 1000);
    expect(model.sent.map(({ method }) => method)).toEqual([
      'SUBSCRIBE',
      'UNSUBSCRIBE',
      'SUBSCRIBE'
    ]);
    channel.dispose();
    vi.useRealTimers();
  });

  it('end when the card goes', () => {
    const model = new FakeModel();
    const channel = new KernelChannel(model);
    channel.subscribe('c1', 0, silent);
    channel.dispose();
    expect(model.sent.at(-1)).toMatchObject({
      method: 'UNSUBSCRIBE',
      body: { subscription: model.sent[0]?.id }
    });
  });
});
