import { createServer, type AddressInfo, type Server } from 'node:net';
import { isRefusedByFetch } from '../../../shared/runtime/fetch-ports.ts';
import { FlagError } from '../../../shared/runtime/flags.ts';

/** What listens in a run, in the order of its ports. */
export const PORT_NAMES = [
  'control-plane-manager',
  'control-plane-east',
  'control-plane-west',
  'webhook',
  'redis',
  'switchyard-manager',
  'switchyard-worker-east',
  'switchyard-worker-west',
  'switchyard-worker-manager',
] as const;
export type PortName = (typeof PORT_NAMES)[number];
export type Ports = Readonly<Record<PortName, number>>;

/** Why the ports from `base` upwards cannot be used, whoever else runs on this machine; undefined when they can. */
export function portProblem(base: number): string | undefined {
  const last = base + PORT_NAMES.length - 1;
  if (last > 65_535)
    return `a run needs ${PORT_NAMES.length} ports, and ${base} to ${last} goes beyond 65535; write at most ${65_536 - PORT_NAMES.length}`;
  const refused = PORT_NAMES.map((_name, index) => base + index).filter(isRefusedByFetch);
  if (refused.length === 0) return undefined;
  return `of the ports ${base} to ${last}, browsers and fetch refuse to connect to ${refused.join(', ')}; choose another, such as 18080`;
}

/**
 * Ports of 127.0.0.1: from a base upwards, or with 0 any that are free. Each is bound for a moment, all at the same time, to know that it
 * is free and given once. Throws {@link FlagError} naming what is in use.
 */
export async function choosePorts(base: number): Promise<Ports> {
  const held: Server[] = [];
  try {
    const chosen: [PortName, number][] = [];
    for (const [index, name] of PORT_NAMES.entries()) {
      let port = await hold(base === 0 ? 0 : base + index, name, held);
      while (isRefusedByFetch(port)) port = await hold(0, name, held);
      chosen.push([name, port]);
    }
    // Built name by name from the list that the type is derived from.
    return Object.fromEntries(chosen) as Ports;
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** One more, for a program that not every run has: the port behind those of the run, or with 0 any that is free. */
export async function chooseOneMore(base: number, name: string, offset = 0): Promise<number> {
  const held: Server[] = [];
  try {
    return await hold(base === 0 ? 0 : base + PORT_NAMES.length + offset, name, held);
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

function hold(port: number, name: string, held: Server[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const what = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.message})`;
      reject(new FlagError(`port ${port}, which ${name} would listen on, ${what}; choose another --port-base, or leave it out`));
    });
    server.listen(port, '127.0.0.1', () => {
      held.push(server);
      // Listening on a port, address() is never null and never a path.
      resolve((server.address() as AddressInfo).port);
    });
  });
}
