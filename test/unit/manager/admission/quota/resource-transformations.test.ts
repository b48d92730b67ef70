import { describe, expect, test } from 'vitest';
import {
  contributionsTo,
  outputsOf,
  transformationsOf,
  withCharges,
  type ResourceTransformations,
} from '../../../../../manager/admission/quota/resource-transformations.ts';
import { chargesIn, parseRequests, withoutCharges } from '../../../../../manager/api/amount.ts';
import { formatRequests } from '../../../../../manager/api/job-requests.ts';
import type { ClusterQueueSpec } from '../../../../../manager/api/cluster-queue.ts';

function transformationsIn(spec: ClusterQueueSpec): ResourceTransformations {
  const found = transformationsOf(spec);
  if (found === undefined) throw new Error('there are none');
  return found;
}
const charged = (
  requests: Record<string, string>,
  resourceTransformations: NonNullable<ClusterQueueSpec['resourceTransformations']>,
  excludeResourcePrefixes: string[] = [],
) => {
  const transformations = transformationsIn({ resourceTransformations, excludeResourcePrefixes });
  const { pods: _pods, ...rest } = formatRequests(chargesIn(withCharges(parseRequests({ pods: '1', ...requests }), transformations)));
  return rest;
};
const MIG = 'nvidia.com/mig-1g.5gb';
const LARGE = 'nvidia.com/mig-2g.10gb';

