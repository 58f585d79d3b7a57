import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ReconnectingSocket } from '../../../src/shared/channel/reconnectingSocket';
import { FakeSocket } from './fakeSocket';

describe('a socket that reconnects', () => {
  let socket: ReconnectingSocket<{ type: string }>;
  let heard: string[];
  let answer: (frame: object) => void;

  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    FakeSocket.install();
    heard = [];
    socket = new ReconnectingSocket('ws://jupyter.example/cowork/ws', {
      receive: (frame, reply) => {
        heard.push(frame.type);
        answer = reply;
      },
      lost: () => heard.push('lost')
    });
    socket.open();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  function line(): FakeSocket {
    return FakeSocket.all.at(-1)!;
  }

  it('says nothing before the server has said hello', () => {
    socket.send({ type: 'early' });
    line().greet();
    socket.send({ type: 'now' });
    expect(line().sent).toEqual([{ type: 'now' }]);
    expect(socket.isConnected).toBe(true);
  });

  it('waits longer each time for a server that says nothing, and begins anew after a hello', () => {
    for (const pause of [500, 1000, 2000]) {
      const before = FakeSocket.all.length;
      line().lose();
      vi.advanceTimersByTime(pause - 1);
      expect(FakeSocket.all).toHaveLength(before);
      vi.advanceTimersByTime(1);
      expect(FakeSocket.all).toHaveLength(before + 1);
    }
    line().greet();
    line().lose();
    vi.advanceTimersByTime(500);
    expect(FakeSocket.all).toHaveLength(5);
    expect(heard).toEqual(['lost', 'lost', 'lost', 'hello', 'lost']);
  });

  it('connects once when the machine is back on the network, and only if it has to', () => {
    window.dispatchEvent(new window.Event('online'));
    expect(FakeSocket.all).toHaveLength(1);
    line().lose();
    window.dispatchEvent(new window.Event('online'));
    expect(FakeSocket.all).toHaveLength(2);
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(2);
  });

  it('neither hears nor answers a connection that is gone', () => {
    const first = line();
    first.greet();
    first.lose();
    vi.advanceTimersByTime(500);
    line().greet();
    first.tell({ type: 'late' });
    const late = answer;
    line().lose();
    vi.advanceTimersByTime(1000);
    line().greet();
    late({ type: 'answer' });
    expect(heard).toEqual(['hello', 'lost', 'hello', 'lost', 'hello']);
    expect(line().sent).toEqual([]);
  });
});
