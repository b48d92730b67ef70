import { describe, expect, test } from 'vitest';
import { containersWithout, podUsage } from '../../../../../shared/controlplane/admission/pod-usage.ts';

type Amounts = Record<string, string>;
const container = (requests: Amounts = {}, limits: Amounts = {}) => ({ name: 'c', resources: { requests, limits } });
const sidecar = (requests: Amounts) => ({ ...container(requests), restartPolicy: 'Always' });
const inherited = (text: string): Amounts => JSON.parse(text) as Amounts;

describe('what a pod takes from a quota', () => {
  test('is itself, whatever it asks for', () => {
    expect(podUsage({})).toEqual({ pods: '1' });
    expect(podUsage({ containers: [{ name: 'c' }] })).toEqual({ pods: '1' });
  });

  test('are its requests under two names, and its limits under one', () => {
    expect(
      podUsage({
        containers: [container({ cpu: '500m', memory: '1Gi' }, { cpu: '1' }), container({ cpu: '1' }, { cpu: '2', memory: '3Gi' })],
      }),
    ).toEqual({
      pods: '1',
      cpu: '1500m',
      'requests.cpu': '1500m',
      memory: '1Gi',
      'requests.memory': '1Gi',
      'limits.cpu': '3',
      'limits.memory': '3Gi',
    });
  });

  test('are what vendors add under requests alone, and huge pages under both names', () => {
    const amounts = { 'example.com/gpu': '1', 'hugepages-2Mi': '2Mi' };
    expect(podUsage({ containers: [container(amounts, amounts)] })).toEqual({
      pods: '1',
      'requests.example.com/gpu': '1',
      'hugepages-2Mi': '2Mi',
      'requests.hugepages-2Mi': '2Mi',
    });
  });

  test('is the peak of its init containers, with the sidecars started before each', () => {
    const cpu = (spec: object) => podUsage(spec)['cpu'];
    const containers = [container({ cpu: '1' })];
    expect(cpu({ containers, initContainers: [container({ cpu: '3' }), container({ cpu: '2' })] })).toBe('3');
    expect(cpu({ containers, initContainers: [sidecar({ cpu: '2' }), container({ cpu: '500m' })] })).toBe('3');
    expect(cpu({ containers, initContainers: [sidecar({ cpu: '2' }), container({ cpu: '4' })] })).toBe('6');
    expect(cpu({ containers, initContainers: [container({ cpu: '4' }), sidecar({ cpu: '2' })] })).toBe('4');
    expect(cpu({ containers, overhead: { cpu: '250m' } })).toBe('1250m');
  });

  test('leaves out resources that no quota limits, also those named like what every object inherits', () => {
    expect(podUsage({ containers: [container(inherited('{"constructor": "1", "toString": "2", "__proto__": "3"}'))] })).toEqual({
      pods: '1',
    });
  });
});

describe('containers that do not say how much they ask', () => {
  const spec = {
    containers: [
      { name: 'silent' },
      { name: 'asks', resources: { requests: { cpu: '1', memory: '1' } } },
      { name: 'bounded', resources: { limits: { cpu: '1' } } },
    ],
    initContainers: [{ name: 'first', resources: { requests: { memory: '1' } } }],
  };
  test.each<[string, string[]]>([
    ['cpu', ['bounded', 'first', 'silent']],
    ['requests.cpu', ['bounded', 'first', 'silent']],
    ['requests.memory', ['bounded', 'silent']],
    ['limits.cpu', ['asks', 'first', 'silent']],
    ['limits.memory', ['asks', 'bounded', 'first', 'silent']],
    // Upstream demands these two alone.
    ['ephemeral-storage', []],
    ['requests.example.com/gpu', []],
    ['pods', []],
    ['constructor', []],
  ])('of a quota on %s are %j', (limited, names) => {
    expect(containersWithout(spec, limited)).toEqual(names);
  });
  test('are none of a pod without containers', () => {
    expect(containersWithout({}, 'cpu')).toEqual([]);
  });
});
