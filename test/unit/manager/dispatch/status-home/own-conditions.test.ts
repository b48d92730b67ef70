import { expect, test } from 'vitest';
import { isDispatched } from '../../../../../manager/api/dispatch-proof.ts';
import { dispatched, quotaReserved } from '../../../../../manager/dispatch/status-home/own-conditions.ts';
import { MAX_EXEC_TIME_LABEL } from '../../../../../shared/api/names.ts';
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
