import { expect, test } from 'vitest';
import { actingAs, createTenantClients } from '../../../../manager/submission/tenant-clients.ts';
import { ImpersonationRefused, tenantClient } from '../../../../manager/submission/tenant-client.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { testTenant } from '../../../support/submission-source.ts';

const JOB = { metadata: { namespace: 'team', name: 'sum' }, spec: { template: {} } };
const forbidden = (message: string): ApiError => new ApiError(403, { code: 403, reason: 'Forbidden', message });
const clientOf = (write: () => Promise<unknown>): KubeClient =>
  ({ create: write, delete: write, get: async () => 'read' }) as unknown as KubeClient;
const fenced = (client: KubeClient): KubeClient => client;

async function creating(error: Error): Promise<{ readonly thrown: unknown; readonly problems: (string | undefined)[] }> {
  const problems: (string | undefined)[] = [];
  const client = tenantClient({
    manager: clientOf(() => Promise.reject(new Error('unused'))),
    actor: clientOf(() => Promise.reject(error)),
    onImpersonation: (problem) => problems.push(problem),
  });
  const thrown: unknown = await client.create(JOBS, JOB).catch((each: unknown) => each);
  return { thrown, problems };
}

test.each([
  'serviceaccounts "x" is forbidden: User "system:serviceaccount:switchyard:manager" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "team"',
  'userextras.authentication.k8s.io "team/batch" is forbidden: User "m" cannot impersonate resource "userextras/submission-queue.switchyard.dev" in API group "authentication.k8s.io" at the cluster scope',
])('that the manager may not impersonate is no refusal of the submission: %s', async (message) => {
  const { thrown, problems } = await creating(forbidden(message));
  expect(thrown).toBeInstanceOf(ImpersonationRefused);
  expect(thrown).not.toBeInstanceOf(ApiError);
  expect(problems).toEqual([expect.stringContaining('chart: submissions.impersonate')]);
});

test('that the ServiceAccount may not create Jobs is, and shows that the manager may impersonate it', async () => {
  const error = forbidden(
    'jobs.batch is forbidden: User "system:serviceaccount:team:a" cannot create resource "jobs" in API group "batch"',
  );
  expect(await creating(error)).toEqual({ thrown: error, problems: [undefined] });
});

test('that no answer came says nothing of impersonation', async () => {
  const error = new Error('socket hang up');
  expect(await creating(error)).toEqual({ thrown: error, problems: [] });
});

test('a tenant’s Jobs are created and deleted as its ServiceAccount, with what admission knows them by, and read as the manager', async () => {
  const asked: unknown[] = [];
  const clients = createTenantClients({
    manager: clientOf(() => Promise.reject(new Error('the manager itself creates and deletes nothing'))),
    connect: (actAs) => {
      asked.push(actAs);
      return clientOf(async () => 'created');
    },
    fenced,
    onImpersonation: () => undefined,
  });
  const client = clients(testTenant({ label: 'team/batch', as: { namespace: 'team', name: 'submitter' } }));
  expect(await client.create(JOBS, JOB)).toBe('created');
  expect(await client.delete(JOBS, { namespace: 'team', name: 'sum' })).toBe('created');
  expect(await client.get(JOBS, { namespace: 'team', name: 'sum' })).toBe('read');
  clients(testTenant());
  expect(asked).toEqual([
    { user: 'system:serviceaccount:team:submitter', extra: { 'submission-queue.switchyard.dev': 'team/batch' } },
    undefined,
  ]);
  expect(actingAs({ namespace: 'a', name: 'b' }, 'a/q').user).toBe('system:serviceaccount:a:b');
});

test('where nothing can act as somebody else no tenant’s Job is created with the rights of the manager', () => {
  const clients = createTenantClients({ manager: clientOf(async () => 'created'), fenced, onImpersonation: () => undefined });
  expect(() => clients(testTenant({ as: { namespace: 'team', name: 'submitter' } }))).toThrow(/cannot be created as submitter/);
  expect(clients(testTenant())).toBeDefined();
});
