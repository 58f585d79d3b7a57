import { describe, expect, it, vi } from 'vitest';

import {
  CoworkModel,
  DEFAULTS,
  type Preferences,
  type PreferenceStore
} from '../../../src/lab/model/coworkModel';
import { CoworkError } from '../../../src/shared/channel/channel';
import { knownRoles } from '../../../src/shared/role/roles';
import { NOT_READY, PLANNER, READY } from '../../samples';
import { FakeActivityFeed } from './fakeActivityFeed';

function modelOn(answers: Record<string, unknown>): {
  model: CoworkModel;
  asked: ReturnType<typeof vi.fn>;
} {
  const asked = vi.fn(async (_method: string, path: string) => {
    const answer = answers[path];
    if (answer === undefined) {
      throw new CoworkError({ code: 'x', message: 'No answer.' });
    }
    return answer;
  });
  return {
    model: new CoworkModel(
      { request: asked as never, subscribe: () => () => undefined },
      new FakeActivityFeed()
    ),
    asked
  };
}

function storeWith(role: string): PreferenceStore & { kept: Preferences } {
  return {
    kept: { ...DEFAULTS, role },
    read() {
      return this.kept;
    },
    async write(change) {
      this.kept = { ...this.kept, ...change };
    }
  };
}

describe('CoworkModel', () => {
  it('asks nothing by itself: a closed panel must cost nothing', () => {
    const { asked, model } = modelOn({});
    expect(asked).not.toHaveBeenCalled();
    expect(model).toMatchObject({
      health: null,
      preferences: DEFAULTS,
      check: { state: 'idle' }
    });
  });

  it('tells its parts when it starts to ask and when it knows', async () => {
    const { model } = modelOn({
      'health?fresh=true': READY,
      roles: { items: [PLANNER], next: null }
    });
    const states: string[] = [];
    model.changed.connect(() => states.push(model.check.state));
    await model.refresh();
    expect(states).toEqual(['busy', 'answered']);
    expect(model.health).toEqual(READY);
    expect(knownRoles()).toEqual([PLANNER]);
  });

  it('asks once for all who want to know at the same time, and for the roles with it', async () => {
    const { model, asked } = modelOn({
      'health?fresh=true': READY,
      roles: { items: [PLANNER], next: null }
    });
    await Promise.all([model.refresh(), model.refresh()]);
    await model.refresh();
    expect(asked.mock.calls.map(call => call[1])).toEqual([
      'health?fresh=true',
      'roles',
      'health?fresh=true',
      'roles'
    ]);
  });

  it('keeps what it knew when the server does not answer', async () => {
    const answers: Record<string, unknown> = { 'health?fresh=true': NOT_READY };
    const { model } = modelOn(answers);
    await model.refresh();
    delete answers['health?fresh=true'];
    await model.refresh();
    expect(model.check.state).toBe('failed');
    expect(model.health).toEqual(NOT_READY);
  });

  it('starts with the stored preferences, stores what is changed, and follows the settings editor', async () => {
    const { model } = modelOn({});
    const store = storeWith('reviewer');
    model.usePreferenceStore(store);
    expect(model.preferences.role).toBe('reviewer');
    await model.prefer({ role: 'tester' });
    expect(store.kept).toEqual({ ...DEFAULTS, role: 'tester' });
    store.kept = { ...store.kept, role: 'actor' };
    model.preferenceStoreChanged();
    expect(model.preferences.role).toBe('actor');
  });

  it('remembers the role for this page when there is no store', async () => {
    const { model } = modelOn({});
    await model.prefer({ role: 'actor' });
    model.preferenceStoreChanged();
    expect(model.preferences.role).toBe('actor');
  });
});
