import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Alerts } from '../../../src/lab/inbox/browserAlerts';
import type { InboxItem } from '../../../src/lab/inbox/inbox';
import { PATIENCE } from '../../screen';

const ITEM = {
  id: 'q1',
  context: 'c1',
  title: 'Sales',
  notebook: 'a.ipynb',
  kind: 'question',
  question: { question: 'Which rows?' }
} as unknown as InboxItem;
const WANTED = { notify: true, sound: false };

class FakeNotification {
  static permission = 'granted';
  static made: FakeNotification[] = [];
  onclick = (): void => undefined;
  close = vi.fn();
  constructor(
    readonly title: string,
    readonly options: NotificationOptions
  ) {
    FakeNotification.made.push(this);
  }
}

const audio = vi.fn();

beforeEach(() => {
  document.title = 'a.ipynb - JupyterLab';
  FakeNotification.permission = 'granted';
  FakeNotification.made = [];
  audio.mockReset();
  vi.stubGlobal('Notification', FakeNotification);
  vi.stubGlobal('AudioContext', audio);
  hide(true);
});
afterEach(() => {
  new Alerts(vi.fn()).update([], false, WANTED); // there is one title for all of them
  vi.unstubAllGlobals();
});

function hide(hidden: boolean): void {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden);
}

describe('the title of the tab', () => {
  it('says how much waits, also after Lab has written another, and is restored', async () => {
    const alerts = new Alerts(vi.fn());
    alerts.update([ITEM], false, WANTED);
    expect(document.title).toBe('(1) a.ipynb - JupyterLab');
    alerts.update([ITEM, ITEM], false, WANTED);
    expect(document.title).toBe('(2) a.ipynb - JupyterLab');
    document.title = '(1) b.ipynb - JupyterLab';
    await vi.waitFor(() => expect(document.title).toBe('(2) (1) b.ipynb - JupyterLab'), PATIENCE);
    alerts.update([], false, WANTED);
    expect(document.title).toBe('(1) b.ipynb - JupyterLab');
  });

  it('stays as it is where the page has none of its own', async () => {
    document.title = '';
    const alerts = new Alerts(vi.fn());
    alerts.update([ITEM], false, WANTED);
    await new Promise(resolve => setTimeout(resolve, 0)); // who watches the title has seen it
    expect(document.title.trim()).toBe('(1)');
    alerts.update([], false, WANTED);
    expect(document.title).toBe('');
  });

  it('says nothing to those who do not want to hear it', () => {
    new Alerts(vi.fn()).update([ITEM], true, { notify: false, sound: false });
    expect(document.title).toBe('a.ipynb - JupyterLab');
    expect(FakeNotification.made).toEqual([]);
  });
});

describe('the notification of the browser', () => {
  it('comes for what is new while the tab is hidden, leads there, and goes', () => {
    const showPanel = vi.fn();
    const alerts = new Alerts(showPanel);
    alerts.update([ITEM], true, WANTED);
    alerts.update([ITEM], false, WANTED);
    expect(FakeNotification.made).toHaveLength(1);
    const [shown] = FakeNotification.made;
    expect(shown?.options.body).toBe('Cowork is waiting for you in a.ipynb: Which rows?');
    shown?.onclick();
    expect(showPanel).toHaveBeenCalledOnce();
    expect(shown?.close).toHaveBeenCalled();
    alerts.update([ITEM], true, WANTED);
    alerts.update([], false, WANTED);
    expect(FakeNotification.made[1]?.close).toHaveBeenCalled();
  });

  it('does not come while the tab is looked at, or where nobody has allowed it', () => {
    const alerts = new Alerts(vi.fn());
    hide(false);
    alerts.update([ITEM], true, WANTED);
    hide(true);
    FakeNotification.permission = 'default';
    alerts.update([ITEM], true, WANTED);
    expect(FakeNotification.made).toEqual([]);
  });
});

describe('the sound', () => {
  it('is played only for those who have turned it on', () => {
    const part = {
      setValueAtTime: vi.fn(),
      exponentialRampToValueAtTime: vi.fn()
    };
    const node = { connect: vi.fn(), start: vi.fn(), stop: vi.fn(), gain: part, frequency: part };
    audio.mockImplementation(function () {
      return {
        currentTime: 0,
        createGain: () => node,
        createOscillator: () => node,
        close: vi.fn()
      };
    });
    const alerts = new Alerts(vi.fn());
    alerts.update([ITEM], true, WANTED);
    expect(node.start).not.toHaveBeenCalled();
    alerts.update([ITEM], false, { notify: true, sound: true });
    expect(node.start).not.toHaveBeenCalled();
    alerts.update([ITEM], true, { notify: false, sound: true });
    expect(node.start).toHaveBeenCalledOnce();
  });
});
