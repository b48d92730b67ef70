import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CoreEvent, Pod } from '../../../../../../shared/api/kubernetes.ts';
import { EVENTS, NODES, PODS } from '../../../../../../shared/api/resources.ts';
import { createNodeAgent, type NodeAgentOptions } from '../../../../../../shared/controlplane/controllers/node-agent.ts';
import { createTaintEviction } from '../../../../../../shared/controlplane/controllers/taint-eviction.ts';
import { anEmbeddedCluster, createPod, type EmbeddedCluster } from '../embedded-cluster.ts';

let cluster: EmbeddedCluster;
let directory: string;
beforeEach(async () => {
  cluster = await anEmbeddedCluster();
  directory = mkdtempSync(join(tmpdir(), 'pod-events-'));
});
afterEach(async () => {
  await cluster.close();
  rmSync(directory, { recursive: true, force: true });
});

const startAgent = (options: Partial<NodeAgentOptions> = {}): Promise<() => Promise<void>> =>
  cluster.start(createNodeAgent(cluster.deps, { directory, ...options }));
/** A pod whose containers are imagined. */
const imagined = (name: string, annotations: Readonly<Record<string, string>> = {}, spec: Partial<Pod['spec']> = {}): Promise<Pod> =>
  createPod(cluster.client, name, {
    spec,
    metadata: {
      annotations: Object.fromEntries(
        Object.entries({ duration: '10s', ...annotations }).map(([key, value]) => [`switchyard.dev/simulate-${key}`, value]),
      ),
    },
  });
const eventsOf = async (name: string): Promise<CoreEvent[]> =>
  (await cluster.client.list(EVENTS, { fieldSelector: `involvedObject.name=${name}` })).items;
/** As `kubectl describe` has them, by the source, without order. */
const told = async (name: string): Promise<string[]> =>
  (await eventsOf(name))
    .map(({ type, reason, source, message, count = 1 }) => {
      const from = [source?.component, source?.host].filter((each) => each !== undefined).join(', ');
      return `${type} ${reason}${count > 1 ? ` x${count}` : ''} (${from}) ${message}`;
    })
    .toSorted();
const IMAGE = 'Container image "none" already present on machine and can be accessed by the pod';

