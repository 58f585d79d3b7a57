import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { describe, expect, it } from 'vitest';

import { CommandIDs } from '../../src/lab/commands/ids';
import { CoworkModel, DEFAULTS } from '../../src/lab/model/coworkModel';
import { bindPreferences } from '../../src/lab/model/preferences';
import { FakeActivityFeed } from './model/fakeActivityFeed';

const schema = JSON.parse(readFileSync('schema/plugin.json', 'utf8')) as {
  properties: Record<string, { enum?: string[]; default: unknown }>;
};

describe('the settings', () => {
  it('take any role, and start read-only', () => {
    expect(schema.properties['role']?.enum).toBeUndefined();
    expect(schema.properties['role']?.default).toBe('planner');
  });

  it('have the defaults that the code has', () => {
    const defaults = Object.fromEntries(
      Object.entries(schema.properties).map(([name, { default: value }]) => [name, value])
    );
    expect(defaults).toEqual(DEFAULTS);
  });

  it('put only commands that exist on keys, menus and toolbars', () => {
    const named = [...JSON.stringify(schema).matchAll(/"command":"([^"]+)"/g)].map(
      match => match[1]
    );
    expect(named.length).toBeGreaterThan(3);
    const known = new Set<string | undefined>(Object.values(CommandIDs));
    for (const name of readdirSync('src/lab/parts', { recursive: true, encoding: 'utf8' })) {
      const text = /\.tsx?$/.test(name) ? readFileSync(join('src/lab/parts', name), 'utf8') : '';
      [...text.matchAll(/'(cowork:[a-z-]+)'/g)].forEach(match => known.add(match[1]));
    }
    expect(named.filter(id => !known.has(id))).toEqual([]);
  });

  it('keep the chosen role, and pass on what is changed in the settings editor', async () => {
    const values: Record<string, unknown> = { role: 'designer' };
    let tellChanged = (): void => undefined;
    const registry = {
      load: async () => ({
        get: (key: string) => ({ composite: values[key] }),
        set: async (key: string, value: unknown) => {
          values[key] = value;
        },
        changed: { connect: (listener: () => void) => (tellChanged = listener) }
      })
    } as unknown as ISettingRegistry;
    const model = new CoworkModel(
      { request: () => Promise.reject(new Error('unused')), subscribe: () => () => undefined },
      new FakeActivityFeed()
    );

    await bindPreferences(model, registry, 'cowork-jupyter:plugin');
    expect(model.preferences).toEqual({ ...DEFAULTS, role: 'designer' });
    await model.prefer({ role: 'tester' });
    expect(values['role']).toBe('tester');
    values['role'] = 'actor';
    tellChanged();
    expect(model.preferences.role).toBe('actor');
  });
});
