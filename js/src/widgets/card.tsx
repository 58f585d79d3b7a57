/** The anywidget entry: one widget class for every card, as each widget's state holds this whole file. */

import type { AnyModel, RenderProps } from '@anywidget/types';
import { render as renderView, type VNode } from 'preact';

import type { Channel } from '../shared/channel';
import type { CardData, StatusCardData } from '../shared/protocol';
import { ServerChannel, serverAddressOfPage } from '../shared/serverChannel';
import { StatusCard } from '../shared/StatusCard';
import { UnknownCard } from '../shared/UnknownCard';
import { ChosenChannel } from './chosenChannel';
import { KernelChannel } from './kernelChannel';

interface CardModel {
  card: CardData;
}

function viewOf(card: CardData, channel: Channel): VNode {
  switch (card.kind) {
    case 'status':
      return <StatusCard card={card as StatusCardData} channel={channel} />;
    default:
      return <UnknownCard kind={card.kind} />;
  }
}

function channelOf(model: AnyModel<CardModel>): { channel: Channel; kernel: KernelChannel } {
  const address = serverAddressOfPage();
  const kernel = new KernelChannel(model);
  return { channel: new ChosenChannel(address && new ServerChannel(address), kernel), kernel };
}

function render({ model, el }: RenderProps<CardModel>): () => void {
  const { channel, kernel } = channelOf(model);
  const show = (): void => renderView(viewOf(model.get('card'), channel), el);
  el.classList.add('cowork-root');
  model.on('change:card', show);
  show();
  return () => {
    model.off('change:card', show);
    kernel.dispose();
    renderView(null, el);
  };
}

export default { render };
