import { createServer } from 'node:net';
import { HOST } from './program-flags.ts';

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  const found = Promise.withResolvers<number>();
  const server = createServer();
  server.once('error', found.reject);
  server.listen(0, HOST, () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => found.resolve(port));
  });
  return found.promise;
}
