import { describe, expect, it, vi } from 'vitest';

import type { InboxItem } from '../../../src/lab/inbox/inbox';
import { CheckpointsSection } from '../../../src/lab/panel/CheckpointsSection';
import { InboxSection } from '../../../src/lab/panel/InboxSection';
import { ModelPicker, stateLabel } from '../../../src/lab/panel/ModelPicker';
import { PlanSection } from '../../../src/lab/panel/PlanSection';
import { RulesSection } from '../../../src/lab/panel/RulesSection';
import { TrustSection } from '../../../src/lab/panel/TrustSection';
import { CoworkError } from '../../../src/shared/channel/channel';
import type { ModelHealth } from '../../../src/shared/types';
import { AT, later, PERMISSION, plan, QUESTION, step } from '../../runs';
import { NOT_READY, READY } from '../../samples';
import { button, one, PATIENCE } from '../../screen';
import { calm, drawIn, list, press, unfold, write, type Drawn } from './drawing';

const PLACE = { context: 'c1', title: 'Sales', notebook: 'a.ipynb' };
const ASKED: InboxItem = { ...PLACE, id: 'q1', kind: 'question', question: QUESTION };
const wanted = (id: string): InboxItem => ({
  ...PLACE,
  id,
  kind: 'permission',
  request: { ...PERMISSION, id }
});

async function opened(drawn: Drawn, title: string): Promise<Drawn> {
  const found = [...drawn.screen.querySelectorAll('details')].find(one =>
    one.textContent?.includes(title)
  );
  await unfold(found!);
  return drawn;
}

describe('the inbox', () => {
  it('is not mentioned while it is empty, but screen readers will hear of the first thing', async () => {
    const { screen } = await drawIn(<InboxSection notify items={[]} />, {});
    expect(screen.textContent).toBe('');
    expect(one(screen, '[role=status]')).not.toBeNull();
  });

  it('lets a question be answered in place, and leads to where it was asked', async () => {
    const { screen, server, parts } = await drawIn(<InboxSection notify items={[ASKED]} />, {
      'POST questions/q1/answer': {}
    });
    expect(one(screen, '.cw-badge').textContent).toBe('1');
    await press(button(screen, 'Leave out'));
    expect(server.changes).toEqual([
      { method: 'POST', path: 'questions/q1/answer', body: { value: 'out' } }
    ]);
    await press(button(screen, 'Sales'));
    expect(parts.open).toHaveBeenCalledWith('c1');
  });

  it('shows several as lines that open, and decides permissions together', async () => {
    const { screen, server } = await drawIn(
      <InboxSection notify items={[ASKED, wanted('p1'), wanted('p2')]} />,
      { 'POST permissions': list() }
    );
    expect(screen.querySelectorAll('.cw-card')).toHaveLength(0);
    expect(screen.textContent).toContain('Run a command: pip install pyarrow');
    await press(button(screen, 'Decide 2 together'));
    await press(button(screen, 'Deny'));
    expect(server.changes).toEqual([
      {
        method: 'POST',
        path: 'permissions',
        body: { ids: ['p1', 'p2'], decision: 'deny', scope: 'once' }
      }
    ]);
  });
});

describe('the plan', () => {
  const answer = (steps: ReturnType<typeof step>[]): unknown => ({
    plan: plan(1, { steps }),
    revision: 1,
    made_at: AT,
    stale: []
  });

  it('says how far it is, and hears when a step has ended', async () => {
    const { screen, server, feed, parts } = await drawIn(<PlanSection context="c1" />, {
      'GET context/c1/plan?running=true': answer([
        step(1, { status: 'completed' }),
        step(2, { status: 'running' })
      ])
    });
    expect(one(screen, '.cw-heading-count').textContent).toBe('1 / 2');
    server.answers.set(
      'GET context/c1/plan?running=true',
      answer([step(1, { status: 'completed' }), step(2, { status: 'completed' })])
    );
    feed.tell({ c2: ['task-completed'] });
    feed.tell({ c1: ['task-completed'] });
    await vi.waitFor(async () => {
      await calm();
      expect(one(screen, '.cw-heading-count').textContent).toBe('2 / 2');
    }, PATIENCE);
    expect(server.asked).toHaveLength(2);
    await press(button(screen, 'Open the plan'));
    expect(parts.open).toHaveBeenCalledWith('c1');
  });

  it('is the one that runs, from its start', async () => {
    const { screen, server, feed } = await drawIn(<PlanSection context="c1" />, {
      'GET context/c1/plan?running=true': answer([step(1, { action: 'The newest' })])
    });
    server.answers.set(
      'GET context/c1/plan?running=true',
      answer([step(1, { action: 'The one that runs' })])
    );
    feed.tell({ c1: ['job-started'] });
    await vi.waitFor(async () => {
      await calm();
      expect(screen.textContent).toContain('The one that runs');
    }, PATIENCE);
  });

  it('does not count a step that was stopped as done', async () => {
    const { screen } = await drawIn(<PlanSection context="c1" />, {
      'GET context/c1/plan?running=true': answer([
        step(1, { status: 'completed' }),
        step(2, { status: 'cancelled' })
      ])
    });
    expect(one(screen, '.cw-heading-count').textContent).toBe('1 / 2');
  });

  it('shows of a long plan where it stands', async () => {
    const steps = Array.from({ length: 60 }, (_, at) =>
      step(at + 1, { status: at < 30 ? 'completed' : 'pending' })
    );
    const { screen } = await drawIn(<PlanSection context="c1" />, {
      'GET context/c1/plan?running=true': answer(steps)
    });
    expect(screen.querySelectorAll('li')).toHaveLength(12);
    expect(one(screen, 'li').textContent).toContain('Do thing 29');
    expect(screen.textContent).toContain('Show all 60 steps');
  });

  it('is not there when there is none', async () => {
    const { screen } = await drawIn(<PlanSection context="c1" />, {
      'GET context/c1/plan?running=true': { plan: null, revision: 0, made_at: null, stale: [] }
    });
    expect(screen.textContent).toBe('');
  });
});

