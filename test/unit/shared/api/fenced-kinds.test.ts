import { describe, expect, test } from 'vitest';
import { fencedKindName, formatFencedKinds, parseFencedKinds, type FencedKind } from '../../../../shared/api/fenced-kinds.ts';

const JOB_SETS: FencedKind = {
  resource: { group: 'jobset.x-k8s.io', version: 'v1alpha2', plural: 'jobsets', kind: 'JobSet', namespaced: true },
  suspend: ['spec', 'suspend'],
  suspendedCondition: 'Suspended',
};
const RAY_JOBS: FencedKind = {
  resource: { group: 'ray.io', version: 'v1', plural: 'rayjobs', kind: 'RayJob', namespaced: true },
  suspend: ['spec', 'policy', 'suspend'],
  suspendedCondition: undefined,
};

test('what a manager writes is what its worker reads', () => {
  expect(parseFencedKinds(formatFencedKinds([JOB_SETS, RAY_JOBS]))).toEqual([JOB_SETS, RAY_JOBS]);
  expect(formatFencedKinds([])).toBeUndefined();
  expect(fencedKindName(JOB_SETS.resource)).toBe('jobsets.v1alpha2.jobset.x-k8s.io');
});

describe('of what somebody else has written', () => {
  const [entry] = JSON.parse(formatFencedKinds([JOB_SETS]) ?? '') as [Record<string, unknown>];
  const readOf = (value: unknown): readonly FencedKind[] => parseFencedKinds(JSON.stringify(value));

  test.each([undefined, '{', '{"a":1}', '[1,null,"x"]', ' '.repeat(40_000)])('%j names no kinds', (text) => {
    expect(parseFencedKinds(text)).toEqual([]);
  });
  test.each([
    { group: '' },
    { group: 'apps' },
    { group: 'batch' },
    { version: 'one' },
    { plural: 'pods/exec' },
    { kind: 'Job Set' },
    { suspend: 'metadata.labels' },
    { suspend: 'spec' },
    { suspend: 'spec.list[0].suspend' },
    { suspend: 3 },
  ])('%j is left out, and what stands beside it is not', (change) => {
    expect(readOf([{ ...entry, ...change }, entry])).toEqual([JOB_SETS]);
  });
  test('more kinds than anybody describes are not read', () =>
    expect(readOf(Array.from({ length: 150 }, (_, index) => ({ ...entry, version: `v${index}` })))).toHaveLength(100));
});
