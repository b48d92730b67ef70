import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, to be ended with it. */
export interface ServerConnections {
  /** Accepts no more, and ends what is there. Resolves when nothing is left. */
  close(): Promise<void>;
}

/**
 * Knows connections from the moment that they are accepted. Node's `closeAllConnections` knows only those with HTTP on them: one that is in
 * the middle of its TLS handshake survives it, and is served for as long as its client likes. Call before the server listens.
 */
export function connectionsOf(server: Server): ServerConnections {
  const sockets = new Set<Socket>();
  // Of a TLS server these are the TCP connections below.
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of sockets) socket.destroy();
      }),
  };
}
