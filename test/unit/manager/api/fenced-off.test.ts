import { describe, expect, test } from 'vitest';
import { FENCE_MARGIN_MS, fencedJob, judgeLoss, type FencedJob, type LostCluster } from '../../../../manager/api/fenced-off.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const MINUTE = 60_000;
const cluster = (parts: Partial<LostCluster> = {}): LostCluster => ({
  since: '2026-01-01T00:00:00Z',
  lostMs: 15 * MINUTE,
  givenUpMs: undefined,
  fenceAfterSeconds: 60,
  workerAlive: true,
  otherManager: false,
  ...parts,
});
const job = (parts: Partial<FencedJob> = {}): FencedJob => ({ graceSeconds: 30, fencing: true, onClusterLost: 'Requeue', ...parts });
const judge = (lost: Partial<LostCluster> = {}, of: Partial<FencedJob> = {}, timeoutMs = 15 * MINUTE) =>
  judgeLoss(cluster(lost), job(of), timeoutMs);

describe('a cluster that is lost', () => {
  test('is given up when the time is over, and not a millisecond before', () => {
    expect(judge()).toEqual({
      kind: 'FencedOff',
      message:
        'cluster was lost at 2026-01-01T00:00:00Z, more than 15m ago; its worker has stopped its pods there, unless the control plane of the cluster is away as well: then they run on',
    });
    expect(judge({ lostMs: 15 * MINUTE - 1 })).toEqual({
      kind: 'NotYet',
      forMs: 1,
      message: 'lost since 2026-01-01T00:00:00Z: given up after 15m, unless it comes back',
    });
  });

  test('is given up only if fence, grace period and margin fit into that time', () => {
    const needed = 60_000 + 30_000 + FENCE_MARGIN_MS;
    expect(judge({}, {}, needed).kind).toBe('FencedOff');
    expect(judge({}, {}, needed - 1).kind).toBe('Never');
    expect(judge({ fenceAfterSeconds: 61 }, {}, needed).kind).toBe('Never');
    expect(judge({}, { graceSeconds: 31 }, needed).kind).toBe('Never');
    expect(judge({}, { graceSeconds: 3600 })).toEqual({
      kind: 'Never',
      message:
        'lost since 2026-01-01T00:00:00Z; it is not moved: --worker-lost-timeout (15m) is shorter than 1m of the fence there, 1h of grace for its pods and 30s together',
    });
  });

  test.each<[string, Partial<LostCluster>, Partial<FencedJob>, string]>([
    [
      'whose worker announced no fence',
      { fenceAfterSeconds: undefined },
      {},
      'the worker there has announced no fence, and its pods may run on',
    ],
    ['whose worker has none', { fenceAfterSeconds: 0 }, {}, 'the worker there has announced no fence, and its pods may run on'],
    [
      'whose worker was gone by then',
      { workerAlive: false },
      {},
      'the worker there was not alive when the cluster was lost, and its pods may run on',
    ],
    ['that another manager has', { otherManager: true }, {}, 'another manager renews the Lease there, so that its worker goes on'],
    ['with Jobs that are not fenced', {}, { fencing: false }, 'its pods are not fenced and may run on'],
    ['with Jobs that are to wait', {}, { onClusterLost: 'Wait' }, 'its ClusterQueue has it wait (onClusterLost: Wait)'],
  ])('keeps its Jobs for ever: one %s', (_which, lost, of, why) => {
    expect(judge({ lostMs: 1000 * MINUTE, ...lost }, of)).toEqual({
      kind: 'Never',
      message: `lost since 2026-01-01T00:00:00Z; it is not moved: ${why}`,
    });
  });

  test('keeps its Jobs for ever where nobody has them moved', () => {
    expect(judge({ lostMs: 1000 * MINUTE }, {}, 0).message).toContain('--worker-lost-timeout=0s');
  });
});

