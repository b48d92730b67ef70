import { describe, expect, test } from 'vitest';
import { jobStrategy } from '../../../../../shared/controlplane/kinds/job-strategy.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const jobs = driveKind(jobStrategy);
const T0 = '2026-01-01T00:00:00Z';
const T1 = '2026-01-01T00:01:00Z';
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
const job = (spec: object, status: object): AnyObject => ({
  ...jobs.create({ metadata: { name: 'j' }, spec: { template, ...spec } }).object,
  status,
});
const conditions = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) });
const complete = { startTime: T0, completionTime: T1, ...conditions('SuccessCriteriaMet', 'Complete') };
const failed = { startTime: T0, ...conditions('FailureTarget', 'Failed') };
const indexed = { completionMode: 'Indexed', completions: 10, parallelism: 10, backoffLimitPerIndex: 1 };

type Row = { from?: object; to: object; spec?: object; finds: string[] };
const check = ({ from = {}, to, spec = { completions: 3 }, finds }: Row): void => {
  expect(jobs.updateStatus(job(spec, from), to).findings).toEqual(finds.map((finding) => `status.${finding}`));
};
const refuses = 'conditions | Invalid value:';

describe('a status is refused', () => {
  test.each<[string, Row]>([
    [
      'with negative counters',
      {
        to: { active: -1, failed: -2 },
        finds: [
          'active | Invalid value: -1: must be greater than or equal to 0',
          'failed | Invalid value: -2: must be greater than or equal to 0',
          'failed | Invalid value: -2: cannot decrease the failed counter',
        ],
      },
    ],
    [
      'with a pod that waits twice for being counted',
      {
        to: { uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } },
        finds: [
          'uncountedTerminatedPods.succeeded[1] | Invalid value: "": must not be empty',
          'uncountedTerminatedPods.failed[0] | Duplicate value: "a"',
        ],
      },
    ],
    [
      'Complete alone',
      {
        to: conditions('Complete'),
        finds: [
          'completionTime | Required value: completionTime is required for Complete jobs',
          `${refuses} cannot set Complete=True condition without the SuccessCriteriaMet=true condition`,
          'startTime | Required value: startTime is required for finished job',
        ],
      },
    ],
    [
      'Failed without its target',
      {
        from: { startTime: T0 },
        to: { startTime: T0, ...conditions('Failed') },
        finds: [`${refuses} cannot set Failed=True condition without the FailureTarget=true condition`],
      },
    ],
    [
      'with both ends at once',
      {
        to: { startTime: T0, completionTime: T1, ...conditions('SuccessCriteriaMet', 'Complete', 'FailureTarget', 'Failed') },
        finds: [
          `${refuses} cannot set Complete=True and Failed=true conditions`,
          `${refuses} cannot set Complete=True and FailureTarget=true conditions`,
          `${refuses} cannot set SuccessCriteriaMet=True and Failed=true conditions`,
          `${refuses} cannot set SuccessCriteriaMet=True and FailureTarget=true conditions`,
        ],
      },
    ],
    [
      'complete before it started',
      {
        to: { ...complete, startTime: T1, completionTime: T0 },
        finds: [`completionTime | Invalid value: "${T0}": must be equal to or after \`startTime\``],
      },
    ],
    [
      'finished with work left',
      {
        to: { ...failed, active: 1, terminating: 1, uncountedTerminatedPods: { failed: ['a'] } },
        finds: [
          'active | Invalid value: 1: active>0 is invalid for finished job',
          'uncountedTerminatedPods | Invalid value: {"Failed":["a"]}: must be empty for finished job',
          'terminating | Invalid value: 1: terminating>0 is invalid for finished job',
        ],
      },
    ],
    [
      'with more ready than active pods',
      { to: { active: 1, ready: 2 }, finds: ['ready | Invalid value: 2: cannot set more ready pods than active'] },
    ],
    [
      'with indexes of a Job that has none',
      {
        to: { completedIndexes: '0' },
        finds: ['completedIndexes | Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode'],
      },
    ],
    [
      'with failed indexes where there is no limit per index, even with none',
      {
        to: { failedIndexes: '' },
        finds: ['failedIndexes | Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null'],
      },
    ],
    [
      'with an index both completed and failed',
      {
        spec: indexed,
        to: { completedIndexes: '0-3,7', failedIndexes: '5,7-8' },
        finds: ['failedIndexes | Invalid value: "5,7-8": failedIndexes and completedIndexes overlap at index: 7'],
      },
    ],
    [
      'that takes back how the Job ended',
      {
        from: complete,
        to: {},
        finds: [
          `${refuses} cannot disable the terminal Complete=True condition`,
          'startTime | Invalid value: null: field is immutable for unsuspended job once set',
          `${refuses} cannot disable the SuccessCriteriaMet=True condition`,
        ],
      },
    ],
    [
      'that takes back the interim condition of failure',
      {
        from: failed,
        to: { ...failed, ...conditions('Failed') },
        finds: [`${refuses} cannot disable the terminal FailureTarget=True condition`],
      },
    ],
    [
      'that moves the time of completion',
      { from: complete, to: { ...complete, completionTime: T0 }, finds: [`completionTime | Invalid value: "${T0}": field is immutable`] },
    ],
    [
      'with fewer successes',
      { from: { succeeded: 2 }, to: { succeeded: 1 }, finds: ['succeeded | Invalid value: 1: cannot decrease the succeeded counter'] },
    ],
    [
      'that moves the start of a running Job',
      {
        from: { startTime: T0 },
        to: { startTime: T1 },
        finds: [`startTime | Invalid value: "${T1}": field is immutable for unsuspended job once set`],
      },
    ],
  ])('%s', (_situation, row) => check(row));
});

describe('a status is accepted', () => {
  test.each<[string, Row]>([
    ['with both conditions of success in one write', { to: complete, finds: [] }],
    ['with both conditions of failure in one write', { to: failed, finds: [] }],
    [
      'of a suspended Job that had nothing to do',
      { spec: { suspend: true, completions: 0 }, to: { completionTime: T0, ...conditions('SuccessCriteriaMet', 'Complete') }, finds: [] },
    ],
    ['with fewer successes of an elastic Job', { spec: indexed, from: { succeeded: 5 }, to: { succeeded: 3 }, finds: [] }],
    ['with another start while suspended', { spec: { suspend: true }, from: { startTime: T0 }, to: { startTime: T1 }, finds: [] }],
    [
      'with another start in the write that resumes the Job',
      {
        from: { startTime: T0, ...conditions('Suspended') },
        to: { startTime: T1, conditions: [{ type: 'Suspended', status: 'False' }] },
        finds: [],
      },
    ],
    [
      'that leaves alone what a later rule forbids',
      { from: { failedIndexes: '1', active: 1, ready: 5 }, to: { failedIndexes: '1', active: 1, ready: 5, failed: 1 }, finds: [] },
    ],
    ['with conditions that nobody knows, twice', { to: { conditions: [{ type: 'A', status: 'Maybe' }, { type: 'A' }] }, finds: [] }],
    ['with empty completedIndexes of a plain Job', { to: { completedIndexes: '' }, finds: [] }],
  ])('%s', (_situation, row) => check(row));
});
