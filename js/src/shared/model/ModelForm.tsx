import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { submitting } from '../ui/forms';
import { useAction } from '../ui/useAction';
import { Failure } from '../ui/Button';
import { CoworkError, isRecord, type Channel } from '../channel/channel';
import { useAnswer } from '../channel/useAnswer';
import { money } from '../text/format';
import type { ProviderList } from '../types';
import { t } from '../text/translate';
import { ModelChoice } from './ModelChoice';

type FieldName = 'base_url' | 'model' | 'small_model' | 'api_key';
type Fields = Record<FieldName | 'provider', string>;

const EMPTY: Fields = { provider: '', base_url: '', model: '', small_model: '', api_key: '' };

const NONE: Pick<ProviderList, 'items' | 'currency'> = { items: [], currency: 'USD' };

interface ModelFormProps {
  channel: Channel;
  onChange: () => void;
  /** The current connection, to edit. */
  start?: Partial<Fields>;
  /** Known models at the initial address. */
  models?: readonly string[];
}

/** Server field names, as used in its error messages. */
const FIELDS: Record<string, FieldName> = {
  address: 'base_url',
  key: 'api_key',
  model: 'model',
  small_model: 'small_model'
};

/**
 * The key goes to the server in one request; it is kept in the system's keyring, or until Jupyter
 * stops.
 */
export function ModelForm({ channel, onChange, start, models = [] }: ModelFormProps): VNode {
  const [fields, setFields] = useState<Fields>({ ...EMPTY, ...start });
  const [tried, setTried] = useState(start?.base_url ?? '');
  // Without them addresses can still be typed.
  const { items, currency } = useAnswer<ProviderList>(channel, 'providers') ?? NONE;
  const form = useRef<HTMLFormElement>(null);
  const connecting = useAction();
  const refused = refusalOf(connecting.error);
  const chosen = items.find(({ id }) => id === fields.provider);
  const served = tried === fields.base_url ? (refused.models ?? models) : [];
  const suggested = served.length ? [] : (chosen?.models ?? []);
  const price = chosen?.models.find(({ name }) => name === fields.model)?.price;

  const connect = async (what: Fields): Promise<void> => {
    setFields(what);
    setTried(what.base_url);
    const { base_url, model, api_key, small_model } = what;
    const body = {
      ...{ base_url, model, api_key },
      ...(small_model && { small_model }),
      ...(chosen && { provider: chosen.id })
    };
    const ok = await connecting.run(() =>
      channel.request('PUT', 'models/connection', body).catch((error: unknown) => {
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
    <form ref={form} class="cw-connect" onSubmit={submitting(() => void connect(fields))}>
      {items.length > 0 && (
        <label class="cw-field">
          <span>{t('Provider')}</span>
          <select
            class="cw-select"
            name="provider"
            value={chosen?.id ?? ''}
            // A typed key belongs to the address it was typed for.
            onChange={event => {
              const id = event.currentTarget.value;
              const address = items.find(one => one.id === id)?.base_url ?? '';
              setFields({ ...EMPTY, provider: id, base_url: address });
            }}
          >
            <option value="">{t('another server')}</option>
            {items.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
      {field('base_url', t('Address'), 'https://api.openai.com/v1')}
      {field('model', t('Model'), t('its name on that server; leave empty to list them'))}
      {price && (
        <p class="cw-dim">
          {t(
            'Per million tokens: %1 in, %2 out',
            money(price.input ?? 0, currency),
            money(price.output ?? 0, currency)
          )}
          {price.as_of && ` (${price.as_of})`}
        </p>
      )}
      {served.length > 0 && (
        <ModelChoice
          names={served}
          busy={connecting.busy}
          onPick={name => void connect({ ...fields, [refusedField(refused)]: name })}
        />
      )}
      {suggested.length > 0 && (
        <ModelChoice
          names={suggested.map(({ name }) => name)}
          busy={connecting.busy}
          onPick={name => setFields({ ...fields, model: name })}
        />
      )}
      {field('small_model', t('Small model'), t('a cheaper one, for summaries and completions'))}
      {field('api_key', t('Key'), t('if the server needs one'))}
      {chosen?.key_is_set && (
        <p>{t('%1 is set. Leave the key empty to use it.', chosen.key_variable)}</p>
      )}
      <p class="cw-dim">
        {t(
          'The key stays in your system\u2019s keyring, or else in memory; never in a notebook ' +
            'or settings file.'
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

/** The field that a model offered instead belongs to. */
function refusedField({ field }: Refusal): FieldName {
  return field === 'small_model' ? 'small_model' : 'model';
}

interface Refusal {
  field?: string;
  models?: string[];
}

/** The field that was refused, and what the server offers instead. */
function refusalOf(error: unknown): Refusal {
  return error instanceof CoworkError && isRecord(error.details) ? error.details : {};
}
