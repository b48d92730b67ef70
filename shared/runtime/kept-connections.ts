import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from './clock.ts';
import { makingRoom, overdue, type ConnectionLimits, type ConnectionPhase, type LimitedConnection } from './connection-limits.ts';

/** The connections of a server whose clients do not repeat a request when their connection ends under it. */
export interface KeptConnections {
  /** From now on every answer ends its connection; the server goes on accepting. Clients take their next requests elsewhere. */
  drain(): void;
  /** Accepts no more, ends the idle ones, and answers what has begun. Resolves when nothing is left. */
  close(): Promise<void>;
}

/**
 * What a server that {@link keepConnections} looks after is made with: Node's own timers would end connections on which a request waits
 * unread.
 */
export const WITHOUT_TIMERS = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 } as const;

const LOOK_EVERY_MS = 1_000;
/** Above this part of the limit answers end their connections, so that fewer must be ended without one. */
const CROWDED = 0.75;
/** Connections that come in one turn of the event loop, before room is made. */
const SLACK = 256;

type Connection = LimitedConnection & {
  /** The TLS connection, once there is one. */
  socket: Socket;
  address: string;
  phase: ConnectionPhase;
  sinceMs: number;
  /** When this phase began. */
  bytesRead: number;
  readonly inFlight: Map<IncomingMessage, ServerResponse>;
};

/**
 * Ends connections in two ways that cost no request: with an answer, which says so in its headers, and when nothing has come after one turn
 * of the event loop in which everything that has arrived was read. A timer alone fires before what waits in the socket is read, as after a
 * stall. Call before the server listens, and make it {@link WITHOUT_TIMERS}.
 */
export function keepConnections(server: Server, limits: ConnectionLimits, clock: Clock): KeptConnections {
  /** By address and port of the client, which the TLS connection and the TCP connection below it have in common. */
  const connections = new Map<string, Connection>();
  let mode: 'Serving' | 'Draining' | 'Closing' = 'Serving';
  let timer: { cancel(): void } | undefined;
  let isMakingRoom = false;

  const enter = (connection: Connection, phase: ConnectionPhase): void => {
    connection.phase = phase;
    connection.sinceMs = clock.monotonic();
    connection.bytesRead = connection.socket.bytesRead;
  };

  /** What Node tells nobody: that headers have begun, and that a body is complete. */
  const notice = (connection: Connection): void => {
    const { phase, inFlight, socket } = connection;
    if (phase === 'Idle' && socket.bytesRead !== connection.bytesRead) enter(connection, 'Headers');
    if (phase === 'Body' && [...inFlight.keys()].every(({ complete }) => complete)) enter(connection, 'Answer');
  };

  /** After what has arrived is read: a connection that is not as it was when it was chosen stays. */
  const end = (chosen: readonly Connection[]): void => {
    const before = chosen.map((connection) => ({ connection, phase: connection.phase, sinceMs: connection.sinceMs }));
    setImmediate(() => {
      for (const { connection, phase, sinceMs } of before) {
        notice(connection);
        if (connection.phase === phase && connection.sinceMs === sinceMs) connection.socket.destroy();
      }
    });
  };

  const look = (): void => {
    for (const connection of connections.values()) notice(connection);
    end(overdue(connections.values(), mode === 'Closing' ? { ...limits, idleMs: limits.headersMs } : limits, clock.monotonic()));
    timer = connections.size === 0 ? undefined : clock.schedule(look, LOOK_EVERY_MS);
  };

  const makeRoom = (): void => {
    if (isMakingRoom) return;
    isMakingRoom = true;
    setImmediate(() => {
      isMakingRoom = false;
      for (const connection of connections.values()) notice(connection);
      end(makingRoom(connections.values(), connections.size - limits.connectionsMax));
    });
  };

  const accept = (socket: Socket): void => {
    const { remoteAddress: address = '' } = socket;
    const key = keyOf(socket);
    const phase = 'setSecureContext' in server ? 'Opening' : 'Idle';
    const connection: Connection = { socket, address, phase, sinceMs: clock.monotonic(), bytesRead: 0, inFlight: new Map() };
    connections.set(key, connection);
    socket.once('close', () => {
      // A port may be in use again by now.
      if (connections.get(key) === connection) connections.delete(key);
    });
    timer ??= clock.schedule(look, LOOK_EVERY_MS);
    if (connections.size > limits.connectionsMax) makeRoom();
  };

  const secure = (socket: Socket): void => {
    const connection = connections.get(keyOf(socket));
    if (connection === undefined) return;
    connection.socket = socket;
    enter(connection, 'Idle');
  };

  const begin = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(keyOf(request.socket));
    if (connection === undefined) return;
    connection.inFlight.set(request, response);
    enter(connection, 'Body');
    if (mode !== 'Serving' || connections.size > CROWDED * limits.connectionsMax) response.setHeader('connection', 'close');
    response.once('close', () => {
      connection.inFlight.delete(request);
      if (connection.inFlight.size === 0) enter(connection, 'Idle');
    });
  };

  server.maxConnections = limits.connectionsMax + SLACK;
  server.setTimeout(0);
  server.on('connection', accept);
  server.on('secureConnection', secure);
  server.prependListener('request', begin);

  const drain = (): void => {
    mode = 'Draining';
    for (const { inFlight } of connections.values())
      for (const response of inFlight.values()) if (!response.headersSent) response.setHeader('connection', 'close');
  };

  return {
    drain,
    close() {
      drain();
      mode = 'Closing';
      return new Promise((resolve) => {
        // After the connections that wait to be accepted.
        setImmediate(() => {
          server.close(() => {
            timer?.cancel();
            resolve();
          });
          end([...connections.values()].filter(({ phase }) => phase === 'Idle'));
        });
      });
    },
  };
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
