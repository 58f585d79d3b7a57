import { FileDialog, type IDefaultFileBrowser } from '@jupyterlab/filebrowser';

import { t } from '../../shared/text/translate';

/** Paths picked in Lab's file dialog, relative to the server's root; empty if cancelled. */
export async function pickFiles(
  manager: IDefaultFileBrowser['model']['manager'],
  only: 'notebooks' | 'any'
): Promise<string[]> {
  const wantsNotebook = only === 'notebooks';
  const { button, value } = await FileDialog.getOpenFiles({
    manager,
    title: wantsNotebook ? t('Choose a notebook') : t('Choose a file or a folder'),
    // Folders must stay visible, since they contain the files.
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
