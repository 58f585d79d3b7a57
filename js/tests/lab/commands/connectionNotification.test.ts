import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { notifyConnection } from '../../../src/lab/commands/connectionNotification';
import { CoworkError } from '../../../src/shared/channel/channel';
import type { Check } from '../../../src/shared/model/connectionCheck';
import { NOT_READY, READY } from '../../samples';

const { emit, update } = vi.hoisted(() => ({ emit: vi.fn(), update: vi.fn() }));
vi.mock('@jupyterlab/apputils', () => ({ Notification: { emit, update } }));

function after(ms: number, check: Check): Promise<Check> {
  return new Promise(resolve => setTimeout(() => resolve(check), ms));
}

describe('notifyConnection', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    emit.mockReset().mockReturnValue('n1');
    update.mockReset();
  });
  afterEach(() => vi.useRealTimers());

  async function notify(check: Promise<Check>, showPanel = (): void => undefined): Promise<void> {
    const done = notifyConnection(check, showPanel);
    await vi.runAllTimersAsync();
    await done;
  }

  it('says a quick answer at once, in one message', async () => {
    await notify(after(50, { state: 'answered', health: READY }));
    expect(emit).toHaveBeenCalledOnce();
    expect(emit.mock.calls[0]?.slice(0, 2)).toEqual([
      'gpt-5-mini answers at https://models.example/v1',
      'success'
    ]);
    expect(update).not.toHaveBeenCalled();
  });

  it('shows progress while a slow answer is on its way, then turns it into the answer', async () => {
    await notify(after(3000, { state: 'answered', health: READY }));
    expect(emit.mock.calls.map(call => call[1])).toEqual(['in-progress']);
    expect(update).toHaveBeenCalledWith(expect.objectContaining({ id: 'n1', type: 'success' }));
  });

  it('warns and stays, with a way to the set-up help, when no model is ready', async () => {
    const showPanel = vi.fn();
    await notify(after(0, { state: 'answered', health: NOT_READY }), showPanel);
    const [message, type, options] = emit.mock.calls[0] as [
      string,
      string,
      { autoClose: false; actions: { callback: () => void }[] }
    ];
    expect([message, type, options.autoClose]).toEqual([
      'Not ready: Set COWORK_MODEL first.',
      'warning',
      false
    ]);
    options.actions[0]?.callback();
    expect(showPanel).toHaveBeenCalledOnce();
  });

  it('tells why the check failed', async () => {
    await notify(
      after(0, {
        state: 'failed',
        error: new CoworkError({ code: 'x', message: 'The server is gone.' })
      })
    );
    expect(emit.mock.calls[0]?.slice(0, 2)).toEqual(['The server is gone.', 'error']);
  });
});
