import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { toolLabel } from '../ask/labels';
import { plainLine } from '../text/plain';
import { t } from '../text/translate';
import { oneLine } from '../text/visible';
import { presentJob, statusOf, type RunState } from './state';

/** Minimum interval between announcements to screen readers; intermediate ones are dropped. */
const PAUSE_MS = 1500;

/** Live region that announces changes without taking focus. */
export function Announcer({ state }: { state: RunState }): VNode {
  const text = sentence(state);
  const [announcement, setAnnouncement] = useState('');
  const last = useRef({ text, at: 0 });
  useEffect(() => {
    if (text === last.current.text) {
      return;
    }
    const timer = setTimeout(
      () => {
        last.current = { text, at: Date.now() };
        setAnnouncement(text);
      },
      Math.max(0, last.current.at + PAUSE_MS - Date.now())
    );
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="cw-sr" role="status" aria-live="polite">
      {announcement}
    </div>
  );
}

/** The most important current fact. */
export function sentence(state: RunState): string {
  const [permission, question] = [state.permissions[0], state.questions[0]];
  if (permission) {
    return t('Waiting for you: %1. %2', toolLabel(permission.tool), oneLine(permission.resource));
  }
  if (question) {
    return t('Waiting for you: %1', plainLine(question.question));
  }
  const running = state.plan?.steps.find(step => state.tasks[step.id]?.status === 'running');
  const status = statusOf(state);
  if (running && status === 'running') {
    return t('Step %1: %2', String(running.step_number), plainLine(running.action));
  }
  const last = [...state.entries]
    .reverse()
    .find(entry => entry.kind === 'text' && entry.from === 'assistant' && entry.text);
  const words = last?.kind === 'text' ? plainLine(last.text, 300) : '';
  switch (status) {
    case 'completed':
      return `${t('Completed.')} ${words}`.trim();
    case 'failed':
      return t('Failed: %1', plainLine(presentJob(state)?.error ?? ''));
    case 'cancelled':
      return t('Stopped.');
    case 'interrupted':
      return t('Interrupted.');
    default:
      return words;
  }
}
