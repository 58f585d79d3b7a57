import type { VNode } from 'preact';

import { records } from '../channel/values';
import { counted } from '../text/translate';
import type { Mention } from '../types';
import { oneLine } from '../text/visible';

/** What a message mentions, and how much of it the agent gets. */
export function MentionChips({ mentions }: { mentions: readonly Mention[] }): VNode | null {
  if (mentions.length === 0) {
    return null;
  }
  return (
    <ul class="cw-mentions">
      {mentions.map(({ text, title, tokens, problem }) => (
        <li
          key={text}
          class={problem ? 'cw-mention cw-mention-problem' : 'cw-mention'}
          title={oneLine(title, 200)}
        >
          {oneLine(text, 80)}{' '}
          <span class="cw-dim">
            · {problem ? oneLine(problem, 200) : counted(tokens, '%1 token', '%1 tokens')}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Validates a saved card's mentions: notebooks are untrusted. */
export function mentionsOf(value: unknown): Mention[] {
  return records(value).map(raw => {
    const text = (name: string): string => String(raw[name] ?? '');
    return {
      text: text('text'),
      kind: text('kind') as Mention['kind'],
      title: text('title'),
      tokens: Number(raw['tokens']) || 0,
      problem: text('problem')
    };
  });
}
