import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { submitting } from '../ui/forms';
import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { useRun } from '../run/context';
import type { Assumption } from '../types';
import { codeSpans } from '../text/codeSpans';
import { inline } from '../text/markdown';
import { t } from '../text/translate';
import { bounded, visible } from '../text/visible';

/** The message or plan that states them. */
export type Stated = { message_id: string } | { plan_id: string };

const HEADING = /^[\s>#*_]*(?:(?:my|key|meine|die) )?(?:assumptions?|annahmen?)[^\n]{0,20}$/i;
const ITEM = /^\s*(?:[-*+•]|\d+[.)])\s|^\s+\S|^\s*$/;

/** Strips the list of assumptions from an answer, since it is rendered separately. */
export function withoutAssumptions(words: string, assumptions: readonly Assumption[]): string {
  const lines = words.split('\n');
  const isHeading = lines.map(line => line.length < 200 && HEADING.test(line));
  const heading = isHeading.lastIndexOf(true);
  if (assumptions.length === 0 || heading < 0) {
    return words;
  }
  const rest = lines.slice(heading + 1);
  const end = rest.findIndex(line => !ITEM.test(line));
  return [...lines.slice(0, heading), ...(end < 0 ? [] : rest.slice(end))].join('\n');
}

/** Each can be confirmed or corrected. */
export function Assumptions({
  of,
  assumptions
}: {
  of: Stated;
  assumptions: readonly Assumption[];
}): VNode | null {
  if (assumptions.length === 0) {
    return null;
  }
  return (
    <div class="cw-assumptions">
      <strong>{t('Assumptions')}</strong>
      <ul aria-label={t('Assumptions')}>
        {assumptions.map((one, index) => (
          <Row key={index} of={of} index={index} assumption={one} />
        ))}
      </ul>
    </div>
  );
}

interface RowProps {
  of: Stated;
  index: number;
  assumption: Assumption;
}

function Row({ of, index, assumption }: RowProps): VNode {
  const { actions, live } = useRun();
  const { busy, error, run } = useAction();
  const [decided, setDecided] = useState<Pick<Assumption, 'status' | 'correction'> | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const { status, correction } = decided ?? assumption;
  const decide = (change: { status: 'confirmed' | 'corrected'; correction: string }): void =>
    void run(async () => {
      await actions.decideAssumption({ ...of, index, ...change });
      setDecided(change);
      setDraft(null);
    });
  return (
    <li class="cw-assumption">
      <span>{inline(visible(bounded(assumption.text, 1000)))}</span>
      {status === 'confirmed' && <span class="cw-ink cw-colour-ok">{t('confirmed')}</span>}
      {status === 'corrected' && (
        <span class="cw-ink cw-colour-ask">
          {inline(t('corrected: %1', visible(bounded(correction, 500))))}
        </span>
      )}
      {status === 'open' && live && draft === null && (
        <span class="cw-bar">
          <Button busy={busy} onClick={() => decide({ status: 'confirmed', correction: '' })}>
            {t('Right')}
          </Button>
          {assumption.alternatives?.map(other => (
            <Button
              key={other}
              disabled={busy}
              onClick={() => decide({ status: 'corrected', correction: other })}
            >
              {codeSpans(t('Instead: %1', visible(bounded(other, 200))))}
            </Button>
          ))}
          <Button disabled={busy} onClick={() => setDraft('')}>
            {t('No…')}
          </Button>
        </span>
      )}
      {draft !== null && (
        <form
          class="cw-bar"
          onSubmit={submitting(() => {
            if (draft.trim()) {
              decide({ status: 'corrected', correction: draft.trim() });
            }
          })}
        >
          <input
            class="cw-input"
            aria-label={t('What is true instead?')}
            placeholder={t('What is true instead?')}
            value={draft}
            onInput={event => setDraft(event.currentTarget.value)}
            autofocus
          />
          <Button
            look="primary"
            busy={busy}
            disabled={!draft.trim()}
            onClick={() => decide({ status: 'corrected', correction: draft.trim() })}
          >
            {t('Send to the planner')}
          </Button>
        </form>
      )}
      <Failure error={error} />
    </li>
  );
}
