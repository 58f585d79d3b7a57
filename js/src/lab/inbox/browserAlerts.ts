/**
 * Alerts for users who look elsewhere: tab title, browser notification, sound. Loaded when
 * something first waits.
 */

import { t } from '../../shared/text/translate';
import type { Preferences } from '../model/coworkModel';
import { summarize, type InboxItem } from './inbox';

/** Prefixes the tab title with the count, and follows Lab's changes of the title. */
class WaitingTitle {
  private own = document.title;
  private written = document.title;
  private count = 0;

  constructor() {
    const place = document.querySelector('title') ?? document.head;
    const whole = { childList: true, characterData: true, subtree: true };
    new MutationObserver(() => this.draw()).observe(place, whole);
  }

  show(count: number): void {
    this.count = count;
    this.draw();
  }

  private draw(): void {
    if (document.title !== this.written) {
      this.own = document.title; // Lab has written another one
    }
    // Trimmed, because browsers trim the title: otherwise it would look changed by Lab.
    this.written = this.count === 0 ? this.own : `(${this.count}) ${this.own}`.trim();
    if (document.title !== this.written) {
      document.title = this.written;
    }
  }
}

/** A singleton: two would each take the other's title for Lab's. */
const title = new WaitingTitle();

export class Alerts {
  private shown: Notification | null = null;

  constructor(private readonly showPanel: () => void) {}

  /** `isFresh`: some items are new and not yet seen. */
  update(
    items: readonly InboxItem[],
    isFresh: boolean,
    { notify, sound }: Pick<Preferences, 'notify' | 'sound'>
  ): void {
    title.show(notify ? items.length : 0);
    if (items.length === 0 || !notify) {
      this.close();
    } else if (isFresh && document.hidden) {
      this.notify(summarize(items));
    }
    if (isFresh && sound) {
      playSound();
    }
  }

  /** Does nothing without permission; asking for it happens elsewhere. */
  private notify(words: string): void {
    this.close();
    if (!('Notification' in window) || Notification.permission !== 'granted') {
      return;
    }
    const shown = new Notification(t('Cowork is waiting for you'), {
      body: words,
      tag: 'cowork-inbox'
    });
    shown.onclick = () => {
      window.focus();
      this.showPanel();
      this.close();
    };
    this.shown = shown;
  }

  private close(): void {
    this.shown?.close();
    this.shown = null;
  }
}

const SECONDS = 0.35;
const VOLUME = 0.08;

/** Two soft notes. Browsers play nothing before the user's first interaction. */
function playSound(): void {
  const audio = new AudioContext();
  const start = audio.currentTime;
  const volume = audio.createGain();
  volume.gain.setValueAtTime(VOLUME, start);
  volume.gain.exponentialRampToValueAtTime(VOLUME / 100, start + SECONDS);
  volume.connect(audio.destination);
  const tone = audio.createOscillator();
  tone.frequency.setValueAtTime(659, start);
  tone.frequency.setValueAtTime(880, start + SECONDS / 3);
  tone.connect(volume);
  tone.start();
  tone.stop(start + SECONDS);
  setTimeout(() => void audio.close(), 3000 * SECONDS);
}
