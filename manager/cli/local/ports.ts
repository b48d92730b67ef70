import { createServer } from 'node:net';

/** Hands out ports of 127.0.0.1: from a base upwards, or any that are free. */
export function createPorts(base: number): () => Promise<number> {
  let next = base;
  return async () => {
    const wanted = base === 0 ? 0 : next++;
    return probe(wanted);
  };
}

/** Binds the port once, to know that it is free, and gives it back. */
function probe(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === 'EADDRINUSE' ? `port ${port} is in use: choose another --port-base, or none` : `port ${port}: ${error.message}`,
        ),
      ),
    );
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}
