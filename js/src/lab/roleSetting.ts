import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { DEFAULT_ROLE } from '../shared/roles';
import type { ICoworkModel } from './coworkModel';

/** Keeps the chosen role in Lab's settings, and follows changes made in the settings editor. */
export async function keepRoleInSettings(model: ICoworkModel, registry: ISettingRegistry, pluginId: string): Promise<void> {
  const settings = await registry.load(pluginId);
  model.useRoleStore({
    read: () => {
      const role = settings.get('role').composite;
      return typeof role === 'string' ? role : DEFAULT_ROLE;
    },
    write: role => settings.set('role', role)
  });
  settings.changed.connect(() => model.roleStoreChanged());
}
