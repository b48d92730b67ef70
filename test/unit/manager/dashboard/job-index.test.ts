import { describe, expect, test } from 'vitest';
import { createJobIndex, type JobIndex } from '../../../../manager/dashboard/job-index.ts';
import { formatAdmissionRecord } from '../../../../manager/api/records.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, CANARY_LABEL, QUEUE_NAME_LABEL, SHORT_OF_ANNOTATION } from '../../../../shared/api/names.ts';
import { aHomeJob, aRecord, type JobParts } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const job = (namespace: string, name: string, minute = 0, parts: JobParts = {}): Job =>
  aHomeJob({
    ...parts,
    metadata: {
      namespace,
      name,
      uid: `${namespace}-${name}`,
      creationTimestamp: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
      ...parts.metadata,
    },
  });
const running = (namespace: string, name: string, cluster: string, minute = 0): Job => {
  const record = aRecord({ cluster, requests: { cpu: '2', pods: '1' }, since: `2026-01-01T00:${String(minute).padStart(2, '0')}:30Z` });
  return job(namespace, name, minute, {
    metadata: {
      annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord(record, { written: '2026-01-01T00:00:01.000Z', seal: 's' }) },
    },
    spec: { suspend: false },
    status: { active: 1 },
  });
};
const complete = (namespace: string, name: string, minute: number): Job =>
  job(namespace, name, 0, {
    status: {
      completionTime: `2026-01-01T01:${String(minute).padStart(2, '0')}:00Z`,
      conditions: [{ type: 'Complete', status: 'True', reason: '', message: '' } as never],
    },
  });
const put = (index: JobIndex, ...jobs: readonly Job[]): void => {
  for (const each of jobs) index.handler.added?.(each, false);
};
const keys = (lines: readonly { readonly key: string }[]): string[] => lines.map(({ key }) => key);

describe('the index of Jobs', () => {
  test('has them by age, in whatever order they came', () => {
    const index = createJobIndex(JOB_KIND);
    put(index, job('a', 'two', 2), job('a', 'one', 1), job('b', 'three', 3));
    expect(keys(index.ordered())).toEqual(['b/three', 'a/two', 'a/one']);
    index.handler.deleted?.(job('a', 'two', 2), false);
    expect(keys(index.ordered())).toEqual(['b/three', 'a/one']);
    put(index, job('a', 'two', 9));
    expect(keys(index.ordered())).toEqual(['a/two', 'b/three', 'a/one']);
    expect(index.namespaces().toSorted()).toEqual(['a', 'b']);
  });

  test('knows who waits where, who runs where, and what that takes, as Jobs go their way', () => {
    const index = createJobIndex(JOB_KIND);
    put(index, job('a', 'one', 1), job('a', 'two', 2), running('b', 'three', 'east'));
    expect(index.waitingIn('a/main', 1)).toMatchObject({ count: 2, first: [{ key: 'a/one' }] });
    put(index, running('a', 'one', 'east', 5));
    expect(index.waitingIn('a/main', 8)).toMatchObject({ count: 1, first: [{ key: 'a/two' }] });
    expect(keys(index.runningOn('east', 'All', 8).first)).toEqual(['a/one', 'b/three']);
    expect(index.runningOn('east', new Set(['b']), 8)).toMatchObject({ count: 1, first: [{ key: 'b/three' }] });
    expect(index.heldOn('east').get('cpu')).toBe(4_000);
    put(index, running('a', 'one', 'west', 5));
    expect(index.heldOn('east').get('cpu')).toBe(2_000);
    put(index, complete('a', 'one', 1));
    expect(index.runningOn('west', 'All', 8)).toEqual({ count: 0, first: [] });
    expect(index.heldOn('west').size).toBe(0);
    expect(index.totals('All')).toEqual({ Waiting: 1, Running: 1, Complete: 1 });
    expect(index.totals(new Set(['a']))).toEqual({ Waiting: 1, Complete: 1 });
  });

  test('counts what queued Jobs wait for, as they come, wait for something else, and go', () => {
    const index = createJobIndex(JOB_KIND);
    const short = (name: string, of: string): Job =>
      job('a', name, 1, {
        metadata: { annotations: { [SHORT_OF_ANNOTATION]: of } },
        status: { conditions: [{ type: 'QuotaReserved', status: 'False', reason: 'InsufficientQuota', message: '' } as never] },
      });
    const causes = (): unknown => Object.fromEntries(index.causesIn('a/main'));
    put(index, short('one', 'cpu'), short('two', 'cpu'), job('a', 'three', 2));
    expect(causes()).toEqual({ 'short of cpu': 2, 'not tried yet': 1 });
    put(index, short('two', 'memory'));
    expect(causes()).toEqual({ 'short of cpu': 1, 'short of memory': 1, 'not tried yet': 1 });
    put(index, running('a', 'one', 'east', 1));
    index.handler.deleted?.(short('two', 'memory'), false);
    index.handler.deleted?.(job('a', 'three', 2), false);
    expect(causes()).toEqual({});
  });

  test('counts canaries nowhere, and has them among all Jobs', () => {
    const index = createJobIndex(JOB_KIND);
    const metadata = { labels: { [QUEUE_NAME_LABEL]: 'main', [CANARY_LABEL]: 'true' } };
    const canary = job('a', 'switchyard-canary-east', 1, { metadata });
    put(index, canary, job('a', 'one', 2));
    expect(index.totals('All')).toEqual({ Waiting: 1 });
    expect(index.waitingIn('a/main', 8)).toMatchObject({ count: 1, first: [{ key: 'a/one' }] });
    put(index, { ...canary, status: complete('a', 'one', 1).status ?? {} });
    expect(index.ended('All', 8)).toEqual([]);
    expect(keys(index.ordered())).toEqual(['a/one', 'a/switchyard-canary-east']);
    index.handler.deleted?.(canary, false);
    expect(index.totals('All')).toEqual({ Waiting: 1 });
  });

  test('remembers those that ended last, of each namespace', () => {
    const index = createJobIndex(JOB_KIND);
    put(index, complete('a', 'one', 1), complete('b', 'two', 9), complete('a', 'three', 5));
    expect(keys(index.ended('All', 2))).toEqual(['b/two', 'a/three']);
    expect(keys(index.ended(new Set(['a']), 8))).toEqual(['a/three', 'a/one']);
    index.handler.deleted?.(complete('a', 'three', 5), false);
    expect(keys(index.ended(new Set(['a']), 8))).toEqual(['a/one']);
  });

  test('tells what has changed once, with the places that are touched', () => {
    const index = createJobIndex(JOB_KIND);
    put(index, job('a', 'one'));
    index.takeChanges();
    const before = index.version();
    put(index, running('a', 'one', 'east'));
    const changes = index.takeChanges();
    expect([...changes.jobs.keys()]).toEqual(['a/one']);
    expect([...changes.localQueues]).toEqual(['a/main']);
    expect([...changes.clusters]).toEqual(['east']);
    expect(index.takeChanges().jobs.size).toBe(0);
    expect(index.version()).toBeGreaterThan(before);
  });
});
