import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { CoworkError, type Channel, type Method } from '../../src/shared/channel';
import { ModelHelp } from '../../src/shared/ModelHelp';
import type { Health } from '../../src/shared/types';
import { GUIDE, READY } from '../samples';
import { button, click, draw, one } from '../screen';

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
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer ?? { items: [] });
    },
    subscribe: () => () => undefined
  } as unknown as Channel;
  const screen = draw(<ModelHelp health={health} sayWhyNot channel={channel} onChange={() => (changes += 1)} />);
  await act(() => Promise.resolve());
  return { screen, sent, changes: () => changes };
}

describe('Getting a model', () => {
  it('offers what runs on this machine, and uses it only after a click', async () => {
    const { screen, sent, changes } = await show(GUIDE, { 'GET models/offers': { items: [OLLAMA] } });
    expect(screen.textContent).toContain('Ollama runs on this machine');
    expect([...screen.querySelectorAll('option')].map(each => each.textContent)).toEqual([
      'qwen2.5-coder:7b (32,768 tokens)',
      'llama3'
    ]);
    expect(sent).toEqual([['GET', 'models/offers', undefined]]);
    await click(button(screen, 'Use it'));
    expect(sent[1]).toEqual(['PUT', 'models/connection', { base_url: OLLAMA.base_url, model: 'qwen2.5-coder:7b' }]);
    expect(changes()).toBe(1);
  });

  it('says what the guide is, and that it is no language model', async () => {
    const { screen } = await show(GUIDE);
    expect(screen.textContent).toContain('No language model is connected');
    expect(screen.textContent).toContain('works by rules');
  });

  it('takes any server, with a key that nobody can read over the shoulder', async () => {
    const { screen, sent } = await show(GUIDE);
    const [address, model, key] = [...screen.querySelectorAll<HTMLInputElement>('form input')];
    expect(key!.type).toBe('password');
    for (const [field, value] of [
      [address!, 'https://models.example/v1'],
      [model!, 'm'],
      [key!, 'secret']
    ] as const) {
      await act(() => {
        field.value = value;
        field.dispatchEvent(new Event('input', { bubbles: true }));
      });
    }
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
      'PUT models/connection': new CoworkError({ code: 'model_configured', message: 'The model is set in the configuration.' })
    });
    await click(button(screen, 'Use it'));
    expect(one(screen, '[role=alert]').textContent).toContain('set in the configuration');
    expect(changes()).toBe(0);
  });

  it('lets go of what was chosen here, and only of that', async () => {
    const chosen = await show({ ...READY, model: { ...READY.model, chosen: true } });
    await click(button(chosen.screen, 'Use another model'));
    expect(chosen.sent).toEqual([['DELETE', 'models/connection', undefined]]);
    expect(chosen.changes()).toBe(1);
    expect((await show(READY)).screen.querySelector('button')).toBeNull();
  });
});
