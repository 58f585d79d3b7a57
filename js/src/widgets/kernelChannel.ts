/** Channel to the kernel over the widget's messages, for front ends that hide the server. */

import {
  CoworkError,
  errorFromBody,
  type Channel,
  type EventListener,
  type Method
} from '../shared/channel/channel';
import type { Event } from '../shared/types';
import { t } from '../shared/text/translate';
import { KernelSubscription } from './kernelSubscription';

const TIMEOUT_MS = 15_000;

/** The part of anywidget's model that carries messages. */
export interface MessageModel {
  send(content: unknown): void;
  on(event: 'msg:custom', listener: (content: unknown) => void): void;
  off(event: 'msg:custom', listener: (content: unknown) => void): void;
}

interface KernelAnswer {
  id: number;
  status: number;
  body: unknown;
}

interface KernelEvent {
  subscription: number;
  event: Event;
}

interface Waiting {
  settle(answer: KernelAnswer): void;
  fail(error: CoworkError): void;
}

// Kernel replies reach every tab of the notebook: a random start keeps tabs from mixing up their
// ids.
let lastId = Math.floor(Math.random() * 2 ** 40);

export function nextId(): number {
  return ++lastId;
}

export class KernelChannel implements Channel {
  private readonly waiting = new Map<number, Waiting>();
  private readonly subscriptions = new Set<KernelSubscription>();
  private readonly listener = (content: unknown): void => this.receive(content);

  constructor(private readonly model: MessageModel) {
    model.on('msg:custom', this.listener);
  }

  request<Answer>(method: Method, path: string, body: unknown = null): Promise<Answer> {
    return this.ask<Answer>(nextId(), { method, path, body });
  }

  subscribe(contextId: string, after: number, listener: EventListener): () => void {
    const subscription = new KernelSubscription(this, contextId, after, listener);
    this.subscriptions.add(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      subscription.end();
    };
  }

  /** Sends a request under the caller's id. */
  ask<Answer>(
    id: number,
    question: { method: string; path: string; body: unknown }
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => this.waiting.get(id)?.fail(noAnswer()), TIMEOUT_MS);
      const finish = (): void => {
        clearTimeout(timer);
        this.waiting.delete(id);
      };
      this.waiting.set(id, {
        settle: answer => {
          finish();
          if (answer.status >= 200 && answer.status < 300) {
            resolve(answer.body as Answer);
          } else {
            reject(errorFromBody(answer.status, answer.body) ?? invalidReply(answer.status));
          }
        },
        fail: error => {
          finish();
          reject(error);
        }
      });
      try {
        this.model.send({ id, ...question });
      } catch {
        this.waiting.get(id)?.fail(disconnectedError());
      }
    });
  }

  /** Rejects pending requests. */
  dispose(): void {
    this.subscriptions.forEach(subscription => subscription.end());
    this.subscriptions.clear();
    this.model.off('msg:custom', this.listener);
    for (const request of [...this.waiting.values()]) {
      request.fail(disconnectedError());
    }
  }

  private receive(content: unknown): void {
    if (isAnswer(content)) {
      this.waiting.get(content.id)?.settle(content);
    } else if (isEvent(content)) {
      this.subscriptions.forEach(subscription =>
        subscription.receive(content.subscription, content.event)
      );
    }
  }

  /** Fire and forget; a dead kernel has forgotten it anyway. */
  tell(content: unknown): void {
    try {
      this.model.send(content);
    } catch {
      // The kernel is gone.
    }
  }
}

function isAnswer(content: unknown): content is KernelAnswer {
  const answer = content as Partial<KernelAnswer> | null;
  return (
    typeof answer === 'object' &&
    typeof answer?.id === 'number' &&
    typeof answer.status === 'number'
  );
}

function isEvent(content: unknown): content is KernelEvent {
  const message = content as Partial<KernelEvent> | null;
  return (
    typeof message === 'object' &&
    typeof message?.subscription === 'number' &&
    typeof message.event?.seq === 'number'
  );
}

function noAnswer(): CoworkError {
  return new CoworkError({
    code: 'timeout',
    message: t(
      'The kernel does not answer; it may be busy running a cell. Wait for it or interrupt ' +
        'it, then try again.'
    ),
    retryable: true
  });
}

function disconnectedError(): CoworkError {
  return new CoworkError({
    code: 'unreachable',
    message: t('This card is not connected to a kernel. Run its cell again.')
  });
}

function invalidReply(status: number): CoworkError {
  return new CoworkError({
    code: 'unexpected_answer',
    message: t(
      'The kernel answered with an unknown error (%1). Restart the kernel, then run the cell ' +
        'again.',
      String(status)
    ),
    status
  });
}
