import { describe, expect, it, vi } from 'vitest';

import { PanelView, type PanelViewProps } from '../../src/lab/PanelView';
import { CoworkError } from '../../src/shared/channel';
import { roleLook } from '../../src/shared/roles';
import { NOT_READY, READY } from '../samples';
import { button, click, draw, one } from '../screen';

function show(changes: Partial<PanelViewProps> = {}): { screen: HTMLElement; props: PanelViewProps } {
  const props: PanelViewProps = {
    role: roleLook('planner'),
    health: READY,
    check: { state: 'idle' },
    canInsert: true,
    onInsertPlan: vi.fn(),
    onChooseRole: vi.fn(),
    onCheck: vi.fn(),
    ...changes
  };
  return { screen: draw(<PanelView {...props} />), props };
}

describe('the empty side panel', () => {
  it('says what to do, and does it', async () => {
    const { screen, props } = show();
    expect(screen.textContent).toContain('No conversations yet');
    expect(screen.textContent).toContain('Write %%plan in a cell');
    await click(button(screen, 'Insert a %%plan cell'));
    expect(props.onInsertPlan).toHaveBeenCalledOnce();
  });

  it('says why no cell can be inserted', () => {
    const { screen } = show({ canInsert: false });
    expect(button(screen, 'Insert a %%plan cell').disabled).toBe(true);
    expect(screen.textContent).toContain('Open a notebook first');
  });

  it('shows role and model, and lets the role be chosen', async () => {
    const { screen, props } = show();
    expect(one(screen, '.cw-head').textContent).toBe('Plannergpt-5-mini');
    await click(button(screen, 'Planner'));
    expect(props.onChooseRole).toHaveBeenCalledOnce();
  });

  it('helps to connect a model when there is none', () => {
    const { screen } = show({ health: NOT_READY });
    expect(one(screen, '.cw-note').textContent).toBe('Set COWORK_MODEL first.');
    expect(screen.querySelector('details')).not.toBeNull();
  });

  it('claims nothing before the server has answered', () => {
    const { screen } = show({ health: null, check: { state: 'busy' } });
    expect(screen.querySelector('.cw-note, details')).toBeNull();
    expect(button(screen, 'Checking').getAttribute('aria-busy')).toBe('true');
  });

  it('shows a failure where the user can try again', async () => {
    const error = new CoworkError({ code: 'unreachable', message: 'The Jupyter server does not answer.' });
    const { screen, props } = show({ check: { state: 'failed', error } });
    expect(one(screen, '[aria-live="polite"]').textContent).toContain('The Jupyter server does not answer.');
    await click(button(screen, 'Check connection'));
    expect(props.onCheck).toHaveBeenCalledOnce();
  });
});
