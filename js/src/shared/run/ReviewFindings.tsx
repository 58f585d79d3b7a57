import type { VNode } from 'preact';

import { Icon } from '../ui/icons';
import { inline } from '../text/markdown';
import type { Finding, Review } from '../types';
import { counted, t } from '../text/translate';
import { bounded, oneLine, visible } from '../text/visible';

const COLOURS: Record<string, string> = { critical: 'error', major: 'ask', minor: 'grey' };
const MAX = 3000;

export function ReviewFindings({ review }: { review: Review }): VNode {
  const approves = review.verdict === 'approve';
  return (
    <div class="cw-review">
      <p class={`cw-result cw-title cw-colour-${approves ? 'ok' : 'ask'}`}>
        <Icon name={approves ? 'check' : 'alert'} />
        <span>
          {approves ? t('Approves') : t('Asks for changes')}
          {review.findings.length > 0 &&
            ` · ${counted(review.findings.length, '%1 finding', '%1 findings')}`}
        </span>
      </p>
      <p class="cw-text">{inline(visible(bounded(review.summary, MAX)))}</p>
      {review.findings.length > 0 && (
        <ul class="cw-findings">
          {review.findings.map((finding, at) => (
            <FindingView key={at} finding={finding} />
          ))}
        </ul>
      )}
    </div>
  );
}

function FindingView({ finding }: { finding: Finding }): VNode {
  const where = finding.line === null ? finding.file : `${finding.file}:${finding.line}`;
  return (
    <li>
      <span class={`cw-severity cw-colour-${COLOURS[finding.severity] ?? 'grey'}`}>
        {oneLine(finding.severity, 30)}
      </span>
      <div>
        {where && <span class="cw-chip">{oneLine(where)}</span>}{' '}
        {inline(visible(bounded(finding.comment, MAX)))}
        {finding.suggestion && (
          <p class="cw-dim">{inline(visible(bounded(finding.suggestion, MAX)))}</p>
        )}
      </div>
    </li>
  );
}
