/** What every channel promises, whoever answers behind it. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { CoworkError, type Channel } from '../src/shared/channel';

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
  close(): void;
}

const ERROR = { error: { code: 'job_running', message: 'A job is running.', retryable: true, details: { job: 7 } } };

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
  });
}
