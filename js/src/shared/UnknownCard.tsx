import type { VNode } from 'preact';

import { t } from './translate';

/** A notebook made with a newer version must still say something sensible here. */
export function UnknownCard({ kind }: { kind: string }): VNode {
  return (
    <p class="cw-text">
      {t(
        'This card (%1) needs a newer cowork_jupyter. Run "pip install -U cowork_jupyter", ' +
          'then reload this page.',
        kind
      )}
    </p>
  );
}
