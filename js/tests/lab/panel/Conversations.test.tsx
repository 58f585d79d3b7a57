import { describe, expect, it, vi } from 'vitest';

import {
  fileName,
  findConversations,
  listConversations,
  notebooksOf,
  type Conversation
} from '../../../src/lab/panel/conversations';
import { ConversationsSection } from '../../../src/lab/panel/ConversationsSection';
import { DeletedConversations } from '../../../src/lab/panel/DeletedConversations';
import { FakeServer } from '../../runs';
import { button, one, PATIENCE } from '../../screen';
import { drawIn, list, press, pressKey, write, type Drawn } from './drawing';

function conversation(id: string, title: string, notebook: string | null = null): Conversation {
  return {
    id,
    title,
    notebook,
    role: 'planner',
    model: null,
    pinned: false,
    created_at: '2026-11-14T14:02:00Z',
    updated_at: '2026-11-14T14:02:00Z'
  };
}

const SALES = conversation('c1', 'Clean sales.csv', 'a.ipynb');
const MARCH = conversation('c2', 'Why is March low?', 'b.ipynb');
const PINNED = { ...conversation('c3', 'Each Monday'), pinned: true };
const FIND_MARCH = 'GET context?q=march&after=0&limit=1000';

async function show(
  conversations: Conversation[],
  answers: Record<string, unknown> = {}
): Promise<Drawn & { reload: () => void; onNew: () => void; onDeleted: () => void }> {
  const [reload, onNew, onDeleted] = [vi.fn(), vi.fn(), vi.fn()];
  const listed = { value: conversations, error: null, reload };
  const view = (
    <ConversationsSection
      listed={listed}
      waiting={new Set(['c2'])}
      onNew={onNew}
      onDeleted={onDeleted}
    />
  );
  const changes = { 'PUT context/c1': SALES, 'DELETE context/c1': {}, ...answers };
  return { ...(await drawIn(view, changes)), reload, onNew, onDeleted };
}

function names(screen: HTMLElement): (string | null)[] {
  return [...screen.querySelectorAll('.cw-name')].map(name => name.textContent);
}

