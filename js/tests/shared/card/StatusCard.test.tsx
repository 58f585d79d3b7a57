import { describe, expect, it } from 'vitest';

import { CoworkError } from '../../../src/shared/channel/channel';
import { modelSentence } from '../../../src/shared/model/HealthAnswer';
import type { StatusCardData } from '../../../src/shared/types';
import { StatusCard } from '../../../src/shared/card/StatusCard';
import { NOT_READY, PLANNER, READY, STATISTICIAN, statusCard, WITH_PROBLEM } from '../../samples';
import { event, FakeServer } from '../../runs';
import { button, click, draw, ManualChannel, one } from '../../screen';

/** A card that the server confirms. */
async function show(
  card: StatusCardData
): Promise<{ screen: HTMLElement; channel: ManualChannel }> {
  const channel = new ManualChannel();
  const screen = draw(<StatusCard card={card} channel={channel} />);
  expect(channel.asked.splice(0)).toEqual([['GET', 'health']]);
  await channel.answer(card.health);
  return { screen, channel };
}

describe('StatusCard', () => {
  it('shows who acts, what is asked and which model answers, in the colour of the role', async () => {
    const { screen } = await show(
      statusCard(READY, { note: 'Nothing was sent.', roles: [PLANNER] })
    );
    expect(one(screen, '.cw-head').textContent).toBe('Plannerread-onlygpt-5-mini');
    expect(one(screen, '.cw-title').textContent).toBe('Clean sales.csv');
    expect(screen.textContent).toContain('Nothing was sent.');
    expect(one(screen, '.cw-card').className).toContain('cw-colour-blue');
    expect(screen.querySelector('.cw-note, details')).toBeNull();
  });

  it('calls only the planner read-only', async () => {
    expect((await show(statusCard(READY, { role: 'actor' }))).screen.textContent).not.toContain(
      'read-only'
    );
  });

  it('calls the guide what it is, and does not say that no language model answers', () => {
    const guide = {
      ...READY,
      model: {
        ...READY.model,
        provider: 'built-in',
        name: 'built-in guide · no language model',
        base_url: null
      }
    };
    const screen = draw(
      <StatusCard card={statusCard(guide, { context_id: 'c1' })} channel={new ManualChannel()} />
    );
    expect(one(screen, '.cw-text').textContent).toBe('The built-in guide is ready.');
    expect(modelSentence(guide)).toBe('The built-in guide answers');
  });

  it('says before the first conversation who will act and how to begin', async () => {
    const { screen } = await show(statusCard(READY, { role: 'actor', title: 'Cowork' }));
    expect(one(screen, '.cw-pill').textContent).toBe('Actor');
    expect(screen.textContent).toContain('Write %%plan in a cell');
  });

  it('needs no role', async () => {
    const { screen } = await show(statusCard(READY, { role: null, title: 'Cowork' }));
    expect(screen.querySelector('.cw-pill')).toBeNull();
    expect(one(screen, '.cw-head').textContent).toContain('Cowork');
    expect(screen.textContent).toContain(`Workspace: ${READY.workspace}`);
    expect(screen.textContent).toContain('Write %%plan in a cell');
  });

  it('says what is missing', async () => {
    const { screen } = await show(statusCard(NOT_READY));
    expect(one(screen, '.cw-model').textContent).toBe('no model');
    expect(one(screen, '.cw-note').textContent).toBe('Set COWORK_MODEL first.');
    expect(one(screen, '.cw-card').className).toContain('cw-colour-ask');
  });

  it('shows each problem as something to see to, although the model is ready', async () => {
    const { screen } = await show(statusCard(WITH_PROBLEM));
    expect(one(screen, '.cw-note').textContent).toBe('The workspace cannot be written to.');
    expect(one(screen, '.cw-card').className).toContain('cw-colour-ask');
  });
});

describe('a card that was saved', () => {
  it('shows the present model, and until the server answers the saved one', async () => {
    const channel = new ManualChannel();
    const screen = draw(<StatusCard card={statusCard(NOT_READY)} channel={channel} />);
    expect(one(screen, '.cw-model').textContent).toBe('no model');
    await channel.answer(READY);
    expect(one(screen, '.cw-model').textContent).toBe('gpt-5-mini');
    expect(screen.querySelector('.cw-note')).toBeNull();
  });

  it('stays as it is where no server answers', async () => {
    const channel = new ManualChannel();
    const screen = draw(<StatusCard card={statusCard(NOT_READY)} channel={channel} />);
    await channel.fail(new CoworkError({ code: 'unreachable', message: 'Away.' }));
    expect(one(screen, '.cw-note').textContent).toBe('Set COWORK_MODEL first.');
    expect(one(screen, '.cw-card').className).not.toContain('cw-colour-error');
  });

  it('keeps the model that was chosen for its conversation', async () => {
    const { screen } = await show(statusCard(READY, { model: 'gpt-5' }));
    expect(one(screen, '.cw-model').textContent).toBe('gpt-5');
  });
});

