import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

/** What each end of one connection has heard, and how to say something there. */
type End = { readonly socket: Socket; heard(): string };

let resources: AsyncDisposableStack;
let proxy: TcpProxy;
let client: End;
let server: End;
beforeEach(async () => {
  resources = new AsyncDisposableStack();
  const listening = createServer();
  resources.defer(async () => void listening.close());
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  proxy = resources.use(await startTcpProxy({ host: '127.0.0.1', port: (listening.address() as AddressInfo).port }));
  const accepted = once(listening, 'connection') as Promise<[Socket]>;
  client = endOf(connect(proxy.port, '127.0.0.1'));
  server = endOf((await accepted)[0]);
});
afterEach(() => resources.disposeAsync());

function endOf(socket: Socket): End {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  resources.defer(async () => void socket.destroy());
  return { socket, heard: () => text };
}

const hears = (end: End, text: string): Promise<void> => expect.poll(() => end.heard(), { timeout: 30_000 }).toBe(text);
/** Both ends say something at once. */
function bothSay(text: string): void {
  client.socket.write(text);
  server.socket.write(text);
}

describe('a wire', () => {
  test('carries both ways, and what was sent while it was cut comes once it is mended', async () => {
    bothSay('a');
    await Promise.all([hears(server, 'a'), hears(client, 'a')]);
    proxy.cut();
    bothSay('b');
    proxy.mend();
    bothSay('c');
    await Promise.all([hears(server, 'abc'), hears(client, 'abc')]);
  });

  test.each([
    ['Answers', () => server, () => client],
    ['Requests', () => client, () => server],
  ] as const)('that is cut for %s carries the other direction', async (direction, hearing, deaf) => {
    bothSay('a');
    await Promise.all([hears(server, 'a'), hears(client, 'a')]);
    proxy.cut(direction);
    bothSay('b');
    await hears(hearing(), 'ab');
    // What the deaf end was told was sent no later.
    bothSay('c');
    await hears(hearing(), 'abc');
    expect(deaf().heard()).toBe('a');
    proxy.mend();
    await hears(deaf(), 'abc');
  });
});