describe('the list of conversations', () => {
  it('has pinned ones first, then those of this notebook, and marks those that wait', async () => {
    const { screen } = await show([MARCH, SALES, PINNED]);
    expect(
      [...screen.querySelectorAll('h3, .cw-name')].map(({ textContent }) => textContent)
    ).toEqual([
      ...['Pinned', 'Each Monday', 'This notebook', 'Clean sales.csv'],
      ...['Workspace', 'Why is March low?']
    ]);
    expect(
      [...screen.querySelectorAll('li')].map(
        row => row.querySelector('[aria-label="waiting for you"]') !== null
      )
    ).toEqual([false, false, true]);
  });

  it('opens one, and begins a new one', async () => {
    const { screen, parts, onNew } = await show([MARCH, SALES]);
    await press(button(screen, 'Why is March low?'));
    expect(parts.open).toHaveBeenCalledWith('c2');
    await press(button(screen, 'New'));
    expect(onNew).toHaveBeenCalledOnce();
  });

  it('shows what the server finds, and says so', async () => {
    const hit = { ...MARCH, snippet: '…because March had fewer days…' };
    const { screen } = await show([MARCH, SALES], { [FIND_MARCH]: list(hit) });
    await write(one<HTMLInputElement>(screen, 'input[type=search]'), ' march ');
    await vi.waitFor(() => expect(names(screen)).toEqual(['Why is March low?']), PATIENCE);
    expect(one(screen, 'li').textContent).toContain('…because March had fewer days…');
    expect(one(screen, '[role=status]').textContent).toBe('1 conversation found');
  });

  it('says when nothing was found', async () => {
    const { screen } = await show([SALES], { [FIND_MARCH]: list() });
    await write(one<HTMLInputElement>(screen, 'input[type=search]'), 'march');
    await vi.waitFor(() => expect(names(screen)).toEqual([]), PATIENCE);
    expect(one(screen, '[role=status]').textContent).toContain('No conversation has these words');
  });

  it('is narrowed to a notebook, where there are several', async () => {
    const answers = { 'GET context?notebook=b.ipynb&after=0&limit=1000': list(MARCH) };
    const { screen } = await show([MARCH, SALES], answers);
    const filter = one<HTMLSelectElement>(screen, 'select');
    expect([...filter.options].map(({ text }) => text)).toEqual([
      'All notebooks',
      'a.ipynb',
      'b.ipynb'
    ]);
    await write(filter, 'b.ipynb');
    await vi.waitFor(() => expect(names(screen)).toEqual(['Why is March low?']), PATIENCE);
    expect((await show([MARCH, PINNED])).screen.querySelector('select')).toBeNull();
  });

  it('renames in place, from the menu or with F2', async () => {
    const { screen, server, reload } = await show([SALES]);
    await press(one(screen, '.cw-more'));
    await press(button(screen, 'Rename'));
    const field = (): HTMLInputElement =>
      one(screen, '.cw-conversation [aria-label="Name of the conversation"]');
    await pressKey(field(), 'Escape');
    expect(names(screen)).toEqual(['Clean sales.csv']);
    await pressKey(button(screen, 'Clean sales.csv'), 'F2');
    await write(field(), ' Sales ');
    one<HTMLFormElement>(screen, 'form').requestSubmit();
    await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce(), PATIENCE);
    expect(server.changes).toEqual([
      { method: 'PUT', path: 'context/c1', body: { title: 'Sales' } }
    ]);
  });

  it('pins and unpins', async () => {
    const { screen, server, reload } = await show([SALES]);
    await press(one(screen, '.cw-more'));
    await press(button(screen, 'Pin'));
    expect(server.changes).toEqual([{ method: 'PUT', path: 'context/c1', body: { pinned: true } }]);
    expect(reload).toHaveBeenCalledOnce();
    const other = await show([PINNED]);
    await press(one(other.screen, '.cw-more'));
    expect(button(other.screen, 'Unpin')).toBeTruthy();
  });

  it('deletes at once, as that can be undone', async () => {
    const { screen, server, onDeleted } = await show([SALES]);
    await press(one(screen, '.cw-more'));
    await press(button(screen, 'Delete'));
    expect(server.changes).toEqual([{ method: 'DELETE', path: 'context/c1', body: null }]);
    expect(onDeleted).toHaveBeenCalledWith('c1');
  });

  it('exports under a name that tells what it is', async () => {
    const { screen, parts } = await show([SALES]);
    await press(one(screen, '.cw-more'));
    await write(one<HTMLSelectElement>(screen, '[aria-label="Export"]'), 'md');
    expect(parts.download).toHaveBeenCalledWith(
      'context/c1/export?format=md',
      'Clean-sales-csv.md'
    );
    expect(fileName('///', 'ipynb')).toBe('cowork.ipynb');
  });

  it('knows the notebooks in it', () => {
    expect(notebooksOf([MARCH, PINNED, SALES, MARCH])).toEqual(['a.ipynb', 'b.ipynb']);
  });

  it('has the newest, and pinned ones however old', async () => {
    const server = new FakeServer();
    server.answers.set('GET context?after=0&limit=100', { items: [SALES, MARCH], next: 7 });
    server.answers.set('GET context?pinned=true&after=0&limit=1000', list(PINNED, SALES));
    expect(await listConversations(server)).toEqual([SALES, MARCH, PINNED]);
  });

  it('asks for all pages of what is found, whatever the words', async () => {
    const server = new FakeServer();
    const query = 'q=50%25+%26+more&notebook=a.ipynb';
    server.answers.set(`GET context?${query}&after=0&limit=1000`, { items: [SALES], next: 7 });
    server.answers.set(`GET context?${query}&after=7&limit=1000`, list(MARCH));
    const found = await findConversations(server, { words: '50% & more', notebook: 'a.ipynb' });
    expect(found).toEqual([SALES, MARCH]);
  });
});

describe('deleted conversations', () => {
  async function showDeleted(
    deleted: Conversation[],
    answers: Record<string, unknown> = {},
    newest: string | null = null
  ): Promise<Drawn & { onRestored: () => void; reload: () => void }> {
    const [onRestored, reload] = [vi.fn(), vi.fn()];
    const view = (
      <DeletedConversations
        deleted={{ value: deleted, error: null, reload }}
        newest={newest}
        onRestored={onRestored}
      />
    );
    return { ...(await drawIn(view, answers)), onRestored, reload };
  }

  it('are brought back, the newest without looking for it', async () => {
    const answers = { 'POST context/c1/restore': SALES };
    const { screen, server, onRestored } = await showDeleted([SALES, MARCH], answers, 'c1');
    expect(document.activeElement).toBe(button(screen, 'Undo'));
    await press(button(screen, 'Undo'));
    expect(server.changes).toEqual([{ method: 'POST', path: 'context/c1/restore', body: null }]);
    expect(onRestored).toHaveBeenCalledOnce();
    await press(button(screen, 'Show 1 more deleted'));
    expect(screen.textContent).toContain('Deleted: Why is March low?');
  });

  it('say when it is too late', async () => {
    const { screen, reload, onRestored } = await showDeleted([SALES]);
    await press(button(screen, 'Undo'));
    expect(one(screen, '[role=alert]').textContent).not.toBe('');
    expect(reload).toHaveBeenCalledOnce();
    expect(onRestored).not.toHaveBeenCalled();
  });
});
