/** What every channel promises, whoever answers behind it. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CoworkError, type Channel, type Liveness } from '../src/shared/channel/channel';
import type { Event } from '../src/shared/types';

export interface Asked {
  method: string;
  path: string;
  body: unknown;
}

/** One side of a channel under test: the test plays the server or the kernel. */
export interface FarSide {
  channel: Channel;
  asked: Asked[];
  /** Answers the n-th request (0 is the first). */
  answer(n: number, status: number, body: unknown): void;
  /** The places from which events were asked for, one for each try. */
  subscriptions: { context: string; after: number; open: boolean }[];
  /** Takes the n-th subscription on. */
  accept(n: number): void;
  /** Sends an event to whoever asked in the n-th subscription. */
  send(n: number, event: Event): void;
  /** The n-th subscription fails; `unknown` because there is no such context. */
  refuse(n: number, why: 'lost' | 'unknown'): void;
  close(): void;
}

export function event(seq: number): Event {
  return {
    seq,
    type: 'notice',
    context_id: 'c1',
    job_id: 'j1',
    task_id: null,
    created_at: '2026-01-01T00:00:00Z',
    data: { code: 'no_price', message: '' }
  };
}

/** How long the first and the longest pause between two tries are, at most. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 20_000;

const ERROR = {
  error: { code: 'job_running', message: 'A job is running.', retryable: true, details: { job: 7 } }
};

async function failureOf(request: Promise<unknown>): Promise<CoworkError> {
  const error = await request.then(
    () => null,
    (reason: unknown) => reason
  );
  expect(error).toBeInstanceOf(CoworkError);
  return error as CoworkError;
}

export function describeChannel(name: string, timeoutMs: number, open: () => FarSide): void {
  describe(`${name} keeps the contract of a channel`, () => {
    let far: FarSide;

    beforeEach(() => {
      vi.useFakeTimers();
      far = open();
    });
    afterEach(() => {
      far.close();
      vi.useRealTimers();
    });

    it('brings the question there and the answer back', async () => {
      const request = far.channel.request('POST', 'context', { title: 'Sales' });
      expect(far.asked).toEqual([{ method: 'POST', path: 'context', body: { title: 'Sales' } }]);
      far.answer(0, 201, { id: 'c1' });
      await expect(request).resolves.toEqual({ id: 'c1' });
    });

    it('sends no body when there is none', () => {
      far.channel.request('GET', 'health').catch(() => undefined);
      expect(far.asked[0]).toEqual({ method: 'GET', path: 'health', body: null });
    });

    it('gives each caller its own answer, in whatever order they come', async () => {
      const first = far.channel.request('GET', 'health');
      const second = far.channel.request('GET', 'roles');
      far.answer(1, 200, 'second');
      far.answer(0, 200, 'first');
      await expect(second).resolves.toBe('second');
      await expect(first).resolves.toBe('first');
    });

    it('turns an error object into a CoworkError with all its fields', async () => {
      const request = failureOf(far.channel.request('POST', 'context/c1/messages', {}));
      far.answer(0, 409, ERROR);
      expect(await request).toMatchObject({
        status: 409,
        code: 'job_running',
        message: 'A job is running.',
        retryable: true,
        details: { job: 7 }
      });
    });

    it('makes a readable error of a failure that is no error object', async () => {
      const request = failureOf(far.channel.request('GET', 'health'));
      far.answer(0, 500, { traceback: 'no' });
      const error = await request;
      expect(error).toMatchObject({ status: 500, code: 'unexpected_answer' });
      expect(error.message).toContain('500');
    });

    it('stops waiting after its time, and says that trying again may help', async () => {
      const request = failureOf(far.channel.request('GET', 'health'));
      await vi.advanceTimersByTimeAsync(timeoutMs);
      expect(await request).toMatchObject({ code: 'timeout', retryable: true, status: 0 });
    });

    it('does not mind an answer that comes too late', async () => {
      const late = failureOf(far.channel.request('GET', 'health'));
      await vi.advanceTimersByTimeAsync(timeoutMs);
      await late;
      far.answer(0, 200, 'late');
      const next = far.channel.request('GET', 'health');
      far.answer(1, 200, 'in time');
      await expect(next).resolves.toBe('in time');
    });

    describe('brings events', () => {
      let seen: (number | Liveness)[];
      let end: () => void;

      beforeEach(async () => {
        seen = [];
        end = far.channel.subscribe('c1', 4, {
          event: ({ seq }) => seen.push(seq),
          state: state => seen.push(state)
        });
        await vi.advanceTimersByTimeAsync(0);
      });

      it('from the place that was asked for, in order', async () => {
        expect(far.subscriptions).toEqual([{ context: 'c1', after: 4, open: true }]);
        far.accept(0);
        await vi.advanceTimersByTimeAsync(0);
        far.send(0, event(5));
        far.send(0, event(6));
        expect(seen).toEqual(['live', 5, 6]);
      });

      it('once each, although the far side repeats itself', async () => {
        far.accept(0);
        await vi.advanceTimersByTimeAsync(0);
        [4, 5, 5, 3, 6].forEach(seq => far.send(0, event(seq)));
        expect(seen).toEqual(['live', 5, 6]);
      });

      it('again after a first try that failed', async () => {
        far.refuse(0, 'lost');
        await vi.advanceTimersByTimeAsync(FIRST_PAUSE_MS);
        expect(far.subscriptions[1]).toEqual({ context: 'c1', after: 4, open: true });
        far.accept(1);
        await vi.advanceTimersByTimeAsync(0);
        far.send(1, event(5));
        expect(seen).toEqual(['reconnecting', 'live', 5]);
      });

      it('no more when there is no such context', async () => {
        far.refuse(0, 'unknown');
        await vi.advanceTimersByTimeAsync(MAX_PAUSE_MS * 3);
        expect(seen).toEqual(['gone']);
        expect(far.subscriptions).toHaveLength(1);
      });

      it('no more when nobody listens, and lets the far side know', async () => {
        far.accept(0);
        await vi.advanceTimersByTimeAsync(0);
        end();
        far.send(0, event(5));
        await vi.advanceTimersByTimeAsync(MAX_PAUSE_MS);
        expect(seen).toEqual(['live']);
        expect(far.subscriptions).toEqual([{ context: 'c1', after: 4, open: false }]);
      });

      it('not even a late word to those who have left before it was there', async () => {
        end();
        far.accept(0);
        await vi.advanceTimersByTimeAsync(MAX_PAUSE_MS);
        expect(seen).toEqual([]);
      });
    });
  });
}
