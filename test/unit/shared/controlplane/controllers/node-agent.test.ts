import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Pod } from '../../../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, NODES, PODS } from '../../../../../shared/api/resources.ts';
import { createNodeAgent, type NodeAgentOptions } from '../../../../../shared/controlplane/controllers/node-agent.ts';
import { createPodLogs, type PodLogs } from '../../../../../shared/controlplane/subresources/pod-log.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { anEmbeddedCluster, createPod, type EmbeddedCluster } from './embedded-cluster.ts';

let cluster: EmbeddedCluster;
let directory: string;
let logs: PodLogs;
beforeEach(async () => {
  cluster = await anEmbeddedCluster();
  directory = mkdtempSync(join(tmpdir(), 'node-agent-'));
  logs = createPodLogs();
});
afterEach(async () => {
  await cluster.close();
  rmSync(directory, { recursive: true, force: true });
});

const startAgent = (options: Partial<NodeAgentOptions> = {}): Promise<() => Promise<void>> =>
  cluster.start(createNodeAgent(cluster.deps, { directory, logs, ...options }));

/** A pod whose containers are imagined. */
const simulated = (name: string, annotations: Record<string, string>, spec: Partial<Pod['spec']> = {}): Promise<Pod> =>
  createPod(cluster.client, name, {
    spec,
    metadata: {
      annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`switchyard.dev/simulate-${key}`, value])),
    },
  });
const pod = (name: string): Promise<Pod | undefined> => cluster.find(PODS, name);
const phase = async (name: string): Promise<string | undefined> => (await pod(name))?.status?.phase;
const condition = (of: Pod | undefined, type: string) => of?.status?.conditions?.find((each) => each.type === type);

