import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { EventListener } from '../../../src/shared/channel/channel';
import { PageSocket, sharedSocket, socketUrl } from '../../../src/shared/channel/pageSocket';
import { event } from '../../channelContract';
import { FakeSocket } from './fakeSocket';

type Seen = (number | string)[];

function follower(seen: Seen): EventListener {
  return { event: ({ seq }) => seen.push(seq), state: state => seen.push(state) };
}

describe('the socket of a page', () => {
  let page: PageSocket;

  beforeEach(() => {
    vi.useFakeTimers();
    FakeSocket.install();
    page = new PageSocket('ws://jupyter.example/cowork/ws');
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  /** The newest connection. */
  function line(): FakeSocket {
    return FakeSocket.all.at(-1)!;
  }

  function follow(context: string, after: number): { seen: Seen; end: () => void } {
    const seen: Seen = [];
    return { seen, end: page.subscribe(context, after, follower(seen)) };
  }

  function asked(): unknown[] {
    return line()
      .sent.filter(({ type }) => type === 'subscribe')
      .map(({ context_id, after }) => [context_id, after]);
  }

  function idOf(context: string): unknown {
    return line()
      .sent.filter(({ context_id }) => context_id === context)
      .at(-1)?.['subscription'];
  }

  function send(context: string, ...seqs: number[]): void {
    seqs.forEach(seq =>
      line().tell({ type: 'event', subscription: idOf(context), event: event(seq) })
    );
  }

  it('is opened by the first who wants something, and is one for all', () => {
    expect(FakeSocket.all).toHaveLength(0);
    follow('c1', 0);
    follow('c2', 0);
    page.listen(() => undefined);
    expect(FakeSocket.all).toHaveLength(1);
  });

  it('asks for each conversation once the server has said hello, and brings each its own', () => {
    const first = follow('c1', 4);
    line().readyState = 1;
    expect(line().sent).toEqual([]);
    line().greet();
    const second = follow('c2', 7);
    expect(asked()).toEqual([
      ['c1', 4],
      ['c2', 7]
    ]);
    line().tell({ type: 'subscribed', subscription: idOf('c1') });
    send('c2', 8);
    send('c1', 5);
    expect(first.seen).toEqual(['live', 5]);
    expect(second.seen).toEqual([8]);
  });

  it('takes up every conversation after its last event when it comes back', () => {
    const first = follow('c1', 4);
    const second = follow('c2', 0);
    line().greet();
    send('c1', 5, 6);
    send('c2', 1);
    line().lose();
    expect([first.seen, second.seen]).toEqual([
      [5, 6, 'reconnecting'],
      [1, 'reconnecting']
    ]);
    vi.advanceTimersByTime(1000);
    line().greet();
    expect(asked()).toEqual([
      ['c1', 6],
      ['c2', 1]
    ]);
    line().tell({ type: 'subscribed', subscription: idOf('c1') });
    send('c1', 6, 7);
    expect(first.seen).toEqual([5, 6, 'reconnecting', 'live', 7]);
  });

  it('shares one subscription among those who follow the same, each from its own place', async () => {
    const early = follow('c1', 4);
    line().greet();
    line().tell({ type: 'subscribed', subscription: idOf('c1') });
    const late = follow('c1', 6);
    await vi.advanceTimersByTimeAsync(0);
    send('c1', 5, 6, 7);
    expect(asked()).toEqual([['c1', 4]]);
    expect([early.seen, late.seen]).toEqual([
      ['live', 5, 6, 7],
      ['live', 7]
    ]);
  });

  it('asks again for what somebody needs that others have seen, and shows it to nobody twice', () => {
    const first = follow('c1', 4);
    line().greet();
    send('c1', 5, 6);
    const before = idOf('c1');
    const second = follow('c1', 5);
    expect(asked()).toEqual([
      ['c1', 4],
      ['c1', 5]
    ]);
    expect(line().sent).toContainEqual({ type: 'unsubscribe', subscription: before });
    // Was on its way when the question was asked: it would be out of turn.
    line().tell({ type: 'event', subscription: before, event: event(7) });
    send('c1', 6, 7);
    expect([first.seen, second.seen]).toEqual([
      [5, 6, 7],
      [6, 7]
    ]);
  });

  it('lets the server know only when the last one leaves', () => {
    const first = follow('c1', 0);
    const second = follow('c1', 0);
    line().greet();
    first.end();
    first.end();
    expect(line().sent).toHaveLength(1);
    second.end();
    expect(line().sent[1]).toEqual({
      type: 'unsubscribe',
      subscription: line().sent[0]?.['subscription']
    });
    line().lose();
    vi.advanceTimersByTime(1000);
    line().greet();
    expect(line().sent).toEqual([]);
  });

  it('gives up a conversation that is not there, and that one only', () => {
    const gone = follow('c1', 0);
    const there = follow('c2', 0);
    line().greet();
    line().tell({ type: 'refused', subscription: idOf('c1'), code: 'not_found' });
    send('c2', 1);
    line().lose();
    vi.advanceTimersByTime(1000);
    line().greet();
    expect(asked()).toEqual([['c2', 1]]);
    expect([gone.seen, there.seen]).toEqual([['gone'], [1, 'reconnecting']]);
  });

  it('tries again later where the server cannot take one more now', () => {
    const { seen } = follow('c1', 3);
    line().greet();
    line().tell({ type: 'refused', subscription: idOf('c1'), code: 'too_many' });
    expect(seen).toEqual(['reconnecting']);
    vi.advanceTimersByTime(1000);
    expect(asked()).toEqual([
      ['c1', 3],
      ['c1', 3]
    ]);
    line().tell({ type: 'subscribed', subscription: idOf('c1') });
    expect(seen).toEqual(['reconnecting', 'live']);
  });

  it('waits longer each time for a server that takes connections and says nothing', () => {
    follow('c1', 0);
    for (let tries = 0; tries < 6; tries += 1) {
      line().lose();
      vi.advanceTimersByTime(20_000);
    }
    const before = FakeSocket.all.length;
    line().lose();
    vi.advanceTimersByTime(5000);
    expect(FakeSocket.all).toHaveLength(before);
    vi.advanceTimersByTime(15_000);
    line().greet();
    line().lose();
    vi.advanceTimersByTime(1000);
    expect(FakeSocket.all).toHaveLength(before + 2);
  });

  it('tries again at once when the machine is back on the network', () => {
    follow('c1', 0);
    line().lose();
    window.dispatchEvent(new Event('online'));
    expect(FakeSocket.all).toHaveLength(2);
    window.dispatchEvent(new Event('online'));
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(2);
    line().greet();
  });

  it('does not listen to a connection that it has given up', () => {
    const { seen } = follow('c1', 0);
    const [first] = FakeSocket.all;
    first?.lose();
    vi.advanceTimersByTime(1000);
    first?.greet();
    expect(seen).toEqual(['reconnecting']);
    expect(first?.sent).toEqual([]);
  });

  it('passes on what happened elsewhere, and says whenever it is connected', () => {
    const heard: unknown[] = [];
    page.listen(frame => heard.push(frame));
    line().greet();
    line().tell({ type: 'activity', happened: { c1: ['job-started'] } });
    line().lose();
    vi.advanceTimersByTime(1000);
    line().greet();
    page.listen(frame => heard.push(frame));
    const hello = { type: 'hello' };
    expect(heard).toEqual([
      hello,
      { type: 'activity', happened: { c1: ['job-started'] } },
      hello,
      hello
    ]);
  });

  it('answers only where it was asked: after a reconnect nobody waits for it', () => {
    let answer: (frame: object) => void = () => undefined;
    page.listen((frame, give) => void (answer = frame.type === 'question' ? give : answer));
    line().greet();
    line().tell({ type: 'question', id: 3, op: 'read', path: 'n.ipynb' });
    answer({ type: 'answer', question: 3 });
    expect(line().sent).toEqual([{ type: 'answer', question: 3 }]);
    line().lose();
    vi.advanceTimersByTime(1000);
    line().greet();
    answer({ type: 'answer', question: 3 });
    expect(line().sent).toEqual([]);
  });
});

describe('the socket that scripts share', () => {
  beforeEach(() => FakeSocket.install());
  afterEach(() => vi.unstubAllGlobals());

  it('is one for each server, also for scripts that are evaluated again, as widgets are', async () => {
    const address = { baseUrl: '/user/me/', token: 'secret' };
    const mine = sharedSocket(address);
    expect(sharedSocket({ ...address })).toBe(mine);
    expect(sharedSocket({ ...address, baseUrl: '/user/you/' })).not.toBe(mine);
    vi.resetModules();
    const again = await import('../../../src/shared/channel/pageSocket');
    expect(again.PageSocket).not.toBe(PageSocket);
    expect(again.sharedSocket(address)).toBe(mine);
  });

  it('goes below the base URL, with the token, as a socket cannot send headers', () => {
    const url = new URL(socketUrl({ baseUrl: '/user/me', token: 'secret' }));
    expect(url.protocol).toBe('ws:');
    expect(`${url.pathname}${url.search}`).toBe('/user/me/cowork/ws?token=secret');
  });

  it('goes to where Lab says that sockets are', () => {
    const hub = {
      baseUrl: 'https://hub.example/user/me/',
      wsUrl: 'wss://sockets.example/user/me/',
      token: ''
    };
    expect(socketUrl(hub)).toBe('wss://sockets.example/user/me/cowork/ws');
  });
});
