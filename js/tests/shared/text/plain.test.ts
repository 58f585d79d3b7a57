import { describe, expect, it } from 'vitest';

import { describeItem, type InboxItem } from '../../../src/lab/inbox/inbox';
import { sentence } from '../../../src/shared/run/Announcer';
import { fromCard } from '../../../src/shared/run/snapshot';
import { plainLine } from '../../../src/shared/text/plain';
import { message, PERMISSION, QUESTION, runCard } from '../../runs';

describe('Markdown as a line', () => {
  it('has neither marks nor tables', () => {
    const table = '| a | b |\n| --- | --- |\n| 1 | 2 |';
    const code = '```python\nx = 1\n```';
    const text = `## Done\nThe **mean** of \`a_b\` is 4:\n\n${table}\n\n${code}`;
    expect(plainLine(text)).toBe('Done The mean of a_b is 4: x = 1');
    expect(plainLine('2 ** 3 ** 2 of 5 | 6')).toBe('2 ** 3 ** 2 of 5 | 6');
  });

  it('is what waits, in a list and for screen readers, except for commands', () => {
    const question = { ...QUESTION, question: 'Drop `region`?' };
    const item = { id: 'q', context: 'c1', title: '', notebook: null };
    expect(describeItem({ ...item, kind: 'question', question })).toBe('Drop region?');
    expect(sentence(fromCard(runCard({ status: 'waiting', questions: [question] })))).toBe(
      'Waiting for you: Drop region?'
    );
    const request = { ...PERMISSION, resource: 'echo `date`' };
    const asked: InboxItem = { ...item, kind: 'permission', request };
    expect(describeItem(asked)).toContain('echo `date`');
  });

  it('is what a run ended with, for screen readers', () => {
    const answer = message('text', 'There are **3**:\n\n| a |\n| - |\n| 1 |');
    expect(sentence(fromCard(runCard({ messages: [answer] })))).toBe('Completed. There are 3:');
  });
});
