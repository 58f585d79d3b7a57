import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ServerChannel, serverAddressOfPage } from '../../src/shared/serverChannel';
import { describeChannel, event, type Asked, type FarSide } from '../channelContract';
import { FakeSocket } from './fakeSocket';

const ADDRESS = { baseUrl: '/user/me/', token: 'secret' };

function openOnFakeFetch(): FarSide {
  const asked: Asked[] = [];
  const answers: ((response: Response) => void)[] = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    asked.push({
      method: init.method ?? '',
      path: url.replace('/user/me/cowork/', ''),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : null
    });
    return new Promise<Response>((resolve, reject) => {
      answers.push(resolve);
      init.signal?.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')));
    });
  });
  FakeSocket.install();
  return {
    channel: new ServerChannel(ADDRESS),
    get subscriptions() {
      return FakeSocket.all.map(({ url, readyState }) => ({
        context: url.pathname.split('/').at(-3) ?? '',
        after: Number(url.searchParams.get('after')),
        open: readyState < 2
      }));
    },
    accept: n => FakeSocket.all[n]?.onopen?.(),
    send: (n, sent) => FakeSocket.all[n]?.onmessage?.({ data: JSON.stringify(sent) }),
    refuse: (n, why) => FakeSocket.all[n]?.lose(why === 'unknown' ? 4404 : 1006),
    asked,
    answer: (n, status, body) => answers[n]?.(new Response(JSON.stringify(body), { status })),
    close: () => vi.unstubAllGlobals()
  };
}

describeChannel('ServerChannel', 10_000, openOnFakeFetch);

describe('ServerChannel', () => {
  const fetched = vi.fn<(url: string, init: RequestInit) => Promise<Response>>();

  beforeEach(() => {
    fetched.mockReset();
    vi.stubGlobal('fetch', fetched);
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    document.cookie = '_xsrf=; expires=Thu, 01 Jan 1970 00:00:00 GMT';
  });

  function headersSent(): Record<string, string> {
    return fetched.mock.calls[0]?.[1].headers as Record<string, string>;
  }

  it('calls below the base URL with the token, and with the XSRF cookie even when reading', async () => {
    document.cookie = '_xsrf=2%7Cabc';
    fetched.mockResolvedValue(new Response('{}'));
    await new ServerChannel({ baseUrl: '/user/me', token: 'secret' }).request('GET', 'health');
    expect(fetched.mock.calls[0]?.[0]).toBe('/user/me/cowork/health');
    expect(fetched.mock.calls[0]?.[1].credentials).toBe('same-origin');
    expect(headersSent()).toMatchObject({ Authorization: 'token secret', 'X-XSRFToken': '2|abc' });
  });

  it('sends no Authorization when the page has no token', async () => {
    fetched.mockResolvedValue(new Response('{}'));
    await new ServerChannel({ baseUrl: '/', token: '' }).request('GET', 'health');
    expect(headersSent()).not.toHaveProperty('Authorization');
  });

  it('takes an empty answer for null', async () => {
    fetched.mockResolvedValue(new Response(null, { status: 204 }));
    await expect(new ServerChannel(ADDRESS).request('DELETE', 'rules/1')).resolves.toBeNull();
  });

  it('says in one sentence that the server is gone', async () => {
    fetched.mockRejectedValue(new TypeError('Failed to fetch'));
    await expect(new ServerChannel(ADDRESS).request('GET', 'health')).rejects.toMatchObject({
      code: 'unreachable',
      retryable: true,
      message: 'The Jupyter server does not answer. Check that it still runs, then try again.'
    });
  });

  it.each([
    ['the server has no cowork_jupyter', 404, '{"message": "Not found"}', 'not_installed'],
    ['a login page comes instead of an answer', 200, '<html>Log in</html>', 'not_logged_in'],
    ['the session has ended', 403, '{"message": "Forbidden"}', 'not_logged_in'],
    ['a proxy fails', 502, '<html>Bad gateway</html>', 'unexpected_answer']
  ])('tells what to do when %s', async (_case, status, text, code) => {
    fetched.mockResolvedValue(new Response(text, { status }));
    await expect(new ServerChannel(ADDRESS).request('GET', 'health')).rejects.toMatchObject({ code, status });
  });
});

