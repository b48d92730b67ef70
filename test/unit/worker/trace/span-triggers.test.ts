import { expect, test } from 'vitest';
import { TRACEPARENT_ANNOTATION, WORKER_CONTROLLER_NAME } from '../../../../shared/api/names.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { spanTriggers } from '../../../../worker/trace/span-triggers.ts';

const job = (managedBy: string, hasEnded: boolean): Job => ({
  metadata: {
    name: managedBy,
    namespace: 'team',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: { [TRACEPARENT_ANNOTATION]: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  },
  spec: { managedBy, template: {} },
  status: hasEnded
    ? {
        startTime: '2026-01-01T00:00:01Z',
        completionTime: '2026-01-01T00:00:02Z',
        conditions: [{ type: 'Complete', status: 'True' }],
      }
    : {},
});

test('a worker tells of its own Jobs, once', () => {
  const told: unknown[] = [];
  const handler = spanTriggers({ export: ({ attributes }) => told.push(attributes['k8s.job.name']) }, WORKER_CONTROLLER_NAME);
  for (const owner of [WORKER_CONTROLLER_NAME, 'example.com/other']) {
    handler.updated?.(job(owner, true), job(owner, false));
    handler.updated?.(job(owner, true), job(owner, true));
  }
  expect(told).toEqual([WORKER_CONTROLLER_NAME]);
});
