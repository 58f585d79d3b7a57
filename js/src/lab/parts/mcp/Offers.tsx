import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { TextField } from '../../../shared/ui/TextField';
import { useAction, type Action } from '../../../shared/ui/useAction';
import { Button, Failure } from '../../../shared/ui/Button';
import { CopyButton } from '../../../shared/ui/CopyButton';
import type { Page } from '../../../shared/types';
import { t } from '../../../shared/text/translate';
import { bounded, oneLine, visible } from '../../../shared/text/visible';
import { useLoaded, usePanel } from '../../panel/context';

interface Resource {
  uri: string;
  name: string;
}

interface Argument {
  name: string;
  required: boolean;
}

interface Prompt {
  name: string;
  description: string;
  arguments: Argument[];
}

interface Shown {
  title: string;
  text: string;
}

const MAX_SHOWN = 50;

/** Resources and prompts of an MCP server, for the user to copy. */
export function McpOffers({ address }: { address: string }): VNode {
  const { channel } = usePanel();
  const resources = useLoaded(
    () => channel.request<Page<Resource>>('GET', `${address}/resources`),
    [address]
  );
  const prompts = useLoaded(
    () => channel.request<Page<Prompt>>('GET', `${address}/prompts`),
    [address]
  );
  const [shown, setShown] = useState<Shown | null>(null);
  const asking = useAction();
  const show = (title: string, request: () => Promise<{ text: string }>): void => {
    void asking.run(async () => setShown({ title, text: (await request()).text }));
  };
  const nothing = resources.value?.items.length === 0 && prompts.value?.items.length === 0;
  return (
    <>
      <Failure error={resources.error ?? prompts.error} />
      {nothing && <p class="cw-dim">{t('No resources and no prompts.')}</p>}
      <ul class="cw-trust">
        {resources.value?.items.slice(0, MAX_SHOWN).map(one => (
          <li key={one.uri}>
            <Button
              look="link"
              busy={asking.busy}
              onClick={() =>
                show(one.name, () =>
                  channel.request('POST', `${address}/resources`, { uri: one.uri })
                )
              }
            >
              {oneLine(one.name, 120)}
            </Button>
          </li>
        ))}
        {prompts.value?.items.slice(0, MAX_SHOWN).map(one => (
          <PromptRow
            key={one.name}
            prompt={one}
            asking={asking}
            onWrite={values =>
              show(one.name, () =>
                channel.request('POST', `${address}/prompts/${encodeURIComponent(one.name)}`, {
                  arguments: values
                })
              )
            }
          />
        ))}
      </ul>
      <Failure error={asking.error} />
      {shown && (
        <>
          <pre class="cw-code" tabIndex={0} role="group" aria-label={oneLine(shown.title, 120)}>
            {visible(bounded(shown.text, 20_000))}
          </pre>
          <CopyButton text={shown.text} label={t('Copy %1', oneLine(shown.title, 120))} />
        </>
      )}
    </>
  );
}

function PromptRow({
  prompt,
  asking,
  onWrite
}: {
  prompt: Prompt;
  asking: Action;
  onWrite: (values: Record<string, string>) => void;
}): VNode {
  const [values, setValues] = useState<Record<string, string>>({});
  const complete = prompt.arguments.every(one => !one.required || values[one.name]);
  return (
    <li>
      <Button look="link" busy={asking.busy} disabled={!complete} onClick={() => onWrite(values)}>
        {t('Prompt: %1', oneLine(prompt.name, 120))}
      </Button>
      {prompt.description && <p class="cw-dim">{oneLine(prompt.description, 300)}</p>}
      {prompt.arguments.map(one => (
        <TextField
          key={one.name}
          label={oneLine(one.name, 80)}
          value={values[one.name] ?? ''}
          onText={text => setValues({ ...values, [one.name]: text })}
        />
      ))}
    </li>
  );
}
