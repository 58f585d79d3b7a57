/** Lab's own file dialog, for whoever needs the path of a file. */

import { FileDialog, type IDefaultFileBrowser } from '@jupyterlab/filebrowser';

import { t } from '../../shared/text/translate';

/** The paths that the user has picked, as the server knows them; none if they thought better. */
export async function pickFiles(
  manager: IDefaultFileBrowser['model']['manager'],
  only: 'notebooks' | 'any'
): Promise<string[]> {
  const wantsNotebook = only === 'notebooks';
  const { button, value } = await FileDialog.getOpenFiles({
    manager,
    title: wantsNotebook ? t('Choose a notebook') : t('Choose a file or a folder'),
    // Folders are shown in any case: files are in them.
    filter: ({ type }) =>
      !wantsNotebook || type === 'notebook' || type === 'directory' ? {} : null
  });
  if (!button.accept || value === null) {
    return [];
  }
  return value
    .filter(({ type }) => !wantsNotebook || type === 'notebook')
    .map(({ path }) => manager.services.contents.localPath(path) || '.');
}
