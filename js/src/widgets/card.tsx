/**
 * The anywidget entry. One widget class for every card, since each widget's state holds this whole
 * file.
 */

import type { AnyModel, RenderProps } from '@anywidget/types';
import { render as renderView } from 'preact';

import { CardView } from '../shared/card/CardView';
import type { Channel } from '../shared/channel/channel';
import type { CardData, RunCardData } from '../shared/types';
import { ServerChannel, serverAddressOfPage } from '../shared/channel/serverChannel';
import { ChosenChannel } from './chosenChannel';
import { KernelChannel } from './kernelChannel';

interface CardModel {
  card: CardData;
}

/** Runs inside the kernel are known only to it; all others are better asked about at the server. */
function channelOf(model: AnyModel<CardModel>): { channel: Channel; kernel: KernelChannel } {
  const kernel = new KernelChannel(model);
  if ((model.get('card') as Partial<RunCardData>).host === 'kernel') {
    return { channel: kernel, kernel };
  }
  const address = serverAddressOfPage();
  return { channel: new ChosenChannel(address && new ServerChannel(address), kernel), kernel };
}

function render({ model, el }: RenderProps<CardModel>): () => void {
  const { channel, kernel } = channelOf(model);
  const show = (): void => renderView(<CardView card={model.get('card')} channel={channel} />, el);
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
