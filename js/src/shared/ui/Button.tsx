import type { ComponentChildren, VNode } from 'preact';

import { messageOf } from '../channel/channel';
import { codeSpans } from '../text/codeSpans';
import { Icon } from './icons';

interface ButtonProps {
  onClick: () => void;
  /** `go` sets the agent going; `danger` refuses or destroys. */
  look?: 'plain' | 'primary' | 'go' | 'danger' | 'link';
  icon?: string;
  busy?: boolean;
  disabled?: boolean;
  label?: string;
  title?: string;
  expanded?: boolean;
  children?: ComponentChildren;
}

const CLASSES = {
  plain: 'cw-button',
  primary: 'cw-button cw-primary',
  go: 'cw-button cw-go',
  danger: 'cw-button cw-danger',
  link: 'cw-link'
};

/** Stays focusable while busy or disabled, or keyboard focus would jump to the top of the page. */
export function Button({
  onClick,
  look = 'plain',
  icon,
  busy = false,
  disabled = false,
  label,
  title,
  expanded,
  children
}: ButtonProps): VNode {
  const off = busy || disabled;
  return (
    <button
      type="button"
      class={CLASSES[look]}
      aria-busy={busy}
      aria-disabled={off}
      onClick={() => {
        if (!off) {
          onClick();
        }
      }}
      {...(label ? { 'aria-label': label } : {})}
      {...(title ? { title } : {})}
      {...(expanded === undefined ? {} : { 'aria-expanded': expanded })}
    >
      {busy ? <span class="cw-spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** Error of an action. Rendered even while empty, or screen readers would miss it. */
export function Failure({ error }: { error: unknown }): VNode {
  return (
    <div class="cw-failure" role="alert">
      {error !== null && error !== undefined && (
        <p class="cw-result cw-colour-error">
          <Icon name="alert" />
          <span>{codeSpans(messageOf(error))}</span>
        </p>
      )}
    </div>
  );
}