describe('the role on the status card', () => {
  it('is switched there, and what runs is stopped only if that is confirmed', async () => {
    const { screen, channel } = await show(statusCard(READY, { context_id: 'c1' }));
    await click(one(screen, '.cw-pill-button'));
    await channel.answer({ items: [PLANNER, STATISTICIAN], next: null });
    const items = [...screen.querySelectorAll<HTMLElement>('[role=menuitemradio]')];
    await click(items.find(item => item.textContent?.startsWith('Statistician')) as HTMLElement);
    await channel.fail(
      new CoworkError({ code: 'confirmation_required', message: 'A job runs.', status: 409 })
    );
    expect(screen.textContent).toContain('switching to Statistician stops it');
    await click(button(screen, 'Switch and stop'));
    await channel.answer({});
    expect(channel.asked).toEqual([
      ['GET', 'roles'],
      ['POST', 'context/c1/role'],
      ['POST', 'context/c1/role']
    ]);
    expect(one(screen, '.cw-pill-button').textContent).toContain('Statistician');
  });

  it('follows the conversation from when the card was made', async () => {
    const server = new FakeServer();
    server.answers.set('GET health', READY);
    const screen = draw(
      <StatusCard card={statusCard(READY, { context_id: 'c1', seq: 7 })} channel={server} />
    );
    expect(one(screen, '.cw-switcher').textContent).toBe('Planner');
    await server.send(event(8, 'role-changed', { from: 'planner', to: 'actor' }));
    expect(one(screen, '.cw-switcher').textContent).toBe('Actor');
  });

  it('can be switched only where there is a conversation', async () => {
    expect((await show(statusCard(READY))).screen.querySelector('.cw-pill-button')).toBeNull();
  });
});

describe('Check connection', () => {
  it('shows that it is busy, keeps the focus, and asks only once', async () => {
    const { screen, channel } = await show(statusCard(READY));
    const check = button(screen, 'Check connection');
    check.focus();
    await click(check);
    await click(check);
    expect(check.getAttribute('aria-busy')).toBe('true');
    expect(check.disabled).toBe(false);
    expect(document.activeElement).toBe(check);
    expect(channel.asked).toEqual([['GET', 'health?fresh=true']]);
  });

  it('announces politely that the model answers, where, and within which walls', async () => {
    const { screen, channel } = await show(statusCard(NOT_READY));
    await click(button(screen, 'Check connection'));
    await channel.answer(READY);
    const answer = one(screen, '[aria-live="polite"]');
    expect(answer.textContent).toContain('gpt-5-mini answers at https://models.example/v1');
    expect(answer.textContent).toContain('Sandbox: landlock · Workspace: /home/me/project');
    expect(button(screen, 'Check connection').getAttribute('aria-busy')).toBe('false');
    // What the card said before no longer holds.
    expect(screen.querySelector('.cw-note, details')).toBeNull();
    expect(one(screen, '.cw-model').textContent).toBe('gpt-5-mini');
  });

  it('says once, not twice, what is missing', async () => {
    const { screen, channel } = await show(statusCard(NOT_READY));
    await click(button(screen, 'Check connection'));
    await channel.answer(NOT_READY);
    expect(one(screen, '.cw-answer').textContent).toContain('Not ready: Set COWORK_MODEL first.');
    expect(screen.textContent?.split('Set COWORK_MODEL first.')).toHaveLength(2);
  });

  it('says plainly that without a sandbox every command asks', async () => {
    const { screen, channel } = await show(statusCard(READY));
    await click(button(screen, 'Check connection'));
    await channel.answer({ ...READY, sandbox: 'none' });
    expect(one(screen, '.cw-answer').textContent).toContain(
      'Sandbox: none, so every command asks first'
    );
  });

  it('shows why it failed, and can be tried again', async () => {
    const { screen, channel } = await show(statusCard(READY));
    await click(button(screen, 'Check connection'));
    await channel.fail(
      new CoworkError({ code: 'timeout', message: 'The kernel does not answer.' })
    );
    expect(one(screen, '.cw-answer').textContent).toContain('The kernel does not answer.');
    expect(one(screen, '.cw-card').className).toContain('cw-colour-error');
    await click(button(screen, 'Check connection'));
    await channel.answer(READY);
    expect(one(screen, '.cw-answer').textContent).toContain('gpt-5-mini answers');
  });

  it('never shows the words of a programming error', async () => {
    const { screen, channel } = await show(statusCard(READY));
    await click(button(screen, 'Check connection'));
    await channel.fail(new TypeError('x is not a function'));
    expect(screen.textContent).not.toContain('not a function');
    expect(one(screen, '.cw-answer').textContent).toContain('Reload it');
  });
});
