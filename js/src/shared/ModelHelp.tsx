import type { VNode } from 'preact';

import type { Channel } from './channel';
import { LetGo, ModelOffers } from './ModelOffers';
import { Note } from './Note';
import type { Health } from './types';
import { SetupHelp } from './SetupHelp';
import { t } from './translate';

interface ModelHelpProps {
  health: Health;
  /** False when an answer beside the button says it already: once is enough. */
  sayWhyNot: boolean;
  channel: Channel;
  /** Another model answers now. */
  onChange: () => void;
}

/** What is wrong and how to put it right, and how to get a model where none answers. */
export function ModelHelp({ health, sayWhyNot, channel, onChange }: ModelHelpProps): VNode {
  const { ready, provider, chosen, why_not: whyNot } = health.model;
  const isGuide = provider === 'built-in';
  return (
    <>
      {!ready && sayWhyNot && whyNot && <Note>{whyNot}</Note>}
      {health.problems.map(problem => (
        <Note key={problem.code}>{problem.message}</Note>
      ))}
      {isGuide && (
        <p class="cw-dim">
          {t(
            'No language model is connected. The built-in guide works by rules: it profiles, cleans, plots, joins and models tables, and explains and sorts notebooks.'
          )}
        </p>
      )}
      {isGuide && <ModelOffers channel={channel} onChange={onChange} />}
      {chosen && <LetGo channel={channel} onChange={onChange} />}
      {(isGuide || !ready) && <SetupHelp provider={provider} />}
    </>
  );
}
