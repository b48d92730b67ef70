/**
 * Goal: what does not concern Switchyard costs the API server next to nothing, however large it is made, and still nothing of ours slips
 * by.
 */
import { describe, expect, test } from 'vitest';
import { admissionPolicies, POLICY_PARTS } from '../../../../manager/policy/admission-policies.ts';
import type { WorkKindSpec } from '../../../../manager/api/work-kind.ts';
import { parsePath, withValueAt } from '../../../../shared/api/field-path.ts';
import { SHIPPED } from '../work-kind/described/described.ts';
import { OWN_PARTS, SEEN_PARTS } from '../../../../manager/policy/job-parts.ts';
import { matchConditions, ofInstallation, OVERRIDE_CONDITIONS } from '../../../../manager/policy/webhook-conditions.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, MANAGER_FIELD_MANAGER, QUEUE_NAME_LABEL } from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { matches, violations, type PolicyRequest } from '../../../support/policy-evaluation.ts';

const MANAGER = 'system:serviceaccount:switchyard:switchyard-manager';
const IDENTITIES = { managers: [MANAGER], localWorkers: [] };
const policiesOf = (...kinds: readonly WorkKindSpec[]) =>
  admissionPolicies('switchyard', IDENTITIES, kinds)
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
    .map(({ spec }) => spec);
const POLICIES = policiesOf();
const MUTATING = matchConditions('Mutating', IDENTITIES);
const VALIDATING = matchConditions('Validating', IDENTITIES);
const OVERRIDE = ofInstallation(OVERRIDE_CONDITIONS, IDENTITIES);

type Parts = { labels?: Record<string, string>; annotations?: Record<string, string>; finalizers?: string[] };
const foreign = (parts: Parts = {}): Job =>
  ({
    metadata: {
      name: 'report',
      namespace: 'team',
      labels: { app: 'report', team: 'data' },
      annotations: { note: 'nightly', 'example.com/owner': 'the-data-team' },
      ...parts,
    },
    spec: { suspend: false, parallelism: 1, template: { spec: { containers: [] } } },
  }) as unknown as Job;

const write = (oldObject: Job | undefined, object: Job, more: Partial<PolicyRequest> = {}): PolicyRequest => ({
  subresource: '',
  oldObject,
  object,
  username: 'alice',
  fieldManager: 'kubectl',
  ...more,
});
const STATUS = { subresource: 'status' };

/** What one write costs in cel-go's units, over all policies and webhooks. */
function costOf(request: PolicyRequest, policies = POLICIES): number {
  let units = 0;
  const paid = (each: number): void => void (units += each);
  for (const policy of policies) violations(policy, request, paid);
  if (request.oldObject === undefined) matches(MUTATING, request, paid);
  matches(VALIDATING, request, paid);
  matches(OVERRIDE, request, paid);
  return units;
}

const changed = foreign({ annotations: { note: 'nightly', step: '2' } });

describe('a write of a foreign Job', () => {
  // A third of what it cost when every policy and the webhook looked at each name of ours by itself: 2,188 units, 2,673 and 2,739.
  test.each([
    ['a new one', write(undefined, foreign()), 729],
    ['a changed one', write(foreign(), changed), 891],
    ['its status', write(foreign(), foreign(), STATUS), 913],
  ])('costs little: %s', (_what, request, units) => {
    expect(costOf(request)).toBeLessThanOrEqual(units);
  });

  test.each([...SHIPPED.values()].map(({ spec }) => [spec.kind, spec] as const))(
    'and of a foreign %s, under policies of its kind',
    (_kind, spec) => {
      const { group, version, resource: plural, kind, suspend } = spec;
      const resource = { group, version, plural, kind, namespaced: true };
      const policies = policiesOf(...[...SHIPPED.values()].map((each) => each.spec));
      const inForm = (job: Job): Job => withValueAt({ ...job, spec: { template: {} } }, parsePath(suspend) ?? [], false);
      const of = (oldObject: Job | undefined, object: Job, more?: Partial<PolicyRequest>): number =>
        costOf(write(oldObject && inForm(oldObject), inForm(object), { resource, ...more }), policies);
      expect(of(undefined, foreign())).toBeLessThanOrEqual(729);
      expect(of(foreign(), changed)).toBeLessThanOrEqual(891);
      expect(of(foreign(), foreign(), STATUS)).toBeLessThanOrEqual(913);
    },
  );

  test('costs no more when the Job is padded, so no limit of cost is a way past the rules', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `n${i}`);
    const many = Object.fromEntries(names.map((name) => [name, '']));
    const padded = foreign({ labels: many, annotations: many, finalizers: names.map((name) => `example.com/${name}`) });
    expect(costOf(write(padded, padded))).toBeLessThan(2 * costOf(write(foreign(), foreign())));
  });

  test('asks nothing of the policy about the queue label, which its selector keeps away', () => {
    const [, shared = {}] = POLICIES;
    let units = 0;
    expect(violations(shared, write(foreign(), changed), (each) => (units += each))).toEqual([]);
    expect(units).toBe(0);
  });
});

