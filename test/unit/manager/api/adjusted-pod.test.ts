import { expect, test } from 'vitest';
import { adjustedPod, AS_WRITTEN, type PodAdjustments } from '../../../../manager/api/adjusted-pod.ts';
import type { LimitRangeItem } from '../../../../manager/api/limit-range.ts';
import { podRequests } from '../../../../manager/api/pod-requests.ts';
import { parseRequests } from '../../../../manager/api/amount.ts';
import type { PodSpec } from '../../../../shared/api/kubernetes.ts';

const withRange = (item: Omit<LimitRangeItem, 'type'>): PodAdjustments => ({
  limitRanges: (namespace) =>
    namespace === 'team'
      ? [
          {
            metadata: { name: 'r', namespace, uid: 'r', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
            spec: { limits: [{ type: 'Container', ...item }] },
          },
        ]
      : [],
  overhead: (name) => (name === 'kata' ? { cpu: '250m' } : undefined),
});
const requested = (pod: PodSpec, adjustments: PodAdjustments, namespace = 'team') => podRequests(adjustedPod(pod, namespace, adjustments));
const one = (resources: object, parts: Partial<PodSpec> = {}): PodSpec => ({ containers: [{ name: 'main', resources }], ...parts });
const defaults = withRange({ default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '500m' } });

test.each<[string, PodSpec, Record<string, string>]>([
  ['what the range has it request, and its limit where that is all there is', one({}), { cpu: '500m', memory: '1Gi' }],
  ['what it requests itself', one({ requests: { cpu: '3', memory: '2Gi' } }), { cpu: '3', memory: '2Gi' }],
  ['its own limit where it names that alone', one({ limits: { cpu: '4' } }), { cpu: '4', memory: '1Gi' }],
  [
    'as much in its init containers',
    { ...one({ requests: { cpu: '100m', memory: '1' } }), initContainers: [{ name: 'i' }] },
    { cpu: '500m', memory: '1Gi' },
  ],
])('a container requests %s', (_what, pod, requests) => {
  expect(requested(pod, defaults)).toEqual(parseRequests(requests));
});

// Kueue's case 'Handle container limit range' of AdjustResources. In its pod b it requests 3; an API server has a limit of 6 request 6
// before LimitRanges are asked, and a pod must not take more than it is charged.
test.each<[string, object, string]>([
  ['a, which says nothing', {}, '3'],
  ['b, which names a limit', { limits: { cpu: '6' } }, '6'],
  ['c, which names a request', { requests: { cpu: '1' } }, '3'],
])('in pod set %s, the greater of its container and its init container counts', (_which, resources, cpu) => {
  const range = withRange({ default: { cpu: '4' }, defaultRequest: { cpu: '3' }, max: { cpu: '5' }, min: { cpu: '2' } });
  expect(requested({ ...one(resources), initContainers: [{ name: 'i' }] }, range)).toEqual(parseRequests({ cpu }));
});

test('ranges of other namespaces, and none, leave a pod as it is', () => {
  const pod = one({});
  expect(adjustedPod(pod, 'others', defaults)).toBe(pod);
  expect(adjustedPod(pod, 'team', AS_WRITTEN)).toBe(pod);
});

test('a RuntimeClass adds its overhead, unless the pod says what that is; one that does not exist adds none', () => {
  const pod = (parts: Partial<PodSpec>) => one({ requests: { cpu: '1' } }, parts);
  const cpu = (parts: Partial<PodSpec>) => requested(pod(parts), defaults, 'others').get('cpu');
  expect(cpu({ runtimeClassName: 'kata' })).toBe(1_250);
  expect(cpu({ runtimeClassName: 'kata', overhead: { cpu: '1' } })).toBe(2_000);
  expect(cpu({ runtimeClassName: 'gone' })).toBe(1_000);
});
