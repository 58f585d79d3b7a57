import { act } from 'preact/test-utils';
import { describe, expect, it, vi } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import { HostProvider } from '../../../src/shared/card/host';
import type { PlanRef } from '../../../src/shared/plan/planRef';
import type { Audit, Plan, RunCardData } from '../../../src/shared/types';
import { RunCard } from '../../../src/shared/run/RunCard';
import {
  AT,
  event,
  executed,
  FakeServer,
  later,
  message,
  PERMISSION,
  plan,
  planned,
  PLAN_MADE,
  QUESTION,
  settled,
  step
} from '../../runs';
import { appears, button, click, draw, one } from '../../screen';

async function show(
  card: RunCardData,
  server = new FakeServer(card)
): Promise<{ screen: HTMLElement; server: FakeServer }> {
  const screen = draw(<RunCard card={card} channel={server} />);
  await act(settled);
  return { screen, server };
}

async function write(field: HTMLInputElement | HTMLTextAreaElement, text: string): Promise<void> {
  await act(async () => {
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
}

const rows = (screen: HTMLElement): string[] =>
  [...screen.querySelectorAll('.cw-step')].map(({ textContent }) => textContent ?? '');
const marks = (screen: HTMLElement): string[] =>
  [...screen.querySelectorAll('.cw-step')].map(({ className }) =>
    className.replace('cw-step cw-step-', '')
  );
const tasks = (
  ...states: string[]
): { id: string; step_id: string; status: never; created_at: string; completed_at: string }[] =>
  states.map((status, at) => ({
    id: `t${at + 1}`,
    step_id: String(at + 1),
    status: status as never,
    created_at: AT,
    completed_at: later(4)
  }));

describe('a plan that waits for approval', () => {
  it('shows goal, steps with reason, tools, files and time, and risks and needs before them', async () => {
    const { screen } = await show(planned());
    expect(one(screen, '.cw-goal').textContent).toBe('Chart revenue');
    expect(rows(screen)[0]).toBe('1Do thing 1Because of 1Run a cellfile1.py~3 s');
    const text = screen.textContent ?? '';
    expect(text.indexOf('Rows may go')).toBeLessThan(text.indexOf('Do thing 1'));
    expect(text.indexOf('pyarrow')).toBeLessThan(text.indexOf('Do thing 1'));
    expect(screen.querySelector('.cw-graph')).toBeNull();
  });

  it('says when it was made, and that files have changed since', async () => {
    const { screen } = await show(planned({ stale: ['sales.csv', 'a.py'], revision: 2 }));
    expect(screen.textContent).toContain('Changed since the plan was made: sales.csv, a.py');
    expect(screen.textContent).toMatch(/Made .* · revision 2/);
  });

  it('draws what can run side by side, and says it in words', async () => {
    const wide = plan(3, {
      steps: [step(1), step(2, { depends_on: [] }), step(3, { depends_on: ['1', '2'] })]
    });
    const { screen } = await show(planned({ plan: wide }));
    expect(screen.querySelectorAll('.cw-graph-node')).toHaveLength(3);
    expect(rows(screen)[2]).toContain('after 1, 2');
  });

  it('is executed as it is on the screen, once', async () => {
    const { screen, server } = await show(planned({ revision: 4 }));
    server.answers.set('POST context/c1/plan/execute', { job_id: 'j2' });
    await act(async () => {
      button(screen, 'Execute plan').click();
      button(screen, 'Execute plan').click();
      await settled();
    });
    expect(server.changes).toEqual([
      {
        method: 'POST',
        path: 'context/c1/plan/execute',
        body: { revision: 4, plan_id: 'p1', card_id: 'j1' }
      }
    ]);
  });

  it('cannot be executed while something else runs in the conversation', async () => {
    const { screen, server } = await show(planned());
    await server.send(event(11, 'job-started', { job_id: 'j9' }, { job_id: 'j9' }));
    expect(screen.textContent).not.toContain('Execute plan');
  });

  it('can be discussed, and made anew by the planner', async () => {
    const { screen, server } = await show(planned());
    server.answers.set('POST context/c1/messages', { message_id: 'm', job_id: 'j2' });
    await click(button(screen, 'Discuss'));
    const field = one<HTMLTextAreaElement>(screen, '.cw-write textarea');
    expect(document.activeElement).toBe(field);
    await write(field, 'In euros, please');
    await act(async () => {
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      await settled();
    });
    await click(button(screen, 'Re-plan'));
    expect(server.changes.map(({ body }) => body)).toEqual([
      { content: 'In euros, please', role: 'planner', card_id: 'j1' },
      {
        content: 'Check the current state, then plan again.',
        role: 'planner',
        replan: true,
        card_id: 'j1'
      }
    ]);
  });

  it('of sixty steps scrolls in its own place, by keyboard too', async () => {
    const { screen } = await show(planned({ plan: plan(60) }));
    expect(rows(screen)).toHaveLength(60);
    expect(one(screen, '.cw-steps-long').tabIndex).toBe(0);
  });
});

describe('a plan that is kept', () => {
  const said = (what: string) => (place: PlanRef) => (
    <p>{`${what} of ${place.planId}, revision ${place.revision}`}</p>
  );
  const host = { History: said('History'), SaveWorkflow: said('Saving') };

  async function showIn(card: RunCardData): Promise<HTMLElement> {
    const screen = draw(
      <HostProvider value={host}>
        <RunCard card={card} channel={new FakeServer(card)} />
      </HostProvider>
    );
    await act(settled);
    return screen;
  }

  const folds = (screen: HTMLElement): HTMLDetailsElement[] =>
    [...screen.querySelectorAll('details')].filter(
      one => one.querySelector('summary')?.textContent === 'History'
    );

  it('shows its history once there is one, and only where somebody looks', async () => {
    expect(folds(await showIn(planned()))).toHaveLength(0);
    const screen = await showIn(planned({ revision: 2 }));
    expect(screen.textContent).not.toContain('History of');
    await act(async () => {
      folds(screen)[0]!.open = true;
      folds(screen)[0]!.dispatchEvent(new Event('toggle'));
    });
    expect(screen.textContent).toContain('History of p1, revision 2');
  });

  it('can be saved as a workflow once it is done', async () => {
    expect((await showIn(planned())).textContent).not.toContain('Save as workflow');
    const done = plan(1, { steps: [step(1, { status: 'completed' })] });
    const screen = await showIn(executed({ plan: done, tasks: tasks('completed') as never }));
    await click(button(screen, 'Save as workflow…'));
    expect(screen.textContent).toContain('Saving of p1, revision 1');
  });

  it('is neither where the page has no room for that', async () => {
    const { screen } = await show(planned({ revision: 2 }));
    expect(folds(screen)).toHaveLength(0);
  });
});

describe('editing a plan', () => {
  async function edit(
    changes: Partial<Plan> = {}
  ): Promise<{ screen: HTMLElement; server: FakeServer }> {
    const shown = await show(planned({ plan: plan(3, changes), revision: 2 }));
    await click(button(shown.screen, 'Edit steps'));
    await appears(shown.screen, '.cw-editor');
    return shown;
  }
  const sent = (server: FakeServer): { plan: Plan; revision: number } =>
    server.changes.at(-1)?.body as { plan: Plan; revision: number };
  const key = async (element: Element, name: string): Promise<void> => {
    await act(async () => {
      element.dispatchEvent(
        new KeyboardEvent('keydown', { key: name, altKey: true, bubbles: true })
      );
      await settled();
    });
  };

  it('saves text, order by keyboard, new and removed steps, against the revision one began with', async () => {
    const { screen, server } = await edit();
    server.answers.set('PUT context/c1/plan', {
      plan: plan(3, { goal: 'As saved' }),
      revision: 3,
      made_at: AT,
      stale: []
    });
    await write(screen.querySelectorAll('textarea')[0]!, 'Do it well');
    await key(screen.querySelectorAll('.cw-grip')[0]!, 'ArrowDown');
    expect(document.activeElement).toBe(screen.querySelectorAll('.cw-grip')[1]);
    await click(one(screen, '[aria-label="Remove step 3"]'));
    await click(button(screen, 'Add a step'));
    await write([...screen.querySelectorAll('textarea')].at(-1)!, 'Tidy up');
    await click(button(screen, 'Save'));
    const { plan: saved, revision } = sent(server);
    expect(revision).toBe(2);
    expect(saved.steps.map(({ id, step_number, action }) => [id, step_number, action])).toEqual([
      ['2', 1, 'Do thing 2'],
      ['1', 2, 'Do it well'],
      ['3', 3, 'Tidy up']
    ]);
    expect(one(screen, '.cw-goal').textContent).toBe('As saved');
  });

  it('moves a step that is dropped on another', async () => {
    const { screen, server } = await edit();
    server.answers.set('PUT context/c1/plan', {
      plan: plan(3),
      revision: 3,
      made_at: AT,
      stale: []
    });
    const data = new Map<string, string>();
    const transfer = {
      setData: (type: string, text: string) => data.set(type, text),
      getData: (type: string) => data.get(type) ?? '',
      get types() {
        return [...data.keys()];
      }
    };
    // Preact listens under the name that the page knows, and this one knows nothing of dragging.
    const drag = (name: string): Event =>
      Object.assign(
        new Event(`on${name}`.toLowerCase() in screen ? name.toLowerCase() : name, {
          bubbles: true,
          cancelable: true
        }),
        { dataTransfer: transfer }
      );
    await act(async () => {
      screen.querySelectorAll('.cw-grip')[2]!.dispatchEvent(drag('DragStart'));
      screen.querySelectorAll('.cw-edit-step')[0]!.dispatchEvent(drag('DragOver'));
      screen.querySelectorAll('.cw-edit-step')[0]!.dispatchEvent(drag('Drop'));
      await settled();
    });
    await click(button(screen, 'Save'));
    expect(sent(server).plan.steps.map(({ id }) => id)).toEqual(['3', '1', '2']);
  });

  it('changes dependencies, but offers none that would close a circle', async () => {
    const { screen, server } = await edit();
    server.answers.set('PUT context/c1/plan', {
      plan: plan(3),
      revision: 3,
      made_at: AT,
      stale: []
    });
    await act(async () => {
      for (const fold of screen.querySelectorAll<HTMLDetailsElement>('.cw-edit-step details')) {
        fold.open = true;
        fold.dispatchEvent(new Event('toggle'));
      }
    });
    const boxes = [...screen.querySelectorAll('.cw-edit-step')].map(row => [
      ...row.querySelectorAll<HTMLInputElement>('fieldset input')
    ]);
    expect(boxes[0]!.map(({ disabled }) => disabled)).toEqual([true, true]);
    await act(async () => boxes[2]![0]!.click());
    await click(button(screen, 'Save'));
    expect(sent(server).plan.steps[2]?.depends_on).toEqual(['2', '1']);
  });

  it('begins where one writes', async () => {
    const { screen } = await edit();
    expect(document.activeElement).toBe(screen.querySelector('textarea'));
  });

  it('says kindly that somebody was quicker, and loses nothing', async () => {
    const { screen, server } = await edit();
    server.answers.set(
      'PUT context/c1/plan',
      new CoworkError({ code: 'stale_revision', message: 'Changed.', status: 409 })
    );
    server.answers.set('GET context/c1/plan?plan_id=p1', {
      plan: plan(1),
      revision: 5,
      made_at: AT,
      stale: []
    });
    await write(screen.querySelectorAll('textarea')[0]!, 'Mine');
    await click(button(screen, 'Save'));
    expect(screen.textContent).toContain('it is now at revision 5');
    expect(screen.querySelectorAll('textarea')[0]?.value).toBe('Mine');
    await click(button(screen, 'Overwrite it with mine'));
    expect(sent(server).revision).toBe(5);
  });

  it('shows what the server finds wrong, and stays open', async () => {
    const { screen, server } = await edit();
    server.answers.set(
      'PUT context/c1/plan',
      new CoworkError({
        code: 'invalid_plan',
        message: "steps[0].tools_needed: the actor has no tool 'x'",
        status: 422
      })
    );
    await click(button(screen, 'Save'));
    expect(one(screen, '.cw-editor [role=alert]').textContent).toContain("no tool 'x'");
  });

  it('can be given up', async () => {
    const { screen, server } = await edit();
    await write(screen.querySelectorAll('textarea')[0]!, 'Never mind');
    await click(button(screen, 'Cancel'));
    expect(server.changes).toEqual([]);
    expect(rows(screen)[0]).toContain('Do thing 1');
  });

  it('does not save a step without words', async () => {
    const { screen, server } = await edit();
    await click(button(screen, 'Add a step'));
    await click(button(screen, 'Save'));
    expect(server.changes).toEqual([]);
    expect(screen.textContent).toContain('Every step needs a description.');
  });
});

describe('a plan that is carried out', () => {
  const RUNNING = { status: 'running', role: 'actor', ended_at: null } as const;

  it('shows how each step stands, how far it is, and which step waits', async () => {
    const { screen, server } = await show(
      executed({ ...RUNNING, tasks: tasks('completed', 'running') })
    );
    expect(marks(screen)).toEqual(['completed', 'running', 'pending']);
    expect(one(screen, '.cw-head').textContent).toContain('Step 2 of 3');
    expect(one(screen, '[role=progressbar]').getAttribute('aria-valuenow')).toBe('1');
    await server.send(
      event(
        11,
        'permission-request',
        { ...PERMISSION, job_id: 'j2', task_id: 't2' },
        { job_id: 'j2', task_id: 't2' }
      )
    );
    expect(marks(screen)).toEqual(['completed', 'waiting', 'pending']);
    expect(screen.textContent).toContain('step 2 · medium risk');
  });

  it('does not look done when it was stopped on the way', async () => {
    const { screen } = await show(
      executed({
        status: 'cancelled',
        role: 'actor',
        tasks: tasks('completed', 'cancelled', 'cancelled')
      })
    );
    expect(one(screen, '[role=progressbar]').getAttribute('aria-valuenow')).toBe('1');
  });

  it('keeps the log of a step with the step, one click away', async () => {
    const log = [
      message('tool_call', '', {
        job_id: 'j2',
        task_id: 't1',
        data: { call_id: 'x', tool: 'update_file', parameters: { path: 'a.py' } }
      }),
      message('tool_result', 'Changed', {
        job_id: 'j2',
        role: 'tool',
        task_id: 't1',
        data: {
          call_id: 'x',
          ok: true,
          summary: 'changed a.py',
          facts: { diff: '--- a.py\n+++ a.py\n@@ -1 +1,2 @@\n-x\n+y\n+z\n' }
        }
      })
    ];
    const { screen } = await show(
      executed({ ...RUNNING, tasks: tasks('completed'), messages: [PLAN_MADE, ...log] })
    );
    expect(rows(screen)[0]).toContain('Log, 1 tool call');
    expect(rows(screen)[0]).toContain('+2 −1');
    expect(screen.textContent).not.toContain('changed a.py');
    await act(async () => {
      const fold = one<HTMLDetailsElement>(screen, '.cw-step details');
      fold.open = true;
      fold.dispatchEvent(new Event('toggle'));
    });
    expect(rows(screen)[0]).toContain('changed a.py');
  });

  it('offers to try a failed step again or to skip it', async () => {
    const failed = tasks('completed', 'failed').map(task => ({
      ...task,
      error: task.step_id === '2' ? 'No space left' : null
    }));
    const { screen, server } = await show(
      executed({ status: 'failed', error: 'Step 2 failed', role: 'actor', tasks: failed })
    );
    server.answers.set('POST jobs/j2/tasks/t2/retry', {});
    expect(rows(screen)[1]).toContain('No space left');
    await click(button(screen, 'Try again'));
    expect(server.changes).toEqual([
      { method: 'POST', path: 'jobs/j2/tasks/t2/retry', body: null }
    ]);
    expect(screen.textContent).toContain('finished steps are not repeated');
  });

  it('gives the reason of a failed step once, with lists as lists', async () => {
    const why = 'Two things are missing:\n- pyarrow\n- disk space';
    const failed = tasks('completed', 'failed').map(task => ({
      ...task,
      error: task.step_id === '2' ? why : null
    }));
    const card = planned({
      status: 'failed',
      error: `Step 2 failed: ${why}`,
      role: 'actor',
      tasks: failed
    });
    const server = new FakeServer(card);
    const deviations = [{ kind: 'failed', what: `failed: ${why}` }];
    server.answers.set('GET context/c1/audit', {
      steps: [
        {
          id: '2',
          number: 2,
          action: '',
          status: 'failed',
          actual: { tools: [], files: [], seconds: 1 },
          deviations
        }
      ]
    });
    const over = await show(card, server);
    expect(one(over.screen, '.cw-card').textContent?.split('Two things are missing')).toHaveLength(
      2
    );
    expect([...over.screen.querySelectorAll('.cw-step li')].map(item => item.textContent)).toEqual([
      'pyarrow',
      'disk space'
    ]);

    const waiting = failed.map(task =>
      task.error ? { ...task, status: 'waiting' as const } : task
    );
    const asked = {
      ...QUESTION,
      question: 'Step 2 failed. What now?',
      context: why,
      task_id: 't2'
    };
    const { screen } = await show(
      planned({ status: 'waiting', role: 'actor', tasks: waiting, questions: [asked] })
    );
    expect(screen.textContent).toContain('What now?');
    expect(screen.textContent?.split('Two things are missing')).toHaveLength(2);
  });
});

describe('a plan that was carried out', () => {
  const DONE = { role: 'actor', tasks: tasks('completed', 'completed', 'completed') } as const;
  const AUDIT = {
    steps: [1, 2, 3].map(number => ({
      id: String(number),
      number,
      action: '',
      status: 'completed',
      actual: { tools: [], files: [], seconds: 4.8 },
      deviations: number === 2 ? [{ kind: 'extra_tool', what: 'also ran: pip install' }] : []
    }))
  } as unknown as Audit;

  async function done(): Promise<{ screen: HTMLElement; server: FakeServer }> {
    const card = executed(DONE as never);
    const server = new FakeServer(card);
    server.answers.set('GET context/c1/audit?job_id=j1', AUDIT);
    server.answers.set('GET context/c1/checkpoints', {
      items: [
        {
          id: 'k0',
          created_at: AT,
          label: 'of another job',
          tool: null,
          step_id: null,
          files: [],
          uncovered: [],
          job_id: 'j0'
        },
        {
          id: 'k2',
          created_at: later(9),
          label: 'before step 2',
          tool: null,
          step_id: '2',
          files: [],
          uncovered: [],
          job_id: 'j2'
        },
        {
          id: 'k1',
          created_at: later(3),
          label: 'before step 1',
          tool: null,
          step_id: '1',
          files: [],
          uncovered: [],
          job_id: 'j2'
        }
      ],
      next: null
    });
    server.answers.set('POST checkpoints/k1/rollback', {
      restored: ['a.py'],
      removed: ['b.parquet'],
      skipped: [{ path: 'c.md', why: 'you changed it' }],
      checkpoint_id: 'k9'
    });
    return show(card, server);
  }

  it('shows plan versus actual', async () => {
    const { screen } = await done();
    expect(rows(screen)[0]).toContain('as planned');
    expect(rows(screen)[1]).toContain('also ran: pip install');
    expect(screen.textContent).toContain('Completed');
  });

  it('rolls back to before the first step, after showing what would happen', async () => {
    const { screen, server } = await done();
    await click(button(screen, 'Roll back…'));
    await act(settled);
    await act(settled);
    expect(server.changes).toEqual([
      { method: 'POST', path: 'checkpoints/k1/rollback', body: { scope: 'card', dry_run: true } }
    ]);
    expect(screen.textContent).toContain('Would be restored · 1 filea.py');
    expect(screen.textContent).toContain('Would be removed · 1 fileb.parquet');
    expect(screen.textContent).toContain('c.md: you changed it');
    const now = button(screen, 'Roll back now');
    now.focus();
    await click(now);
    expect(server.changes.at(-1)?.body).toEqual({ scope: 'card', dry_run: false });
    expect(screen.textContent).toContain('Rolled back.');
    expect(screen.contains(document.activeElement), 'the focus stays in the card').toBe(true);
    server.answers.set('POST checkpoints/k9/rollback', {
      restored: ['b.parquet'],
      removed: [],
      skipped: [],
      checkpoint_id: 'k10'
    });
    await click(button(screen, 'Undo the rollback'));
    expect(server.changes.at(-1)?.path).toBe('checkpoints/k9/rollback');
    expect(screen.textContent).toContain('The rollback is undone.');
    expect(button(screen, 'Roll back again').disabled).toBe(false);
  });

  it('says that kernels are not rolled back, and offers to restart this one where the page can', async () => {
    const { server } = await done();
    const notes = ['Variables in running kernels are not restored.'];
    server.answers.set('POST checkpoints/k1/rollback', {
      restored: ['a.py'],
      removed: [],
      skipped: [],
      checkpoint_id: 'k9',
      notes
    });
    const restartAndRunToHere = vi.fn(() => Promise.resolve());
    for (const host of [{}, { restartAndRunToHere }]) {
      const screen = draw(
        <HostProvider value={host}>
          <RunCard card={executed(DONE as never)} channel={server} />
        </HostProvider>
      );
      await act(settled);
      await click(button(screen, 'Roll back…'));
      await act(settled);
      await act(settled);
      expect(screen.textContent).toContain(notes[0]);
      expect(screen.textContent).not.toContain('Restart the kernel');
      await click(button(screen, 'Roll back now'));
      expect(screen.textContent).toContain(notes[0]);
      expect(screen.textContent?.includes('Restart the kernel and run up to here')).toBe(
        'restartAndRunToHere' in host
      );
      if ('restartAndRunToHere' in host) {
        await click(button(screen, 'Restart the kernel'));
      }
    }
    expect(restartAndRunToHere).toHaveBeenCalledOnce();
  });

  it('shows what has changed, file by file, and says what cannot be shown', async () => {
    const { screen, server } = await done();
    server.answers.set('GET checkpoints/k1/diff?scope=card', {
      items: [
        {
          path: 'a.ipynb',
          status: 'changed',
          diff: null,
          cells: [{ id: 'cell1', status: 'changed', diff: '-a\n+b' }]
        },
        { path: 'b.bin', status: 'added', diff: null, why: 'binary, 3 MB' }
      ],
      next: null
    });
    await click(button(screen, 'Changes'));
    await act(settled);
    expect(one(screen, '.cw-diff-add').textContent).toBe('+b\n');
    expect(screen.textContent).toContain('binary, 3 MB');
  });
});
