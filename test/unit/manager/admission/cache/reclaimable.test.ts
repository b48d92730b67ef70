import { expect, test } from 'vitest';
import { heldOf, sizedFor } from '../../../../../manager/admission/cache/reclaimable.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aWorkload } from '../setup.ts';

const eight = parseRequests({ cpu: '10', memory: '8Gi', pods: '8' });
const three = parseRequests({ cpu: '3750m', memory: '3Gi', pods: '3' });

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
