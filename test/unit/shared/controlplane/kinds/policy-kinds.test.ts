/** Budgets, quotas, accounts with their tokens, and the list of all built-in kinds. */
import { describe, expect, test } from 'vitest';
import { BUILT_IN_RESOURCES } from '../../../../../shared/controlplane/kinds/built-in-resources.ts';
import { podDisruptionBudgetStrategy } from '../../../../../shared/controlplane/kinds/pod-disruption-budget.ts';
import { resourceQuotaStrategy } from '../../../../../shared/controlplane/kinds/resource-quota.ts';
import { serviceAccountStrategy } from '../../../../../shared/controlplane/kinds/service-account.ts';
import { defaultedTokenRequest, validateTokenRequest } from '../../../../../shared/controlplane/kinds/token-request.ts';
import { builtInSchema } from '../../../../../shared/controlplane/schema/builtin.ts';
import { driveKind } from '../../../../support/kind-driver.ts';
import { anObject } from '../a-served-resource.ts';

const metadata = { name: 'x' };
const aMinuteAfter = (object: { metadata: { creationTimestamp: string } }): number =>
  Date.parse(object.metadata.creationTimestamp) + 60_000;

describe('a PodDisruptionBudget', () => {
  const budgets = driveKind(podDisruptionBudgetStrategy);
  const created = (spec: object) => budgets.create({ metadata, spec });
  test('begins with nothing allowed', () => {
    const { object, findings } = created({ minAvailable: '50%', selector: {} });
    expect(findings).toEqual([]);
    expect(object).toMatchObject({
      metadata: { generation: 1 },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    });
    expect(podDisruptionBudgetStrategy.table?.cells(object, aMinuteAfter(object))).toEqual(['x', '50%', 'N/A', 0, '60s']);
  });
  test.each<[object, string[]]>([
    [
      { minAvailable: 1, maxUnavailable: 1 },
      [expect.stringMatching(/^spec \| .*: minAvailable and maxUnavailable cannot be both set$/) as string],
    ],
    [{ minAvailable: -1 }, ['spec.minAvailable | Invalid value: -1: must be greater than or equal to 0']],
    [{ maxUnavailable: '101%' }, ['spec.maxUnavailable | Invalid value: "101%": must not be greater than 100%']],
    [{ maxUnavailable: '5' }, [expect.stringMatching(/^spec\.maxUnavailable \| Invalid value: "5": a valid percent string/) as string]],
    [
      { unhealthyPodEvictionPolicy: 'Ask' },
      ['spec.unhealthyPodEvictionPolicy | Unsupported value: "Ask": supported values: "AlwaysAllow", "IfHealthyBudget"'],
    ],
  ])('with %j is refused', (spec, findings) => {
    expect(created(spec).findings).toEqual(findings);
  });
  test('has a status that counts, and a spec that others leave alone', () => {
    const { object } = created({ minAvailable: 1 });
    expect(budgets.updateStatus(object, { disruptionsAllowed: -1 }).findings).toEqual([
      'status.disruptionsAllowed | Invalid value: -1: must be greater than or equal to 0',
    ]);
    expect(budgets.updateStatus(object, { disruptionsAllowed: 2 })).toMatchObject({
      findings: [],
      object: { spec: { minAvailable: 1 }, status: { disruptionsAllowed: 2 } },
    });
    expect(budgets.update(object, (next) => (next['spec'] = { minAvailable: 2 })).object.metadata.generation).toBe(2);
  });
});

