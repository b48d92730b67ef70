import { expect, test } from 'vitest';
import { forPods, heldOf, sizedFor } from '../../../../manager/admission/reclaimable.ts';
import { parseRequests } from '../../../../manager/api/amount.ts';
import { aWorkload } from './setup.ts';

const eight = parseRequests({ cpu: '10', memory: '8Gi', pods: '8' });
const three = parseRequests({ cpu: '3750m', memory: '3Gi', pods: '3' });

test('so many of equal pods request their share, exactly', () => {
  expect(forPods(eight, 3)).toEqual(three);
  expect(forPods(eight, 0)).toEqual(parseRequests({ cpu: '0', memory: '0', pods: '0' }));
  expect(forPods(parseRequests({ cpu: '300m', pods: '3' }), 1)).toEqual(parseRequests({ cpu: '100m', pods: '1' }));
});

test.each([undefined, 8, 9])('no fewer than all (%s) request all', (count) => {
  expect(forPods(eight, count)).toBe(eight);
});

test('what a record allows is held as far as it is needed, unless the queue keeps it', () => {
  const workload = aWorkload('a', {}, { podsNeeded: 3 });
  expect(heldOf(eight, workload, undefined)).toEqual(three);
  expect(heldOf(eight, workload, { keepsFinished: false })).toEqual(three);
  expect(heldOf(eight, workload, { keepsFinished: true })).toBe(eight);
});

test('who waits asks for what it needs, is alike only to those that need as much, and is recorded with all', () => {
  const workload = aWorkload('a', {}, { requests: eight, podsNeeded: 3 });
  const sized = sizedFor(workload, {});
  expect(sized).toMatchObject({ requests: three, recordedRequests: eight });
  expect(sized.schedulingHash).not.toBe(workload.schedulingHash);
  expect(sizedFor(workload, { keepsFinished: true })).toBe(workload);
  const fresh = aWorkload('b', {}, { requests: eight });
  expect(sizedFor(fresh, {})).toBe(fresh);
});