describe('serverAddressOfPage', () => {
  function page(config: string | null): Document {
    const made = document.implementation.createHTMLDocument();
    if (config !== null) {
      const script = made.createElement('script');
      script.id = 'jupyter-config-data';
      script.type = 'application/json';
      script.textContent = config;
      made.body.append(script);
    }
    return made;
  }

  it('reads base URL and token from a Jupyter page', () => {
    expect(serverAddressOfPage(page('{"baseUrl": "/base/", "token": "abc"}'))).toEqual({ baseUrl: '/base/', token: 'abc' });
  });
  it('takes a page without token for one with a login cookie', () => {
    expect(serverAddressOfPage(page('{"baseUrl": "/"}'))).toEqual({ baseUrl: '/', token: '' });
  });
  it.each([null, '', 'not json', '{}'])('finds no server in a page with config %j', config => {
    expect(serverAddressOfPage(page(config))).toBeNull();
  });
});

describe('the socket of a ServerChannel', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('goes below the base URL, with the token, as a socket cannot send headers', () => {
    FakeSocket.install();
    new ServerChannel(ADDRESS).subscribe('c 1', 7, { event: () => undefined, state: () => undefined });
    const { url } = FakeSocket.all[0]!;
    expect(url.protocol).toBe('ws:');
    expect(`${url.pathname}${url.search}`).toBe('/user/me/cowork/context/c%201/events/ws?after=7&token=secret');
  });

  it('comes back by itself after the last event that arrived, and says so meanwhile', () => {
    vi.useFakeTimers();
    FakeSocket.install();
    const seen: (number | string)[] = [];
    const listener = { event: ({ seq }: { seq: number }) => seen.push(seq), state: (state: string) => seen.push(state) };
    const end = new ServerChannel(ADDRESS).subscribe('c1', 4, listener);
    FakeSocket.all[0]?.onopen?.();
    FakeSocket.all[0]?.onmessage?.({ data: JSON.stringify(event(5)) });
    FakeSocket.all[0]?.lose(1001);
    vi.advanceTimersByTime(1000);
    expect(FakeSocket.all[1]?.url.searchParams.get('after')).toBe('5');
    FakeSocket.all[1]?.onopen?.();
    FakeSocket.all[1]?.onmessage?.({ data: JSON.stringify(event(6)) });
    expect(seen).toEqual(['live', 5, 'reconnecting', 'live', 6]);
    end();
    vi.useRealTimers();
  });

  it('is tried again at once when the machine is back on the network', () => {
    vi.useFakeTimers();
    FakeSocket.install();
    const end = new ServerChannel(ADDRESS).subscribe('c1', 0, { event: () => undefined, state: () => undefined });
    FakeSocket.all[0]?.lose(1006);
    window.dispatchEvent(new Event('online'));
    expect(FakeSocket.all).toHaveLength(2);
    end();
    window.dispatchEvent(new Event('online'));
    vi.advanceTimersByTime(60_000);
    expect(FakeSocket.all).toHaveLength(2);
    vi.useRealTimers();
  });

  it('does not listen to a connection that it has given up', () => {
    vi.useFakeTimers();
    FakeSocket.install();
    const seen: number[] = [];
    new ServerChannel(ADDRESS).subscribe('c1', 0, { event: ({ seq }) => seen.push(seq), state: () => undefined });
    const [first] = FakeSocket.all;
    first?.lose(1006);
    vi.advanceTimersByTime(60_000);
    first?.onmessage?.({ data: JSON.stringify(event(1)) });
    expect(seen).toEqual([]);
    vi.useRealTimers();
  });
});
