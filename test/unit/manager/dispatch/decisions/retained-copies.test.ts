import { describe, expect, test } from 'vitest';
import { retainedCopies } from '../../../../../manager/dispatch/decisions/retained-copies.ts';
import type { ClusterView, Copy, MirrorGroup } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { DISPATCH_EPOCH_ANNOTATION, ORIGIN_UID_ANNOTATION } from '../../../../../shared/api/names.ts';
import { aCondition, anAdmittedJob, aHomeJob } from '../../../../support/jobs.ts';
import { aCrewKind } from '../../work-kind/described/described.ts';

const ENDED = '2026-01-01T00:00:00Z';
const at = (seconds: number): number => Date.parse(ENDED) + seconds * 1000;
const ended = (type: string): Job['status'] => ({ conditions: [aCondition(type, { lastTransitionTime: ENDED })] });
const home = (type: string, metadata: Partial<Job['metadata']> = {}): Job => anAdmittedJob({ metadata, status: ended(type) ?? {} });
const copy = (type: string, originUid = 'uid-home-1', parts: Partial<Copy> = {}): Copy => ({
  cluster: 'eu-1',
  deleting: false,
  job: aHomeJob({
    metadata: { annotations: { [ORIGIN_UID_ANNOTATION]: originUid, [DISPATCH_EPOCH_ANNOTATION]: '1' } },
    status: ended(type) ?? {},
  }),
  ...parts,
});
const group = (view: Partial<ClusterView>): MirrorGroup =>
  ({
    kind: JOB_KIND,
    clusters: new Map([['eu-1', { retains: { completeMs: 60_000, failedMs: 120_000 }, ...view }]]),
  }) as unknown as MirrorGroup;

describe('the copy of a Job that has ended', () => {
  test('stays for as long as its cluster keeps those that completed, or failed', () => {
    const [complete, failed] = [copy('Complete'), copy('Failed')];
    expect(retainedCopies(group({}), home('Complete'), [complete], at(59))).toEqual({ copies: new Set([complete]), againAfterMs: 1_000 });
    expect(retainedCopies(group({}), home('Complete'), [complete], at(60))).toEqual({ copies: new Set() });
    expect(retainedCopies(group({}), home('Failed'), [failed], at(60))).toEqual({ copies: new Set([failed]), againAfterMs: 60_000 });
  });

  test('stays no longer than that where the clock of its cluster is ahead', () => {
    expect(retainedCopies(group({}), home('Complete'), [copy('Complete')], at(-600)).againAfterMs).toBe(60_000);
  });

  test.each([
    ['its cluster keeps none', group({ retains: undefined as never }), home('Complete'), copy('Complete')],
    ['its WorkerCluster is being deleted', group({ leaving: true }), home('Complete'), copy('Complete')],
    ['the Job is being deleted', group({}), home('Complete', { deletionTimestamp: ENDED }), copy('Complete')],
    ['it is of another Job', group({}), home('Complete'), copy('Complete', 'uid-of-another')],
    ['it has not ended itself', group({}), home('Complete'), copy('Suspended')],
    ['it is being deleted', group({}), home('Complete'), copy('Complete', 'uid-home-1', { deleting: true })],
  ])('goes when %s', (_, each, local, one) => {
    expect(retainedCopies(each, local, [one], at(1)).copies.size).toBe(0);
  });
});

test('a copy of a described kind stays for as long as its worker may tell how its pods ended, where its cluster keeps none', () => {
  const kept = (sinceMs: number, fenceless = false) => {
    const kind = fenceless ? JOB_KIND : aCrewKind();
    const group = { kind, clusters: new Map([['eu-1', {}]]), endedSinceMs: at(1) - sinceMs } as unknown as MirrorGroup;
    return retainedCopies(group, home('Complete'), [copy('Complete')], at(1)).againAfterMs;
  };
  expect([kept(0), kept(2_000), kept(3_000), kept(0, true)]).toEqual([3_000, 1_000, undefined, undefined]);
});
