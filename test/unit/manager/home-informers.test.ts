import { expect, test } from 'vitest';
import type { Job } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, WORKER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { essentialsOfJob } from '../../../manager/home-informers.ts';
import { given } from '../../../shared/runtime/given.ts';

const managedBy = (name: string | undefined): Job => ({
  metadata: {
    name: 'j',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'x' },
    managedFields: [{ manager: 'kubectl', operation: 'Update' }],
  },
  spec: { parallelism: 3, template: { spec: { containers: [] } }, ...given({ managedBy: name }) },
  status: { active: 1 },
});

test("a Job of the manager's is kept whole but for its managed fields", () => {
  const job = managedBy(MANAGER_CONTROLLER_NAME);
  const { managedFields: _, ...metadata } = job.metadata;
  expect(essentialsOfJob(job)).toEqual({ ...job, metadata });
});

test.each([WORKER_CONTROLLER_NAME, undefined])('of a Job managed by %s its identity and that name are kept', (name) => {
  const essentials = essentialsOfJob(managedBy(name));
  expect(essentials).toEqual({
    metadata: { name: 'j', namespace: 'default', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { template: {}, ...given({ managedBy: name }) },
  });
  expect('managedBy' in essentials.spec).toBe(name !== undefined);
});
