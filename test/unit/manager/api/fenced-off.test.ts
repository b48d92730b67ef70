import { describe, expect, test } from 'vitest';
import {
  FENCE_MARGIN_MS,
  fencedJob,
  graceSecondsOf,
  judgeLoss,
  type FencedJob,
  type LostCluster,
} from '../../../../manager/api/fenced-off.ts';
import { aHomeJob } from '../../../support/jobs.ts';

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
    expect(judge()).toEqual({ kind: 'FencedOff', message: 'cluster was lost at 2026-01-01T00:00:00Z, more than 15m ago' });
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

test('whether a Job is fenced its record says, what to do on a loss its queue, and how long its pods may take the Job', () => {
  expect([fencedJob(30, {}, undefined).fencing, fencedJob(30, { unfenced: true }, undefined).fencing]).toEqual([true, false]);
  expect([fencedJob(30, {}, undefined).onClusterLost, fencedJob(30, {}, { onClusterLost: 'Fail' }).onClusterLost]).toEqual([
    'Requeue',
    'Fail',
  ]);
  const grace = (pod = {}): number => graceSecondsOf(aHomeJob({ spec: { template: { spec: { containers: [], ...pod } } } }));
  expect([grace(), grace({ terminationGracePeriodSeconds: 0 })]).toEqual([30, 0]);
});
