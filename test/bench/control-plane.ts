/**
 * How fast the embedded control plane is, spoken to over the network by a client in this process while the server runs
 * in a child: small writes by kind, with and without TLS and data directory, and what watchers cost.
 *
 *   node test/bench/control-plane.ts [--writes 5000] [--watchers 50] [--concurrency 16]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';

const { values } = parseArgs({
  options: {
    writes: { type: 'string', default: '5000' },
    watchers: { type: 'string', default: '50' },
    concurrency: { type: 'string', default: '16' },
  },
});
const writes = Number(values.writes);
const concurrency = Number(values.concurrency);
const MAIN = path.resolve(import.meta.dirname, '../../shared/controlplane/main.ts');
const NAMESPACE = 'default';

type Server = { readonly url: string; readonly token: string; readonly pid: number; stop(): Promise<void> };

async function startServer(flags: readonly string[]): Promise<Server> {
  const directory = mkdtempSync(path.join(tmpdir(), 'bench-'));
  const kubeconfig = path.join(directory, 'kubeconfig');
  const data = flags.includes('--durable') ? ['--data-dir', path.join(directory, 'data')] : [];
  const rest = flags.filter((flag) => flag !== '--durable');
  const child = spawn(process.execPath, [MAIN, '--kubeconfig-out', kubeconfig, '--log-level', 'warn', ...data, ...rest], {
    stdio: 'inherit',
  });
  while (!existsSync(kubeconfig)) await new Promise((resolve) => setTimeout(resolve, 20));
  const text = readFileSync(kubeconfig, 'utf8');
  return {
    url: /server: (\S+)/.exec(text)?.[1] ?? '',
    token: /token: (\S+)/.exec(text)?.[1] ?? '',
    pid: child.pid ?? 0,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox', command: ['sh', '-c', 'true'] }] } };
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

async function benchmark(title: string, flags: readonly string[]): Promise<void> {
  const server = await startServer(flags);
  const dispatcher = new Agent({ connections: concurrency, connect: { rejectUnauthorized: false } });
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', at: string, body?: object, type = 'application/json'): Promise<void> => {
    const answer = await request(server.url + at, {
      method,
      dispatcher,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': type, 'user-agent': 'bench' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 400) throw new Error(`${method} ${at}: ${text}`);
  };
  const measure = async (what: string, run: (index: number) => Promise<void>, count = writes): Promise<void> => {
    const cpuBefore = cpuSeconds(server.pid);
    const begin = performance.now();
    let next = 0;
    const loop = async (): Promise<void> => {
      while (next < count) await run(next++);
    };
    await Promise.all(Array.from({ length: concurrency }, loop));
    const seconds = (performance.now() - begin) / 1000;
    const cpuMicros = Math.round(((cpuSeconds(server.pid) - cpuBefore) / count) * 1e6);
    console.log(
      `${title.padEnd(10)} ${what.padEnd(34)} ${String(Math.round(count / seconds)).padStart(7)} /s  ${cpuMicros} us CPU of the server each`,
    );
  };
  const core = `/api/v1/namespaces/${NAMESPACE}`;
  const jobs = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
  const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } });

  // The first writes run code that is not optimized yet.
  await measure('warm-up', (index) => call('POST', `${core}/configmaps`, configMap(`w-${index}`)), Math.min(2000, writes));
  await measure('create ConfigMap', (index) => call('POST', `${core}/configmaps`, configMap(`c-${index}`)));
  await measure('create Job', (index) =>
    call('POST', jobs, { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: `j-${index}` }, spec: { template } }),
  );
  await measure('create Pod', (index) =>
    call('POST', `${core}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: `p-${index}`, labels: { app: 'x' } }, ...template }),
  );
  await measure('merge-patch Job status', (index) => call('PATCH', `${jobs}/j-${index}/status`, { status: { active: 1 } }, MERGE));
  await measure('strategic-patch Pod labels', (index) =>
    call('PATCH', `${core}/pods/p-${index}`, { metadata: { labels: { z: 'y' } } }, STRATEGIC),
  );
  await measure('get Pod', (index) => call('GET', `${core}/pods/p-${index}`));
  await measure('list 500 Pods', () => call('GET', `${core}/pods?limit=500`), Math.min(200, writes));
  await watched(server, dispatcher, Number(values.watchers), () =>
    measure(`patch ConfigMap, ${values.watchers} watchers`, (index) =>
      call('PATCH', `${core}/configmaps/c-${index}`, { data: { a: 'c' } }, MERGE),
    ),
  );
  await measure('delete Pod', (index) => call('DELETE', `${core}/pods/p-${index}`));
  console.log(`${title.padEnd(10)} resident memory ${Math.round(residentBytes(server.pid) / 2 ** 20)} MiB`);
  await dispatcher.close();
  await server.stop();
}

/** Runs `work` while `count` watchers read everything, and waits until each has seen every event of it. */
async function watched(server: Server, _dispatcher: Agent, count: number, work: () => Promise<void>): Promise<void> {
  const dispatcher = new Agent({ connections: count, connect: { rejectUnauthorized: false } });
  const seen: number[] = Array.from({ length: count }, () => 0);
  const streams = await Promise.all(
    seen.map(async (_, watcher) => {
      const { body } = await request(
        `${server.url}/api/v1/namespaces/${NAMESPACE}/configmaps?watch=1&resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
        {
          dispatcher,
          headers: { authorization: `Bearer ${server.token}` },
        },
      );
      body.on('data', (chunk: Buffer) => {
        for (const byte of chunk) if (byte === 10) seen[watcher] = (seen[watcher] ?? 0) + 1;
      });
      body.on('error', () => undefined);
      return body;
    }),
  );
  await work();
  const begin = performance.now();
  while (seen.some((events) => events < writes) && performance.now() - begin < 30_000)
    await new Promise((resolve) => setTimeout(resolve, 10));
  console.log(
    `           slowest watcher saw ${Math.min(...seen)} of ${writes} events, ${Math.round(performance.now() - begin)} ms after the last write`,
  );
  for (const body of streams) body.destroy();
  await dispatcher.destroy();
}

/** User and system time of a process, from /proc; 0 where there is none. */
function cpuSeconds(pid: number): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return 0;
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
function residentBytes(pid: number): number {
  const file = `/proc/${pid}/statm`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[1]) * 4096 : 0;
}

await benchmark('plain', ['--plain']);
await benchmark('TLS', []);
await benchmark('durable', ['--plain', '--durable']);
