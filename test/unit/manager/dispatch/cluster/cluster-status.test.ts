import { describe, expect, test } from 'vitest';
import type { NodeShape } from '../../../../../manager/api/node-shape.ts';
import type { WorkerClusterStatus } from '../../../../../manager/api/worker-cluster.ts';
import { NEVER_PROBED, type ClusterHealth } from '../../../../../manager/dispatch/cluster/cluster-health.ts';
import type { Capacity } from '../../../../../manager/dispatch/cluster/node-capacity.ts';
import type { WorkerFinding } from '../../../../../manager/dispatch/cluster/worker-finding.ts';
import { clusterStatus, type Finding, type Loss } from '../../../../../manager/dispatch/cluster/cluster-status.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const READY: ClusterHealth = {
  ...NEVER_PROBED,
  contact: 'Ready',
  connected: true,
  reason: 'Connected',
  message: 'connected',
  version: 'v1.36.2',
  roundTripMs: 4,
};
const LOST: ClusterHealth = {
  ...NEVER_PROBED,
  contact: 'Lost',
  reason: 'ConnectionFailed',
  message: 'refused',
  failingSinceMs: NOW - 60_000,
};
const NO_WORKER: WorkerFinding = { kind: 'None', where: 'kube-system/switchyard-worker', mayStart: true };
const running = (health: ClusterHealth, allocatable: Record<string, string> = {}): Finding => ({
  kind: 'Running',
  health,
  ability: { kind: 'Able' },
  capacity: { allocatable },
  worker: NO_WORKER,
});
const status = (previous: WorkerClusterStatus | undefined, finding: Finding, loss?: Loss) => clusterStatus(previous, finding, loss, 1, NOW);

describe('the status of a WorkerCluster', () => {
  test('says that it is ready, and what its nodes offer', () => {
    expect(status(undefined, running(READY, { cpu: '8' }))).toMatchObject({
      conditions: [
        { type: 'Reachable', status: 'True', lastTransitionTime: '2026-01-01T01:00:00Z', observedGeneration: 1 },
        { type: 'Synced', status: 'True' },
        { type: 'Able', status: 'True' },
        { type: 'Ready', status: 'True', reason: 'Connected' },
        { type: 'WorkerAlive', status: 'Unknown', reason: 'Connecting' },
      ],
      version: 'v1.36.2',
      roundTripMs: 4,
      allocatable: { cpu: '8' },
    });
  });

  test('says what of its nodes does not count', () => {
    const finding: Finding = {
      ...(running(READY) as Finding & { kind: 'Running' }),
      capacity: { allocatable: {}, problem: 'cpu of node "a" does not count' },
    };
    expect(status(undefined, finding)?.conditions?.[3]).toMatchObject({
      status: 'True',
      message: 'connected; cpu of node "a" does not count',
    });
  });

  test('says that nothing is left of what its nodes offered when all are gone, and not while they are not listed', () => {
    const before = status(undefined, running(READY, { cpu: '8', pods: '110' }));
    const without = (isAll: boolean): Finding => ({
      kind: 'Running',
      health: READY,
      ability: { kind: 'Able' },
      capacity: { allocatable: {}, isAll },
      worker: NO_WORKER,
    });
    expect(status(before, without(false))).toBeUndefined();
    const gone = status(before, without(true));
    expect(gone?.allocatable).toEqual({ cpu: '0', pods: '0' });
    expect(status(gone, without(true))).toBeUndefined();
    expect(status(gone, running(READY, { cpu: '4' }))?.allocatable).toEqual({ cpu: '4' });
  });

  test('says what its nodes are like until they are others, are gone, or are too different to be told', () => {
    const withNodes = (nodes: Pick<Capacity, 'nodeShapes' | 'isAll'>): Finding => ({
      ...(running(READY) as Finding & { kind: 'Running' }),
      capacity: { allocatable: {}, ...nodes },
    });
    const twoOf = (cpu: string): NodeShape[] => [{ count: 2, allocatable: { cpu } }];
    const before = status(undefined, withNodes({ nodeShapes: twoOf('4') }));
    expect(before?.nodeShapes).toEqual(twoOf('4'));
    // Nodes that are still being listed say nothing.
    expect(status(before, withNodes({ isAll: false }))).toBeUndefined();
    expect(status(before, withNodes({ isAll: true, nodeShapes: twoOf('8') }))?.nodeShapes).toEqual(twoOf('8'));
    expect(status(before, withNodes({ isAll: true }))).not.toHaveProperty('nodeShapes');
  });

  test('is not made up for a cluster that never showed a node', () => {
    const found: Finding = {
      kind: 'Running',
      health: READY,
      ability: { kind: 'Able' },
      capacity: { allocatable: {}, isAll: true },
      worker: NO_WORKER,
    };
    expect(status(undefined, found)).not.toHaveProperty('allocatable');
  });

  test('is not written for a new round trip alone', () => {
    const present = status(undefined, running(READY));
    expect(status(present, running({ ...READY, roundTripMs: 9 }))).toBeUndefined();
  });

  test('shows a loss while there is one', () => {
    const loss: Loss = { lostSince: '2026-01-01T00:59:00Z', lostCounted: { since: '2026-01-01T00:59:00Z', seconds: 60 } };
    const lost = status(status(undefined, running(READY)), running(LOST), loss);
    expect(lost).toMatchObject(loss);
    const back = status(lost, running(READY));
    expect(back).not.toHaveProperty('lostSince');
    expect(back).not.toHaveProperty('lostCounted');
  });
});

