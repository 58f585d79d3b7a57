import { describe, expect, it, vi } from 'vitest';

import {
  fileName,
  listConversations,
  matching,
  type Conversation
} from '../../../src/lab/panel/conversations';
import { ConversationsSection } from '../../../src/lab/panel/ConversationsSection';
import { FakeServer } from '../../runs';
import { button, one } from '../../screen';
import { drawIn, list, press, write, type Drawn } from './drawing';

function conversation(id: string, title: string, notebook: string | null = null): Conversation {
  return {
    id,
    title,
    notebook,
    role: 'planner',
    model: null,
    created_at: '2026-11-14T14:02:00Z',
    updated_at: '2026-11-14T14:02:00Z'
  };
}

const SALES = conversation('c1', 'Clean sales.csv', 'a.ipynb');
const MARCH = conversation('c2', 'Why is March low?', 'b.ipynb');

async function show(
  conversations: Conversation[],
  search = ''
): Promise<Drawn & { reload: () => void; onSearch: () => void; onNew: () => void }> {
  const [reload, onSearch, onNew] = [vi.fn(), vi.fn(), vi.fn()];
  const listed = { value: conversations, error: null, reload };
  const view = (
    <ConversationsSection
      listed={listed}
      waiting={new Set(['c2'])}
      search={search}
      onSearch={onSearch}
      onNew={onNew}
    />
  );
  const answers = { 'PUT context/c1': SALES, 'DELETE context/c1': {} };
  return { ...(await drawIn(view, answers)), reload, onSearch, onNew };
}

describe('the list of conversations', () => {
  it('has those of this notebook first, and marks those that wait', async () => {
    const { screen } = await show([MARCH, SALES]);
    const text = screen.textContent ?? '';
    expect(text.indexOf('This notebook')).toBeLessThan(text.indexOf('Clean sales.csv'));
    expect(text.indexOf('Clean sales.csv')).toBeLessThan(text.indexOf('Workspace'));
    expect(
      [...screen.querySelectorAll('li')].map(
        row => row.querySelector('[aria-label="waits for you"]') !== null
      )
    ).toEqual([false, true]);
  });

  it('opens one, begins a new one, and is searched', async () => {
    const { screen, hands, onNew, onSearch } = await show([MARCH, SALES]);
    await press(button(screen, 'Why is March low?'));
    expect(hands.open).toHaveBeenCalledWith('c2');
    await press(button(screen, 'New'));
    expect(onNew).toHaveBeenCalledOnce();
    await write(one<HTMLInputElement>(screen, 'input[type=search]'), 'sales');
    expect(onSearch).toHaveBeenCalledWith('sales');
  });

  it('says when nothing was found', async () => {
    const { screen } = await show([MARCH], 'sales');
    expect(one(screen, '[role=status]').textContent).toBe('No conversation is called that.');
  });

  it('renames', async () => {
    const { screen, server, reload } = await show([SALES]);
    await press(one(screen, '.cw-more'));
    await press(button(screen, 'Rename'));
    await write(
      one<HTMLInputElement>(screen, '[aria-label="Name of the conversation"]'),
      ' Sales '
    );
    await press(button(screen, 'Save'));
    expect(server.changes).toEqual([
      { method: 'PUT', path: 'context/c1', body: { title: 'Sales' } }
    ]);
    expect(reload).toHaveBeenCalledOnce();
  });

  it('deletes only when asked twice', async () => {
    const { screen, server, reload } = await show([SALES]);
    await press(one(screen, '.cw-more'));
    await press(button(screen, 'Delete…'));
    expect(server.changes).toEqual([]);
    await press(button(one(screen, '[role=alertdialog]'), 'Delete'));
    expect(server.changes).toEqual([{ method: 'DELETE', path: 'context/c1', body: null }]);
    expect(reload).toHaveBeenCalledOnce();
  });

  it('exports under a name that tells what it is', async () => {
    const { screen, hands } = await show([SALES]);
    await press(one(screen, '.cw-more'));
    await write(one<HTMLSelectElement>(screen, '[aria-label="Export"]'), 'md');
    expect(hands.download).toHaveBeenCalledWith(
      'context/c1/export?format=md',
      'Clean-sales-csv.md'
    );
    expect(fileName('///', 'ipynb')).toBe('cowork.ipynb');
  });

  it('is searched by all words, in names and notebooks', () => {
    expect(matching([SALES, MARCH], 'CSV clean')).toEqual([SALES]);
    expect(matching([SALES, MARCH], 'b.ipynb')).toEqual([MARCH]);
    expect(matching([SALES, MARCH], ' ')).toEqual([SALES, MARCH]);
  });

  it('asks for all pages only to search them', async () => {
    const server = new FakeServer();
    server.answers.set('GET context?after=0&limit=100', { items: [SALES], next: 7 });
    server.answers.set('GET context?after=0&limit=1000', { items: [SALES], next: 7 });
    server.answers.set('GET context?after=7&limit=1000', list(MARCH));
    expect(await listConversations(server, false)).toEqual([SALES]);
    expect(await listConversations(server, true)).toEqual([SALES, MARCH]);
  });
});
