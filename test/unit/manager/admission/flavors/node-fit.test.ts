import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { forPods } from '../../../../../manager/api/job-requests.ts';
import { podsOnEmptyNodes } from '../../../../../manager/admission/flavors/node-fit.ts';

const GPU = 'nvidia.com/gpu';
const shape = (count: number, allocatable: Record<string, string>) => ({
  count,
  allocatable: parseRequests({ pods: '110', ...allocatable }),
});

test('four pods of eight GPUs need four nodes with eight, not 32 GPUs over sixteen nodes', () => {
  const requests = parseRequests({ pods: '4', [GPU]: '32' });
  expect(podsOnEmptyNodes(requests, [shape(16, { [GPU]: '2' })])).toBe(0);
  expect(podsOnEmptyNodes(requests, [shape(16, { [GPU]: '2' }), shape(3, { [GPU]: '8' })])).toBe(3);
  expect(podsOnEmptyNodes(requests, [shape(2, { [GPU]: '16' })])).toBe(4);
});

test('the scarcest resource of a node decides, its number of pods among them; what it lacks it has none of', () => {
  expect(podsOnEmptyNodes(parseRequests({ pods: '9', cpu: '9', memory: '18Gi' }), [shape(2, { cpu: '8', memory: '8Gi' })])).toBe(8);
  expect(podsOnEmptyNodes(parseRequests({ pods: '9', cpu: '900m' }), [shape(1, { cpu: '8', pods: '5' })])).toBe(5);
  expect(podsOnEmptyNodes(parseRequests({ pods: '1', [GPU]: '1' }), [shape(5, { cpu: '8' })])).toBe(0);
  expect(podsOnEmptyNodes(parseRequests({}), [])).toBe(0);
});

test('floating resources are of no node', () => {
  const requests = parseRequests({ pods: '2', cpu: '2', 'floating.switchyard.dev/matlab': '2' });
  expect(podsOnEmptyNodes(requests, [shape(1, { cpu: '8' })])).toBe(2);
});

test('amounts of one pod that are no whole numbers lose nothing by rounding', () => {
  // As of a partial admission: three of seven pods of 10 cpu together.
  const requests = forPods(parseRequests({ pods: '7', cpu: '10' }), 3);
  expect(podsOnEmptyNodes(requests, [shape(3, { cpu: '1429m' })])).toBe(3);
});

test('it is as many as first fit places, one by one', () => {
  const amounts = fc.record({ cpu: fc.integer({ min: 1, max: 9 }), memory: fc.integer({ min: 0, max: 9 }) });
  const shapes = fc.array(fc.record({ count: fc.integer({ min: 1, max: 4 }), offer: amounts }), { maxLength: 4 });
  fc.assert(
    fc.property(shapes, amounts, fc.integer({ min: 1, max: 30 }), (nodes, pod, pods) => {
      const free = nodes.flatMap(({ count, offer }) => Array.from({ length: count }, () => ({ ...offer })));
      let placed = 0;
      for (let each = 0; each < pods; each++) {
        const node = free.find(({ cpu, memory }) => cpu >= pod.cpu && memory >= pod.memory);
        if (node === undefined) break;
        node.cpu -= pod.cpu;
        node.memory -= pod.memory;
        placed++;
      }
      const requests = parseRequests({ pods: `${pods}`, cpu: `${pod.cpu * pods}`, memory: `${pod.memory * pods}` });
      const known = nodes.map(({ count, offer }) => shape(count, { cpu: `${offer.cpu}`, memory: `${offer.memory}` }));
      expect(podsOnEmptyNodes(requests, known)).toBe(placed);
    }),
  );
});
