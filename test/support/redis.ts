/** A real Redis for a test: redis-server from the PATH, on a free port, with its data in a directory of its own. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';

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

export type TestRedisOptions = {
  /** `valkey-server` where it is installed. */
  readonly program?: RedisProgram;
  /** After the usual ones, which they replace. */
  readonly args?: readonly string[];
  /** Files with certificate and key, and the authority's text. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
  /** It is a sentinel of that server instead. */
  readonly sentinelOf?: { readonly name: string; readonly url: string };
  /** What the test's own connections say of themselves. */
  readonly client?: Pick<RedisOptions, 'password' | 'username' | 'tls'>;
};
export type RedisProgram = 'redis-server' | 'valkey-server';

/** The programs that this machine has: Redis always, Valkey where somebody installed it. */
export const redisPrograms = (): readonly RedisProgram[] =>
  (['redis-server', 'valkey-server'] as const).filter(
    (program) => program === 'redis-server' || spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined,
  );

export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  const port = await freePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-redis-'));
  let server = await launch(port, directory, options);
  return {
    url: `${options.tls === undefined ? 'redis' : 'rediss'}://127.0.0.1:${port}`,
    crash: () => end(server, 'SIGKILL'),
    restart: async () => {
      server = await launch(port, directory, options);
    },
    wipe: async () => {
      const client = new Redis({ ...options.client, host: '127.0.0.1', port });
      await client.flushall();
      client.disconnect();
    },
    stop: async () => {
      await end(server, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function launch(port: number, directory: string, options: TestRedisOptions): Promise<ChildProcess> {
  const { program = 'redis-server', client = {}, tls } = options;
  const server = spawn(program, argumentsOf(port, directory, options), { stdio: 'ignore' });
  const failed = new Promise<never>((_resolve, reject) => {
    server.once('error', (cause) => reject(new Error(`cannot start ${program}; install it (apt-get install ${program})`, { cause })));
    server.once('exit', (code) => reject(new Error(`${program} ended at once with code ${code}`)));
  });
  await Promise.race([answers(port, { ...client, ...(tls === undefined ? {} : { tls: { ca: tls.ca } }) }), failed]);
  return server;
}

function argumentsOf(port: number, directory: string, { args = [], tls, sentinelOf }: TestRedisOptions): readonly string[] {
  if (sentinelOf !== undefined) {
    const file = path.join(directory, 'sentinel.conf');
    // A sentinel writes what it learns into its file.
    writeFileSync(file, `port ${port}\nbind 127.0.0.1\nsentinel monitor ${sentinelOf.name} 127.0.0.1 ${new URL(sentinelOf.url).port} 1\n`);
    return [file, '--sentinel'];
  }
  const secure = tls && ['--tls-port', String(port), '--tls-cert-file', tls.cert, '--tls-key-file', tls.key, '--tls-auth-clients', 'no'];
  const usual = ['--bind', '127.0.0.1', '--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  return ['--port', secure === undefined ? String(port) : '0', ...(secure ?? []), ...usual, '--maxmemory-policy', 'noeviction', ...args];
}

async function answers(port: number, client: Omit<RedisOptions, 'replyMapping'>): Promise<void> {
  const probe = new Redis({ ...client, host: '127.0.0.1', port, maxRetriesPerRequest: null, retryStrategy: () => 20 });
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
