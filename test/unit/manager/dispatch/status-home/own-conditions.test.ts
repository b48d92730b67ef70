import { expect, test } from 'vitest';
import { isDispatched } from '../../../../../manager/api/dispatch-proof.ts';
import { dispatched, quotaReserved, started } from '../../../../../manager/dispatch/status-home/own-conditions.ts';
import { startedMessage } from '../../../../../manager/api/start-proof.ts';
import { MAX_EXEC_TIME_LABEL } from '../../../../../shared/api/names.ts';
import type { JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, aHomeJob, aRecord } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

test('a Job that says what keeps it from getting on is dispatched all the same, to that cluster and for that placement', () => {
  const record = aRecord({ epoch: 2 });
  const status = (detail?: string) => ({ conditions: [dispatched(record, detail)] });
  expect(dispatched(record).message).toBe('dispatched to cluster "eu-1" (placement 2)');
  expect(dispatched(record, '3 pods wait').message).toBe('dispatched to cluster "eu-1" (placement 2); 3 pods wait');
  for (const detail of [undefined, '3 pods wait']) {
    expect(isDispatched(status(detail), record)).toBe(true);
    expect(isDispatched(status(detail), aRecord({ epoch: 3 }))).toBe(false);
    expect(isDispatched(status(detail), aRecord({ epoch: 2, cluster: 'us-2' }))).toBe(false);
  }
});

test('a Job that may run for so long in all says with its quota what it has used before', () => {
  const said = (executedSeconds?: number, labels = {}) => {
    const local = aHomeJob({ metadata: { labels }, spec: { suspend: false } });
    return quotaReserved(JOB_KIND, local, aRecord(executedSeconds === undefined ? {} : { executedSeconds })).map(({ message }) => message);
  };
  const limited = { [MAX_EXEC_TIME_LABEL]: '100' };
  expect(said(30, limited)).toEqual(['quota reserved in ClusterQueue "cq"; of its 100s, 30s were used before']);
  for (const other of [said(30), said(undefined, limited), said(30, { [MAX_EXEC_TIME_LABEL]: 'x' })])
    expect(other).toEqual(['quota reserved in ClusterQueue "cq"']);
});

test('a Job that was preempted says with its quota that it is admitted again', () => {
  const job = (suspend: boolean, ...types: string[]) =>
    aHomeJob({ spec: { suspend }, status: { conditions: types.map((type) => aCondition(type)) } });
  const told = (...given: Parameters<typeof job>) =>
    quotaReserved(JOB_KIND, job(...given), aRecord()).map(({ type, status }) => `${type} ${status}`);
  expect(told(false, 'Preempted')).toEqual(['QuotaReserved True', 'Preempted False']);
  expect(told(false, 'Preempted', 'QuotaReserved')).toEqual(['Preempted False']);
  expect(told(true, 'Preempted')).toEqual([]);
  expect(told(false)).toEqual(['QuotaReserved True']);
});

const GANG = { suspend: false, parallelism: 4, completions: 4 };
const hasBegun = aCondition('Started', { message: startedMessage(aRecord()) });
const couldNot = aCondition('CannotStart');
const lacks = aCondition('PodsReady', { status: 'False' });
test.each<[string, JobStatus, JobStatus | undefined, readonly string[]]>([
  ['all of its pods are ready', {}, { ready: 4 }, ['Started True Started']],
  ['they are ready or have ended meanwhile', { failed: 1 }, { ready: 2, succeeded: 1, failed: 2 }, ['Started True Started']],
  ['one is not, it says nothing yet', {}, { ready: 3 }, []],
  [
    'it starts after it had lost pods elsewhere',
    { conditions: [lacks] },
    { ready: 4 },
    ['Started True Started', 'PodsReady True PodsReady'],
  ],
  [
    'it starts after it could not, and after it had lost pods elsewhere',
    { conditions: [couldNot, lacks] },
    { ready: 4 },
    ['Started True Started', 'PodsReady True PodsReady', 'CannotStart False Started'],
  ],
  ['it starts after it could not', { conditions: [couldNot] }, { ready: 4 }, ['Started True Started', 'CannotStart False Started']],
  ['one is not, and pods have failed before, on another cluster', { failed: 2 }, { ready: 3, failed: 2 }, []],
  ['nothing is ready, and it wants no pods', { conditions: [] }, { ready: 0 }, []],
  ['it has lost one and says so', { conditions: [hasBegun, lacks] }, { ready: 3 }, ['PodsReady False PodsLost']],
  ['all are ready still', { conditions: [hasBegun] }, { ready: 4 }, []],
  ['it has lost one', { conditions: [hasBegun] }, { ready: 3 }, ['PodsReady False PodsLost']],
  ['one has succeeded', { conditions: [hasBegun] }, { ready: 3, succeeded: 1 }, []],
  ['one has succeeded before, on another cluster', { conditions: [hasBegun], succeeded: 1 }, { ready: 3 }, []],
  ['the pod is ready again', { conditions: [hasBegun, lacks] }, { ready: 4 }, ['PodsReady True PodsReady']],
  ['it is about to end', { conditions: [hasBegun] }, { ready: 0, conditions: [aCondition('FailureTarget')] }, []],
  ['its fence has stopped it', { conditions: [hasBegun] }, { ready: 0, conditions: [aCondition('Suspended')] }, []],
  ['its copy is gone', { conditions: [hasBegun] }, undefined, []],
])('of a gang, where %s', (_when, status, remote, said) => {
  const own = started(JOB_KIND, aHomeJob({ spec: GANG, status }), aRecord(), remote);
  expect(own.map((each) => `${each.type} ${each.status} ${each.reason}`)).toEqual(said);
});

test('an evicted Job says nothing of its pods, which are to go', () => {
  expect(started(JOB_KIND, aHomeJob({ spec: GANG, status: { conditions: [hasBegun] } }), aRecord({ evicted: true }), { ready: 1 })).toEqual(
    [],
  );
});
