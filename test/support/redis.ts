/** A real Redis for a test: redis-server from the PATH, on a free port, with its data in a directory of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';

export type TestRedis = {
  readonly url: string;
  /** Kills the server as a crash would. Its data stay. */
  crash(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
  /** Forgets everything. */
  wipe(): Promise<void>;
  stop(): Promise<void>;
};

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-redis-'));
  let server = await launch(port, directory);
  return {
    url: `redis://127.0.0.1:${port}`,
    crash: () => end(server, 'SIGKILL'),
    restart: async () => {
      server = await launch(port, directory);
    },
    wipe: async () => {
      const client = new Redis({ host: '127.0.0.1', port });
      await client.flushall();
      client.disconnect();
    },
    stop: async () => {
      await end(server, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function launch(port: number, directory: string): Promise<ChildProcess> {
  const options = [
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--save',
    '',
    '--maxmemory-policy',
    'noeviction',
  ];
  const server = spawn('redis-server', ['--port', String(port), ...options], { stdio: 'ignore' });
  const failed = new Promise<never>((_resolve, reject) => {
    server.once('error', (cause) => reject(new Error('cannot start redis-server; install it (apt-get install redis-server)', { cause })));
    server.once('exit', (code) => reject(new Error(`redis-server ended at once with code ${code}`)));
  });
  await Promise.race([answers(port), failed]);
  return server;
}

async function answers(port: number): Promise<void> {
  const probe = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null, retryStrategy: () => 20 });
  probe.on('error', () => undefined); // Refused until the server listens.
  await probe.ping();
  probe.disconnect();
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill(signal);
  await ended;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