describe('the time line', () => {
  const point = (id: string, seconds: number): unknown => ({
    ...{
      id,
      created_at: later(seconds),
      label: `before ${id}`,
      tool: null,
      step_id: null,
      files: ['a.py'],
      uncovered: []
    }
  });
  const answers = {
    'GET context/c1/checkpoints': list(point('k1', 1), point('k2', 2)),
    'GET checkpoints/k1/diff?scope=since': list({
      path: 'a.py',
      status: 'changed',
      diff: '+more\n'
    }),
    'POST checkpoints/k1/rollback': {
      restored: ['a.py'],
      removed: [],
      skipped: [],
      checkpoint_id: 'k3'
    }
  };

  it('has the newest first, and shows what changed since', async () => {
    const { screen } = await drawIn(<CheckpointsSection context="c1" />, answers);
    expect(
      [...screen.querySelectorAll('li .cw-name')].map(row => row.textContent?.split(' before ')[1])
    ).toEqual(['k2', 'k1']);
    await press(button(screen, 'before k1'));
    await press(button(screen, 'What changed since'));
    expect(one(screen, '.cw-diff-add').textContent).toContain('+more');
  });

  it('says how much all of them take', async () => {
    const store = { bytes: 1_234_567, limit: 20 * 1024 ** 3, oldest: later(0) };
    const { screen } = await drawIn(<CheckpointsSection context="c1" />, {
      ...answers,
      'GET context/c1/checkpoints': { ...list(point('k1', 1)), store }
    });
    expect(screen.textContent).toMatch(/All conversations: 1\.2 MB of 21 GB, back to .*:/);
  });

  it('rolls back to the chosen one, after showing what would happen', async () => {
    const { screen, server } = await drawIn(<CheckpointsSection context="c1" />, answers);
    await press(button(screen, 'before k1'));
    await press(button(screen, 'Roll back…'));
    expect(server.changes.map(({ path, body }) => [path, body])).toEqual([
      ['checkpoints/k1/rollback', { scope: 'since', dry_run: true }]
    ]);
    await press(button(screen, 'Roll back now'));
    expect(server.changes[1]).toMatchObject({
      path: 'checkpoints/k1/rollback',
      body: { dry_run: false }
    });
    expect(screen.textContent).toContain('Rolled back.');
  });
});

describe('rules', () => {
  const RULE = {
    id: 'r1',
    effect: 'allow',
    rule: 'execute_command(git push)',
    scope: 'workspace',
    source: '.cowork/settings.json',
    active: false
  };
  const answers = { 'GET rules': list(RULE), 'DELETE rules/r1': {}, 'POST rules': RULE };

  it('say why they count or not, and can be revoked', async () => {
    const { screen, server } = await opened(await drawIn(<RulesSection />, answers), 'Rules');
    expect(screen.textContent).toContain(
      'In this workspace. From .cowork/settings.json. It has no effect: this workspace is ' +
        'not trusted.'
    );
    await press(button(screen, 'Revoke'));
    expect(server.changes).toEqual([{ method: 'DELETE', path: 'rules/r1', body: null }]);
    expect(server.asked.filter(({ method }) => method === 'GET')).toHaveLength(2);
  });

  it('of an administrator cannot be revoked', async () => {
    const theirs = { 'GET rules': list({ ...RULE, scope: 'admin', source: null, active: true }) };
    const { screen } = await opened(await drawIn(<RulesSection />, theirs), 'Rules');
    expect(screen.textContent).toContain('Set by your administrator.');
    expect(screen.textContent).not.toContain('Revoke');
  });

  it('can be added', async () => {
    const drawn = await opened(
      await opened(await drawIn(<RulesSection />, answers), 'Rules'),
      'Add a rule'
    );
    await unfold([...drawn.screen.querySelectorAll('details')].pop()!);
    await write(one<HTMLInputElement>(drawn.screen, 'input'), 'delete_file');
    await write(one<HTMLSelectElement>(drawn.screen, 'select'), 'deny');
    await press(button(drawn.screen, 'Add'));
    expect(drawn.server.changes).toEqual([
      {
        method: 'POST',
        path: 'rules',
        body: { effect: 'deny', rule: 'delete_file', scope: 'workspace' }
      }
    ]);
  });

  it('are kept in the field with the name that was meant, when there is no such tool', async () => {
    const message = "There is no tool 'delet_file'. Did you mean 'delete_file'?";
    const refusing = {
      ...answers,
      'POST rules': new CoworkError({ code: 'unknown_tool', message, status: 422 })
    };
    const drawn = await opened(
      await opened(await drawIn(<RulesSection />, refusing), 'Rules'),
      'Add a rule'
    );
    await unfold([...drawn.screen.querySelectorAll('details')].pop()!);
    await write(one<HTMLInputElement>(drawn.screen, 'input'), 'delet_file');
    await press(button(drawn.screen, 'Add'));
    expect(one(drawn.screen, 'form [role=alert]').textContent).toBe(message);
    expect(one<HTMLInputElement>(drawn.screen, 'input').value).toBe('delet_file');
  });
});