describe('a ResourceQuota', () => {
  const quotas = driveKind(resourceQuotaStrategy);
  const created = (hard: object) => quotas.create({ metadata, spec: { hard } });
  test('limits what has a name, and begins without a status', () => {
    const { object, findings } = created({ cpu: '1', 'requests.example.com/gpu': '2', 'count/jobs.batch': '3', pods: '4' });
    expect([findings, object['status']]).toEqual([[], {}]);
  });
  test.each<[object, string[]]>([
    [{ cpu: '-1' }, ['spec.hard[cpu] | Invalid value: "-1": must be greater than or equal to 0']],
    [{ pods: '1.5' }, ['spec.hard[pods] | Invalid value: "1500m": must be an integer']],
    [
      { constructor: '1' },
      [
        'spec.hard[constructor] | Invalid value: "constructor": must be a standard resource type or fully qualified',
        'spec.hard[constructor] | Invalid value: "constructor": must be a standard resource for quota',
      ],
    ],
  ])('of %j is refused', (hard, findings) => {
    expect(created(hard).findings).toEqual(findings);
  });
  test('keeps its scopes and its status', () => {
    const { object } = quotas.create({ metadata, spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } });
    expect(quotas.update(object, (next) => ((next['spec'] as { scopes: string[] }).scopes = [])).findings).toContain(
      'spec.scopes | Invalid value: []: field is immutable',
    );
    const counted = quotas.updateStatus(object, { hard: { pods: '1' }, used: { pods: '1' } });
    expect(counted.findings).toEqual([]);
    expect(quotas.update(counted.object, (next) => delete next['status']).object['status']).toEqual({
      hard: { pods: '1' },
      used: { pods: '1' },
    });
  });
  test('is shown with what is used of it, limits apart', () => {
    const { object } = created({ pods: '4' });
    object['status'] = { hard: { pods: '4', cpu: '2', 'limits.cpu': '3' }, used: { pods: '1' } };
    expect(resourceQuotaStrategy.table?.cells(object, aMinuteAfter(object))).toEqual([
      'x',
      'cpu: 0/2, pods: 1/4',
      'limits.cpu: 0/3',
      '60s',
    ]);
  });
});

describe('a ServiceAccount', () => {
  const accounts = driveKind(serviceAccountStrategy);
  test('is a name, shown without its secrets', () => {
    const { object, findings } = accounts.create({ metadata, secrets: [{ name: 's' }] });
    expect(findings).toEqual([]);
    expect(serviceAccountStrategy.table?.cells(object, aMinuteAfter(object))).toEqual(['x', '60s']);
    expect(serviceAccountStrategy.table?.cells(anObject('y'), aMinuteAfter(object))).toEqual(['y', '60s']);
    expect(accounts.create({ metadata: { name: 'X' } }).findings).toHaveLength(1);
  });

  test('has tokens for an hour, where nothing else is said', () => {
    expect(defaultedTokenRequest()).toEqual({ audiences: null, expirationSeconds: 3600, boundObjectRef: null });
    expect(validateTokenRequest(defaultedTokenRequest({ expirationSeconds: 600 }))).toEqual([]);
    expect(validateTokenRequest(defaultedTokenRequest({ expirationSeconds: 2 ** 32 }))).toEqual([]);
  });
  test.each([
    [599, 'may not specify a duration less than 10 minutes'],
    [0, 'may not specify a duration less than 10 minutes'],
    [2 ** 32 + 1, 'may not specify a duration larger than 2^32 seconds'],
  ])('has no tokens for %i seconds', (expirationSeconds, why) => {
    const [error] = validateTokenRequest(defaultedTokenRequest({ expirationSeconds }));
    expect([error?.field, error?.body]).toEqual(['spec.expirationSeconds', `Invalid value: ${expirationSeconds}: ${why}`]);
  });
});

describe('the built-in kinds', () => {
  test('are each served once', () => {
    const keys = BUILT_IN_RESOURCES.map(({ group, version, plural }) => `${group}/${version}/${plural}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
  test('each have a schema', () => {
    expect(
      BUILT_IN_RESOURCES.filter(({ group, version, kind }) => builtInSchema(group, version, kind) === undefined).map(({ kind }) => kind),
    ).toEqual([]);
  });
  test('have the names that kubectl knows', () => {
    const named = (kind: string) => BUILT_IN_RESOURCES.find((resource) => resource.kind === kind);
    expect(named('Pod')).toMatchObject({
      group: '',
      version: 'v1',
      singular: 'pod',
      listKind: 'PodList',
      shortNames: ['po'],
      categories: ['all'],
      namespaced: true,
    });
    expect(named('Node')).toMatchObject({ namespaced: false, categories: [] });
  });
  test('are stored where they are defined, but for the events of another group', () => {
    expect(BUILT_IN_RESOURCES.filter(({ view }) => view !== undefined).map(({ group, view }) => [group, view?.storageGroup])).toEqual([
      ['events.k8s.io', ''],
    ]);
  });
});
