import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { useAction } from '../ui/useAction';
import { Button, Failure } from '../ui/Button';
import { hasCode, type Channel } from '../channel/channel';
import { Icon } from '../ui/icons';
import { RolePill } from './RolePill';
import { fetchRoles, knownRoles, useRoles } from './roles';
import { t } from '../text/translate';

interface RoleSwitcherProps {
  role: string;
  channel: Channel;
  /** `confirm`: a running job may be stopped. */
  onSwitch: (role: string, confirm: boolean) => Promise<void>;
}

/** The pill with its menu. Switching stops a running job, so it asks first. */
export function RoleSwitcher({ role, channel, onSwitch }: RoleSwitcherProps): VNode {
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState('');
  const switching = useAction();
  const asking = useAction();
  const root = useRef<HTMLSpanElement>(null);
  const lookOf = useRoles();

  const close = (): void => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  const toggle = (): void => {
    setOpen(!open);
    // Declared and trusted roles may have changed.
    if (!open) {
      void asking.run(() => fetchRoles(channel));
    }
  };
  const choose = (name: string, confirm = false): void => {
    close();
    setWanted(name);
    void switching.run(() => onSwitch(name, confirm));
  };
  const isAsking = hasCode(switching.error, 'confirmation_required');
  return (
    <span class="cw-switcher" ref={root}>
      <RolePill role={role} onChoose={toggle} expanded={open} />
      {open && knownRoles().length > 0 && <Menu role={role} onChoose={choose} onClose={close} />}
      {isAsking && (
        <span class="cw-confirm" role="alertdialog" aria-label={t('Switch role')}>
          <span>{t('A job is running; switching to %1 stops it.', lookOf(wanted).label)}</span>
          <Button look="danger" onClick={() => choose(wanted, true)}>
            {t('Switch and stop')}
          </Button>
          <Button onClick={switching.forget}>{t('Keep running')}</Button>
        </span>
      )}
      <Failure error={(isAsking ? null : switching.error) ?? asking.error} />
    </span>
  );
}

function Menu({
  role,
  onChoose,
  onClose
}: {
  role: string;
  onChoose: (name: string) => void;
  onClose: () => void;
}): VNode {
  const menu = useRef<HTMLDivElement>(null);
  const items = (): HTMLElement[] => [
    ...(menu.current?.querySelectorAll<HTMLElement>('[role=menuitemradio]') ?? [])
  ];
  const lookOf = useRoles();
  const roles = knownRoles();
  useEffect(() => {
    const all = items();
    if (!all.includes(document.activeElement as HTMLElement)) {
      (all.find(item => item.getAttribute('aria-checked') === 'true') ?? all[0])?.focus();
    }
  }, [roles]);
  useEffect(() => {
    const away = (event: globalThis.Event): void => {
      if (!menu.current?.parentElement?.contains(event.target as HTMLElement)) {
        onClose();
      }
    };
    document.addEventListener('pointerdown', away);
    return () => document.removeEventListener('pointerdown', away);
  }, [onClose]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const places: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: all.length - 1
    };
    const to = places[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all[(to + all.length) % all.length]?.focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.stopPropagation();
      onClose();
    }
  };
  return (
    <div class="cw-menu" role="menu" aria-label={t('Roles')} ref={menu} onKeyDown={onKeyDown}>
      {roles.map(({ name }) => {
        const look = lookOf(name);
        return (
          <button
            key={name}
            type="button"
            role="menuitemradio"
            aria-checked={name === role}
            tabIndex={-1}
            class="cw-menu-item"
            onClick={() => onChoose(name)}
          >
            <span class={`cw-ink cw-colour-${look.colour}`}>
              <Icon name={look.icon} />
            </span>
            <span>
              {look.label}
              <span class="cw-dim">{look.description}</span>
            </span>
          </button>
        );
      })}
    </div>
  );
}
