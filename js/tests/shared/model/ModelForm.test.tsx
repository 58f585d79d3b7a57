import { act } from 'preact/test-utils';
import { describe, expect, it } from 'vitest';

import { CoworkError, type Channel, type Method } from '../../../src/shared/channel/channel';
import { ModelForm } from '../../../src/shared/model/ModelForm';
import type { ProviderList } from '../../../src/shared/types';
import { button, click, draw, one } from '../../screen';

const PROVIDERS: ProviderList = {
  items: [
    {
      id: 'anthropic',
      label: 'Anthropic',
      base_url: 'https://api.anthropic.com/v1',
      key_variable: 'ANTHROPIC_API_KEY',
      key_is_set: true,
      models: [
        {
          name: 'claude-sonnet-5-5',
          context_size: 1000000,
          protocol: 'native',
          price: { input: 2, output: 10, as_of: '2026-10-16' }
        }
      ]
    },
    {
      id: 'ollama',
      label: 'Ollama',
      base_url: 'http://127.0.0.1:11434/v1',
      key_variable: '',
      key_is_set: false,
      models: []
    }
  ],
  currency: 'USD',
  next: null
};

const HUNDREDS = Array.from({ length: 300 }, (_, number) => `vendor/model-${number}`);

async function show(refusal?: Record<string, unknown>) {
  const sent: unknown[] = [];
  const refused = new CoworkError({ code: 'not_connected', message: 'No.', details: refusal });
  const channel = {
    request: (_method: Method, path: string, body?: unknown) => {
      if (path === 'providers') {
        return Promise.resolve(PROVIDERS);
      }
      sent.push(body);
      return refusal ? Promise.reject(refused) : Promise.resolve({});
    },
    subscribe: () => () => undefined
  } as unknown as Channel;
  const screen = draw(<ModelForm channel={channel} onChange={() => undefined} />);
  await act(() => Promise.resolve());
  return { screen, sent };
}

const field = (screen: HTMLElement, name: string): HTMLInputElement =>
  one<HTMLInputElement>(screen, `[name=${name}]`);

const type = async (input: HTMLInputElement, value: string): Promise<void> =>
  act(() => {
    input.value = value;
    input.dispatchEvent(new Event(input.tagName === 'SELECT' ? 'change' : 'input'));
  });

const models = (screen: HTMLElement): (string | null)[] =>
  [...screen.querySelectorAll('[role=group] button')].map(each => each.textContent);

describe('The form for a model server', () => {
  it('fills in what a provider is known for, and says that its key is there', async () => {
    const { screen, sent } = await show();
    await type(field(screen, 'provider'), 'anthropic');
    expect(field(screen, 'base_url').value).toBe('https://api.anthropic.com/v1');
    expect(screen.textContent).toContain('ANTHROPIC_API_KEY is set.');
    await click(button(screen, 'claude-sonnet-5-5'));
    expect(sent).toEqual([]);
    expect(screen.textContent).toContain('$2.00 in, $10.00 out (2026-10-16)');
    await type(field(screen, 'small_model'), 'claude-haiku-5-5');
    await click(button(screen, 'Connect'));
    expect(sent).toEqual([
      {
        base_url: 'https://api.anthropic.com/v1',
        model: 'claude-sonnet-5-5',
        api_key: '',
        small_model: 'claude-haiku-5-5',
        provider: 'anthropic'
      }
    ]);
  });

  it('does not keep a key for the next provider', async () => {
    const { screen } = await show();
    await type(field(screen, 'provider'), 'anthropic');
    await type(field(screen, 'api_key'), 'sk-mine');
    await type(field(screen, 'provider'), 'ollama');
    expect(field(screen, 'api_key').value).toBe('');
    expect(screen.textContent).not.toContain('is set.');
  });

  it('narrows hundreds of models by typing, and Enter takes the first', async () => {
    const { screen, sent } = await show({ field: 'model', models: HUNDREDS });
    await type(field(screen, 'base_url'), 'https://models.example/v1');
    await click(button(screen, 'Connect'));
    expect(models(screen)).toHaveLength(50);
    expect(one(screen, '[role=status]').textContent).toBe('Showing 50 of 300 models');
    const filter = one<HTMLInputElement>(screen, 'input[type=search]');
    await type(filter, '-28 VENDOR');
    expect(models(screen)).toEqual([
      'vendor/model-28',
      ...Array.from({ length: 10 }, (_, number) => `vendor/model-28${number}`)
    ]);
    const enter = new KeyboardEvent('keydown', { key: 'Enter', cancelable: true, bubbles: true });
    await act(async () => {
      filter.dispatchEvent(enter);
      await Promise.resolve();
    });
    expect(enter.defaultPrevented).toBe(true);
    expect(sent.at(-1)).toEqual({
      base_url: 'https://models.example/v1',
      model: 'vendor/model-28',
      api_key: ''
    });
  });

  it('needs no filter for a few, and puts a small model where it belongs', async () => {
    const { screen, sent } = await show({ field: 'small_model', models: ['large', 'tiny'] });
    await type(field(screen, 'base_url'), 'https://models.example/v1');
    await type(field(screen, 'model'), 'large');
    await type(field(screen, 'small_model'), 'gone');
    await click(button(screen, 'Connect'));
    expect(document.activeElement).toBe(field(screen, 'small_model'));
    expect(screen.querySelector('input[type=search]')).toBeNull();
    await click(button(screen, 'tiny'));
    expect(sent.at(-1)).toMatchObject({ model: 'large', small_model: 'tiny' });
  });

  it('forgets the models of an address that is no longer typed', async () => {
    const { screen } = await show({ field: 'model', models: ['large', 'tiny'] });
    await type(field(screen, 'base_url'), 'https://models.example/v1');
    await click(button(screen, 'Connect'));
    expect(models(screen)).toEqual(['large', 'tiny']);
    await type(field(screen, 'base_url'), 'https://other.example/v1');
    expect(models(screen)).toEqual([]);
  });
});
