import type { VNode } from 'preact';
import { useErrorBoundary } from 'preact/hooks';

import type { Channel } from '../channel/channel';
import type { CardData, RunCardData, StatusCardData } from '../types';
import { RunCard } from '../run/RunCard';
import type { RunStore } from '../run/store';
import { StatusCard } from './StatusCard';
import { t } from '../text/translate';

interface CardViewProps {
  card: CardData;
  channel: Channel;
  onChange?: (store: RunStore) => void;
}

/**
 * Renders any card, in the widget and in Lab. The error boundary keeps a broken card from taking
 * the page down.
 */
export function CardView(props: CardViewProps): VNode {
  const [error] = useErrorBoundary();
  return error ? (
    <p class="cw-text">{t('This card cannot be drawn. Its text is in the saved notebook.')}</p>
  ) : (
    <KnownCard {...props} />
  );
}

function KnownCard({ card, channel, onChange }: CardViewProps): VNode {
  switch (card.kind) {
    case 'status':
      return <StatusCard card={card as StatusCardData} channel={channel} />;
    case 'run':
      return (
        <RunCard card={card as RunCardData} channel={channel} {...(onChange ? { onChange } : {})} />
      );
    default:
      return <UnknownCard kind={card.kind} />;
  }
}

/** For notebooks made with a newer version. */
function UnknownCard({ kind }: { kind: string }): VNode {
  return (
    <p class="cw-text">
      {t(
        'This card (%1) needs a newer cowork_jupyter. Run "pip install -U cowork_jupyter", ' +
          'then reload this page.',
        kind
      )}
    </p>
  );
}
