import { describe, expect, test } from 'vitest';
import { containerDefaults, limitProblem, type LimitRange, type LimitRangeItem } from '../../../../manager/api/limit-range.ts';
import type { PodSpec } from '../../../../shared/api/kubernetes.ts';

const aRange = (name: string, ...limits: LimitRangeItem[]): LimitRange => ({
  metadata: { name, namespace: 'team', uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { limits },
});
const container = (parts: Omit<LimitRangeItem, 'type'>): LimitRangeItem => ({ type: 'Container', ...parts });
const aPod = (...resources: object[]): PodSpec => ({
  containers: resources.map((each, index) => ({ name: `c${index}`, resources: each })),
});

test('of each resource the first range by name that says so has the default', () => {
  const ranges = [
    aRange('b', container({ default: { cpu: '2', memory: '2Gi' }, defaultRequest: { cpu: '1' } })),
    aRange('a', container({ default: { cpu: '4' } }), { type: 'Pod', max: { cpu: '9' } }),
    aRange('c', container({ defaultRequest: { cpu: '3', memory: '1Gi' } })),
  ];
  expect(containerDefaults(ranges)).toEqual({ limits: { cpu: '4', memory: '2Gi' }, requests: { cpu: '1', memory: '1Gi' } });
  expect(containerDefaults([])).toEqual({ limits: {}, requests: {} });
});

describe('pods are forbidden', () => {
  test.each<[string, LimitRangeItem, PodSpec, string | undefined]>([
    [
      'not, within bounds',
      container({ min: { cpu: '1' }, max: { cpu: '4' } }),
      aPod({ requests: { cpu: '2' }, limits: { cpu: '4' } }),
      undefined,
    ],
    [
      'where a container asks for more than the most',
      container({ max: { cpu: '2' } }),
      aPod({ requests: { cpu: '1' } }, { requests: { cpu: '2500m' } }),
      'limit range r: container c1 asks for 2500m cpu, and at most 2 cpu is allowed',
    ],
    [
      'where its limit is more than that',
      container({ max: { memory: '1Gi' } }),
      aPod({ requests: { memory: '1Gi' }, limits: { memory: '2Gi' } }),
      'limit range r: container c0 asks for 2Gi memory, and at most 1Gi memory is allowed',
    ],
    [
      'where one asks for less than the least, or for nothing',
      container({ min: { cpu: '500m' } }),
      aPod({}),
      'limit range r: container c0 asks for 0 cpu, and at least 500m cpu is needed',
    ],
    [
      'where one requests more than its limit',
      container({}),
      aPod({ requests: { cpu: '2' }, limits: { cpu: '1' } }),
      'limit range r: container c0 requests 2 cpu, more than its limit of 1 cpu',
    ],
    [
      'where its limit is too many times its request',
      container({ maxLimitRequestRatio: { cpu: '2' } }),
      aPod({ requests: { cpu: '1' }, limits: { cpu: '3' } }),
      'limit range r: container c0 has a limit of more than 2 times the cpu that it requests',
    ],
    [
      'where all containers together ask for more than a pod may',
      { type: 'Pod', max: { cpu: '3' } },
      aPod({ requests: { cpu: '2' } }, { requests: { cpu: '2' } }),
      'limit range r: a pod asks for 4 cpu, and at most 3 cpu is allowed',
    ],
    [
      'not by what is said of volumes',
      { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
      aPod({ requests: { cpu: '9' } }),
      undefined,
    ],
  ])('%s', (_what, item, pod, problem) => {
    expect(limitProblem(pod, [aRange('r', item)])).toBe(problem);
  });

  test('by their init containers, too', () => {
    const pod: PodSpec = { ...aPod({ requests: { cpu: '1' } }), initContainers: [{ name: 'init', resources: { requests: { cpu: '8' } } }] };
    expect(limitProblem(pod, [aRange('r', container({ max: { cpu: '2' } }))])).toMatch(/container init asks for 8 cpu/);
  });
});
