import type { VNode } from 'preact';

import type { Channel } from '../channel/channel';
import { ModelForm } from './ModelForm';
import { Disconnect, ModelOffers } from './ModelOffers';
import { Note } from '../ui/Note';
import type { Health, ModelHealth } from '../types';
import { t } from '../text/translate';

interface ModelHelpProps {
  health: Health;
  /** False where a result next to the button already says it. */
  sayWhyNot: boolean;
  channel: Channel;
  /** Called when another model answers. */
  onChange: () => void;
}

/** What is wrong and how to fix it, or how to connect a model. */
export function ModelHelp({ health, sayWhyNot, channel, onChange }: ModelHelpProps): VNode {
  const { ready, provider, why_not: whyNot, source } = health.model;
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
            'No language model is connected. The built-in guide follows recipes: totals, charts, ' +
              'cleaning, joins, reviews. It understands English, and asks rather than guesses.'
          )}
        </p>
      )}
      {isGuide && (
        <>
          <ModelOffers channel={channel} onChange={onChange} />
          <details class="cw-setup">
            <summary>{t('Connect a model server')}</summary>
            <ModelForm channel={channel} onChange={onChange} />
          </details>
        </>
      )}
      {source === 'chosen' && (
        <AnotherModel model={health.model} channel={channel} onChange={onChange} />
      )}
    </>
  );
}

/** Edits or replaces the connection; it stays until another model answers. */
function AnotherModel({
  model,
  channel,
  onChange
}: {
  model: ModelHealth;
  channel: Channel;
  onChange: () => void;
}): VNode {
  return (
    <details class="cw-setup" open={!model.ready}>
      <summary>{t('Use another model')}</summary>
      <ModelOffers channel={channel} onChange={onChange} />
      <ModelForm
        key={`${model.base_url} ${model.name}`}
        channel={channel}
        onChange={onChange}
        start={{
          provider: model.provider,
          base_url: model.base_url ?? '',
          model: model.base_url ? (model.name ?? '') : '',
          small_model: model.small_model
        }}
        models={model.models ?? []}
      />
      <Disconnect channel={channel} onChange={onChange} />
    </details>
  );
}
