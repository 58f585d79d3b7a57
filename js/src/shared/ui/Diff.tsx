import type { VNode } from 'preact';

import type { FileDiff } from '../types';
import { counted, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';

const MAX_LINES = 400;

function kindOf(line: string): string {
  if (/^(\+\+\+|---|diff |index )/.test(line)) {
    return 'cw-diff-file';
  }
  return line.startsWith('+')
    ? 'cw-diff-add'
    : line.startsWith('-')
      ? 'cw-diff-del'
      : line.startsWith('@@')
        ? 'cw-diff-place'
        : '';
}

/** The signs at line starts carry the meaning; colours are secondary. */
export function Diff({ text, label }: { text: string; label: string }): VNode {
  const lines = visible(bounded(text, 200_000)).replace(/\n$/, '').split('\n');
  const rest = lines.length - MAX_LINES;
  return (
    <pre class="cw-code cw-diff" tabIndex={0} role="group" aria-label={label}>
      {lines.slice(0, MAX_LINES).map((line, at) => (
        <span key={at} class={kindOf(line)}>
          {`${line}\n`}
        </span>
      ))}
      {rest > 0 && (
        <span class="cw-dim">{counted(rest, '… and %1 more line', '… and %1 more lines')}</span>
      )}
    </pre>
  );
}

export function diffCounts(text: string): { added: number; removed: number } {
  const kinds = text.split('\n').map(kindOf);
  return {
    added: kinds.filter(kind => kind === 'cw-diff-add').length,
    removed: kinds.filter(kind => kind === 'cw-diff-del').length
  };
}

export function countsSentence(added: number, removed: number): string {
  return counted(added, '%1 line added, %2 removed', '%1 lines added, %2 removed', String(removed));
}

export function DiffCounts({ text }: { text: string }): VNode {
  const { added, removed } = diffCounts(text);
  return (
    <span class="cw-counts" aria-label={countsSentence(added, removed)} role="img">
      <span class="cw-colour-ok">+{added}</span> <span class="cw-colour-error">−{removed}</span>
    </span>
  );
}

/** Changes by file; notebooks by cell. */
export function FileDiffs({ files }: { files: readonly FileDiff[] }): VNode {
  return (
    <>
      {files.map(file => (
        <div key={file.path} class="cw-file-diff">
          <p>
            <span class="cw-chip">{oneLine(file.path)}</span>{' '}
            <span class="cw-dim">{statusLabel(file.status)}</span>{' '}
            {file.diff && <DiffCounts text={file.diff} />}
          </p>
          {file.cells?.map(cell => (
            <Diff
              key={cell.id}
              text={cell.diff}
              label={t('Cell %1 of %2', String(cell.number ?? cell.id), oneLine(file.path))}
            />
          ))}
          {!file.cells?.length && file.diff && (
            <Diff text={file.diff} label={t('Changes in %1', oneLine(file.path))} />
          )}
          {!file.diff && !file.cells?.length && (
            <p class="cw-dim">
              {file.why ? visible(file.why) : t('None of it can be shown as text.')}
            </p>
          )}
        </div>
      ))}
    </>
  );
}

function statusLabel(status: string): string {
  switch (status) {
    case 'added':
      return t('new');
    case 'removed':
    case 'deleted':
      return t('deleted');
    case 'changed':
    case 'modified':
      return t('changed');
    default:
      return visible(status);
  }
}