describe('a simulated pod', () => {
  test('is bound, runs ready, and ends with its annotated exit code', async () => {
    await startAgent();
    await simulated('p', { duration: '10s', 'exit-code': '3' });
    await cluster.clock.advance(1000);
    const running = await pod('p');
    expect(running?.spec.nodeName).toBe('node-1');
    expect(running?.status).toMatchObject({
      phase: 'Running',
      startTime: '2026-01-01T00:00:01Z',
      observedGeneration: running?.metadata.generation,
    });
    expect(condition(running, 'Ready')?.status).toBe('True');
    await cluster.clock.advance(10_000);
    const ended = await pod('p');
    expect(ended?.status?.phase).toBe('Failed');
    expect(condition(ended, 'Ready')).toMatchObject({ status: 'False', reason: 'PodFailed', lastTransitionTime: '2026-01-01T00:00:11Z' });
    expect(ended?.status?.containerStatuses).toMatchObject([
      {
        ready: false,
        state: { terminated: { exitCode: 3, reason: 'Error', startedAt: '2026-01-01T00:00:01Z', finishedAt: '2026-01-01T00:00:11Z' } },
      },
    ]);
  });

  test('fails as often as its rate says', async () => {
    await startAgent();
    for (let index = 0; index < 100; index++) await simulated(`p-${index}`, { duration: '1s', 'failure-rate': '0.3' });
    await cluster.clock.advance(5000);
    const phases = (await cluster.client.list(PODS)).items.map(({ status }) => status?.phase);
    const failed = phases.filter((each) => each === 'Failed').length;
    expect(phases.filter((each) => each === 'Succeeded')).toHaveLength(100 - failed);
    expect(failed).toBeGreaterThan(15);
    expect(failed).toBeLessThan(45);
  });

  test('that is deleted gets a terminal phase before it goes', async () => {
    await startAgent();
    await createPod(cluster.client, 'p', {
      metadata: { annotations: { 'switchyard.dev/simulate-duration': '1h' }, finalizers: ['batch.kubernetes.io/job-tracking'] },
    });
    await cluster.clock.advance(1000);
    await cluster.client.delete(PODS, { namespace: 'default', name: 'p' });
    await cluster.clock.advance(1000);
    expect(await pod('p')).toMatchObject({ status: { phase: 'Failed' }, metadata: { deletionGracePeriodSeconds: 0 } });
    await cluster.client.patch(PODS, { namespace: 'default', name: 'p' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(await pod('p')).toBeUndefined();
  });

  test('that fails with OnFailure is restarted in place: at once, then after 10 s, then after 20 s', async () => {
    await startAgent();
    await simulated('p', { duration: '1s', 'exit-code': '1' }, { restartPolicy: 'OnFailure' });
    await cluster.clock.advance(2500);
    expect((await pod('p'))?.status).toMatchObject({
      phase: 'Running',
      containerStatuses: [
        { restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { exitCode: 1 } } },
      ],
    });
    await cluster.clock.advance(10_000);
    expect((await pod('p'))?.status?.containerStatuses).toMatchObject([{ restartCount: 2, ready: true }]);
    await cluster.clock.advance(20_500);
    expect((await pod('p'))?.status?.containerStatuses).toMatchObject([{ restartCount: 3, state: { waiting: {} } }]);
  });

  test('that outlives its deadline fails with DeadlineExceeded', async () => {
    await startAgent();
    await simulated('p', { duration: '1h' }, { activeDeadlineSeconds: 30 });
    await cluster.clock.advance(29_000);
    expect(await phase('p')).toBe('Running');
    await cluster.clock.advance(2000);
    expect((await pod('p'))?.status).toMatchObject({
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    });
  });

  test('runs its init containers first, and keeps a sidecar beside its containers', async () => {
    await startAgent();
    const initContainers = [
      { name: 'sidecar', image: 'none', restartPolicy: 'Always' },
      { name: 'first', image: 'none' },
    ];
    await simulated('p', { duration: '10s' }, { initContainers });
    await cluster.clock.advance(5000);
    expect(await pod('p')).toMatchObject({ status: { phase: 'Pending' } });
    expect(condition(await pod('p'), 'Initialized')?.status).toBe('False');
    await cluster.clock.advance(6000);
    const running = await pod('p');
    expect(running?.status?.phase).toBe('Running');
    expect(condition(running, 'Initialized')).toEqual({
      type: 'Initialized',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: expect.anything(),
    });
    await cluster.clock.advance(10_000);
    expect(await phase('p')).toBe('Succeeded');
  });

  test('whose init container fails for good fails without having run', async () => {
    await startAgent();
    await simulated('p', { duration: '1s', 'exit-code': '1' }, { initContainers: [{ name: 'init', image: 'none' }] });
    await cluster.clock.advance(3000);
    expect((await pod('p'))?.status).toMatchObject({
      phase: 'Failed',
      initContainerStatuses: [{ state: { terminated: { exitCode: 1 } } }],
      containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
    });
  });

  test('that was running when the node went down has failed when it comes back', async () => {
    const stop = await startAgent();
    await simulated('p', { duration: '1h' });
    await cluster.clock.advance(1000);
    expect(await phase('p')).toBe('Running');
    await stop();
    expect(await phase('p')).toBe('Running');
    await startAgent();
    expect((await pod('p'))?.status).toMatchObject({
      phase: 'Failed',
      containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } }],
    });
  });
});

