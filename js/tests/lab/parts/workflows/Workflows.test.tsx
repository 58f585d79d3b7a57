import { describe, expect, it, vi } from 'vitest';

import { Workflows } from '../../../../src/lab/parts/workflows/Workflows';
import { CoworkError } from '../../../../src/shared/channel/channel';
import { button, one } from '../../../screen';
import { drawIn, list, press, write } from '../../panel/drawing';

describe('workflows', () => {
  const EXPLAIN = {
    ...{
      name: 'explain_notebook',
      title: 'Explain this notebook',
      description: 'Says what it does.',
      category: 'notebooks',
      role: 'planner'
    },
    parameters: {
      required: ['notebook'],
      properties: { notebook: { type: 'string', format: 'notebook-path', title: 'Notebook' } }
    }
  };
  const answers = {
    'GET workflows': {
      ...list(EXPLAIN),
      problems: [{ code: 'x', message: 'The plug-in y does not load.' }]
    },
    'GET workflows/categories': list({
      name: 'notebooks',
      label: 'Notebooks',
      workflows: [{ name: 'explain_notebook', title: '' }]
    }),
    'POST workflows/explain_notebook/run': { context_id: 'c9', job_id: 'j9', message_id: 'm9' }
  };

  it('are listed by category, with what is wrong', async () => {
    const { screen } = await drawIn(<Workflows />, answers);
    expect(one(screen, 'h3').textContent).toBe('Notebooks');
    expect(screen.textContent).toContain('The plug-in y does not load.');
  });

  const OWN = {
    ...EXPLAIN,
    name: 'clean',
    title: 'Clean',
    parameters: { properties: { file: { type: 'string' } } },
    template: {
      source: 'user',
      parameters: [{ name: 'file', title: '', description: '', default: null, example: 'a.csv' }]
    }
  };
  const own = {
    'GET workflows': { ...list(OWN), problems: [] },
    'GET workflows/categories': list({
      name: 'templates',
      label: 'Templates',
      workflows: [{ name: 'clean', title: '' }]
    }),
    'PUT workflows/clean': {},
    'POST workflows/clean/share': { path: '.cowork/workflows/clean.json' },
    'DELETE workflows/clean': {}
  };

  it('of the user are edited, shared, downloaded and deleted', async () => {
    const { screen, server, parts } = await drawIn(<Workflows />, own);
    await press(button(screen, 'Clean'));
    await press(button(screen, 'Share in this folder'));
    expect(screen.textContent).toContain('Shared as .cowork/workflows/clean.json.');
    await press(button(screen, 'Download'));
    expect(parts.download).toHaveBeenCalledWith('workflows/clean/file', 'clean.json');
    await press(button(screen, 'Edit'));
    const form = one(screen, 'form[aria-label="Edit workflow"]');
    await write(one(form, 'input'), 'Tidy');
    await press(button(form, 'Make it fixed'));
    await press(button(form, 'Save changes'));
    const edit = { title: 'Tidy', description: 'Says what it does.', parameters: [] };
    expect(server.changes.at(-1)).toEqual({ method: 'PUT', path: 'workflows/clean', body: edit });
    await press(button(screen, 'Delete'));
    expect(server.changes.at(-1)?.method).toBe('PUT');
    await press(button(screen, 'Delete for good'));
    expect(server.changes.at(-1)?.method).toBe('DELETE');
  });

  it('of others are only run', async () => {
    const { screen } = await drawIn(<Workflows />, answers);
    await press(button(screen, 'Explain this notebook'));
    expect(screen.textContent).not.toContain('Delete');
  });

  it('run with what the form says, and lead to the conversation', async () => {
    const { screen, server, parts } = await drawIn(<Workflows />, answers);
    await press(button(screen, 'Explain this notebook'));
    expect(one<HTMLInputElement>(screen, 'input').value).toBe('a.ipynb');
    await press(button(screen, 'Run'));
    expect(server.changes).toEqual([
      {
        method: 'POST',
        path: 'workflows/explain_notebook/run',
        body: { parameters: { notebook: 'a.ipynb' } }
      }
    ]);
    expect(parts.open).toHaveBeenCalledWith('c9');
  });

  it('fill in a path from the file dialog, where there is one', async () => {
    const pickFiles = vi.fn(async () => ['data/b.ipynb']);
    const { screen } = await drawIn(<Workflows />, answers, { pickFiles });
    await press(button(screen, 'Explain this notebook'));
    await press(button(screen, 'Browse…'));
    expect(pickFiles).toHaveBeenCalledWith('notebooks');
    expect(one<HTMLInputElement>(screen, 'input').value).toBe('data/b.ipynb');
    const without = await drawIn(<Workflows />, answers);
    await press(button(without.screen, 'Explain this notebook'));
    expect(without.screen.textContent).not.toContain('Browse');
  });

  it('say what the server found wrong', async () => {
    const refused = new CoworkError({
      code: 'invalid',
      message: 'notebook: there is no such file.',
      status: 422
    });
    const drawn = await drawIn(<Workflows />, {
      ...answers,
      'POST workflows/explain_notebook/run': refused
    });
    await press(button(drawn.screen, 'Explain this notebook'));
    await press(button(drawn.screen, 'Run'));
    expect(one(drawn.screen, '[role=alert] .cw-result').textContent).toBe(
      'notebook: there is no such file.'
    );
  });
});
