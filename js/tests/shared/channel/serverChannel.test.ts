import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ServerChannel, serverAddressOfPage } from '../../../src/shared/channel/serverChannel';
import { describeChannel, type Asked, type FarSide } from '../../channelContract';
import { FakeSocket } from './fakeSocket';

const ADDRESS = { baseUrl: '/user/me/', token: 'secret' };

/** A server that lets every page in. */
class Greeting extends FakeSocket {
  constructor(url: string) {
    super(url);
    queueMicrotask(() => this.greet());
  }
}

/** All that pages have subscribed to, over whatever connection. */
function subscribed(): { socket: FakeSocket; id: number; context: string; after: number }[] {
  return FakeSocket.all.flatMap(socket =>
    socket.sent
      .filter(({ type }) => type === 'subscribe')
      .map(frame => ({
        socket,
        id: frame['subscription'] as number,
        context: frame['context_id'] as string,
        after: frame['after'] as number
      }))
  );
}

function tell(n: number, type: string, more: object = {}): void {
  const { socket, id } = subscribed()[n]!;
  socket.tell({ type, subscription: id, ...more });
}

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
      init.signal?.addEventListener('abort', () =>
        reject(new DOMException('Aborted', 'AbortError'))
      );
    });
  });
  FakeSocket.install();
  vi.stubGlobal('WebSocket', Greeting);
  return {
    channel: new ServerChannel(ADDRESS),
    get subscriptions() {
      return subscribed().map(({ socket, id, context, after }) => ({
        context,
        after,
        open:
          socket.readyState < 2 &&
          !socket.sent.some(
            ({ type, subscription }) => type === 'unsubscribe' && subscription === id
          )
      }));
    },
    accept: n => tell(n, 'subscribed'),
    send: (n, sent) => tell(n, 'event', { event: sent }),
    refuse: (n, why) =>
      why === 'unknown'
        ? tell(n, 'refused', { code: 'not_found' })
        : subscribed()[n]?.socket.lose(),
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
      message: 'The Jupyter server does not answer. Check that it is still running, then try again.'
    });
  });

  it.each([
    ['the server has no cowork_jupyter', 404, '{"message": "Not found"}', 'not_installed'],
    ['a login page comes instead of an answer', 200, '<html>Log in</html>', 'not_logged_in'],
    ['the session has ended', 403, '{"message": "Forbidden"}', 'not_logged_in'],
    ['a proxy fails', 502, '<html>Bad gateway</html>', 'unexpected_answer']
  ])('tells what to do when %s', async (_case, status, text, code) => {
    fetched.mockResolvedValue(new Response(text, { status }));
    await expect(new ServerChannel(ADDRESS).request('GET', 'health')).rejects.toMatchObject({
      code,
      status
    });
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
    expect(serverAddressOfPage(page('{"baseUrl": "/base/", "token": "abc"}'))).toEqual({
      baseUrl: '/base/',
      token: 'abc'
    });
  });
  it('takes a page without token for one with a login cookie', () => {
    expect(serverAddressOfPage(page('{"baseUrl": "/"}'))).toEqual({ baseUrl: '/', token: '' });
  });
  it.each([null, '', 'not json', '{}'])('finds no server in a page with config %j', config => {
    expect(serverAddressOfPage(page(config))).toBeNull();
  });
});
