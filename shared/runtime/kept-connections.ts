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
  return new ServerConnections(server, limits, clock);
}

class ServerConnections implements KeptConnections {
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  /** By address and port of the client, which the TLS connection and the TCP connection below it have in common. */
  readonly #connections = new Map<string, Connection>();
  #mode: 'Serving' | 'Draining' | 'Closing' = 'Serving';
  #timer: { cancel(): void } | undefined;
  #isMakingRoom = false;

  constructor(server: Server, limits: ConnectionLimits, clock: Clock) {
    this.#server = server;
    this.#limits = limits;
    this.#clock = clock;
    server.maxConnections = limits.connectionsMax + SLACK;
    server.setTimeout(0);
    server.on('connection', (socket) => this.#accept(socket));
    server.on('secureConnection', (socket) => this.#secure(socket));
    server.prependListener('request', (request, response) => this.#begin(request, response));
  }

  drain(): void {
    this.#mode = 'Draining';
    for (const { inFlight } of this.#connections.values())
      for (const response of inFlight.values()) if (!response.headersSent) response.setHeader('connection', 'close');
  }

  close(): Promise<void> {
    this.drain();
    this.#mode = 'Closing';
    return new Promise((resolve) => {
      // After the connections that wait to be accepted.
      setImmediate(() => {
        this.#server.close(() => {
          this.#timer?.cancel();
          resolve();
        });
        this.#end([...this.#connections.values()].filter(({ phase }) => phase === 'Idle'));
      });
    });
  }

  /** After what has arrived is read: a connection that is not as it was when it was chosen stays. */
  #end(chosen: readonly Connection[]): void {
    const before = chosen.map((connection) => ({ connection, phase: connection.phase, sinceMs: connection.sinceMs }));
    setImmediate(() => {
      for (const { connection, phase, sinceMs } of before) {
        this.#notice(connection);
        if (connection.phase === phase && connection.sinceMs === sinceMs) connection.socket.destroy();
      }
    });
  }

  /** What Node tells nobody: that headers have begun, and that a body is complete. */
  #notice(connection: Connection): void {
    const { phase, inFlight, socket } = connection;
    if (phase === 'Idle' && socket.bytesRead !== connection.bytesRead) this.#enter(connection, 'Headers');
    if (phase === 'Body' && [...inFlight.keys()].every(({ complete }) => complete)) this.#enter(connection, 'Answer');
  }

  #enter(connection: Connection, phase: ConnectionPhase): void {
    connection.phase = phase;
    connection.sinceMs = this.#clock.monotonic();
    connection.bytesRead = connection.socket.bytesRead;
  }

  #accept(socket: Socket): void {
    const { remoteAddress: address = '' } = socket;
    const key = keyOf(socket);
    const phase = 'setSecureContext' in this.#server ? 'Opening' : 'Idle';
    const connection: Connection = { socket, address, phase, sinceMs: this.#clock.monotonic(), bytesRead: 0, inFlight: new Map() };
    this.#connections.set(key, connection);
    socket.once('close', () => {
      // A port may be in use again by now.
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    });
    this.#timer ??= this.#clock.schedule(() => this.#look(), LOOK_EVERY_MS);
    if (this.#connections.size > this.#limits.connectionsMax) this.#makeRoom();
  }

  #look(): void {
    for (const connection of this.#connections.values()) this.#notice(connection);
    this.#end(
      overdue(
        this.#connections.values(),
        this.#mode === 'Closing' ? { ...this.#limits, idleMs: this.#limits.headersMs } : this.#limits,
        this.#clock.monotonic(),
      ),
    );
    this.#timer = this.#connections.size === 0 ? undefined : this.#clock.schedule(() => this.#look(), LOOK_EVERY_MS);
  }

  #makeRoom(): void {
    if (this.#isMakingRoom) return;
    this.#isMakingRoom = true;
    setImmediate(() => {
      this.#isMakingRoom = false;
      for (const connection of this.#connections.values()) this.#notice(connection);
      this.#end(makingRoom(this.#connections.values(), this.#connections.size - this.#limits.connectionsMax));
    });
  }

  #secure(socket: Socket): void {
    const connection = this.#connections.get(keyOf(socket));
    if (connection === undefined) return;
    connection.socket = socket;
    this.#enter(connection, 'Idle');
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(keyOf(request.socket));
    if (connection === undefined) return;
    connection.inFlight.set(request, response);
    this.#enter(connection, 'Body');
    if (this.#mode !== 'Serving' || this.#connections.size > CROWDED * this.#limits.connectionsMax)
      response.setHeader('connection', 'close');
    response.once('close', () => {
      connection.inFlight.delete(request);
      if (connection.inFlight.size === 0) this.#enter(connection, 'Idle');
    });
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