describe('of a pod, its events tell', () => {
  test('where it went, and that its containers run', async () => {
    await startAgent();
    await imagined('p');
    await cluster.clock.advance(1000);
    expect(await told('p')).toEqual([
      'Normal Created (kubelet, node-1) Container created',
      `Normal Pulled (kubelet, node-1) ${IMAGE}`,
      'Normal Scheduled (default-scheduler) Successfully assigned default/p to node-1',
      'Normal Started (kubelet, node-1) Container started',
    ]);
    const started = (await eventsOf('p')).find(({ reason }) => reason === 'Started');
    expect(started).toMatchObject({
      involvedObject: { kind: 'Pod', apiVersion: 'v1', fieldPath: 'spec.containers{main}' },
      reportingComponent: 'kubelet',
      reportingInstance: 'node-1',
    });
  });

  test('what keeps it from every node', async () => {
    await startAgent({ nodes: [{ name: 'a', capacity: { cpu: '1', memory: '1Gi', pods: '10' } }, { name: 'b' }] });
    await cluster.client.patch(NODES, { namespace: '', name: 'b' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    await cluster.clock.advance(1000);
    const resources = { requests: { cpu: '2', memory: '2Gi' } };
    await imagined('p', {}, { containers: [{ name: 'main', image: 'none', resources }] });
    await cluster.clock.advance(1000);
    expect(await told('p')).toEqual([
      'Warning FailedScheduling (default-scheduler) 0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) were unschedulable.',
    ]);
  });

  test('how often it failed and was started again', async () => {
    await startAgent();
    await imagined('p', { duration: '1s', 'exit-code': '1' }, { restartPolicy: 'OnFailure' });
    await cluster.clock.advance(20_000);
    const { uid } = (await cluster.find(PODS, 'p'))?.metadata ?? {};
    expect(await told('p')).toEqual([
      'Normal Created x3 (kubelet, node-1) Container created',
      `Normal Pulled x3 (kubelet, node-1) ${IMAGE}`,
      'Normal Scheduled (default-scheduler) Successfully assigned default/p to node-1',
      'Normal Started x3 (kubelet, node-1) Container started',
      `Warning BackOff x2 (kubelet, node-1) Back-off restarting failed container main in pod p_default(${uid})`,
    ]);
  });

  test('that it was stopped, once, however often that is asked for', async () => {
    await startAgent();
    await createPod(cluster.client, 'p', {
      spec: { terminationGracePeriodSeconds: 30 },
      metadata: { annotations: { 'switchyard.dev/simulate-duration': '1h' }, finalizers: ['example.com/stay'] },
    });
    await cluster.clock.advance(1000);
    await cluster.client.delete(PODS, { namespace: 'default', name: 'p' });
    await cluster.client.delete(PODS, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 1 });
    await cluster.clock.advance(2000);
    expect((await told('p')).filter((line) => line.includes('Killing'))).toEqual([
      'Normal Killing (kubelet, node-1) Stopping container main',
    ]);
  });

  test('that its time is over', async () => {
    await startAgent();
    await imagined('p', { duration: '1h' }, { activeDeadlineSeconds: 5 });
    await cluster.clock.advance(7000);
    expect((await told('p')).filter((line) => /Deadline|Killing/.test(line))).toEqual([
      'Normal DeadlineExceeded (kubelet, node-1) Pod was active on the node longer than the specified deadline',
      'Normal Killing (kubelet, node-1) Stopping container main',
    ]);
  });

  test('what could not be started, and what it waits for', async () => {
    await startAgent();
    await createPod(cluster.client, 'none');
    const env = [{ name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'late', key: 'colour' } } }];
    await createPod(cluster.client, 'waits', { spec: { containers: [{ name: 'main', image: 'none', command: ['true'], env }] } });
    await cluster.clock.advance(10_000);
    expect((await told('none')).filter((line) => /Failed|Started/.test(line))).toEqual([
      'Warning Failed (kubelet, node-1) Error: failed to start: container main names no command: images are not run here, so write spec.containers[].command',
    ]);
    expect((await told('waits')).filter((line) => !line.includes('Scheduled'))).toEqual([
      'Warning Failed (kubelet, node-1) Error: configmap "late" not found',
    ]);
  });

  test('that its node was lost, and that it is evicted for it', async () => {
    await startAgent();
    await cluster.start(createTaintEviction(cluster.deps));
    await imagined('p', { duration: '1h' });
    await cluster.clock.advance(1000);
    const annotations = { 'switchyard.dev/simulate-node-loss': '5s' };
    await cluster.client.patch(NODES, { namespace: '', name: 'node-1' }, { type: 'merge', body: { metadata: { annotations } } });
    await cluster.clock.advance(310_000);
    expect((await told('p')).filter((line) => /NotReady|Taint/.test(line))).toEqual([
      'Normal TaintManagerEviction (taint-eviction-controller) Marking for deletion Pod default/p',
      'Warning NodeNotReady (node-controller) Node is not ready',
    ]);
    expect(await told('node-1')).toEqual(['Normal NodeNotReady (node-controller) Node node-1 status is now: NodeNotReady']);
  });
});

test('a thousand pods at once have their events written at the rate of a kubelet, and run no later for it', async () => {
  await startAgent({ nodes: [{ name: 'node-1', capacity: { cpu: '1000', memory: '1000Gi', pods: '2000' } }] });
  for (let index = 0; index < 1000; index++) await imagined(`p-${index}`, { duration: '1h' });
  await cluster.clock.advance(1000);
  const running = (await cluster.client.list(PODS)).items.filter(({ status }) => status?.phase === 'Running');
  expect(running).toHaveLength(1000);
  // Two sources, each with a burst of 100 and 50 in a second.
  expect((await cluster.client.list(EVENTS)).items.length).toBeLessThanOrEqual(2 * (100 + 60));
});
