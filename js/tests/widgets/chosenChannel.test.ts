import { describe, expect, it, vi } from 'vitest';

import { CoworkError, type Channel } from '../../src/shared/channel/channel';
import { ChosenChannel } from '../../src/widgets/chosenChannel';
import { PATIENCE } from '../screen';

function channel(answer: () => Promise<unknown>): Channel & { request: ReturnType<typeof vi.fn> } {
  return {
    request: vi.fn(answer),
    subscribe: vi.fn(() => () => undefined)
  } as unknown as Channel & { request: ReturnType<typeof vi.fn> };
}

const kernel = (): ReturnType<typeof channel> => channel(async () => 'kernel');
const server = (): ReturnType<typeof channel> => channel(async () => 'server');
const refusing = (status: number, code: string): ReturnType<typeof channel> =>
  channel(async () => {
    throw new CoworkError({ code, message: 'x', status });
  });

describe('ChosenChannel', () => {
  it('asks nobody before it is asked', () => {
    const far = server();
    new ChosenChannel(far, kernel());
    expect(far.request).not.toHaveBeenCalled();
  });

  it('takes the server when it answers the first question, and asks it nothing else for that', async () => {
    const far = server();
    const chosen = new ChosenChannel(far, kernel());
    await expect(chosen.request('GET', 'roles')).resolves.toBe('server');
    await chosen.request('POST', 'context');
    expect(far.request.mock.calls.map(call => call[1])).toEqual(['roles', 'context']);
  });

  it('does not try it with what changes something', async () => {
    const far = server();
    await expect(new ChosenChannel(far, kernel()).request('POST', 'context')).resolves.toBe(
      'server'
    );
    expect(far.request.mock.calls.map(call => call[1])).toEqual(['health', 'context']);
  });

  it('takes a refusal of ours for an answer', async () => {
    const [far, near] = [refusing(404, 'not_found'), kernel()];
    await expect(new ChosenChannel(far, near).request('GET', 'jobs/j1/card')).rejects.toMatchObject(
      { code: 'not_found' }
    );
    expect(near.request).not.toHaveBeenCalled();
  });

  it('takes the kernel on a page that has no server', async () => {
    await expect(new ChosenChannel(null, kernel()).request('GET', 'health')).resolves.toBe(
      'kernel'
    );
  });

  it('takes the kernel for good when the server has no cowork_jupyter', async () => {
    const far = refusing(404, 'not_installed');
    const chosen = new ChosenChannel(far, kernel());
    await expect(chosen.request('GET', 'health')).resolves.toBe('kernel');
    await chosen.request('GET', 'health');
    expect(far.request).toHaveBeenCalledTimes(1);
  });

  it('tries a server again that was only away for a moment', async () => {
    const far = refusing(0, 'unreachable');
    const chosen = new ChosenChannel(far, kernel());
    await expect(chosen.request('GET', 'health')).resolves.toBe('kernel');
    far.request.mockImplementation(async () => 'server');
    await expect(chosen.request('GET', 'health')).resolves.toBe('server');
  });

  it('listens to the one it has chosen', async () => {
    const [far, near] = [server(), kernel()];
    const listener = { event: () => undefined, state: () => undefined };
    new ChosenChannel(far, near).subscribe('c1', 3, listener);
    await vi.waitFor(() => expect(far.subscribe).toHaveBeenCalledWith('c1', 3, listener), PATIENCE);
    expect(near.subscribe).not.toHaveBeenCalled();
  });

  it('does not begin to listen for somebody who has left meanwhile', async () => {
    const far = server();
    const chosen = new ChosenChannel(far, kernel());
    chosen.subscribe('c1', 3, { event: () => undefined, state: () => undefined })();
    await chosen.request('GET', 'roles');
    expect(far.subscribe).not.toHaveBeenCalled();
  });
});
