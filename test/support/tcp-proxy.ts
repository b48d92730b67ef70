import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/**
 * A wire between two programs that can be cut. A cut wire is a black hole: connections stay open and new ones are accepted, and nothing
 * comes through until it is mended, when all that was sent meanwhile arrives. One that is cut in one direction only carries requests whose
 * answers are lost, or answers to nothing new.
 */
export interface TcpProxy extends AsyncDisposable {
  /** Where to connect to instead, on 127.0.0.1. */
  readonly port: number;
  /** From now on nothing comes through in this direction. */
  cut(direction?: Direction): void;
  mend(): void;
}

export type Direction = 'Both' | 'Requests' | 'Answers';

export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  /** By what they send here. */
  const sockets = new Map<Socket, 'Requests' | 'Answers'>();
  let cutIn: Direction | undefined;
  const isCut = (carried: 'Requests' | 'Answers'): boolean => cutIn === 'Both' || cutIn === carried;
  const join = (from: Socket, to: Socket, carried: 'Requests' | 'Answers'): void => {
    sockets.set(from, carried);
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      if (!isCut(carried)) from.resume();
    });
    from.on('end', () => to.end());
    // One end that breaks breaks the other.
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    if (isCut(carried)) from.pause();
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...target, allowHalfOpen: true });
    join(client, upstream, 'Requests');
    join(upstream, client, 'Answers');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut(direction = 'Both') {
      cutIn = direction;
      for (const [socket, carried] of sockets) if (isCut(carried)) socket.pause();
    },
    mend() {
      cutIn = undefined;
      for (const socket of sockets.keys()) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.keys()) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