describe('trust', () => {
  const brings = (trusted: boolean): unknown => ({
    trusted,
    fingerprint: 'f1',
    items: [{ kind: 'rule', name: 'allow update_file', detail: 'In .cowork/settings.json' }]
  });

  it('shows what came with the folder and takes exactly that', async () => {
    const { screen, server } = await drawIn(<TrustSection />, {
      'GET trust': brings(false),
      'POST trust': brings(true)
    });
    expect(screen.textContent).toContain('They have no effect until you trust them');
    expect(screen.textContent).toContain('allow update_file');
    await press(button(screen, 'Trust what is shown here'));
    expect(server.changes).toEqual([
      { method: 'POST', path: 'trust', body: { fingerprint: 'f1', trusted: true } }
    ]);
  });

  it('can be taken back', async () => {
    const drawn = await opened(
      await drawIn(<TrustSection />, { 'GET trust': brings(true), 'POST trust': brings(false) }),
      'This workspace'
    );
    await press(button(drawn.screen, 'Stop trusting it'));
    expect(drawn.server.changes[0]?.body).toEqual({ fingerprint: 'f1', trusted: false });
  });

  it('shows the whole of a longer text, and says which of several is new', async () => {
    const { screen } = await drawIn(<TrustSection />, {
      'GET trust': {
        trusted: false,
        fingerprint: 'f2',
        items: [
          { kind: 'skill', name: 'joins', detail: 'How to join.', trusted: true },
          { kind: 'instructions', name: 'AGENTS.md', detail: 'One\n\u202etwo', trusted: false }
        ]
      }
    });
    const [skill, file] = screen.querySelectorAll('.cw-trust > li');
    expect(skill?.textContent).toBe('Skill joinsHow to join.');
    expect(file?.textContent).toContain('Instructions AGENTS.md new or changed');
    expect(file?.querySelector('pre')?.textContent).toBe('One\n⟨U+202E⟩two');
  });

  it('is not mentioned in a folder that brings nothing', async () => {
    const { screen } = await drawIn(<TrustSection />, {
      'GET trust': { trusted: true, fingerprint: 'f', items: [] }
    });
    expect(screen.textContent).toBe('');
  });
});

describe('the model picker', () => {
  const served = {
    'GET models': list(
      { name: 'gpt-5-mini', configured: true },
      { name: 'qwen3', configured: false }
    )
  };

  it('offers what the server has, and knows its own', async () => {
    const picked: string[] = [];
    const view = (
      <ModelPicker
        health={READY}
        check={{ state: 'idle' }}
        picked=""
        onPick={model => picked.push(model)}
      />
    );
    const { screen } = await drawIn(view, served);
    const select = one<HTMLSelectElement>(screen, 'select');
    expect([...select.options].map(({ value }) => value)).toEqual(['gpt-5-mini', 'qwen3']);
    await write(select, 'qwen3');
    await write(select, 'gpt-5-mini');
    expect(picked).toEqual(['qwen3', '']);
  });

  it('asks nothing while there is no model', async () => {
    const { screen, server } = await drawIn(
      <ModelPicker
        health={NOT_READY}
        check={{ state: 'idle' }}
        picked=""
        onPick={() => undefined}
      />,
      served
    );
    expect(screen.textContent).toBe('no model');
    expect(server.asked).toEqual([]);
  });

  it('says in a word how it stands', () => {
    const idle = { state: 'idle' } as const;
    const notReady = (problem: ModelHealth['problem']): string =>
      stateLabel(
        { ...READY, model: { ...READY.model, ready: false, problem: problem ?? null } },
        idle
      );
    expect(stateLabel(null, { state: 'busy' })).toBe('loading…');
    expect(stateLabel(null, { state: 'failed', error: null })).toBe('no answer');
    expect(notReady('key')).toBe('gpt-5-mini: no key');
    expect(notReady('loading')).toBe('gpt-5-mini: loading…');
    expect(notReady('server')).toBe('gpt-5-mini: not ready');
  });
});
