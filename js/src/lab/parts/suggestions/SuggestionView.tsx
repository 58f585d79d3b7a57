/** The bar below a cell's code while there is a suggestion. */

import type { VNode } from 'preact';

import { Button, Failure } from '../../../shared/ui/Button';
import { RichText } from '../../../shared/text/RichText';
import { StreamText } from '../../../shared/text/StreamText';
import { counted, t } from '../../../shared/text/translate';
import { changedLines, diffRows } from '../../notebook/wordDiff';
import type { Suggestion } from './suggestion';

export interface SuggestionActions {
  /** Missing if the cell cannot be run. */
  acceptAndRun?: () => void;
  accept: () => void;
  /** Also closes what needs no decision. */
  close: () => void;
  tryAgain: () => void;
  stop: () => void;
}

interface SuggestionViewProps {
  suggestion: Suggestion;
  isExplanation: boolean;
  /** The user has edited the cell since the request. */
  isOutdated: boolean;
  actions: SuggestionActions;
}

export function SuggestionView(props: SuggestionViewProps): VNode {
  const { suggestion, isExplanation, isOutdated, actions } = props;
  const { phase, text, explanation } = suggestion;
  return (
    <div
      class="cw-suggestion"
      role="group"
      aria-label={isExplanation ? t('Explanation') : t('Suggestion')}
      aria-busy={suggestion.isBusy}
    >
      <div class="cw-sr" role="status" aria-live="polite">
        {announced(props)}
      </div>
      {isExplanation && text !== '' && (
        <div class="cw-suggestion-words">
          {suggestion.isBusy ? <StreamText text={text} /> : <RichText text={text} />}
        </div>
      )}
      {explanation !== '' && (
        <div class="cw-suggestion-words">
          <RichText text={explanation} />
        </div>
      )}
      {phase === 'answered' && text === '' && explanation === '' && (
        <p>{t('There is nothing to change here. Say more precisely what you want.')}</p>
      )}
      {phase === 'proposed' && isOutdated && (
        <p class="cw-suggestion-outdated" role="alert">
          {t(
            'You have edited this cell since. Try again to get a suggestion for its current code.'
          )}
        </p>
      )}
      <Failure error={suggestion.error} />
      <div class="cw-cell-mark-row">
        <Buttons {...props} actions={actions} />
      </div>
    </div>
  );
}

function Buttons({ suggestion, isOutdated, actions }: SuggestionViewProps): VNode {
  const { phase } = suggestion;
  const again = (
    <Button look="link" onClick={actions.tryAgain}>
      {t('Try again')}
    </Button>
  );
  if (suggestion.isBusy) {
    return (
      <>
        <span class="cw-spinner" aria-hidden="true" />
        <span>{phase === 'asking' ? t('Thinking…') : t('Writing…')}</span>
        <Button look="link" title={t('Escape')} onClick={actions.stop}>
          {t('Stop')}
        </Button>
      </>
    );
  }
  if (phase === 'proposed') {
    const { acceptAndRun } = actions;
    return (
      <>
        <span>{linesOf(suggestion)}</span>
        <Button look="link" disabled={isOutdated} onClick={actions.accept}>
          {t('Accept')}
        </Button>
        {acceptAndRun && (
          <Button look="link" disabled={isOutdated} onClick={acceptAndRun}>
            {t('Accept and run')}
          </Button>
        )}
        <Button look="link" title={t('Escape')} onClick={actions.close}>
          {t('Reject')}
        </Button>
        {again}
      </>
    );
  }
  return (
    <>
      {phase === 'stopped' && <span>{t('Stopped.')}</span>}
      {phase !== 'answered' && again}
      <Button look="link" title={t('Escape')} onClick={actions.close}>
        {t('Close')}
      </Button>
    </>
  );
}

function linesOf({ base, text }: Suggestion): string {
  const lines = changedLines(diffRows(base, text));
  return `${t('Suggested by Cowork')} · ${counted(lines, '%1 line', '%1 lines')}`;
}

/** Screen readers hear the result, not each word. */
function announced({ suggestion, isExplanation }: SuggestionViewProps): string {
  switch (suggestion.phase) {
    case 'asking':
    case 'streaming':
      return t('Cowork is writing. Escape stops it.');
    case 'proposed':
      return t('A suggestion is ready. %1', suggestion.explanation);
    case 'answered':
      return isExplanation ? t('The explanation is ready.') : suggestion.explanation;
    case 'stopped':
      return t('Stopped.');
    default:
      return ''; // the failure announces itself
  }
}
