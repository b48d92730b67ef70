/**
 * Calls a webhook as an API server does, whose HTTP client is that of Go: it keeps idle connections for 90 s, 25 at most, takes the one
 * that was used last, ignores how long the server says that it keeps them, and sends no POST a second time, unless nothing of it was
 * written.
 */
import { connect, type TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

export type GoLikeClient = {
  /** Sends a POST and resolves with the status of its answer. Rejects as Go does when the connection ends before that. */
  post(path: string, body: string): Promise<number>;
  /** Opens a connection that no request waits for any more, as Go has it when another became idle meanwhile. */
  connectAhead(): Promise<void>;
  /** Now, of those that were not closed by either side. */
  idle(): number;
  close(): void;
};

const IDLE_MS = 90_000;
const IDLE_MAX = 25;

type Pooled = { readonly socket: TLSSocket; readonly end: () => void; readonly timer: Timer };

/** `endpoint` names the port for each new connection, as a Service does. */
export function createGoLikeClient(endpoint: () => number, clock: Clock): GoLikeClient {
  const idle: Pooled[] = [];
  const all = new Set<TLSSocket>();

  const dial = (): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: endpoint(), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
      all.add(socket);
      socket.once('close', () => all.delete(socket));
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        socket.off('error', reject);
        // What ends an idle connection is no error, and what ends another is told by its close.
        socket.on('error', () => undefined);
        resolve(socket);
      });
    });

  const remove = (pooled: Pooled): void => {
    pooled.timer.cancel();
    pooled.socket.off('end', pooled.end).off('close', pooled.end);
    const at = idle.indexOf(pooled);
    if (at >= 0) idle.splice(at, 1);
  };

  const keep = (socket: TLSSocket): void => {
    if (idle.length >= IDLE_MAX) return void socket.destroy();
    const end = (): void => {
      remove(pooled);
      socket.destroy();
    };
    const pooled: Pooled = { socket, end, timer: clock.schedule(end, IDLE_MS) };
    // Read to its end, or a close is never heard of.
    socket.resume().once('end', end).once('close', end);
    idle.push(pooled);
  };

  const exchange = (socket: TLSSocket, path: string, body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      let received = '';
      const done = (outcome: () => void): void => {
        socket.off('data', read).off('end', ended).off('close', ended);
        outcome();
      };
      const ended = (): void => done(() => reject(new Error(`POST ${path}: connection reset by peer`)));
      const read = (chunk: Buffer): void => {
        received += chunk.toString('latin1');
        const [, status, headers = '', sent = ''] = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n(.*?)\r\n\r\n(.*)$/s.exec(received) ?? [];
        const length = Number(/^content-length: (\d+)$/im.exec(headers)?.[1] ?? Infinity);
        if (status === undefined || sent.length < length) return;
        done(() => {
          if (/^connection: close$/im.test(headers)) socket.destroy();
          else keep(socket);
          resolve(Number(status));
        });
      };
      socket.on('data', read).once('end', ended).once('close', ended);
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });

  return {
    async post(path, body) {
      const pooled = idle.at(-1);
      if (pooled === undefined) return exchange(await dial(), path, body);
      remove(pooled);
      return exchange(pooled.socket, path, body);
    },
    connectAhead: async () => keep(await dial()),
    idle: () => idle.length,
    close() {
      for (let next = idle.at(-1); next !== undefined; next = idle.at(-1)) remove(next);
      for (const socket of all) socket.destroy();
    },
  };
}
