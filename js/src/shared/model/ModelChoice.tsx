import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { Button } from '../ui/Button';
import { t } from '../text/translate';
import { oneLine } from '../text/visible';

/** The number of buttons that are rendered at once. */
const MAX_UNFILTERED = 10;
const MAX_SHOWN = 50;

interface ModelChoiceProps {
  names: readonly string[];
  busy: boolean;
  onPick: (name: string) => void;
}

/** A button per model; long lists are filtered by typing, and Enter picks the first. */
export function ModelChoice({ names, busy, onPick }: ModelChoiceProps): VNode {
  const [wanted, setWanted] = useState('');
  const words = wanted.toLowerCase().split(/\s+/);
  const found = names.filter(name => words.every(word => name.toLowerCase().includes(word)));
  const shown = found.slice(0, MAX_SHOWN);
  return (
    <>
      {names.length > MAX_UNFILTERED && (
        <>
          <input
            class="cw-input"
            type="search"
            aria-label={t('Filter models')}
            placeholder={t('Filter models')}
            value={wanted}
            onInput={event => setWanted(event.currentTarget.value)}
            onKeyDown={event => {
              if (event.key === 'Enter') {
                event.preventDefault();
                if (wanted && found[0] && !busy) {
                  onPick(found[0]);
                }
              }
            }}
            data-lm-suppress-shortcuts="true"
          />
          <p class="cw-dim" role="status">
            {t('Showing %1 of %2 models', `${shown.length}`, `${names.length}`)}
          </p>
        </>
      )}
      <div class="cw-bar" role="group" aria-label={t('Models at this address')}>
        {shown.map(name => (
          <Button key={name} disabled={busy} onClick={() => onPick(name)}>
            {oneLine(name, 80)}
          </Button>
        ))}
      </div>
    </>
  );
}
