import type { VNode } from 'preact';

import type { Channel } from './channel';
import type { CardData, RunCardData, StatusCardData } from './protocol';
import { RunCard } from './run/RunCard';
import type { RunStore } from './run/store';
import { StatusCard } from './StatusCard';
import { UnknownCard } from './UnknownCard';

/** Draws whatever a card is, for the widget and for Lab alike. */
export function CardView({ card, channel, onChange }: { card: CardData; channel: Channel; onChange?: (store: RunStore) => void }): VNode {
  switch (card.kind) {
    case 'status':
      return <StatusCard card={card as StatusCardData} channel={channel} />;
    case 'run':
      return <RunCard card={card as RunCardData} channel={channel} {...(onChange ? { onChange } : {})} />;
    default:
      return <UnknownCard kind={card.kind} />;
  }
}
