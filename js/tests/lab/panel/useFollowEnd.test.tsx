import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { useFollowEnd, type FollowEnd } from '../../../src/lab/panel/useFollowEnd';
import { draw, one } from '../../screen';
import { calm } from './drawing';

let followed: FollowEnd;
let grew = (): void => undefined;

class Observer {
  constructor(callback: () => void) {
    grew = callback;
  }
  observe(): void {}
  disconnect(): void {}
}

function Talk(): VNode {
  const scroll = useRef<HTMLDivElement>(null);
  followed = useFollowEnd(scroll);
  return (
    <div id="talk" ref={scroll}>
      <p>words</p>
    </div>
  );
}

async function talking(): Promise<{
  node: HTMLElement;
  grow: (height: number) => void;
  scroll: (top: number) => void;
}> {
  vi.stubGlobal('ResizeObserver', Observer);
  const node = one(draw(<Talk />), '#talk');
  await calm();
  const size = (name: string, value: number): unknown =>
    Object.defineProperty(node, name, { value, configurable: true });
  size('clientHeight', 100);
  return {
    node,
    grow: height => {
      size('scrollHeight', height);
      grew();
    },
    scroll: top => {
      node.scrollTop = top;
      node.dispatchEvent(new Event('scroll'));
    }
  };
}

describe('the end of a conversation', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('stays in view while words come', async () => {
    const { node, grow } = await talking();
    grow(500);
    expect(node.scrollTop).toBe(500);
    grow(900);
    expect(node.scrollTop).toBe(900);
  });

  it('stays in view when more has come before the browser says that it scrolled', async () => {
    const { node, grow } = await talking();
    grow(500);
    Object.defineProperty(node, 'scrollHeight', { value: 900, configurable: true });
    node.dispatchEvent(new Event('scroll'));
    grow(900);
    expect(node.scrollTop).toBe(900);
  });

  it('comes into view when the user says something', async () => {
    const { node, grow, scroll } = await talking();
    grow(500);
    scroll(50);
    followed.toEnd();
    expect(node.scrollTop).toBe(500);
    grow(900);
    expect(node.scrollTop).toBe(900);
  });

  it('keeps its distance while earlier things are added, until the user scrolls', async () => {
    const { node, grow, scroll } = await talking();
    grow(500);
    scroll(50);
    followed.hold();
    grow(900);
    expect(node.scrollTop).toBe(450);
    scroll(300);
    grow(1000);
    expect(node.scrollTop).toBe(300);
  });

  it('is left alone while the user reads further up', async () => {
    const { node, grow, scroll } = await talking();
    grow(500);
    scroll(50);
    grow(900);
    expect(node.scrollTop).toBe(50);
    scroll(790);
    grow(1000);
    expect(node.scrollTop).toBe(1000);
  });
});
