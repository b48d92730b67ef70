import { expect, test } from 'vitest';
import { heldOf, sizedFor } from '../../../../../manager/admission/cache/reclaimable.ts';
import { transformationsOf } from '../../../../../manager/admission/quota/resource-transformations.ts';
import { recordedRequests, recordFields } from '../../../../../manager/admission/workload/reservation.ts';
import { chargesIn, parseRequests } from '../../../../../manager/api/amount.ts';
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

test('who waits in a queue that transforms resources is charged for the pods that it needs, and recorded with the charge for all', () => {
  const transformations = transformationsOf({ resourceTransformations: [{ input: 'gpu', outputs: { credits: 3 } }] });
  if (transformations === undefined) throw new Error('there are none');
  const requests = parseRequests({ gpu: '8', pods: '8' });
  const { requests: sized, recordedRequests: all } = sizedFor(aWorkload('a', {}, { requests, podsNeeded: 3 }), { transformations });
  expect(chargesIn(sized)).toEqual(parseRequests({ gpu: '3', credits: '9', pods: '3' }));
  expect(recordFields(all ?? sized)).toEqual({ requests: { gpu: '8', pods: '8' }, charged: { gpu: '8', credits: '24', pods: '8' } });
  expect(recordedRequests(recordFields(sized))).toEqual(sized);
});
