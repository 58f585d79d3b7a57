/**
 * Makes the magics available without `%load_ext`. Kernels configured for Cowork load them at start;
 * in others we load them before a cell that uses one, which then reports what is missing.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';

const USES_MAGICS = /^\s*%%(?:plan|act|ask)\b|%cowork\b/;

/** Does not replace other extensions' magics of the same name. */
const LOAD = `
import sys
from importlib import invalidate_caches
from importlib.util import find_spec
from IPython import get_ipython
from IPython.core.error import UsageError

def explain(line, cell=None):
    raise UsageError(
        f"Cowork is not installed in this kernel's environment, {sys.prefix}.\\n"
        "Run %pip install cowork-jupyter in a cell, then run this cell again."
    )

shell = get_ipython()
invalidate_caches()
if find_spec("cowork_jupyter"):
    shell.extension_manager.load_extension("cowork_jupyter")
else:
    for kind, name in [("cell", "plan"), ("cell", "act"), ("cell", "ask"), ("line", "cowork")]:
        if shell.find_magic(name, kind) is None:
            shell.register_magic_function(explain, kind, name)
`;

/** Kernels run requests in order, so this runs before the cell without waiting. */
export function loadBeforeUse(tracker: INotebookTracker): void {
  NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
    const kernel = tracker.find(panel => panel.content === notebook)?.sessionContext.session
      ?.kernel;
    if (kernel && USES_MAGICS.test(cell.model.sharedModel.source)) {
      const code = `exec(${JSON.stringify(LOAD)}, {})`; // which leaves no names among the user's
      const quietly = {
        silent: true,
        store_history: false,
        allow_stdin: false,
        stop_on_error: false
      };
      const loaded = kernel.requestExecute({ code, ...quietly });
      loaded.done.catch(() => undefined); // the kernel went away: the cell itself tells
    }
  });
}

export const magics: JupyterFrontEndPlugin<void> = {
  id: 'cowork-jupyter:magics',
  description: 'Brings the magics into kernels that do not load them by themselves.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_: JupyterFrontEnd, tracker: INotebookTracker) => loadBeforeUse(tracker)
};
