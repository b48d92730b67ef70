import { expect, test } from 'vitest';
import { createStoryTeller } from '../../../../manager/story/story-teller.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../support/jobs.ts';

const failedPods = (name: string, failed: number, managedBy?: string): Job =>
  aHomeJob({ metadata: { name }, status: { failed }, ...(managedBy === undefined ? {} : { spec: { managedBy } }) });

test('only whoever leads tells, and only of Jobs of the manager', () => {
  const told: string[] = [];
  const teller = createStoryTeller({
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
