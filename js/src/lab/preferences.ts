import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { DEFAULTS, type ICoworkModel, type Preferences } from './coworkModel';

/**
 * Keeps what the user prefers in Lab's settings, and follows changes made in the settings editor.
 */
export async function keepPreferences(
  model: ICoworkModel,
  registry: ISettingRegistry,
  pluginId: string
): Promise<void> {
  const settings = await registry.load(pluginId);
  const read = <Key extends keyof Preferences>(key: Key): Preferences[Key] => {
    const value: unknown = settings.get(key).composite;
    return typeof value === typeof DEFAULTS[key] ? (value as Preferences[Key]) : DEFAULTS[key];
  };
  model.usePreferenceStore({
    read: () => ({ role: read('role'), model: read('model'), notify: read('notify') }),
    write: async change => {
      for (const [key, value] of Object.entries(change)) {
        await settings.set(key, value);
      }
    }
  });
  settings.changed.connect(() => model.preferenceStoreChanged());
}
