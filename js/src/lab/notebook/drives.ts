import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';

/** Only the default drive and that of real-time collaboration hold files of this server. */
const DRIVES = ['', 'RTC'];

export function isOnServer(contents: Contents.IManager, panel: NotebookPanel): boolean {
  return DRIVES.includes(contents.driveName(panel.context.path));
}
