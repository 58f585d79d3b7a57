import { describe, expect, it } from 'vitest';

import cardWidget from '../../src/widgets/card';
import { NOT_READY, READY, statusCard } from '../samples';
import { FakeModel } from './fakeModel';

function show(model: FakeModel): { el: HTMLElement; close: () => void } {
  const el = document.createElement('div');
  const close = cardWidget.render({ model: model.asAnyModel(), el } as unknown as Parameters<
    typeof cardWidget.render
  >[0]);
  return { el, close };
}

describe('the card widget', () => {
  it('draws a status card inside the root that carries the looks', () => {
    const { el } = show(new FakeModel(statusCard(READY)));
    expect(el.classList.contains('cowork-root')).toBe(true);
    expect(el.textContent).toContain('Clean sales.csv');
  });

  it('draws again when the kernel changes the card', () => {
    const model = new FakeModel(statusCard(NOT_READY, { context_id: 'c1' }));
    const { el } = show(model);
    model.setCard(statusCard(READY, { context_id: 'c1' }));
    expect(el.textContent).toContain('gpt-5-mini is ready.');
  });

  it('says what to do with a card of a newer version', () => {
    const { el } = show(new FakeModel({ kind: 'hologram' }));
    expect(el.textContent).toContain('This card (hologram) needs a newer cowork_jupyter');
  });

  it('leaves nothing behind when its output is cleared', () => {
    const model = new FakeModel(statusCard(READY));
    const { el, close } = show(model);
    close();
    expect(el.childElementCount).toBe(0);
    expect(model.listening('change:card') + model.listening('msg:custom')).toBe(0);
  });
});
