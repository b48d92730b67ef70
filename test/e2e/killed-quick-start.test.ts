/** What is left of a quick start whose processes are killed without warning. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Pod } from '../../shared/api/kubernetes.ts';
import { PODS } from '../../shared/api/resources.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { isAlive, LocalRun } from '../support/local-run.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 300_000;
const UP = /manager, workers and Redis are up after/;
const ROOT = path.join(import.meta.dirname, '..', '..');
const LOCAL = path.join(ROOT, 'manager', 'cli', 'local.ts');

function scratch(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-checkout-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const gone = (pids: readonly number[]): Promise<void> => expect.poll(() => pids.filter(isAlive), { timeout: LIMIT_MS }).toEqual([]);

/** Runs a container on a worker cluster for ever, and tells the IDs of its two processes. Of two dollars, Kubernetes leaves one. */
async function startContainer(kubeconfigFile: string, directory: string): Promise<number[]> {
  const transport = createHttpTransport(accessFromKubeconfig({ kind: 'file', path: kubeconfigFile }, systemClock), silentLogger);
  const client = createKubeClient(transport, { userAgent: 'test', clock: systemClock });
  const file = path.join(directory, 'container.pids');
  const command = ['sh', '-c', `sleep 3600 & echo $$$$ $! > ${file}.draft; mv ${file}.draft ${file}; wait`];
  const pod = { metadata: { namespace: 'default', name: 'endless' }, spec: { containers: [{ name: 'main', image: 'none', command }] } };
  await client.create<Pod>(PODS, pod);
  await expect.poll(() => existsSync(file), { timeout: LIMIT_MS }).toBe(true);
  await client.close();
  return readFileSync(file, 'utf8').trim().split(' ').map(Number);
}

/** `npm start`, then of its descendants the one whose command line contains `part`, as a user would find it with ps. */
async function descendant(of: number, part: string): Promise<number> {
  const found = (): number | undefined => {
    const processes = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readProcess(Number(name)) ?? []);
    const below = new Set([of]);
    // Parents have not always the smaller numbers: as often as there may be generations.
    for (let generation = 0; generation < 6; generation++) {
      for (const { pid, parent } of processes) if (below.has(parent)) below.add(pid);
    }
    return processes.find(({ pid, command }) => below.has(pid) && command.includes(part))?.pid;
  };
  await expect.poll(found, { timeout: LIMIT_MS }).toBeDefined();
  return found() ?? 0;
}

function readProcess(pid: number): { readonly pid: number; readonly parent: number; readonly command: string } | undefined {
  try {
    const parent = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
    return { pid, parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() };
  } catch {
    return undefined; // it has ended meanwhile
  }
}

describe.skipIf(!existsSync('/proc/self/stat') || !isSlow)(
  'a quick start that is killed with SIGKILL (needs /proc and SWITCHYARD_SLOW=1)',
  () => {
    test.each([
      ['npm', undefined],
      ['the launcher', 'scripts/run.mjs start'],
      ['the quick start itself', 'manager/cli/local.ts'],
    ])('at %s ends with all its programs and containers', { timeout: LIMIT_MS }, async (_what, part) => {
      const directory = scratch();
      await using run = new LocalRun({ directory, cwd: ROOT, command: ['npm', 'start', '--', '--dir', directory, '--keep'] });
      await run.waitFor(UP);
      const containers = await startContainer(run.file('east.kubeconfig'), directory);
      const local = await descendant(run.pid, LOCAL.slice(ROOT.length + 1));
      const victim = part === undefined ? run.pid : await descendant(run.pid, part);
      const everything = [...Object.values(run.pids()), ...containers, local];
      expect(everything.filter(isAlive)).toEqual(everything);
      process.kill(victim, 'SIGKILL');
      await gone(everything);
    });
  },
);