describe('a cluster whose Jobs move only when they are certain to have stopped', () => {
  const FENCED = { onClusterLost: 'RequeueFenced', podFenceSeconds: 120 } as const;
  // Fence, twice 20 s under way, three times 120 s, 36 s of probes, twice the grace period, and 34 s to spare.
  const needed = 60_000 + 40_000 + 360_000 + 36_000 + 60_000 + 34_000;

  test('loses those with a pod fence when the time is over, if that is long enough for everything that has to pass', () => {
    expect(judge({}, FENCED, needed)).toEqual({
      kind: 'FencedOff',
      message: 'cluster was lost at 2026-01-01T00:00:00Z, more than 9m50s ago; the pod fence has ended its pods there',
    });
    expect(judge({ lostMs: needed - 1 }, FENCED, needed)).toMatchObject({ kind: 'NotYet', forMs: 1 });
    expect(judge({}, FENCED, needed - 1)).toMatchObject({
      kind: 'Never',
      message: expect.stringContaining(
        '--worker-lost-timeout (9m50s) is shorter than 1m of the fence there and 8m50s in which the pod fence ends its pods together',
      ),
    });
    expect(judge({}, { ...FENCED, graceSeconds: 31 }, needed).kind).toBe('Never');
    expect(judge({ fenceAfterSeconds: 61 }, FENCED, needed).kind).toBe('Never');
  });

  test('need not have had a worker that was alive: who is gone renews no pod', () => {
    expect(judge({ workerAlive: false }, FENCED).kind).toBe('FencedOff');
    expect(judge({ workerAlive: false }, { podFenceSeconds: 120 }).kind).toBe('Never');
  });

  test('keeps those without one, and says what frees them', () => {
    const { kind, message } = judge({ lostMs: 1000 * MINUTE }, { onClusterLost: 'RequeueFenced' });
    expect([kind, message]).toEqual([
      'Never',
      expect.stringMatching(/have no pod fence; it goes on when the cluster is back, or is given up \(spec.state: Lost\)$/),
    ]);
    expect(judge({ givenUpMs: 15 * MINUTE }, { onClusterLost: 'RequeueFenced' }).kind).toBe('FencedOff');
  });

  test('keeps all where the worker has no fence, since it goes on renewing pods, or another manager has the cluster', () => {
    expect(judge({ fenceAfterSeconds: 0 }, FENCED).kind).toBe('Never');
    expect(judge({ otherManager: true }, FENCED).kind).toBe('Never');
  });
});

describe('a cluster that its operator has given up', () => {
  const needed = 60_000 + 30_000 + FENCE_MARGIN_MS;

  test('is fenced off after fence, grace period and margin, since both are so', () => {
    const given = (lostMs: number, givenUpMs: number) => judge({ lostMs, givenUpMs });
    expect(given(needed, needed).kind).toBe('FencedOff');
    expect(given(needed - 1, 10 * needed)).toEqual({
      kind: 'NotYet',
      forMs: 1,
      message: 'lost since 2026-01-01T00:00:00Z and given up: it moves within 2m',
    });
    expect(given(10 * needed, needed - 1)).toMatchObject({ kind: 'NotYet', forMs: 1 });
  });

  test.each<[string, Partial<LostCluster>, Partial<FencedJob>]>([
    ['without a fence', { fenceAfterSeconds: 0 }, {}],
    ['whose worker was gone', { workerAlive: false }, {}],
    ['with Jobs that are not fenced', {}, { fencing: false }],
  ])('is taken at his word: one %s', (_which, lost, of) => {
    const enough = 30_000 + FENCE_MARGIN_MS;
    expect(judge({ lostMs: enough, givenUpMs: enough, ...lost }, of).kind).toBe('FencedOff');
    expect(judge({ lostMs: enough, givenUpMs: enough - 1, ...lost }, of)).toMatchObject({ kind: 'NotYet', forMs: 1 });
  });

  test('moves also those that were to wait, or that nobody has moved; none where another manager goes on', () => {
    expect(judge({ givenUpMs: needed }, { onClusterLost: 'Wait' }).kind).toBe('FencedOff');
    expect(judge({ givenUpMs: needed }, {}, 0).kind).toBe('FencedOff');
    expect(judge({ givenUpMs: needed, otherManager: true }).kind).toBe('Never');
  });
});

test('whether a Job is fenced, and its pods are, its record says, what to do on a loss its queue, and how long its pods may take the Job', () => {
  expect([fencedJob(30, {}, undefined).fencing, fencedJob(30, { unfenced: true }, undefined).fencing]).toEqual([true, false]);
  expect([fencedJob(30, {}, undefined).podFenceSeconds, fencedJob(30, { podFence: 120 }, undefined).podFenceSeconds]).toEqual([
    undefined,
    120,
  ]);
  expect([fencedJob(30, {}, undefined).onClusterLost, fencedJob(30, {}, { onClusterLost: 'Fail' }).onClusterLost]).toEqual([
    'Requeue',
    'Fail',
  ]);
  const grace = (pod = {}): number => JOB_KIND.graceSeconds(aHomeJob({ spec: { template: { spec: { containers: [], ...pod } } } }));
  expect([grace(), grace({ terminationGracePeriodSeconds: 0 })]).toEqual([30, 0]);
});
