import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import type { Channel } from '../channel/channel';
import { useAnswer } from '../channel/useAnswer';
import type { Page } from '../types';
import { t } from '../text/translate';
import { oneLine } from '../text/visible';

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

/** Model servers running on this machine, one click to use. */
export function ModelOffers({ channel, onChange }: OffersProps): VNode {
  // Without offers the form below works as well.
  const offers = useAnswer<Page<OfferedServer>>(channel, 'models/offers');
  return (
    <>
      {offers?.items.map(server => (
        <Offer key={server.base_url} server={server} channel={channel} onChange={onChange} />
      ))}
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
  return size
    ? t(
        '%1 (%2 tokens)',
        oneLine(name, 80),
        size.toLocaleString(document.documentElement.lang || 'en')
      )
    : oneLine(name, 80);
}

/** Disconnects the model; the built-in guide answers again. */
export function Disconnect({ channel, onChange }: OffersProps): VNode {
  const leaving = useAction();
  const leave = async (): Promise<void> => {
    await channel.request('DELETE', 'models/connection');
    onChange();
  };
  return (
    <div>
      <Button busy={leaving.busy} onClick={() => void leaving.run(leave)}>
        {t('Use the built-in guide')}
      </Button>
      <Failure error={leaving.error} />
    </div>
  );
}
