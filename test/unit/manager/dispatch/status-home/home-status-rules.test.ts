/** Whatever a worker cluster says, the API server of the manager cluster accepts what becomes of it: its own rules are the judge. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  carryOutVerdict,
  failedStatus,
  hasVerdict,
  toLocalStatus,
} from '../../../../../manager/work-kind/job/status-home/to-local-status.ts';
import type { Job, JobCondition, JobSpec, JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { validateJobStatusUpdate } from '../../../../../shared/controlplane/kinds/job-status-validation.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const time = fc.constantFrom('2026-01-01T00:00:01Z', '2026-01-01T00:10:00Z', '2026-01-01T02:00:00Z');
const small = fc.nat({ max: 4 });

const conditions = fc.subarray(['Suspended', 'FailureTarget', 'SuccessCriteriaMet', 'Failed', 'Complete', 'Strange']).chain((types) =>
  fc.tuple(
    ...types.map((type) =>
      fc.record({
        type: fc.constant(type),
        status: fc.constantFrom('True', 'True', 'False'),
        reason: fc.constant('R'),
        lastTransitionTime: time,
      }),
    ),
  ),
);

/** Anything that an API server without rules might hold. */
const anyStatus: fc.Arbitrary<JobStatus> = fc.record(
  {
    active: small,
    ready: small,
    terminating: small,
    succeeded: small,
    failed: small,
    startTime: time,
    completionTime: time,
    completedIndexes: fc.constantFrom('', '0', '0-2'),
    failedIndexes: fc.constantFrom('', '3'),
    uncountedTerminatedPods: fc.constantFrom({}, { succeeded: ['a'] }, { failed: ['b', 'c'] }),
    conditions: conditions as fc.Arbitrary<JobCondition[]>,
  },
  { requiredKeys: [] },
);

const spec: fc.Arbitrary<Partial<JobSpec>> = fc.oneof(
  fc.record({ suspend: fc.boolean(), completionMode: fc.constant('NonIndexed'), completions: fc.constantFrom(0, 4), parallelism: small }),
  fc.record({
    suspend: fc.boolean(),
    completionMode: fc.constant('Indexed'),
    completions: fc.constant(4),
    parallelism: fc.constantFrom(2, 4),
    backoffLimitPerIndex: fc.constant(1),
  }),
);

const problems = (local: Job, status: JobStatus): string[] =>
  validateJobStatusUpdate({ ...local, status } as never, local as never).map(({ field, body }) => `${field}: ${body}`);

test('every status that goes home keeps the rules, through any life a Job may have had', () => {
  fc.assert(
    fc.property(
      spec,
      fc.array(fc.record({ remote: fc.option(anyStatus, { nil: undefined }), suspend: fc.boolean() }), { maxLength: 6 }),
      (parts, life) => {
        let local = aHomeJob({ spec: parts });
        for (const { remote, suspend } of life) {
          local = { ...local, spec: { ...local.spec, suspend } };
          const status = toLocalStatus({ local, remote, own: [], nowMs: NOW });
          expect(problems(local, status)).toEqual([]);
          local = { ...local, status };
        }
        if (hasVerdict(local.status)) expect(problems(local, carryOutVerdict(local, NOW))).toEqual([]);
      },
    ),
    { numRuns: 3000 },
  );
});

test('the end of an elastic Job that was shrunk at home while its cluster was away keeps the rules, and tells of no index beyond the new end', () => {
  const elastic = (size: number): Partial<JobSpec> => ({
    suspend: false,
    completionMode: 'Indexed',
    completions: size,
    parallelism: size,
    backoffLimitPerIndex: 1,
  });
  const lists = fc.constantFrom(['', ''], ['0-3', ''], ['0,2-3', '1'], ['1-2', '0,3'], ['0-1', '2-3'], ['3', '0-2'], ['nonsense', '0']);
  fc.assert(
    fc.property(lists, lists, fc.integer({ min: 0, max: 3 }), fc.constantFrom('Complete', 'Failed'), (before, after, size, end) => {
      const statusOf = ([completedIndexes = '', failedIndexes = '']: readonly string[], types: readonly string[]): JobStatus => ({
        startTime: '2026-01-01T00:00:01Z',
        completedIndexes,
        failedIndexes,
        succeeded: completedIndexes === '0-3' ? 4 : 2,
        conditions: types.map((type) => ({ type, status: 'True', reason: 'R', lastTransitionTime: '2026-01-01T00:10:00Z' })),
      });
      const running = aHomeJob({ spec: elastic(4) });
      const told = toLocalStatus({ local: running, remote: statusOf(before, []), own: [], nowMs: NOW });
      const shrunk: Job = { ...running, spec: { ...running.spec, ...elastic(size) }, status: told };
      const interim = end === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
      const final = toLocalStatus({ local: shrunk, remote: statusOf(after, [interim, end]), own: [], nowMs: NOW });
      expect(problems(shrunk, final)).toEqual([]);
      expect(final.conditions?.map(({ type }) => type)).toContain(end);
      if (after[0] === '0-3' && size > 0) expect(final.completedIndexes).toBe(size === 1 ? '0' : `0-${size - 1}`);
    }),
    { numRuns: 500 },
  );
});

test('a status that is home is not written again', () => {
  fc.assert(
    fc.property(spec, anyStatus, (parts, remote) => {
      const local = aHomeJob({ spec: parts });
      const once = toLocalStatus({ local, remote, own: [], nowMs: NOW });
      expect(toLocalStatus({ local: { ...local, status: once }, remote, own: [], nowMs: NOW + 5_000 })).toEqual(once);
    }),
    { numRuns: 1000 },
  );
});

test('a Job that is ended from here keeps the rules, whatever was last heard of it', () => {
  fc.assert(
    fc.property(spec, anyStatus, anyStatus, (parts, first, told) => {
      const local = { ...aHomeJob({ spec: { ...parts, suspend: true } }) };
      const home = { ...local, status: toLocalStatus({ local, remote: first, own: [], nowMs: NOW }) };
      const fail = { reason: 'CannotStart', message: 'eu-1: Refused' };
      for (const remote of [told, home.status]) expect(problems(home, failedStatus(home, remote, fail, [], NOW))).toEqual([]);
    }),
    { numRuns: 500, seed: 7 },
  );
});