describe('scheduling', () => {
  const requests = (cpu: string) => ({ containers: [{ name: 'main', image: 'none', resources: { requests: { cpu } } }] });

  test('pods wait for room, say why, and get it when others end; higher priority first', async () => {
    await startAgent({ nodes: [{ name: 'small', capacity: { cpu: '2' } }] });
    await simulated('a', { duration: '10s' }, requests('1500m'));
    await cluster.clock.advance(1000);
    await simulated('b', { duration: '10s' }, requests('1'));
    await simulated('c', { duration: '1s' }, requests('500m'));
    await cluster.clock.advance(1000);
    expect(condition(await pod('b'), 'PodScheduled')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: 1 Insufficient cpu.',
    });
    expect((await pod('c'))?.spec.nodeName).toBe('small');
    await cluster.clock.advance(10_000);
    expect((await pod('b'))?.spec.nodeName).toBe('small');
    expect(condition(await pod('b'), 'PodScheduled')?.status).toBe('True');
  });

  test('selectors, taints and tolerations decide which node it is', async () => {
    await startAgent({ nodes: [{ name: 'plain' }, { name: 'gpu', labels: { accelerator: 'gpu' } }] });
    const taints = [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }];
    await cluster.client.patch(NODES, { namespace: '', name: 'gpu' }, { type: 'merge', body: { spec: { taints } } });
    await cluster.clock.advance(100);
    await simulated('anywhere', { duration: '1h' });
    await simulated('picky', { duration: '1h' }, { nodeSelector: { accelerator: 'gpu' } });
    await simulated(
      'tolerant',
      { duration: '1h' },
      { nodeSelector: { accelerator: 'gpu' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] },
    );
    await cluster.clock.advance(1000);
    expect((await pod('anywhere'))?.spec.nodeName).toBe('plain');
    expect((await pod('picky'))?.spec.nodeName).toBeUndefined();
    expect((await pod('tolerant'))?.spec.nodeName).toBe('gpu');
  });

  test('no node gets more pods than it may have', async () => {
    await startAgent({
      nodes: [
        { name: 'a', capacity: { pods: '3' } },
        { name: 'b', capacity: { pods: '2' } },
      ],
    });
    for (let index = 0; index < 8; index++) await simulated(`p-${index}`, { duration: '10s' });
    await cluster.clock.advance(2000);
    const nodes = (await cluster.client.list(PODS)).items.map(({ spec }) => spec.nodeName ?? 'none').sort();
    expect(nodes).toEqual(['a', 'a', 'a', 'b', 'b', 'none', 'none', 'none']);
    await cluster.clock.advance(30_000);
    const phases = (await cluster.client.list(PODS)).items.map(({ status }) => status?.phase);
    expect(phases).toEqual(Array.from({ length: 8 }, () => 'Succeeded'));
  });
});

