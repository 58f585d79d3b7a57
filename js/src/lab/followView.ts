import type { INotebookTracker } from '@jupyterlab/notebook';

import type { IInView } from './inView';
import type { PanelPlace } from './panel/place';

/**
 * The user looks at whatever they turned to last: a conversation that they open in the panel, or a
 * notebook.
 */
export function followView(
  inView: IInView,
  place: PanelPlace,
  notebooks: INotebookTracker | null
): void {
  let shown: string | null = null;
  const lookAtNotebook = (): void => {
    const path = notebooks?.currentWidget?.context.path;
    inView.lookAt(path === undefined ? null : { notebook: path });
  };
  place.changed.connect(() => {
    if (place.context === shown) {
      return; // it was something else about the panel
    }
    shown = place.context;
    if (shown === null) {
      lookAtNotebook();
    } else {
      inView.lookAt({ context: shown });
    }
  });
  notebooks?.currentChanged.connect(lookAtNotebook);
}
