import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { sendOnEnter, submitting } from '../ui/forms';
import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { Card } from '../ui/Card';
import { codeSpans } from '../text/codeSpans';
import { inline } from '../text/markdown';
import { plainLine } from '../text/plain';
import type { Question } from '../types';
import { RichText } from '../text/RichText';
import { useRun } from '../run/context';
import { translateKnown, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';

const MAX = 4000;

/** Options are buttons: one click answers. */
export function QuestionCard({
  question,
  step
}: {
  question: Question;
  step: string | null;
}): VNode {
  const { actions } = useRun();
  const sending = useAction();
  const [chosen, setChosen] = useState<string | null>(null);
  const answer = (value: string): void => {
    setChosen(value);
    void sending.run(() => actions.answer(question.id, value));
  };
  return (
    <Card
      edge="ask"
      label={t('Question: %1', plainLine(translateKnown(question.question)))}
      header={
        <span class="cw-pill cw-colour-ask">
          {t('Question · %1', severityLabel(question.severity))}
        </span>
      }
      aside={step && <span class="cw-dim">{step}</span>}
    >
      <p class="cw-goal">{inline(visible(bounded(translateKnown(question.question), MAX)))}</p>
      {question.context && <RichText text={translateKnown(question.context)} />}
      <div class="cw-options" role="group" aria-label={t('Answers')}>
        {question.options.map(option => (
          <button
            key={option.value}
            type="button"
            class="cw-option"
            aria-disabled={sending.busy}
            aria-busy={sending.busy && chosen === option.value}
            onClick={() => {
              if (!sending.busy) {
                answer(option.value);
              }
            }}
          >
            <span class="cw-title">{codeSpans(oneLine(translateKnown(option.label), 300))}</span>
            {option.value === question.default && (
              <span class="cw-dim cw-suggested">{t('suggested')}</span>
            )}
            {option.description && (
              <span class="cw-dim cw-option-more">
                {codeSpans(visible(bounded(translateKnown(option.description), 1000)))}
              </span>
            )}
          </button>
        ))}
      </div>
      {question.allow_custom && (
        <OwnAnswer busy={sending.busy} onSend={answer} hasOptions={question.options.length > 0} />
      )}
      <Failure error={sending.error} />
    </Card>
  );
}

function OwnAnswer({
  busy,
  onSend,
  hasOptions
}: {
  busy: boolean;
  onSend: (value: string) => void;
  hasOptions: boolean;
}): VNode {
  const [text, setText] = useState('');
  return (
    <form
      class="cw-write"
      onSubmit={submitting(() => {
        if (text.trim() && !busy) {
          onSend(text.trim());
        }
      })}
    >
      <input
        type="text"
        class="cw-input"
        value={text}
        aria-label={t('Your own answer')}
        placeholder={hasOptions ? t('Or answer in your own words') : t('Your answer')}
        onInput={event => setText(event.currentTarget.value)}
        onKeyDown={sendOnEnter}
      />
      <Button
        look="primary"
        busy={busy}
        disabled={!text.trim()}
        onClick={() => onSend(text.trim())}
      >
        {t('Answer')}
      </Button>
    </form>
  );
}

function severityLabel(severity: string): string {
  switch (severity) {
    case 'critical':
      return t('critical');
    case 'minor':
      return t('minor');
    default:
      return t('major');
  }
}
