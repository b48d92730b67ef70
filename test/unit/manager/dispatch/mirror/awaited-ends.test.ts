import { expect, test } from 'vitest';
import {
  awaitsEndsForMs,
  ENDS_PATIENCE_MS,
  hasEndedCopy,
  reportsFailureInMs,
} from '../../../../../manager/dispatch/mirror/awaited-ends.ts';
import type { ClusterView, Copy, MirrorGroup } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { aCondition } from '../../../../support/jobs.ts';
import { aCrew, aCrewKind } from '../../work-kind/described/described.ts';

const NOW = 100_000;
const copy = (type: string, parts: Partial<Copy> = {}): Copy => ({
  cluster: 'eu-1',
  deleting: false,
  job: aCrew({ status: { conditions: [aCondition(type)] } }),
  ...parts,
});
const group = (parts: Partial<MirrorGroup> = {}, view: Partial<ClusterView> = {}): MirrorGroup =>
  ({ kind: aCrewKind(), copies: [], clusters: new Map([['eu-1', view]]), ...parts }) as unknown as MirrorGroup;

test('a failure is reported once its worker has had its time, a completion at once, and the copy stays for as long', () => {
  const [failed, complete] = [copy('Failed'), copy('Complete')];
  expect([reportsFailureInMs(group(), failed, NOW), reportsFailureInMs(group(), complete, NOW)]).toEqual([ENDS_PATIENCE_MS, 0]);
  expect(awaitsEndsForMs(group(), complete, NOW)).toBe(ENDS_PATIENCE_MS);
  const since = group({ endedSinceMs: NOW - 1_000 });
  expect(awaitsEndsForMs(since, complete, NOW)).toBe(ENDS_PATIENCE_MS - 1_000);
  expect(reportsFailureInMs(group({ endedSinceMs: NOW - 60_000 }), failed, NOW)).toBe(0);
});

test.each<[string, MirrorGroup, Copy]>([
  ['it runs', group(), copy('Suspended')],
  ['it is being deleted', group(), copy('Failed', { deleting: true })],
  ['no worker runs there', group({}, { withoutWorker: 'silent' }), copy('Failed')],
  ['no worker of ours is there at all', group({}, { builtIn: true }), copy('Failed')],
  ['its WorkerCluster is being deleted', group({}, { leaving: true }), copy('Failed')],
  ['its cluster is not known', group(), copy('Failed', { cluster: 'gone' })],
  ['it is a Job, whose end and the ends of its pods are one write', group({ kind: JOB_KIND }), copy('Failed')],
  ['no worker can tell its pods', group({ kind: { ...aCrewKind(), fence: 'None' } }), copy('Failed')],
])('nothing is waited for where %s', (_, each, one) => {
  expect(awaitsEndsForMs(each, one, NOW)).toBe(0);
});

test('since when is remembered while there is a copy that has ended', () => {
  expect(
    [[copy('Failed')], [copy('Failed', { deleting: true })], [copy('Suspended')], []].map((copies) => hasEndedCopy(group({ copies }))),
  ).toEqual([true, false, false, false]);
  expect(hasEndedCopy(group({ kind: JOB_KIND, copies: [copy('Failed')] }))).toBe(false);
});
