import type { VNode } from 'preact';

import { Icon } from '../ui/icons';
import { useRoles } from './roles';
import { t } from '../text/translate';

interface RolePillProps {
  role: string;
  /** Makes the pill a button that opens a role menu. */
  onChoose?: (pill: HTMLElement) => void;
  /** Whether that menu is open, if the card renders it itself. */
  expanded?: boolean;
}

/** The tooltip says what the role may do. */
export function RolePill({ role: name, onChoose, expanded }: RolePillProps): VNode {
  const role = useRoles()(name);
  const classes = `cw-pill cw-colour-${role.colour}`;
  if (!onChoose) {
    return (
      <span class={classes} title={role.description}>
        <Icon name={role.icon} />
        {role.label}
      </span>
    );
  }
  return (
    <button
      type="button"
      class={`${classes} cw-pill-button`}
      title={`${role.description} ${t('Click to choose another role.')}`.trim()}
      aria-haspopup="menu"
      {...(expanded === undefined ? {} : { 'aria-expanded': expanded })}
      aria-label={t('Role: %1. Choose another role', role.label)}
      onClick={event => onChoose(event.currentTarget)}
    >
      <Icon name={role.icon} />
      {role.label}
      <Icon name="caret" />
    </button>
  );
}
