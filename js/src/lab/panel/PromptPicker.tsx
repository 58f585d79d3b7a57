import type { VNode } from 'preact';

import { useAction } from '../../shared/ui/useAction';
import { Failure } from '../../shared/ui/Button';
import type { Page } from '../../shared/types';
import { t } from '../../shared/text/translate';
import { oneLine } from '../../shared/text/visible';
import { useLoaded, usePanel } from './context';
import type { OpenConversation } from './conversations';

interface BasePrompt {
  id: string;
  title: string;
  source: string;
  trusted: boolean;
}

interface PromptPickerProps {
  conversation: OpenConversation;
  onChanged: () => void;
}

/**
 * The base prompt of the conversation. Prompts that came with the folder need to be trusted first.
 * Hidden if there is no choice.
 */
export function PromptPicker({ conversation, onChanged }: PromptPickerProps): VNode | null {
  const { channel } = usePanel();
  const { id, system_prompt_id: chosen } = conversation;
  const choosing = useAction();
  const { value } = useLoaded(
    async () => (await channel.request<Page<BasePrompt>>('GET', 'v1/system-prompts')).items,
    [id]
  );
  if (value === null || (value.length < 2 && value[0]?.id === chosen)) {
    return null;
  }
  const choose = (prompt: string): void => {
    const body = { system_prompt_id: prompt };
    void choosing
      .run(() => channel.request('POST', `context/${id}/system-prompt`, body))
      .then(ok => ok && onChanged());
  };
  return (
    <>
      <p class="cw-dim cw-goes-on">
        <label>
          {t('Base prompt')}{' '}
          <select
            class="cw-select"
            title={t('Applies from the next message on.')}
            aria-busy={choosing.busy}
            value={chosen}
            onChange={event => choose(event.currentTarget.value)}
          >
            {value.map(prompt => (
              <option
                key={prompt.id}
                value={prompt.id}
                disabled={!prompt.trusted && prompt.id !== chosen}
              >
                {t('%1 (%2)', oneLine(prompt.title, 80), from(prompt))}
              </option>
            ))}
            {!value.some(prompt => prompt.id === chosen) && (
              <option value={chosen}>
                {t('%1 (%2)', oneLine(chosen, 80), t('no longer there'))}
              </option>
            )}
          </select>
        </label>
      </p>
      <Failure error={choosing.error} />
    </>
  );
}

function from({ source, trusted }: BasePrompt): string {
  if (!trusted) {
    return t('this folder, not trusted yet');
  }
  switch (source) {
    case 'package':
      return t('built in');
    case 'user':
      return t('yours');
    default:
      return t('this folder');
  }
}
