import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { CoworkError, type Channel, type Method } from '../../../src/shared/channel/channel';
import { ModelHelp } from '../../../src/shared/model/ModelHelp';
import type { Health } from '../../../src/shared/types';
import { GUIDE, READY } from '../../samples';
import { button, click, draw, one } from '../../screen';

const OLLAMA = {
  provider: 'ollama',
  label: 'Ollama',
  base_url: 'http://127.0.0.1:11434/v1',
  models: [
    { name: 'qwen2.5-coder:7b', context_size: 32768 },
    { name: 'llama3', context_size: null }
  ]
};

async function show(health: Health, answers: Record<string, unknown> = {}) {
  const sent: [Method, string, unknown][] = [];
  let changes = 0;
  const channel = {
    request: (method: Method, path: string, body?: unknown) => {
      sent.push([method, path, body]);
      const answer = answers[`${method} ${path}`];
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve(answer ?? { items: [] });
    },
    subscribe: () => () => undefined
  } as unknown as Channel;
  const screen = draw(
    <ModelHelp health={health} sayWhyNot channel={channel} onChange={() => (changes += 1)} />
  );
  await act(() => Promise.resolve());
  return { screen, sent, changes: () => changes };
}

const field = (screen: HTMLElement, name: string): HTMLInputElement =>
  one<HTMLInputElement>(screen, `form [name=${name}]`);

async function fill(screen: HTMLElement, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    await act(() => {
      field(screen, name).value = value;
      field(screen, name).dispatchEvent(new Event('input', { bubbles: true }));
    });
  }
}

describe('Getting a model', () => {
  it('offers what runs on this machine, and uses it only after a click', async () => {
    const { screen, sent, changes } = await show(GUIDE, {
      'GET models/offers': { items: [OLLAMA] }
    });
    expect(screen.textContent).toContain('Ollama runs on this machine');
    expect([...screen.querySelectorAll('option')].map(each => each.textContent)).toEqual([
      'qwen2.5-coder:7b (32,768 tokens)',
      'llama3'
    ]);
    expect(sent.every(([method]) => method === 'GET')).toBe(true);
    await click(button(screen, 'Use it'));
    expect(sent.at(-1)).toEqual([
      'PUT',
      'models/connection',
      { base_url: OLLAMA.base_url, model: 'qwen2.5-coder:7b' }
    ]);
    expect(changes()).toBe(1);
  });

  it('says what the guide is, and that it is no language model', async () => {
    const { screen } = await show(GUIDE);
    expect(screen.textContent).toContain('No language model is connected');
    expect(screen.textContent).toContain('follows recipes');
  });

  it('takes any server, with a key that nobody can read over the shoulder', async () => {
    const { screen, sent } = await show(GUIDE);
    expect(field(screen, 'api_key').type).toBe('password');
    await fill(screen, { base_url: 'https://models.example/v1', model: 'm', api_key: 'secret' });
    await click(button(screen, 'Connect'));
    expect(sent.at(-1)).toEqual([
      'PUT',
      'models/connection',
      { base_url: 'https://models.example/v1', model: 'm', api_key: 'secret' }
    ]);
  });

  it('says why a server was not taken', async () => {
    const { screen, changes } = await show(GUIDE, {
      'GET models/offers': { items: [OLLAMA] },
      'PUT models/connection': new CoworkError({
        code: 'model_configured',
        message: 'The model is set in the configuration.'
      })
    });
    await click(button(screen, 'Use it'));
    expect(one(screen, '[role=alert]').textContent).toContain('set in the configuration');
    expect(changes()).toBe(0);
  });

  it('keeps what was typed when it fails, marks the field, and lets the models there be clicked', async () => {
    const answers: Record<string, unknown> = {
      'PUT models/connection': new CoworkError({
        code: 'not_connected',
        message: 'No model is chosen. Set Model to one of: small, large',
        details: { field: 'model', models: ['small', 'large'] }
      })
    };
    const { screen, sent, changes } = await show(GUIDE, answers);
    await fill(screen, { base_url: 'https://models.example/v1', api_key: 'secret' });
    await click(button(screen, 'Connect'));
    expect(one(screen, '[role=alert]').textContent).toContain('Set Model to one of');
    expect(['base_url', 'model', 'api_key'].map(name => field(screen, name).value)).toEqual([
      'https://models.example/v1',
      '',
      'secret'
    ]);
    expect(screen.querySelector('[aria-invalid=true]')).toBe(field(screen, 'model'));
    expect(document.activeElement).toBe(field(screen, 'model'));
    expect(changes()).toBe(0);

    delete answers['PUT models/connection'];
    await click(button(screen, 'large'));
    expect(sent.at(-1)?.[2]).toEqual({
      base_url: 'https://models.example/v1',
      model: 'large',
      api_key: 'secret'
    });
    expect(changes()).toBe(1);
  });

  it('lets what was chosen here be corrected, with the models that its server has', async () => {
    const lost = {
      ...READY.model,
      ready: false,
      why_not: 'Gone.',
      source: 'chosen',
      problem: 'model',
      models: ['new']
    } as const;
    const { screen, sent } = await show({ ...READY, model: { ...lost, models: ['new'] } });
    expect(one<HTMLDetailsElement>(screen, 'details').open).toBe(true);
    expect(field(screen, 'base_url').value).toBe(READY.model.base_url);
    await click(button(screen, 'new'));
    expect(sent.at(-1)).toEqual([
      'PUT',
      'models/connection',
      { base_url: READY.model.base_url, model: 'new', api_key: '' }
    ]);
  });

  it('lets go of what was chosen here, and only of that', async () => {
    const chosen = await show({ ...READY, model: { ...READY.model, source: 'chosen' } });
    await click(button(chosen.screen, 'Use the built-in guide'));
    expect(chosen.sent.at(-1)).toEqual(['DELETE', 'models/connection', undefined]);
    expect(chosen.changes()).toBe(1);
    expect((await show(READY)).screen.querySelector('button')).toBeNull();
  });

  it.each(['environment', 'configuration'] as const)(
    'offers no form over the %s, which comes first',
    async source => {
      const { screen } = await show({
        ...READY,
        model: { ...READY.model, ready: false, why_not: 'Correct what you set.', source }
      });
      expect(screen.textContent).toBe('Correct what you set.');
    }
  );
});
