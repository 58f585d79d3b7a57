import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Button } from '../../shared/ui/Button';
import { t } from '../../shared/text/translate';

interface Step {
  title: string;
  text: string;
  /** Selectors; the first visible element is highlighted. */
  anchors: readonly string[];
}

function steps(): readonly [Step, ...Step[]] {
  return [
    {
      title: t('Roles'),
      text: t(
        'The role says what the agent may do. The planner only reads; the actor changes things, ' +
          'and asks before anything risky.'
      ),
      anchors: ['.cw-head .cw-pill']
    },
    {
      title: t('Plan a change'),
      text: t('Say what you want here. The planner replies with steps and changes nothing.'),
      anchors: ['.cw-composer']
    },
    {
      title: t('Approve'),
      text: t(
        'The plan is in its conversation, and in your notebook. Read it, edit it, then execute ' +
          'it. Anything beyond it asks you first.'
      ),
      anchors: ['.cw-inbox .cw-part', '[data-part=conversations]']
    },
    {
      title: t('Roll back'),
      text: t(
        'Each change has a checkpoint in its conversation. Roll back one change, or all since.'
      ),
      anchors: ['[data-part=checkpoints]', '[data-part=conversations]']
    }
  ];
}

/** An attribute, since rendering resets the element's classes. */
const MARK = 'data-toured';
const GAP = 8;

interface TourProps {
  /** If the user asked for the tour, it takes the focus. */
  isWanted: boolean;
  onEnd: () => void;
}

/** Four short steps next to what they explain. Not modal. */
export function Tour({ isWanted, onEnd }: TourProps): VNode {
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDivElement>(null);
  const all = steps();
  const step = all[at] ?? all[0];
  const top = usePlace(dialog, step.anchors);
  useEffect(() => {
    if (isWanted) {
      dialog.current?.focus();
    }
  }, [isWanted]);
  const isLast = at === all.length - 1;
  return (
    <div
      class="cw-tour"
      role="dialog"
      aria-label={t('Cowork tour: %1', step.title)}
      tabIndex={-1}
      style={{ top: `${top}px` }}
      ref={dialog}
    >
      <div class="cw-bar">
        <span class="cw-title cw-grow">{step.title}</span>
        <span class="cw-dim">{t('Step %1 of %2', String(at + 1), String(all.length))}</span>
      </div>
      <p class="cw-text" role="status">
        {step.text}
      </p>
      <div class="cw-bar">
        <Button look="link" title={t('Escape skips it, too.')} onClick={onEnd}>
          {t('Skip')}
        </Button>
        <span class="cw-grow" />
        <Button disabled={at === 0} onClick={() => setAt(at - 1)}>
          {t('Back')}
        </Button>
        <Button look="primary" onClick={() => (isLast ? onEnd() : setAt(at + 1))}>
          {isLast ? t('Done') : t('Next')}
        </Button>
      </div>
    </div>
  );
}

/** Highlights the anchor, and positions the dialog next to it. */
function usePlace(dialog: { current: HTMLElement | null }, anchors: readonly string[]): number {
  const [top, setTop] = useState(0);
  const key = anchors.join();
  useLayoutEffect(() => {
    const panel = dialog.current?.parentElement;
    if (!panel) {
      return;
    }
    let anchor: HTMLElement | undefined;
    const place = (): void => {
      if (anchor) {
        setTop(placeOf(panel, anchor, dialog.current?.offsetHeight ?? 0));
      }
    };
    const resized = new ResizeObserver(place);
    const mark = (): void => {
      const found = firstOf(panel, key.split(','));
      if (found === anchor) {
        return;
      }
      anchor?.removeAttribute(MARK);
      anchor = found;
      anchor?.setAttribute(MARK, '');
      anchor?.scrollIntoView({ block: 'nearest' });
      resized.disconnect();
      [panel, ...(anchor ? [anchor] : [])].forEach(node => resized.observe(node));
      place();
    };
    mark();
    const redrawn = new MutationObserver(mark);
    redrawn.observe(panel, { childList: true, subtree: true });
    panel.addEventListener('scroll', place, true);
    return () => {
      anchor?.removeAttribute(MARK);
      redrawn.disconnect();
      resized.disconnect();
      panel.removeEventListener('scroll', place, true);
    };
  }, [dialog, key]);
  return top;
}

function firstOf(panel: HTMLElement, selectors: string[]): HTMLElement | undefined {
  for (const selector of selectors) {
    const found = panel.querySelector<HTMLElement>(selector);
    if (found) {
      return found;
    }
  }
  return undefined;
}

/** Below the anchor if there is room, else above; always inside the panel. */
function placeOf(panel: HTMLElement, anchor: HTMLElement, height: number): number {
  const [outer, inner] = [panel.getBoundingClientRect(), anchor.getBoundingClientRect()];
  const below = inner.bottom - outer.top + GAP;
  const above = inner.top - outer.top - height - GAP;
  const wanted = below + height <= outer.height ? below : above;
  return Math.max(GAP, Math.min(wanted, outer.height - height - GAP));
}
