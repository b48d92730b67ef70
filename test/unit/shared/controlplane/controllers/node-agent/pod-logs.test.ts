import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Pod } from '../../../../../../shared/api/kubernetes.ts';
import { PODS } from '../../../../../../shared/api/resources.ts';
import { createNodeAgent } from '../../../../../../shared/controlplane/controllers/node-agent.ts';
import { createPodLogs, type PodLogs } from '../../../../../../shared/controlplane/subresources/pod-log.ts';
import type { PodLogOptions } from '../../../../../../shared/controlplane/subresources/pod-log-options.ts';
import { systemClock } from '../../../../../../shared/runtime/clock.ts';
import { anEmbeddedCluster, createPod, type EmbeddedCluster } from '../embedded-cluster.ts';

const LIMIT_MS = 30_000;
let cluster: EmbeddedCluster;
let directory: string;
let logs: PodLogs;
beforeEach(async () => {
  cluster = await anEmbeddedCluster();
  directory = mkdtempSync(join(tmpdir(), 'pod-logs-'));
  logs = createPodLogs();
  await cluster.start(createNodeAgent(cluster.deps, { directory, logs }));
});
afterEach(async () => {
  await cluster.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (name: string, script: string, restartPolicy = 'Never'): Promise<Pod> =>
  createPod(cluster.client, name, {
    spec: { restartPolicy, containers: [{ name: 'main', image: 'none', command: ['/bin/sh', '-c', script] }] },
  });
const pod = async (name: string): Promise<Pod> => {
  const found = await cluster.find(PODS, name);
  if (found === undefined) throw new Error(`no pod ${name}`);
  return found;
};
/** Processes take real time, and the clock of the node agent goes with it. */
const eventually = async (check: () => Promise<boolean> | boolean): Promise<void> => {
  for (const begin = systemClock.now(); systemClock.now() < begin + LIMIT_MS; ) {
    if (await check()) return;
    await new Promise<void>((resolve) => systemClock.schedule(resolve, 10));
    await cluster.clock.advance(10);
  }
  throw new Error('it did not happen within half a minute');
};
const phaseIs = (name: string, phase: string) => async (): Promise<boolean> => (await pod(name)).status?.phase === phase;

const NOTHING: PodLogOptions = {
  container: 'main',
  follow: false,
  previous: false,
  timestamps: false,
  tailLines: undefined,
  sinceSeconds: undefined,
  sinceTime: undefined,
  limitBytes: undefined,
};
type Opened = { text(): string; hasEnded(): boolean };
const open = async (name: string, options: Partial<PodLogOptions> = {}): Promise<Opened> => {
  let text = '';
  let ended = false;
  const sink = {
    write: (more: string) => (text += more),
    end: () => {
      ended = true;
    },
  };
  logs.open(await pod(name), { ...NOTHING, ...options }, sink);
  return { text: () => text, hasEnded: () => ended };
};
const logOf = async (name: string, options: Partial<PodLogOptions> = {}): Promise<string> => (await open(name, options)).text();

describe('the log of a container', { timeout: 2 * LIMIT_MS }, () => {
  test('has both streams in order, and is a pipe that scripts can open by name', async () => {
    await run('p', 'echo one; echo two >&2; echo three > /dev/stdout; echo four > /dev/stderr; test -p /dev/stdout && printf five');
    await eventually(phaseIs('p', 'Succeeded'));
    expect(await logOf('p')).toBe('one\ntwo\nthree\nfour\nfive');
  });

  test('knows when each line was written', async () => {
    await run('p', `echo early; while [ ! -e go ]; do sleep 0.05; done; echo late; sleep 600`);
    await eventually(async () => (await logOf('p')) !== '');
    const between = cluster.clock.now();
    await cluster.clock.advance(60_000);
    await run('touch', `touch ${directory}/default_p_${(await pod('p')).metadata.uid}/main/home/go`);
    await eventually(async () => (await logOf('p')).includes('late'));
    expect(await logOf('p', { timestamps: true })).toMatch(/^2026-01-01T00:00:\S+Z early\n2026-01-01T00:01:\S+Z late\n$/);
    expect(await logOf('p', { sinceSeconds: 30 })).toBe('late\n');
    expect(await logOf('p', { sinceTime: new Date(between + 1000).toISOString() })).toBe('late\n');
    expect(await logOf('p', { sinceTime: '0001-01-01T00:00:00Z', tailLines: 1 })).toBe('late\n');
  });

  test('loses nothing of a container that says much and ends', async () => {
    await run('p', 'seq 1 200000; head -c 100000 /dev/zero | tr "\\0" x');
    await eventually(phaseIs('p', 'Succeeded'));
    const text = await logOf('p');
    expect(text.length).toBe(1_288_895 + 100_000);
    expect(text.slice(0, 1_288_895).split('\n')).toHaveLength(200_001);
  });

  test('does not wait for a process that leaves its group and holds the output', async () => {
    await run('p', 'setsid sleep 5 & echo done; exit 3');
    await eventually(phaseIs('p', 'Failed'));
    expect(await logOf('p')).toBe('done\n');
  });

  test('that is followed ends when the container does, not when the pod does', async () => {
    await run('p', 'echo first; while [ ! -e go ]; do sleep 0.05; done; echo last; exit 1', 'OnFailure');
    await eventually(async () => (await logOf('p')) !== '');
    const followed = await open('p', { follow: true });
    expect([followed.text(), followed.hasEnded()]).toEqual(['first\n', false]);
    await run('touch', `touch ${directory}/default_p_${(await pod('p')).metadata.uid}/main/home/go`);
    await eventually(() => followed.hasEnded());
    expect(followed.text()).toBe('first\nlast\n');
    expect((await pod('p')).status?.phase).toBe('Running');
  });

  test('of the run before is there while the container waits and when it runs again', async () => {
    await run('p', 'echo run >> count; echo "run $(wc -l < count)"; [ $(wc -l < count) -lt 3 ] && exit 1; sleep 600', 'OnFailure');
    const restarts = (count: number) => async (): Promise<boolean> =>
      (await pod('p')).status?.containerStatuses?.[0]?.restartCount === count;
    await eventually(async () => (await pod('p')).status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff');
    // As a kubelet has it: what ended last is both the latest and the one before.
    expect([await logOf('p'), await logOf('p', { previous: true })]).toEqual(['run 2\n', 'run 2\n']);
    await cluster.clock.advance(10_000);
    await eventually(restarts(2));
    await eventually(async () => (await logOf('p')) === 'run 3\n');
    await eventually(async () => (await pod('p')).status?.containerStatuses?.[0]?.state?.running !== undefined);
    expect(await logOf('p', { previous: true })).toBe('run 2\n');
  });

  test('is what a failure tells where the container asks for it, without times', async () => {
    const script = 'for i in 1 2 3; do echo "line $i"; done; exit 1';
    await createPod(cluster.client, 'p', {
      spec: {
        containers: [
          { name: 'main', image: 'none', command: ['/bin/sh', '-c', script], terminationMessagePolicy: 'FallbackToLogsOnError' },
        ],
      },
    });
    await eventually(phaseIs('p', 'Failed'));
    expect((await pod('p')).status?.containerStatuses?.[0]?.state?.terminated?.message).toBe('line 1\nline 2\nline 3\n');
  });
});

test('pipes that nobody uses any more leave nothing behind', { timeout: 2 * LIMIT_MS }, async () => {
  await run('p', 'true');
  await eventually(phaseIs('p', 'Succeeded'));
  expect(readdirSync(join(directory, 'pipes'))).toHaveLength(31);
  await cluster.close();
  expect(readdirSync(directory).filter((name) => name === 'pipes')).toEqual([]);
});
