/** Goal: API servers count the pods of objects of described kinds as the webhook does, and let no admitted object have more. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admissionPolicies } from '../../../../manager/policy/admission-policies.ts';
import { podsOf } from '../../../../manager/policy/described-pods.ts';
import { describedKind } from '../../../../manager/work-kind/described/described-kind.ts';
import { type FieldPath, parsePath, withValueAt } from '../../../../shared/api/field-path.ts';
import type { WorkObject } from '../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, QUEUE_NAME_LABEL } from '../../../../shared/api/names.ts';
import { violations } from '../../../support/policy-evaluation.ts';
import { compiled, CREW_SPEC, SHIPPED } from '../work-kind/described/described.ts';
import { SAMPLES } from '../work-kind/described/kind-samples.ts';

/** The kind of this name under its policies, and admitted objects of it. */
function shipped(name: string) {
  const description = SHIPPED.get(name)?.spec ?? CREW_SPEC;
  const { group, version, resource: plural, kind, suspend, managedBy } = description;
  const resource = { group, version, plural, kind, namespaced: true };
  const policies = admissionPolicies('switchyard', { managers: ['manager'], localWorkers: [] }, [description])
    .filter((each) => each.kind === 'ValidatingAdmissionPolicy')
    .map(({ spec }) => spec);
  const metadata = { name: 'a', namespace: 'team', labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations: { [ADMISSION_ANNOTATION]: '{}' } };
  const admitted = (spec: unknown, suspended = false): WorkObject => {
    const named = withValueAt({ metadata, spec }, parsePath(managedBy?.path ?? '') ?? [], managedBy?.home);
    return withValueAt(named, parsePath(suspend) ?? [], suspended) as never;
  };
  const told = (oldObject: WorkObject, object: WorkObject, paid?: (units: number) => void): string[] =>
    policies.flatMap((policy) =>
      violations(policy, { resource, subresource: '', object, oldObject, username: 'alice', fieldManager: 'kubectl' }, paid),
    );
  return { kind: describedKind(compiled(description)), admitted, told };
}

const { replicatedJobs: REPLICATED_JOBS } = (SAMPLES['JobSet'] as { readonly spec: { readonly replicatedJobs: readonly object[] } }).spec;

/** What one expression may cost there, in cel-go's units. */
const PER_EXPRESSION = 1_000_000;

/** Numbers in a spec, each of which may be how many pods there are of something. */
const numbersIn = (value: unknown, at: FieldPath = []): FieldPath[] => {
  if (typeof value === 'number') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => numbersIn(each, [...at, Array.isArray(value) ? Number(key) : key]));
};

describe('of an admitted object', () => {
  test.each(Object.entries(SAMPLES))('more pods are refused as the webhook refuses them: %s', (name, { spec: sample }) => {
    const { kind, admitted, told } = shipped(name);
    const change = fc.record({ path: fc.constantFrom(...numbersIn(sample)), value: fc.nat({ max: 5 }) });
    const changed = fc
      .array(change, { minLength: 1, maxLength: 3 })
      .map((all) => admitted(all.reduce<unknown>((spec, { path, value }) => withValueAt(spec, path, value), sample)));
    let refused = 0;
    fc.assert(
      fc.property(changed, changed, (oldObject, object) => {
        const grows = kind.podsAtOnce(object) > kind.podsAtOnce(oldObject);
        const refusal = expect.stringContaining(`spec: cannot let the ${name} have more pods at once while it is admitted`);
        expect(told(oldObject, object)).toEqual(grows ? [refusal] : []);
        if (grows) refused += 1;
      }),
      { numRuns: 100, seed: 8 },
    );
    expect(refused).toBeGreaterThan(10);
  });

  test('what has no pod template, or is no entry at all, counts nothing', () => {
    const { admitted, told } = shipped('JobSet');
    const [entry] = REPLICATED_JOBS;
    const of = (replicatedJobs: unknown): WorkObject => admitted({ replicatedJobs });
    for (const none of [null, 'text', 7, {}, [], [null, 'text', {}, { template: null }, { template: { spec: [] } }]]) {
      expect(told(of([entry]), of(none)), JSON.stringify(none)).toEqual([]);
      expect(told(of(none), of([entry])), JSON.stringify(none)).toHaveLength(1);
    }
    expect(told(admitted({}), of([entry]))).toHaveLength(1);
    // A map, as other kinds have, counts its entries.
    expect([told(of([entry]), of({ driver: entry })), told(of([entry]), of({ one: entry, two: entry })).length]).toEqual([[], 1]);
  });

  test('with a thousand pod sets they are counted for little of what an API server lets an expression cost', () => {
    const { admitted, told } = shipped('JobSet');
    const [, entry] = REPLICATED_JOBS;
    const of = (count: number): WorkObject => admitted({ replicatedJobs: Array.from({ length: count }, () => entry) });
    const costs: number[] = [];
    expect(told(of(1_000), of(1_000), (units) => costs.push(units))).toEqual([]);
    expect(costs.reduce((sum, each) => sum + each, 0)).toBeLessThan(PER_EXPRESSION / 5);
  });

  test('one that is suspended by the same write may have more', () => {
    const { admitted, told } = shipped('JobSet');
    const of = (replicas: number, suspended = false): WorkObject =>
      admitted(withValueAt(SAMPLES['JobSet']?.spec, ['replicatedJobs', 1, 'replicas'], replicas), suspended);
    expect([told(of(2), of(3, true)), told(of(2), of(1))]).toEqual([[], []]);
    expect(told(of(2), of(3))).toHaveLength(1);
  });
});

test('a count is known where the spec and the entry say it; else the manager alone tells', () => {
  const pods = (podSet: object): string | undefined => podsOf('object', [{ template: 'pod', ...podSet }]);
  expect(pods({ items: 'spec.groups', count: 'item.hands' })).toContain('item.hands');
  expect(pods({ items: 'spec.groups', count: 'item.status.key' })).toBeDefined();
  for (const count of ['status.hands', 'object.metadata.labels.size()', 'size(key)', "conditions['a'].hands"])
    expect(pods({ items: 'spec.groups', count }), count).toBeUndefined();
  expect(pods({ when: "'Ready' in trueConditions" })).toBeUndefined();
});
