import { describe, expect, it } from 'vitest';

import { KernelChannel } from '../../src/widgets/kernelChannel';
import { describeChannel, type FarSide } from '../channelContract';
import { FakeModel } from './fakeModel';

function openOnFakeModel(): FarSide {
  const model = new FakeModel();
  const channel = new KernelChannel(model);
  return {
    channel,
    get asked() {
      return model.sent.map(({ method, path, body }) => ({ method, path, body }));
    },
    answer: (n, status, body) => model.emit('msg:custom', { id: model.sent[n]?.id, status, body }, []),
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
    await expect(new KernelChannel(model).request('GET', 'health')).rejects.toMatchObject({ code: 'unreachable' });
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
