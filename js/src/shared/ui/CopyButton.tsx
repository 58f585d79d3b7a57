import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Icon } from './icons';
import { t } from '../text/translate';

const SHOW_RESULT_MS = 2000;

/**
 * Falls back to `execCommand`: pages over plain HTTP, such as many JupyterHubs, have no clipboard
 * API.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.style.position = 'fixed';
    area.style.opacity = '0';
    document.body.append(area);
    area.select();
    try {
      return document.execCommand('copy');
    } catch {
      return false;
    } finally {
      area.remove();
    }
  }
}

/** `label` names what is copied, for screen readers. */
export function CopyButton({ text, label }: { text: string; label: string }): VNode {
  const [result, setResult] = useState<boolean | null>(null);
  useEffect(() => setResult(null), [text]);
  useEffect(() => {
    if (result === null) {
      return;
    }
    const timer = setTimeout(() => setResult(null), SHOW_RESULT_MS);
    return () => clearTimeout(timer);
  }, [result]);
  return (
    <button
      type="button"
      class="cw-button"
      aria-label={label}
      onClick={() => void copyText(text).then(setResult)}
    >
      <Icon name={result ? 'check' : 'copy'} />
      <span role="status">
        {result === null ? t('Copy') : result ? t('Copied') : t('Select it and press Ctrl+C')}
      </span>
    </button>
  );
}
