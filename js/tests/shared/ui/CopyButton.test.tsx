import { afterEach, describe, expect, it, vi } from 'vitest';

import { CopyButton } from '../../../src/shared/ui/CopyButton';
import { button, click, draw, one } from '../../screen';

describe('CopyButton', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('copies exactly its text, and says so', async () => {
    const written = vi.fn(async () => undefined);
    vi.stubGlobal('navigator', { clipboard: { writeText: written } });
    const screen = draw(<CopyButton text={'two\nlines'} label="Copy them" />);
    await click(button(screen, 'Copy'));
    expect(written).toHaveBeenCalledWith('two\nlines');
    expect(one(screen, '[role="status"]').textContent).toBe('Copied');
  });

  it('copies without the clipboard API too, as on a page over plain HTTP', async () => {
    vi.stubGlobal('navigator', {});
    const copied = vi.fn(() => true);
    document.execCommand = copied;
    const screen = draw(<CopyButton text="x" label="Copy it" />);
    await click(button(screen, 'Copy'));
    expect(copied).toHaveBeenCalledWith('copy');
    expect(one(screen, '[role="status"]').textContent).toBe('Copied');
    expect(document.querySelector('textarea')).toBeNull();
  });
});
