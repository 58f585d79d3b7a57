import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { DEFAULTS, type ICoworkModel, type Preferences } from './coworkModel';

/** Stores preferences in Lab's settings, and follows changes made in the settings editor. */
export async function bindPreferences(
  model: ICoworkModel,
  registry: ISettingRegistry,
  pluginId: string
): Promise<void> {
  const settings = await registry.load(pluginId);
  const read = (): Preferences => {
    const kept = Object.entries(DEFAULTS).map(([key, standard]) => {
      const value: unknown = settings.get(key).composite;
      return [key, typeof value === typeof standard ? value : standard];
    });
    return Object.fromEntries(kept) as Preferences;
  };
  model.usePreferenceStore({
    read,
    write: async change => {
      for (const [key, value] of Object.entries(change)) {
        await settings.set(key, value);
      }
    }
  });
  settings.changed.connect(() => model.preferenceStoreChanged());
}