describe('a pod of processes', () => {
  const shell = (script: string, more: Partial<Pod['spec']['containers'][number]> = {}): Partial<Pod['spec']> => ({
    containers: [{ name: 'main', image: 'none', command: ['/bin/sh', '-c', script], ...more }],
  });
  /** Processes take real time; the fake clock only moves when told to. */
  const eventually = async (check: () => Promise<boolean> | boolean): Promise<void> => {
    for (let round = 0; round < 500; round++) {
      if (await check()) return;
      await new Promise<void>((resolve) => systemClock.schedule(resolve, 10));
      await cluster.clock.advance(10);
    }
    throw new Error('it did not happen within five seconds');
  };
  const logOf = async (name: string, options: { tailLines?: number } = {}): Promise<string> => {
    const found = await pod(name);
    if (found === undefined) throw new Error(`no pod ${name}`);
    let text = '';
    const wanted = {
      container: 'main',
      follow: false,
      previous: false,
      timestamps: false,
      tailLines: options.tailLines,
      sinceSeconds: undefined,
      sinceTime: undefined,
      limitBytes: undefined,
    };
    logs.open(found, wanted, { write: (more) => (text += more), end: () => undefined });
    return text;
  };
  const isAlive = (processId: number): boolean => {
    try {
      return process.kill(processId, 0);
    } catch {
      return false;
    }
  };

  test('runs its command with its environment, and leaves exit code, message and log', async () => {
    await startAgent();
    await cluster.client.create(CONFIG_MAPS, { metadata: { name: 'settings', namespace: 'default' }, data: { colour: 'blue' } });
    const env = [
      { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } },
      { name: 'BOTH', value: '$(NAME)-$(COLOUR)' },
    ];
    await createPod(cluster.client, 'p', {
      spec: shell('echo one; echo "$BOTH" $0 >&2; echo why > /dev/termination-log; exit 7', { env, args: ['$(NAME)!'] }),
    });
    await eventually(async () => (await phase('p')) === 'Failed');
    expect((await pod('p'))?.status?.containerStatuses).toMatchObject([
      { state: { terminated: { exitCode: 7, reason: 'Error', message: 'why\n' } } },
    ]);
    expect(await logOf('p')).toBe('one\np-blue p!\n');
    expect(await logOf('p', { tailLines: 1 })).toBe('p-blue p!\n');
    await cluster.client.delete(PODS, { namespace: 'default', name: 'p' });
    await eventually(async () => (await pod('p')) === undefined && !existsSync(join(directory, 'default_p')));
  });

  test('waits for a ConfigMap that does not exist yet', async () => {
    await startAgent();
    const env = [{ name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'late', key: 'colour' } } }];
    await createPod(cluster.client, 'p', { spec: shell('echo "$COLOUR"', { env }) });
    await cluster.clock.advance(1000);
    expect((await pod('p'))?.status).toMatchObject({
      phase: 'Pending',
      containerStatuses: [{ state: { waiting: { reason: 'CreateContainerConfigError' } } }],
    });
    await expect(logOf('p')).rejects.toThrow('container "main" in pod "p" is waiting to start: CreateContainerConfigError');
    await cluster.client.create(CONFIG_MAPS, { metadata: { name: 'late', namespace: 'default' }, data: { colour: 'red' } });
    await cluster.clock.advance(2000);
    await eventually(async () => (await phase('p')) === 'Succeeded');
    expect(await logOf('p')).toBe('red\n');
  });

  test('that names no command, or one that does not exist, fails with a StartError', async () => {
    await startAgent();
    await createPod(cluster.client, 'none');
    await createPod(cluster.client, 'missing', { spec: { containers: [{ name: 'main', image: 'none', command: ['/does/not/exist'] }] } });
    await eventually(async () => (await phase('none')) === 'Failed' && (await phase('missing')) === 'Failed');
    for (const name of ['none', 'missing']) {
      expect((await pod(name))?.status?.containerStatuses).toMatchObject([
        { state: { terminated: { exitCode: 128, reason: 'StartError' } } },
      ]);
    }
    expect((await pod('none'))?.status?.containerStatuses?.[0]?.state?.terminated?.message).toContain('names no command');
  });

  test('that is deleted gets SIGTERM and its grace period, then SIGKILL, all of its processes included', async () => {
    await startAgent();
    const spec = { ...shell('trap "" TERM; sleep 1000 & echo $!; while :; do sleep 0.05; done'), terminationGracePeriodSeconds: 5 };
    await createPod(cluster.client, 'stubborn', { spec });
    await createPod(cluster.client, 'polite', { spec: shell('trap "exit 0" TERM; echo ready; while :; do sleep 0.05; done') });
    await eventually(async () => (await logOf('stubborn')) !== '' && (await logOf('polite')) !== '');
    const child = Number(await logOf('stubborn'));
    for (const name of ['stubborn', 'polite']) await cluster.client.delete(PODS, { namespace: 'default', name });
    await eventually(async () => (await pod('polite')) === undefined);
    expect(isAlive(child)).toBe(true);
    await cluster.clock.advance(5000);
    await eventually(async () => (await pod('stubborn')) === undefined && !isAlive(child));
  });

  test('ends with the node agent', async () => {
    const stop = await startAgent();
    await createPod(cluster.client, 'p', { spec: shell('sleep 1000 & echo $!; sleep 1000') });
    await eventually(async () => (await phase('p')) === 'Running' && (await logOf('p')) !== '');
    const child = Number(await logOf('p'));
    expect(isAlive(child)).toBe(true);
    await stop();
    await eventually(() => !isAlive(child));
  });
});
