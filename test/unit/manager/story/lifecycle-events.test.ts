import { expect, test } from 'vitest';
import { createLifecycleEvents } from '../../../../manager/story/lifecycle-events.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { SUBMITTED_BY_ANNOTATION } from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const failedPods = (name: string, failed: number, managedBy?: string): Job =>
  aHomeJob({ metadata: { name }, status: { failed }, ...(managedBy === undefined ? {} : { spec: { managedBy } }) });

test('only whoever leads tells, and only of Jobs of the manager', () => {
  const told: string[] = [];
  const teller = createLifecycleEvents({
    kind: JOB_KIND,
    events: { event: (_resource, object, _type, reason) => told.push(`${object.metadata.name} ${reason}`), flush: () => Promise.resolve() },
    readRecord: () => ({ kind: 'None' }),
  });
  const podFails = (name: string, managedBy?: string): void =>
    teller.handler.updated?.(failedPods(name, 1, managedBy), failedPods(name, 0, managedBy));
  podFails('before');
  const leading = new AbortController();
  teller.lead(leading.signal);
  podFails('while');
  podFails('foreign', 'example.com/other');
  leading.abort();
  podFails('after');
  expect(told).toEqual(['while PodFailed']);
});

test('who submitted a Job over HTTP is told once it is there, by the leader alone, and of no Job that was there before', () => {
  const told: string[] = [];
  const teller = createLifecycleEvents({
    kind: JOB_KIND,
    events: {
      event: (_resource, _job, type, reason, message) => told.push(`${type} ${reason}: ${message}`),
      flush: () => Promise.resolve(),
    },
    readRecord: () => ({ kind: 'None' }),
  });
  const submitted = aHomeJob({ metadata: { annotations: { [SUBMITTED_BY_ANNOTATION]: 'ann' } } });
  teller.handler.added?.(submitted, false);
  teller.lead(new AbortController().signal);
  teller.handler.added?.(submitted, true);
  teller.handler.added?.(aHomeJob(), false);
  expect(told).toEqual([]);
  teller.handler.added?.(submitted, false);
  expect(told).toEqual(['Normal Submitted: submitted over HTTP by ann']);
});
