import { afterEach, describe, expect, it, vi } from 'vitest';

import { NotifyOffer } from '../../../src/lab/panel/NotifyOffer';
import { button, draw } from '../../screen';
import { press } from './drawing';

afterEach(() => vi.unstubAllGlobals());

function browser(before: string, after = before): { requestPermission: () => void } {
  const asked = {
    permission: before,
    requestPermission: vi.fn(async () => {
      asked.permission = after;
    })
  };
  vi.stubGlobal('Notification', asked);
  return asked;
}

describe('the offer to notify', () => {
  it('asks the browser only when it is clicked, and says what came of it', async () => {
    const asked = browser('default', 'granted');
    const screen = draw(<NotifyOffer />);
    expect(asked.requestPermission).not.toHaveBeenCalled();
    await press(button(screen, 'Turn on notifications'));
    expect(asked.requestPermission).toHaveBeenCalledOnce();
    expect(screen.textContent).toContain('Your browser will notify you');
  });

  it('says so when the browser refuses', async () => {
    browser('default', 'denied');
    const screen = draw(<NotifyOffer />);
    await press(button(screen, 'Turn on notifications'));
    expect(screen.textContent).toContain('blocks notifications from this page');
  });

  it.each(['granted', 'denied'])('is not made where that is settled: %s', permission => {
    browser(permission);
    expect(draw(<NotifyOffer />).textContent).toBe('');
  });
});
