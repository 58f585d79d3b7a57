import { readFileSync } from 'node:fs';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { describe, expect, it } from 'vitest';

import { CoworkModel } from '../../src/lab/coworkModel';
import { keepRoleInSettings } from '../../src/lab/roleSetting';
import { DEFAULT_ROLE, ROLE_NAMES } from '../../src/shared/roles';

const schema = JSON.parse(readFileSync('schema/plugin.json', 'utf8')) as {
  properties: { role: { enum: string[]; default: string } };
};

describe('the settings', () => {
  it('offer exactly the roles there are, and start read-only', () => {
    expect(schema.properties.role.enum).toEqual([...ROLE_NAMES]);
    expect(schema.properties.role.default).toBe(DEFAULT_ROLE);
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
    const model = new CoworkModel({ request: () => Promise.reject(new Error('unused')), subscribe: () => () => undefined });

    await keepRoleInSettings(model, registry, 'cowork-jupyter:plugin');
    expect(model.role).toBe('designer');
    await model.chooseRole('tester');
    expect(values['role']).toBe('tester');
    values['role'] = 'actor';
    tellChanged();
    expect(model.role).toBe('actor');
  });
});
