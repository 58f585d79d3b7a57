import type { AnyModel } from '@anywidget/types';

import type { CardData } from '../../src/shared/types';

type Listener = (...values: unknown[]) => void;

/** An anywidget model without a kernel: the test sees what is sent and plays the kernel. */
export class FakeModel {
  readonly sent: { id: number; method: string; path: string; body: unknown }[] = [];
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private card: CardData = { kind: 'none' }) {}

  get(): CardData {
    return this.card;
  }
  send(content: unknown): void {
    this.sent.push(content as FakeModel['sent'][number]);
  }
  on(event: string, listener: Listener): void {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(listener));
  }
  off(event: string, listener: Listener): void {
    this.listeners.get(event)?.delete(listener);
  }
  listening(event: string): number {
    return this.listeners.get(event)?.size ?? 0;
  }
  emit(event: string, ...values: unknown[]): void {
    for (const listener of this.listeners.get(event) ?? []) {
      listener(...values);
    }
  }
  setCard(card: CardData): void {
    this.card = card;
    this.emit('change:card');
  }
  asAnyModel(): AnyModel<{ card: CardData }> {
    return this as unknown as AnyModel<{ card: CardData }>;
  }
}
