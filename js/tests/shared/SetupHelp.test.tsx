import { act } from 'preact/test-utils';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { exportLines, modelServers } from '../../src/shared/modelServers';
import { SetupHelp } from '../../src/shared/SetupHelp';
import { button, click, draw, one } from '../screen';

function choose(screen: HTMLElement, label: string): void {
  const choice = [...screen.querySelectorAll('label')].find(candidate => candidate.textContent === label);
  void act(() => choice?.querySelector('input')?.click());
}

describe('SetupHelp', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('is closed at first, and can be opened by keyboard', () => {
    const screen = draw(<SetupHelp />);
    expect(one<HTMLDetailsElement>(screen, 'details').open).toBe(false);
  });

  it.each(modelServers())('has the lines for $label', server => {
    const screen = draw(<SetupHelp />);
    choose(screen, server.label);
    expect(one(screen, 'pre').textContent).toBe(exportLines(server));
    expect(exportLines(server)).toMatch(/^export COWORK_BASE_URL=http.*\n(export COWORK_API_KEY=.*\n)?export COWORK_MODEL=\S+$/);
  });

  it('starts with the server that the user has already', () => {
    expect(one(draw(<SetupHelp provider="ollama" />), 'pre').textContent).toContain('11434');
  });

  it('starts with OpenAI when nothing is configured', () => {
    expect(one(draw(<SetupHelp provider="none" />), 'pre').textContent).toContain('openai.com');
  });

  it('keeps the choices of two cards apart', () => {
    const [first, second] = [draw(<SetupHelp />), draw(<SetupHelp />)];
    expect(one<HTMLInputElement>(first, 'input').name).not.toBe(one<HTMLInputElement>(second, 'input').name);
  });

  it('keeps the arrow keys from moving through the notebook', () => {
    for (const radio of draw(<SetupHelp />).querySelectorAll('input')) {
      expect(radio.hasAttribute('data-lm-suppress-shortcuts')).toBe(true);
    }
  });

  it('copies exactly the lines on the screen, and says so', async () => {
    const written = vi.fn(async () => undefined);
    vi.stubGlobal('navigator', { clipboard: { writeText: written } });
    const screen = draw(<SetupHelp provider="vllm" />);
    await click(button(screen, 'Copy'));
    expect(written).toHaveBeenCalledWith(one(screen, 'pre').textContent);
    expect(one(screen, '[role="status"]').textContent).toBe('Copied');
  });

  it('copies without the clipboard API too, as on a page over plain HTTP', async () => {
    vi.stubGlobal('navigator', {});
    const copied = vi.fn(() => true);
    document.execCommand = copied;
    const screen = draw(<SetupHelp />);
    await click(button(screen, 'Copy'));
    expect(copied).toHaveBeenCalledWith('copy');
    expect(one(screen, '[role="status"]').textContent).toBe('Copied');
    expect(document.querySelector('textarea')).toBeNull();
  });
});
