import { describe, expect, it, vi } from 'vitest';

import { PromptPicker } from '../../../src/lab/panel/PromptPicker';
import { CoworkError } from '../../../src/shared/channel/channel';
import { drawIn, list, write, type Drawn } from './drawing';

const DEFAULT = { id: 'default', title: 'Default', source: 'package', text: '', trusted: true };
const ADA = { id: 'ada', title: 'Ada', source: 'user', text: '', trusted: true };
const TEAM = { id: 'team', title: 'Team', source: 'workspace', text: '', trusted: false };

const CONVERSATION = {
  id: 'c1',
  title: 'Sales',
  notebook: null,
  role: 'actor',
  model: null,
  pinned: false,
  system_prompt_id: 'default',
  created_at: '2026-11-14T14:02:00Z',
  updated_at: '2026-11-14T14:02:00Z'
};

async function show(
  prompts: unknown[],
  chosen = 'default',
  answer: unknown = CONVERSATION
): Promise<Drawn & { onChanged: () => void }> {
  const onChanged = vi.fn();
  const conversation = { ...CONVERSATION, system_prompt_id: chosen };
  const drawn = await drawIn(<PromptPicker conversation={conversation} onChanged={onChanged} />, {
    'GET v1/system-prompts': list(...prompts),
    'POST context/c1/system-prompt': answer
  });
  return { ...drawn, onChanged };
}

function options(screen: HTMLElement): HTMLOptionElement[] {
  return [...screen.querySelectorAll('option')];
}

describe('the base prompt of a conversation', () => {
  it('is chosen among those with title and source', async () => {
    const { screen, server, onChanged } = await show([DEFAULT, ADA, TEAM]);
    expect(options(screen).map(({ textContent }) => textContent)).toEqual([
      'Default (built in)',
      'Ada (yours)',
      'Team (this folder, not trusted yet)'
    ]);
    await write(screen.querySelector('select')!, 'ada');
    expect(server.changes).toEqual([
      { method: 'POST', path: 'context/c1/system-prompt', body: { system_prompt_id: 'ada' } }
    ]);
    expect(onChanged).toHaveBeenCalledOnce();
  });

  it('cannot be one that is not trusted', async () => {
    const { screen } = await show([DEFAULT, TEAM]);
    expect(options(screen).map(({ disabled }) => disabled)).toEqual([false, true]);
  });

  it('is not shown where there is nothing to choose from', async () => {
    const { screen } = await show([DEFAULT]);
    expect(screen.querySelector('select')).toBeNull();
  });

  it('may be gone', async () => {
    const { screen } = await show([DEFAULT], 'ada');
    expect(screen.querySelector('select')!.value).toBe('ada');
    expect(options(screen)[1]!.textContent).toBe('ada (no longer there)');
  });

  it('stays as it is where the server refuses, and says why', async () => {
    const refusal = new CoworkError({
      code: 'untrusted_prompt',
      message: 'Trust it.',
      status: 422
    });
    const { screen, onChanged } = await show([DEFAULT, ADA], 'default', refusal);
    await write(screen.querySelector('select')!, 'ada');
    expect(screen.textContent).toContain('Trust it.');
    expect(onChanged).not.toHaveBeenCalled();
  });
});