describe('what a queue charges', () => {
  test('is what pods request where nothing is transformed', () => {
    expect(transformationsOf({})).toBeUndefined();
    expect(transformationsOf({ resourceTransformations: [] })).toBeUndefined();
    expect(charged({ cpu: '2', memory: '1Gi' }, [{ input: MIG, outputs: { credits: 1 } }])).toEqual({ cpu: '2', memory: '1Gi' });
  });

  test('is the outputs in place of the input with Replace, beside it with Retain, which is the default', () => {
    const outputs = { credits: 10, 'accelerator-memory': '5Gi' };
    const both = { cpu: '1', credits: '20', 'accelerator-memory': '10737418240' };
    expect(charged({ cpu: '1', [MIG]: '2' }, [{ input: MIG, strategy: 'Replace', outputs }])).toEqual(both);
    expect(charged({ cpu: '1', [MIG]: '2' }, [{ input: MIG, outputs }])).toEqual({ ...both, [MIG]: '2' });
    expect(charged({ cpu: '1', [MIG]: '2' }, [{ input: MIG, strategy: 'Replace' }])).toEqual({ cpu: '1' });
  });

  test('adds up: outputs of several inputs, and what pods request of the same resource', () => {
    const transformations = [
      { input: MIG, strategy: 'Replace', outputs: { credits: 10 } },
      { input: LARGE, strategy: 'Replace', outputs: { credits: 25 } },
    ] as const;
    expect(charged({ [MIG]: '2', [LARGE]: '1', credits: '3' }, [...transformations])).toEqual({ credits: '48' });
  });

  test('does not depend on the order of requests when one input is the output of another, because outputs are no inputs again', () => {
    const transformations = [
      { input: 'a', strategy: 'Replace', outputs: { b: 2 } },
      { input: 'b', strategy: 'Replace', outputs: { c: 3 } },
    ] as const;
    expect(charged({ a: '1', b: '1' }, [...transformations])).toEqual({ b: '2', c: '3' });
    expect(charged({ b: '1', a: '1' }, [...transformations])).toEqual({ b: '2', c: '3' });
  });

  test('is multiplied by what the pod requests of another resource, if it requests that, and the input itself is not', () => {
    const transformation = { input: 'gpu-memory', multiplyBy: 'gpu', outputs: { 'total-memory': 1 } };
    expect(charged({ 'gpu-memory': '40', gpu: '4' }, [transformation])).toEqual({ 'gpu-memory': '40', gpu: '4', 'total-memory': '160' });
    expect(charged({ 'gpu-memory': '40' }, [transformation])).toEqual({ 'gpu-memory': '40', 'total-memory': '40' });
    expect(charged({ 'gpu-memory': '40', gpu: '4' }, [{ ...transformation, strategy: 'Replace' }], ['gpu'])).toEqual({});
    expect(charged({ 'gpu-memory': '40', cores: '4' }, [{ ...transformation, multiplyBy: 'cores' }], ['cores'])).toEqual({
      'gpu-memory': '40',
      'total-memory': '40',
    });
  });

  test('is multiplied for each pod, and not for all of them together', () => {
    const transformation = { input: 'gpu-memory', strategy: 'Replace', multiplyBy: 'gpu', outputs: { 'total-memory': 1 } } as const;
    expect(charged({ pods: '2', 'gpu-memory': '80', gpu: '8' }, [transformation])).toEqual({ gpu: '8', 'total-memory': '320' });
    expect(charged({ pods: '0', 'gpu-memory': '0', gpu: '0' }, [transformation])).toEqual({});
  });

  test('is rounded up for each pod: cpu to thousandths, everything else to units', () => {
    expect(charged({ pods: '3', gpu: '3' }, [{ input: 'gpu', strategy: 'Replace', outputs: { credits: '100m', cpu: '250100u' } }])).toEqual(
      {
        credits: '3',
        cpu: '753m',
      },
    );
    expect(charged({ cpu: '500m' }, [{ input: 'cpu', outputs: { credits: 3 } }])).toEqual({ cpu: '500m', credits: '2' });
  });

  test('is lowered by an allowance, but never what pods request themselves', () => {
    const transformations = [
      { input: 'gpu', strategy: 'Replace', outputs: { credits: 10 } },
      { input: 'spot', strategy: 'Replace', outputs: { credits: -4 } },
    ] as const;
    expect(charged({ gpu: '1', spot: '1' }, [...transformations])).toEqual({ credits: '6' });
    expect(charged({ gpu: '1', spot: '9', credits: '2' }, [...transformations])).toEqual({ credits: '2' });
  });

  test('leaves out excluded resources before anything is transformed, but no outputs', () => {
    const transformation = { input: 'example.com/a', outputs: { 'example.com/b': 1 } };
    expect(charged({ cpu: '1', 'example.com/a': '1' }, [transformation], ['example.com/'])).toEqual({ cpu: '1' });
    const other = { input: 'cpu', outputs: { 'example.com/b': 2 } };
    expect(charged({ cpu: '1', 'example.com/b': '9' }, [other], ['example.com/'])).toEqual({ cpu: '1', 'example.com/b': '2' });
  });

  test('leaves what clusters are to have as pods request it', () => {
    const requests = parseRequests({ cpu: '1', [MIG]: '2', pods: '1' });
    const all = withCharges(
      requests,
      transformationsIn({ resourceTransformations: [{ input: MIG, strategy: 'Replace', outputs: { cpu: 5 } }] }),
    );
    expect(withoutCharges(all)).toEqual(requests);
    expect(chargesIn(all)).toEqual(parseRequests({ cpu: '11', pods: '1' }));
    expect(chargesIn(requests)).toBe(requests);
  });
});

test('explains which inputs lead to an output, and which resources are outputs', () => {
  const transformations = transformationsIn({
    resourceTransformations: [
      { input: MIG, strategy: 'Replace', outputs: { credits: 10 } },
      { input: 'gpu-memory', multiplyBy: 'gpu', outputs: { 'total-memory': 1, credits: -1 } },
    ],
  });
  expect([...outputsOf(transformations)]).toEqual(['credits', 'total-memory']);
  expect(contributionsTo(parseRequests({ pods: '2', [MIG]: '4', 'gpu-memory': '2', gpu: '6' }), transformations)).toEqual([
    { input: MIG, output: 'credits', amount: 40 },
    { input: 'gpu-memory', multiplyBy: 'gpu', output: 'total-memory', amount: 6 },
    { input: 'gpu-memory', multiplyBy: 'gpu', output: 'credits', amount: -6 },
  ]);
});