test('a cluster that cannot be reached for want of a kubeconfig is neither reachable nor ready, and says what to do', () => {
  const problem = { reason: 'KubeconfigMissing', message: 'name the Secret' };
  expect(status(undefined, { kind: 'Misconfigured', problem })).toMatchObject({
    conditions: [
      { type: 'Reachable', status: 'False', ...problem },
      { type: 'Synced', status: 'Unknown', ...problem },
      { type: 'Able', status: 'Unknown', ...problem },
      { type: 'Ready', status: 'False', ...problem },
      { type: 'WorkerAlive', status: 'Unknown', reason: 'Connecting' },
    ],
  });
});

test('a cluster that answers and whose Jobs are still being listed is reachable, and not ready', () => {
  const listing: ClusterHealth = { ...READY, contact: 'Connecting', reason: 'Listing', message: 'listing its Jobs' };
  expect(status(undefined, running(listing))?.conditions?.map((each) => `${each.type}=${each.status}`)).toEqual([
    'Reachable=True',
    'Synced=False',
    'Able=True',
    'Ready=False',
    'WorkerAlive=Unknown',
  ]);
});

describe('a cluster on which copies cannot be made', () => {
  const problem = { reason: 'ClusterError', message: 'the webhook is down' } as const;
  const told = (finding: Finding) => status(undefined, finding)?.conditions?.map((each) => `${each.type}=${each.status} ${each.reason}`);

  test('is not ready, and not lost', () => {
    const finding: Finding = {
      kind: 'Running',
      health: READY,
      ability: { kind: 'NotAble', problem },
      capacity: { allocatable: {} },
      worker: NO_WORKER,
    };
    expect(told(finding)).toEqual([
      'Reachable=True Answering',
      'Synced=True Synced',
      'Able=False ClusterError',
      'Ready=False NotAble',
      'WorkerAlive=Unknown Connecting',
    ]);
    expect(status(undefined, finding)?.conditions?.[3]?.message).toBe('the webhook is down');
    expect(status(undefined, finding)).not.toHaveProperty('lostSince');
  });

  test('is ready again when it is to be tried', () => {
    const finding: Finding = {
      kind: 'Running',
      health: READY,
      ability: { kind: 'Trying', problem },
      capacity: { allocatable: {} },
      worker: NO_WORKER,
    };
    expect(told(finding)).toEqual([
      'Reachable=True Answering',
      'Synced=True Synced',
      'Able=Unknown Trying',
      'Ready=True Connected',
      'WorkerAlive=Unknown Connecting',
    ]);
  });
});

test.each([
  ['NotKubernetes', 'False'],
  ['AnswerTooLarge', 'False'],
  ['ClusterChanged', 'Unknown'],
  ['Forbidden', 'Unknown'],
  ['ConnectionFailed', 'Unknown'],
])('of a cluster that is lost for %s it is %s that it is synced', (reason, expected) => {
  const synced = status(undefined, running({ ...LOST, connected: true, reason }))?.conditions?.[1];
  expect(synced).toMatchObject({ type: 'Synced', status: expected, reason });
});

test('a cluster that answers, but whose watches say nothing, is ready and not synced', () => {
  const conditions = status(undefined, running({ ...READY, unheard: true }))?.conditions;
  expect(conditions?.[1]).toMatchObject({ type: 'Synced', status: 'False', reason: 'NotHeard' });
  expect(conditions?.[3]).toMatchObject({ type: 'Ready', status: 'True' });
});
