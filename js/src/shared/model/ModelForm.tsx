import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { useAction } from '../action';
import { Button, Failure } from '../Button';
import { CoworkError, isRecord, type Channel } from '../channel';
import { t } from '../translate';
import { oneLine } from '../visible';

type FieldName = 'base_url' | 'model' | 'api_key';
type Fields = Record<FieldName, string>;

interface ModelFormProps {
  channel: Channel;
  onChange: () => void;
  /** What is connected now, to be corrected. */
  start?: Partial<Fields>;
  /** The models that are known to be at the address to start with. */
  models?: readonly string[];
}

/** The names that the server has for our fields, in what it says is wrong. */
const FIELDS: Record<string, FieldName> = { address: 'base_url', key: 'api_key', model: 'model' };

/**
 * Sent as one request to our own server; the key is kept by the system's keyring, or only until
 * Jupyter stops.
 */
export function ModelForm({ channel, onChange, start, models = [] }: ModelFormProps): VNode {
  const [fields, setFields] = useState<Fields>({ base_url: '', model: '', api_key: '', ...start });
  const form = useRef<HTMLFormElement>(null);
  const connecting = useAction();
  const refused = refusalOf(connecting.error);
  const served = refused.models ?? models;

  const connect = async (what: Fields): Promise<void> => {
    setFields(what);
    const ok = await connecting.run(() =>
      channel.request('PUT', 'models/connection', what).catch((error: unknown) => {
        form.current
          ?.querySelector<HTMLInputElement>(
            `[name=${FIELDS[refusalOf(error).field ?? ''] ?? 'none'}]`
          )
          ?.focus();
        throw error;
      })
    );
    if (ok) {
      onChange();
    }
  };
  const field = (name: FieldName, label: string, hint: string): VNode => (
    <label class="cw-field">
      <span>{label}</span>
      <input
        class="cw-input"
        name={name}
        type={name === 'api_key' ? 'password' : 'text'}
        autocomplete="off"
        spellcheck={false}
        placeholder={hint}
        value={fields[name]}
        aria-invalid={FIELDS[refused.field ?? ''] === name}
        onInput={event => setFields({ ...fields, [name]: event.currentTarget.value.trim() })}
        data-lm-suppress-shortcuts="true"
      />
    </label>
  );
  return (
    <form
      ref={form}
      class="cw-connect"
      onSubmit={event => {
        event.preventDefault();
        void connect(fields);
      }}
    >
      {field('base_url', t('Address'), 'https://api.openai.com/v1')}
      {field('model', t('Model'), t('its name on that server; empty to see what there is'))}
      {served.length > 0 && (
        <div class="cw-bar" role="group" aria-label={t('Models at this address')}>
          {served.map(name => (
            <Button
              key={name}
              disabled={connecting.busy}
              onClick={() => void connect({ ...fields, model: name })}
            >
              {oneLine(name, 80)}
            </Button>
          ))}
        </div>
      )}
      {field('api_key', t('Key'), t('if the server wants one'))}
      <p class="cw-dim">
        {t(
          'The key goes into your system\u2019s keyring where there is one, ' +
            'else it is forgotten when Jupyter stops. ' +
            'It is never written into a notebook or a settings file.'
        )}
      </p>
      <button
        type="submit"
        class="cw-button"
        aria-busy={connecting.busy}
        disabled={!fields.base_url}
      >
        {t('Connect')}
      </button>
      <Failure error={connecting.error} />
    </form>
  );
}

interface Refusal {
  field?: string;
  models?: string[];
}

/** Which part a refusal is about, and what the server has instead. */
function refusalOf(error: unknown): Refusal {
  return error instanceof CoworkError && isRecord(error.details) ? error.details : {};
}