test('a write of the manager costs no more than to see that it is one', () => {
  const byManager = { username: MANAGER, fieldManager: MANAGER_FIELD_MANAGER };
  expect(costOf(write(aHomeJob(), aHomeJob({ spec: { suspend: false } }), byManager))).toBeLessThan(250);
});

test.each([...SHIPPED.values()].map(({ spec }) => [spec.kind, spec] as const))(
  'nor does a write of the manager to a %s cost much more than to see that nothing but its suspension changes, however large it is',
  (_kind, spec) => {
    const { group, version, resource: plural, kind, suspend, managedBy } = spec;
    const more = { resource: { group, version, plural, kind, namespaced: true }, username: MANAGER, fieldManager: MANAGER_FIELD_MANAGER };
    const waiting = (suspended: boolean, roles: number): Job => {
      const large = { roles: Array.from({ length: roles }, (_, index) => ({ name: `role-${index}`, args: ['x'.repeat(100)] })) };
      const object = foreign({ labels: { [QUEUE_NAME_LABEL]: 'main' } });
      const named = withValueAt({ ...object, spec: large }, parsePath(managedBy?.path ?? '') ?? [], managedBy?.home);
      return withValueAt(named, parsePath(suspend) ?? [], suspended) as unknown as Job;
    };
    for (const roles of [1, 2_000])
      expect(costOf(write(waiting(true, roles), waiting(false, roles), more), policiesOf(spec))).toBeLessThan(1_000);
  },
);

describe('and yet, of a foreign Job,', () => {
  const withPart = (place: string, name: string, value: string): Job =>
    foreign({ [place]: place === 'finalizers' ? [name] : { [name]: value } });
  const writes = (place: string, name: string): PolicyRequest[] =>
    [undefined, STATUS].flatMap((more) => [
      write(foreign(), withPart(place, name, 'a'), more),
      write(withPart(place, name, 'a'), foreign({ [place]: undefined }), more),
      ...(place === 'finalizers' ? [] : [write(withPart(place, name, 'a'), withPart(place, name, 'b'), more)]),
    ]);
  const named = (parts: readonly { place: string; name: string }[]) => parts.map(({ place, name }) => [place, name] as const);

  test.each(named(OWN_PARTS))('the policies refuse whoever adds, changes or removes, of its %s, %s', (place, name) => {
    for (const each of [write(undefined, withPart(place, name, 'a')), ...writes(place, name)])
      expect(POLICIES.flatMap((policy) => violations(policy, each)).join()).toContain(name);
  });

  test.each(named(SEEN_PARTS))('the webhook hears of everyone who does, of its %s, %s', (place, name) => {
    for (const each of [write(undefined, withPart(place, name, 'a')), ...writes(place, name)]) expect(matches(VALIDATING, each)).toBe(true);
  });
});

describe('a Job of the manager', () => {
  const waiting = aHomeJob({ spec: { suspend: true } });
  const bare = aHomeJob({ metadata: { labels: {} }, spec: { suspend: true } });
  const fieldsOf = (request: PolicyRequest): string[] =>
    POLICIES.flatMap((policy) => violations(policy, request)).map((message) => message.slice(0, message.indexOf(': ')));

  test('is released by nobody else, also where no label says that it is one', () => {
    expect(fieldsOf(write(waiting, aHomeJob({ spec: { suspend: false } })))).toEqual(['spec.suspend']);
    expect(fieldsOf(write(bare, aHomeJob({ metadata: { labels: {} }, spec: { suspend: false } })))).toEqual(['spec.suspend']);
  });

  test('is not taken out of its queue to be out of sight, whatever else is in the same write', () => {
    expect(fieldsOf(write(waiting, bare))).toEqual([`metadata.labels[${QUEUE_NAME_LABEL}]`]);
    const renamed = aHomeJob({ metadata: { labels: { 'switchyard.dev/Queue-Name': 'main' } }, spec: { suspend: false } });
    expect(fieldsOf(write(waiting, renamed)).toSorted()).toEqual([`metadata.labels[${QUEUE_NAME_LABEL}]`, 'spec.suspend']);
  });

  test('tells its status through nobody else, with labels or without', () => {
    expect(fieldsOf(write(bare, bare, STATUS))).toEqual(['status']);
    expect(bare.spec.managedBy).toBe(MANAGER_CONTROLLER_NAME);
  });
});

test('rules of a policy that a selector narrows are about what it selects by', () => {
  for (const { objectSelector, validations } of POLICY_PARTS) {
    if (objectSelector === undefined) continue;
    expect(objectSelector.matchExpressions).toEqual([{ key: QUEUE_NAME_LABEL, operator: 'Exists' }]);
    for (const { message, expression } of validations) {
      expect(message).toContain(`metadata.labels[${QUEUE_NAME_LABEL}]`);
      // Broken only where the label has a value before the write, or after it.
      expect(expression).toMatch(/variables\.queue != (?:''|variables\.oldQueue)|variables\.oldQueue != ''/);
    }
  }
});
