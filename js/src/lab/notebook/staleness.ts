import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

import type { Channel } from '../../shared/channel/channel';
import type { Page, StaleCell } from '../../shared/types';

/** Cells that depend on a changed one; empty if unknown. */
export async function staleCells(
  channel: Channel,
  notebook: string,
  cellId: string
): Promise<StaleCell[]> {
  const query = `notebook=${encodeURIComponent(notebook)}&cell_id=${encodeURIComponent(cellId)}`;
  const page = await channel.request<Page<StaleCell>>('GET', `stale-cells?${query}`);
  return page.items;
}

/** Runs these cells as the user would, from top to bottom. */
export function runInOrder({ content, sessionContext }: NotebookPanel, cellIds: string[]): void {
  const ids = new Set(cellIds);
  const cells = content.widgets.filter(({ model }) => ids.has(model.id));
  void NotebookActions.runCells(content, cells, sessionContext);
}
