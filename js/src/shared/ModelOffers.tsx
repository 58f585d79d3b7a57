import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { useAction } from './action';
import { Button, Failure } from './Button';
import type { Channel } from './channel';
import type { Page } from './types';
import { t } from './translate';
import { oneLine } from './visible';

interface OfferedModel {
  name: string;
  context_size: number | null;
}

interface OfferedServer {
  label: string;
  base_url: string;
  models: OfferedModel[];
}

interface OffersProps {
  channel: Channel;
  onChange: () => void;
}

/** Model servers that run on this machine, to be used with one click; and a form for any other. */
export function ModelOffers({ channel, onChange }: OffersProps): VNode {
  const [servers, setServers] = useState<OfferedServer[]>([]);
  useEffect(() => {
    let gone = false;
    // What cannot be found out is not offered; the form below is there all the same.
    void channel.request<Page<OfferedServer>>('GET', 'models/offers').then(
      ({ items }) => !gone && setServers(items),
      () => undefined
    );
    return () => {
      gone = true;
    };
  }, [channel]);
  return (
    <>
      {servers.map(server => (
        <Offer key={server.base_url} server={server} channel={channel} onChange={onChange} />
      ))}
      <OtherServer channel={channel} onChange={onChange} />
    </>
  );
}

function Offer({ server, channel, onChange }: OffersProps & { server: OfferedServer }): VNode {
  const [model, setModel] = useState(server.models[0]?.name ?? '');
  const using = useAction();
  const use = async (): Promise<void> => {
    await channel.request('PUT', 'models/connection', { base_url: server.base_url, model });
    onChange();
  };
  return (
    <div class="cw-offer">
      <span>{t('%1 runs on this machine:', server.label)}</span>
      <select
        class="cw-select"
        aria-label={t('Model of %1', server.label)}
        value={model}
        onChange={event => setModel(event.currentTarget.value)}
      >
        {server.models.map(one => (
          <option key={one.name} value={one.name}>
            {nameOf(one)}
          </option>
        ))}
      </select>
      <Button look="primary" busy={using.busy} onClick={() => void using.run(use)}>
        {t('Use it')}
      </Button>
      <Failure error={using.error} />
    </div>
  );
}

function nameOf({ name, context_size: size }: OfferedModel): string {
  return size ? t('%1 (%2 tokens)', oneLine(name, 80), size.toLocaleString('en')) : oneLine(name, 80);
}

/** Sent as one request to our own server; the key is kept by the system's keyring, or only until Jupyter stops. */
function OtherServer({ channel, onChange }: OffersProps): VNode {
  const [fields, setFields] = useState({ base_url: '', model: '', api_key: '' });
  const connecting = useAction();
  const connect = async (): Promise<void> => {
    await channel.request('PUT', 'models/connection', fields);
    onChange();
  };
  const field = (name: keyof typeof fields, label: string, hint: string): VNode => (
    <label class="cw-field">
      <span>{label}</span>
      <input
        class="cw-input"
        type={name === 'api_key' ? 'password' : 'text'}
        autocomplete="off"
        spellcheck={false}
        placeholder={hint}
        value={fields[name]}
        onInput={event => setFields({ ...fields, [name]: event.currentTarget.value.trim() })}
        data-lm-suppress-shortcuts="true"
      />
    </label>
  );
  return (
    <details class="cw-setup">
      <summary>{t('Connect a model server')}</summary>
      <form
        class="cw-setup-body cw-connect"
        onSubmit={event => {
          event.preventDefault();
          void connecting.run(connect);
        }}
      >
        {field('base_url', t('Address'), 'https://api.openai.com/v1')}
        {field('model', t('Model'), t('its name on that server'))}
        {field('api_key', t('Key'), t('if the server wants one'))}
        <p class="cw-dim">
          {t('The key goes into your system\u2019s keyring where there is one, else it is forgotten when Jupyter stops. It is never written into a notebook or a settings file.')}
        </p>
        <button type="submit" class="cw-button" aria-busy={connecting.busy}>
          {t('Connect')}
        </button>
        <Failure error={connecting.error} />
      </form>
    </details>
  );
}

/** Back to the guide. */
export function LetGo({ channel, onChange }: OffersProps): VNode {
  const leaving = useAction();
  const leave = async (): Promise<void> => {
    await channel.request('DELETE', 'models/connection');
    onChange();
  };
  return (
    <div>
      <Button busy={leaving.busy} onClick={() => void leaving.run(leave)}>
        {t('Use another model')}
      </Button>
      <Failure error={leaving.error} />
    </div>
  );
}
