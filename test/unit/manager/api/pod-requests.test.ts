import { describe, expect, test } from 'vitest';
import { podRequests } from '../../../../manager/api/pod-requests.ts';
import { QuantityError } from '../../../../shared/kube/quantity.ts';
import type { Container, PodSpec } from '../../../../shared/api/kubernetes.ts';

type Amounts = Record<string, string>;
const container = (requests: Amounts, limits: Amounts = {}): Container => ({ name: 'c', image: 'i', resources: { requests, limits } });
const sidecar = (requests: Amounts): Container => ({ ...container(requests), restartPolicy: 'Always' });
const requested = (pod: Partial<PodSpec>) => Object.fromEntries(podRequests({ containers: [], ...pod }));

describe('a pod requests', () => {
  test('nothing when nothing is said', () => {
    expect(requested({})).toEqual({});
    expect(requested({ containers: [{ name: 'c', image: 'i' }] })).toEqual({});
  });

  test('the sum of its containers; a limit counts where there is no request', () => {
    expect(requested({ containers: [container({ cpu: '500m' }, { cpu: '4' }), container({}, { cpu: '1', memory: '1Ki' })] })).toEqual({
      cpu: 1500,
      memory: 1024,
    });
  });

  test('the peak of its init containers where that is greater, resource by resource', () => {
    const containers = [container({ cpu: '1', memory: '1Ki' })];
    const initContainers = [container({ cpu: '3' }), container({ cpu: '2', memory: '2Ki' })];
    expect(requested({ containers, initContainers })).toEqual({ cpu: 3000, memory: 2048 });
  });

  test('its sidecars beside its containers, and beside the init containers after them', () => {
    const containers = [container({ cpu: '1' })];
    expect(requested({ containers, initContainers: [sidecar({ cpu: '2' }), container({ cpu: '500m' })] })).toEqual({ cpu: 3000 });
    expect(requested({ containers, initContainers: [sidecar({ cpu: '2' }), container({ cpu: '4' })] })).toEqual({ cpu: 6000 });
    // This one ran before the sidecar was started.
    expect(requested({ containers, initContainers: [container({ cpu: '4' }), sidecar({ cpu: '2' })] })).toEqual({ cpu: 4000 });
  });

  test('what it says for itself instead of what its containers say, for the resources it names', () => {
    expect(requested({ containers: [container({ cpu: '3', memory: '1Ki' })], resources: { requests: { cpu: '2' } } })).toEqual({
      cpu: 2000,
      memory: 1024,
    });
  });

  test('its own limit where it names no request and its containers have none either', () => {
    const resources = { limits: { cpu: '4', memory: '1Ki', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' } };
    expect(requested({ resources })).toEqual({ cpu: 4000, memory: 1024, 'hugepages-2Mi': 4 * 2 ** 20 });
    const containers = [container({ cpu: '1', 'hugepages-2Mi': '2Mi' }), container({}, { cpu: '500m' })];
    expect(requested({ containers, resources })).toEqual({ cpu: 1500, memory: 1024, 'hugepages-2Mi': 4 * 2 ** 20 });
    expect(requested({ containers, resources: { ...resources, requests: { cpu: '2' } } })).toEqual({
      cpu: 2000,
      memory: 1024,
      'hugepages-2Mi': 4 * 2 ** 20,
    });
    expect(requested({ initContainers: [container({ memory: '512' })], resources: { limits: { memory: '1Ki' } } })).toEqual({
      memory: 512,
    });
  });

  test('devices by its containers alone', () => {
    const containers = [container({}, { 'example.com/gpu': '1' })];
    expect(requested({ containers, resources: { requests: { 'example.com/gpu': '3' } } })).toEqual({ 'example.com/gpu': 1 });
  });

  test('overhead on top of everything', () => {
    expect(
      requested({ containers: [container({ cpu: '3' })], resources: { requests: { cpu: '2' } }, overhead: { cpu: '250m', memory: '1' } }),
    ).toEqual({
      cpu: 2250,
      memory: 1,
    });
  });
});

test('a quantity that is none is an error, wherever it stands', () => {
  for (const pod of [
    { containers: [container({ cpu: 'many' })] },
    { overhead: { cpu: 'many' } },
    { initContainers: [container({ cpu: 'many' })] },
  ])
    expect(() => requested(pod)).toThrow(QuantityError);
});
