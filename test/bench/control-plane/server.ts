/** A control plane in a process of its own, connections to it, and what it costs. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import { ChildProgram } from '../../support/child-program.ts';
import { cpuSecondsOf, residentBytesOf } from '../process-figures.ts';

const CONTROL_PLANE = path.resolve(import.meta.dirname, '../../../shared/controlplane/main.ts');

export type ServerOptions = {
  /** Without TLS. */
  readonly plain: boolean;
  /** With its objects on disk. */
  readonly durable: boolean;
  readonly connections: number;
  /** Where it leaves a CPU profile at its end. */
  readonly profileDirectory: string | undefined;
};

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';

export interface BenchServer {
  /** Throws for any answer that is an error. */
  call(method: Method, at: string, body?: object, contentType?: string): Promise<string>;
  /** Counts the lines of a watch on a connection of its own until stopped. */
  watch(at: string): Promise<{ lines(): number; stop(): void }>;
  /** User and system time of the server so far, in seconds; NaN where /proc does not tell. */
  cpuSeconds(): number;
  residentBytes(): number;
  stop(): Promise<void>;
}

export async function startServer({ plain, durable, connections, profileDirectory }: ServerOptions): Promise<BenchServer> {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  const kubeconfigFile = path.join(directory, 'kubeconfig');
  const flags = [
    '--kubeconfig-out',
    kubeconfigFile,
    ...(plain ? ['--plain'] : []),
    ...(durable ? ['--data-dir', path.join(directory, 'data')] : []),
  ];
  const profiling = profileDirectory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`];
  const program = new ChildProgram('the control plane', [process.execPath, ...profiling, CONTROL_PLANE, ...flags]);
  await program.find((line) => (line.includes('"control plane is serving"') && existsSync(kubeconfigFile) ? true : undefined));
  const text = readFileSync(kubeconfigFile, 'utf8');
  const url = /server: (\S+)/.exec(text)?.[1] ?? '';
  const authorization = `Bearer ${/token: (\S+)/.exec(text)?.[1] ?? ''}`;
  // The certificate is checked by whoever uses the server; here it would only be measured once per connection.
  const connect = { rejectUnauthorized: false };
  const dispatcher = new Agent({ connections, connect });
  const watchers = new Agent({ connect });

  return {
    call: async (method, at, body, contentType = 'application/json') => {
      const headers = { authorization, 'content-type': contentType, 'user-agent': 'bench' };
      const answer = await request(url + at, {
        method,
        dispatcher,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const received = await answer.body.text();
      if (answer.statusCode >= 400) throw new Error(`${method} ${at}: ${received}`);
      return received;
    },
    watch: async (at) => {
      let lines = 0;
      const { body } = await request(url + at, { dispatcher: watchers, headers: { authorization } });
      body.on('data', (chunk: Buffer) => {
        for (const byte of chunk) if (byte === LINE_FEED) lines++;
      });
      // Stopping destroys the stream, which tells so.
      body.on('error', () => undefined);
      return { lines: () => lines, stop: () => body.destroy() };
    },
    cpuSeconds: () => cpuSecondsOf(program.pid),
    residentBytes: () => residentBytesOf(program.pid),
    stop: async () => {
      await Promise.all([dispatcher.destroy(), watchers.destroy()]);
      await program.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const LINE_FEED = 10;
