import type { VNode } from 'preact';
import { act } from 'preact/test-utils';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { HostProvider } from '../../../src/shared/card/host';
import { useAction } from '../../../src/shared/ui/useAction';
import { Composer } from '../../../src/lab/panel/Composer';
import { PanelProvider } from '../../../src/lab/panel/context';
import { usePictures } from '../../../src/lab/panel/images';
import { FakeServer, settled } from '../../runs';
import { READY } from '../../samples';
import { appears, click, draw, one } from '../../screen';
import { handsOn } from './drawing';

type Allowed = Partial<Record<'mentions' | 'comments' | 'pictures', boolean>>;

function OutputSpeed({ running }: { running: boolean }): VNode {
  return (
    <Composer
      text="What is this?"
      placeholder=""
      focusRequests={0}
      sending={useAction()}
      place={{ context: 'c1' }}
      pictures={usePictures()}
      onStop={running ? () => undefined : null}
      onInput={() => undefined}
      onSend={() => undefined}
    >
      {null}
    </Composer>
  );
}

function show(allowed: Allowed = {}, running = false): HTMLElement {
  const parts = handsOn(new FakeServer(), { answerer: () => READY.model });
  return draw(
    <HostProvider value={{ allows: what => allowed[what] ?? true }}>
      <PanelProvider value={parts}>
        <OutputSpeed running={running} />
      </PanelProvider>
    </HostProvider>
  );
}

async function paste(screen: HTMLElement, ...files: File[]): Promise<Event> {
  const event = new Event('paste', { bubbles: true, cancelable: true });
  Object.assign(event, { clipboardData: { files } });
  await act(async () => {
    one(screen, 'textarea').dispatchEvent(event);
    await settled();
  });
  return event;
}

const image = (type = 'image/png', size = 3): File =>
  new File([new Uint8Array(size)], 'a', { type });
const images = (screen: HTMLElement): number => screen.querySelectorAll('img').length;

describe('images in a message', () => {
  beforeEach(() => {
    const small = { width: 10, height: 10, close: () => undefined };
    vi.stubGlobal('createImageBitmap', async () => small);
  });

  it('stand below the words, and can be removed', async () => {
    const screen = show();
    expect((await paste(screen, image())).defaultPrevented).toBe(true);
    await appears(screen, 'img');
    expect(one(screen, 'img').getAttribute('src')).toBe('data:image/png;base64,AAAA');
    expect(screen.textContent).toContain('cannot see images');
    await click(one(screen, '[aria-label="Remove image 1"]'));
    expect(images(screen)).toBe(0);
    expect(screen.textContent).not.toContain('cannot see images');
  });

  it('are refused where they are too many, too large, or of another kind', async () => {
    const screen = show();
    await paste(screen, ...Array.from({ length: 5 }, () => image()));
    expect(screen.textContent).toContain('at most 4 images');
    await paste(screen, image('image/png', 5_000_001));
    expect(screen.textContent).toContain('larger than 5 MB');
    await paste(screen, image('image/tiff'));
    expect(screen.textContent).toContain('Only PNG, JPEG, WebP and GIF');
    expect(images(screen)).toBe(0);
  });

  it('wait until the run has ended', async () => {
    const screen = show({}, true);
    await paste(screen, image());
    await appears(screen, 'img');
    expect(screen.textContent).toContain('You can send images when the run has ended.');
    expect(screen.textContent).not.toContain('Queue');
  });

  it('are left to the browser where the user does not want them', async () => {
    const screen = show({ pictures: false });
    expect((await paste(screen, image())).defaultPrevented).toBe(false);
    expect(images(screen)).toBe(0);
  });
});

describe('the field', () => {
  it('completes, unless the user does not want that', async () => {
    const screen = show();
    await vi.waitFor(() =>
      expect(one(screen, 'textarea').getAttribute('aria-autocomplete')).toBe('list')
    );
    const plain = show({ mentions: false });
    await act(settled);
    expect(one(plain, 'textarea').hasAttribute('aria-autocomplete')).toBe(false);
  });
});
