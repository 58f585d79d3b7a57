import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { CopyButton } from './CopyButton';
import { exportLines, modelServers } from './modelServers';
import { t } from './translate';

/** How to connect a model: one server at a time, so that there is little to read. */
export function SetupHelp({ provider }: { provider?: string }): VNode {
  const servers = modelServers();
  const [chosen, setChosen] = useState(() => servers.find(server => server.key === provider)?.key ?? 'openai');
  // Cards and panel come from different bundles, and must not share a radio group all the same.
  const [group] = useState(() => `cw-server-${Math.random()}`);
  const server = servers.find(({ key }) => key === chosen) ?? servers[0]!;
  const lines = exportLines(server);
  return (
    <details class="cw-setup">
      <summary>{t('How to connect a model')}</summary>
      <div class="cw-setup-body">
        <div class="cw-choices" role="radiogroup" aria-label={t('Model server')}>
          {servers.map(({ key, label }) => (
            <label key={key} class="cw-choice">
              {/* Lab's notebook would take the arrow keys for itself. */}
              <input
                type="radio"
                name={group}
                checked={key === chosen}
                onChange={() => setChosen(key)}
                data-lm-suppress-shortcuts="true"
              />
              <span>{label}</span>
            </label>
          ))}
        </div>
        <div class="cw-snippet">
          <pre>{lines}</pre>
          <CopyButton text={lines} label={t('Copy the lines for %1', server.label)} />
        </div>
        <p class="cw-dim">
          {t('Set these in the terminal where you start Jupyter, then start Jupyter again.')}{' '}
          {t('Or put %1, %2 and %3 into your Jupyter config file.', 'c.Cowork.base_url', 'c.Cowork.api_key', 'c.Cowork.model')}
        </p>
      </div>
    </details>
  );
}
