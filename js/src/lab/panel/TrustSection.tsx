import type { VNode } from 'preact';

import { useAction } from '../../shared/action';
import { Button, Failure } from '../../shared/Button';
import { Fold } from '../../shared/Fold';
import { Note } from '../../shared/Note';
import { t } from '../../shared/translate';
import { oneLine } from '../../shared/visible';
import { useLoaded, usePanel } from './context';
import { Section } from './Section';

interface TrustItem {
  kind: string;
  name: string;
  detail: string;
  trusted?: boolean;
}

interface Trust {
  trusted: boolean;
  items: TrustItem[];
  /** Stands for what was shown: should it change meanwhile, the server refuses. */
  fingerprint: string;
}

/**
 * What came with the folder does nothing until the user has looked at it. A folder that brings
 * nothing is not mentioned.
 */
export function TrustSection(): VNode | null {
  const { channel } = usePanel();
  const { value, reload } = useLoaded(() => channel.request<Trust>('GET', 'trust'), []);
  const deciding = useAction();
  if (value === null || value.items.length === 0) {
    return null;
  }
  const decide = (trusted: boolean): void => {
    // Refused, it shows what there is now: that is what there is to decide about.
    void deciding
      .run(() => channel.request('POST', 'trust', { fingerprint: value.fingerprint, trusted }))
      .then(reload);
  };
  return (
    <Section title={t('This workspace')} open={!value.trusted}>
      {() => (
        <div class="cw-section">
          {value.trusted ? (
            <p class="cw-text">{t('You trust what came with this folder.')}</p>
          ) : (
            <Note>
              {t(
                'This folder brings its own settings. They do nothing until you trust them; ' +
                  'do so only if you know who made it.'
              )}
            </Note>
          )}
          <Fold summary={t('What it brings: %1', String(value.items.length))} open={!value.trusted}>
            {() => (
              <ul class="cw-trust">
                {value.items.map(item => (
                  <li key={`${item.kind} ${item.name}`}>
                    <span class="cw-dim">{kindWord(item.kind)}</span>{' '}
                    <span class="cw-chip">{oneLine(item.name, 200)}</span>
                    {!item.name.includes(item.detail) && (
                      <p class="cw-dim">{oneLine(item.detail, 10_000)}</p>
                    )}
                  </li>
                ))}
              </ul>
            )}
          </Fold>
          <Failure error={deciding.error} />
          <Button
            look={value.trusted ? 'plain' : 'primary'}
            busy={deciding.busy}
            onClick={() => decide(!value.trusted)}
          >
            {value.trusted ? t('Stop trusting it') : t('Trust what is shown here')}
          </Button>
        </div>
      )}
    </Section>
  );
}

function kindWord(kind: string): string {
  switch (kind) {
    case 'rule':
      return t('Rule');
    case 'mcp_server':
      return t('MCP server');
    case 'workflow':
      return t('Workflow');
    case 'prompt':
      return t('Prompt');
    case 'memory':
      return t('Memory');
    default:
      return oneLine(kind, 40);
  }
}
