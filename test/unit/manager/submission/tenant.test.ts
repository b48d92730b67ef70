import { describe, expect, test } from 'vitest';
import type { SubmissionQueueObject, SubmissionQueueSpec } from '../../../../manager/api/submission-queue.ts';
import { isSystemNamespace, mayUseNamespace, sharedTenant, tenantOf, tenantProblem } from '../../../../manager/submission/tenant.ts';

const object = (spec: SubmissionQueueSpec = {}, metadata: object = {}): SubmissionQueueObject => ({
  metadata: { namespace: 'team', name: 'batch', uid: 'u1', ...metadata } as SubmissionQueueObject['metadata'],
  spec: { serviceAccountName: 'submitter', ...spec },
});
const BYTES = 1_000;
const RULES = { bytesMax: BYTES };
const ON_A_CLUSTER = { bytesMax: BYTES, managerIdentity: true, isRedisCluster: true, deniedNamespaces: [] };

describe('the tenant of a SubmissionQueue', () => {
  test('has what the object says, and defaults that are its own', () => {
    expect(tenantOf(object(), RULES)).toEqual({
      id: 'u1',
      label: 'team/batch',
      redis: { prefix: 'switchyard:tenant:team', queue: 'batch' },
      namespace: 'team',
      namespaces: ['team'],
      localQueues: [],
      as: { namespace: 'team', name: 'submitter' },
      limits: { bytes: 1_000, depth: 64, perSecond: Infinity, parked: 100_000 },
      weight: 1,
      priorityClasses: [],
      signingKeys: [],
      onUnadmittable: 'Fail',
    });
  });

  test('has its priority classes from the most urgent on, and keys that end', () => {
    const tenant = tenantOf(
      object({
        priorityClasses: [
          { upTo: 100, name: 'b' },
          { upTo: 10, name: 'a' },
        ],
        signing: {
          keys: [
            { name: 'k1', publicKey: 'x' },
            { name: 'k2', publicKey: 'y', notAfter: '2026-01-01T00:00:00Z' },
          ],
        },
      }),
      RULES,
    );
    expect(tenant.priorityClasses.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(tenant.signingKeys.map(({ notAfter }) => notAfter)).toEqual([Infinity, Date.UTC(2026, 0, 1)]);
  });
});

test('nobody may use the namespaces of Kubernetes itself, and everybody those that are named', () => {
  const all = sharedTenant({ prefix: 'bull', queue: 'q' }, { namespaces: '*', bytesMax: BYTES });
  expect(isSystemNamespace('kube-system')).toBe(true);
  expect(mayUseNamespace(all, 'kube-system')).toBe(false);
  expect(mayUseNamespace(all, 'anything')).toBe(true);
  expect(mayUseNamespace(tenantOf(object({ namespaces: ['more'] }), RULES), 'more')).toBe(true);
  expect(mayUseNamespace(tenantOf(object({ namespaces: ['kube-public'] }), RULES), 'kube-public')).toBe(false);
  expect(mayUseNamespace(tenantOf(object(), RULES), 'more')).toBe(false);
});

describe('on a Redis Cluster', () => {
  test.each<[string | undefined, string, string | undefined]>([
    [undefined, '{switchyard:tenant:team}', undefined],
    ['{bull}', '{bull}', undefined],
    ['a{b}c', 'a{b}c', undefined],
    ['bull', 'bull', 'PrefixWithoutHashTag'],
    ['{}bull{a}', '{}bull{a}', 'PrefixWithoutHashTag'],
    ['}a{', '}a{', 'PrefixWithoutHashTag'],
    ['switchyard:tenant:team', 'switchyard:tenant:team', 'PrefixWithoutHashTag'],
  ])('the prefix %s is %s: %s', (prefix, inUse, problem) => {
    const tenant = tenantOf(object(prefix === undefined ? {} : { prefix }), ON_A_CLUSTER);
    expect(tenant.redis.prefix).toBe(inUse);
    expect(tenantProblem(tenant, [], ON_A_CLUSTER)?.reason).toBe(problem);
  });

  test('a prefix that cannot be used is answered with one that can', () => {
    const { message } = tenantProblem(tenantOf(object({ prefix: 'jobs' }), ON_A_CLUSTER), [], ON_A_CLUSTER) ?? {};
    expect(message).toContain('make another SubmissionQueue, with the prefix {jobs} or with none');
  });
});

describe('a queue is not served', () => {
  const problemOf = (spec: SubmissionQueueSpec, managerIdentity = false): string | undefined =>
    tenantProblem(
      tenantOf(object(spec), RULES),
      [sharedTenant({ prefix: 'bull', queue: 'q' }, { namespaces: ['default'], bytesMax: BYTES })],
      { managerIdentity, deniedNamespaces: [] },
    )?.reason;

  test.each<[string | undefined, string, string | undefined]>([
    ['bull', 'q', 'PrefixTaken'],
    ['bull', 'other', undefined],
    ['switchyard', 'q', 'ReservedPrefix'],
    ['switchyard:u1', 'q', 'ReservedPrefix'],
    ['{switchyard}:u1', 'q', 'ReservedPrefix'],
    ['switchyard:tenant:rich', 'q', 'ReservedPrefix'],
    ['switchyard:tenant:team2', 'q', 'ReservedPrefix'],
    ['switchyard:tenant:team', 'q', undefined],
    ['switchyard:tenant:team:a', 'q', undefined],
    ['{switchyard:tenant:team}', 'q', undefined],
    ['switchyards', 'q', undefined],
    [undefined, 'q', undefined],
  ])('where the prefix is %s and the queue %s: %s', (prefix, queue, reason) => {
    expect(problemOf({ ...(prefix === undefined ? {} : { prefix }), queue })).toBe(reason);
  });

  test('in a namespace of Kubernetes itself', () => {
    expect(
      tenantProblem(tenantOf(object({}, { namespace: 'kube-system' }), RULES), [], { managerIdentity: true, deniedNamespaces: [] })?.reason,
    ).toBe('SystemNamespace');
  });

  test('in a namespace that is denied, and says which flag and entry deny it, and what to do', () => {
    const problemIn = (namespace: string): object | undefined =>
      tenantProblem(tenantOf(object({}, { namespace }), RULES), [], { managerIdentity: true, deniedNamespaces: ['vault', 'istio-*'] });
    expect(problemIn('istio-system')).toEqual({
      reason: 'DeniedNamespace',
      message:
        'the namespace istio-system is denied by --denied-namespaces (istio-*), and Jobs there are refused; make the SubmissionQueue in another namespace, or ask an administrator to change that flag',
    });
    expect(problemIn('vault')).toMatchObject({ reason: 'DeniedNamespace' });
    expect(problemIn('vaults')).toBeUndefined();
  });

  test('where it would create Jobs with the rights of a manager that does not allow it', () => {
    const managers = tenantOf({ ...object(), spec: { identity: 'Manager' } }, RULES);
    expect(tenantProblem(managers, [], { managerIdentity: false, deniedNamespaces: [] })?.reason).toBe('ManagerIdentityNotAllowed');
    expect(tenantProblem(managers, [], { managerIdentity: true, deniedNamespaces: [] })).toBeUndefined();
  });
});
