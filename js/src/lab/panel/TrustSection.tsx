import type { VNode } from 'preact';

import { useAction } from '../../shared/ui/useAction';
import { Button, Failure } from '../../shared/ui/Button';
import { Fold } from '../../shared/ui/Fold';
import { Note } from '../../shared/ui/Note';
import { fetchRoles } from '../../shared/role/roles';
import { t } from '../../shared/text/translate';
import { oneLine, visible } from '../../shared/text/visible';
import { useFollowed, usePanel } from './context';
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
  /** Identifies what was shown: the server refuses if it has changed since. */
  fingerprint: string;
}

/** A run may have skipped what changed since it was trusted. */
const RELOAD_EVENTS = ['job-started', 'job-completed'];

/** Content of the folder that has no effect until the user trusts it. Hidden if there is none. */
export function TrustSection(): VNode | null {
  const { channel } = usePanel();
  const { value, reload } = useFollowed<Trust>('trust', RELOAD_EVENTS);
  const deciding = useAction();
  if (value === null || value.items.length === 0) {
    return null;
  }
  // Partly trusted: show which items are not.
  const isKnown = value.items.some(({ trusted }) => trusted === true);
  const decide = (trusted: boolean): void => {
    // On refusal, reload: the current content is what has to be decided.
    void deciding
      .run(() => channel.request('POST', 'trust', { fingerprint: value.fingerprint, trusted }))
      .then(reload)
      .then(() => fetchRoles(channel))
      .catch(() => undefined);
  };
  return (
    // A new key reopens the section when there is something else to decide.
    <Section key={value.fingerprint} title={t('This workspace')} open={!value.trusted}>
      {() => (
        <div class="cw-section">
          {value.trusted ? (
            <p class="cw-text">{t('You trust what came with this folder.')}</p>
          ) : (
            <Note>
              {t(
                'This folder has its own settings. They have no effect until you trust them. ' +
                  'Do so only if you know who made the folder.'
              )}
            </Note>
          )}
          <Fold
            summary={t('What it contains: %1', String(value.items.length))}
            open={!value.trusted}
          >
            {() => (
              <ul class="cw-trust">
                {value.items.map(item => (
                  <li key={`${item.kind} ${item.name}`}>
                    <span class="cw-dim">{kindLabel(item.kind)}</span>{' '}
                    <span class="cw-chip">{oneLine(item.name, 200)}</span>
                    {isKnown && item.trusted === false && (
                      <>
                        {' '}
                        <span class="cw-colour-ask">{t('new or changed')}</span>
                      </>
                    )}
                    <Detail item={item} />
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

/** Shown in full: nobody should trust what they could not read. */
function Detail({ item: { name, detail } }: { item: TrustItem }): VNode | null {
  if (name.includes(detail)) {
    return null;
  }
  return detail.includes('\n') ? (
    <pre class="cw-code" tabIndex={0} role="group" aria-label={oneLine(name, 120)}>
      {visible(detail)}
    </pre>
  ) : (
    <p class="cw-dim">{oneLine(detail, 100_000)}</p>
  );
}

function kindLabel(kind: string): string {
  switch (kind) {
    case 'rule':
      return t('Rule');
    case 'mcp_server':
      return t('MCP server');
    case 'workflow':
      return t('Workflow');
    case 'prompt':
      return t('Prompt');
    case 'instructions':
      return t('Instructions');
    case 'skill':
      return t('Skill');
    case 'memory':
      return t('Memory');
    case 'role':
      return t('Role');
    default:
      return oneLine(kind, 40);
  }
}
