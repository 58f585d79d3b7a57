/** Which notebooks are files of this server. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';

/** Documents of other drives are not files of this server; those of real-time collaboration are. */
const DRIVES = ['', 'RTC'];

export function isOnServer(contents: Contents.IManager, panel: NotebookPanel): boolean {
  return DRIVES.includes(contents.driveName(panel.context.path));
}
