import { describe, expect, test } from 'vitest';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { hasFinishedPods, heldOf, holdingFor, sizedFor } from '../../../../../manager/admission/cache/reclaimable.ts';
import { transformationsOf } from '../../../../../manager/admission/quota/resource-transformations.ts';
import { recordedRequests, recordFields } from '../../../../../manager/admission/workload/reservation.ts';
import { chargesIn, parseRequests } from '../../../../../manager/api/amount.ts';
import { ANY_NODE } from '../../../../../manager/admission/workload/node-wish.ts';
import { flavorResource } from '../../../../../manager/admission/quota/quota-tree.ts';
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

describe('of two pod sets', () => {
  const set = (podSet: string, cpu: string, pods: string, podsNeeded?: number) => ({
    podSet,
    requests: parseRequests({ cpu, pods }),
    nodeWish: ANY_NODE,
    ...omitUndefined({ podsNeeded }),
  });
  const podSets = [
    { name: 'head', flavors: { cpu: 'fast' }, requests: { cpu: '4', pods: '2' } },
    { name: 'workers', flavors: { cpu: 'slow' }, requests: { cpu: '6', pods: '6' } },
  ];
  const all = parseRequests({ cpu: '10', pods: '8' });
  const record = { flavors: { cpu: 'fast' }, podSets };
  const whole = aWorkload('a', {}, { podSets: [set('head', '4', '2'), set('workers', '6', '6')] });
  const finished = aWorkload('a', {}, { podSets: [set('head', '4', '2', 1), set('workers', '6', '6', 0)] });

  test('each gives back what it has finished, of its own flavor', () => {
    const { held, recorded, charges } = holdingFor(finished, record, all, undefined);
    expect([held, recorded]).toEqual([parseRequests({ cpu: '2', pods: '1' }), all]);
    expect(charges).toEqual([
      [flavorResource('fast', 'cpu'), 2000],
      [flavorResource('slow', 'cpu'), 0],
    ]);
  });

  test('both hold all where none has finished, the queue keeps it, or no pod set of that name is there any more', () => {
    const kept = [flavorResource('fast', 'cpu'), 4000];
    expect(holdingFor(whole, record, all, undefined)).toMatchObject({ held: all, charges: [kept, [expect.anything(), 6000]] });
    expect(holdingFor(finished, record, all, { keepsFinished: true })).toMatchObject({
      held: all,
      charges: [kept, [expect.anything(), 6000]],
    });
    const renamed = aWorkload('a', {}, { podSets: [set('other', '4', '2', 0)] });
    expect(holdingFor(renamed, record, all, undefined).held).toEqual(all);
    expect([whole, finished].map(hasFinishedPods)).toEqual([false, true]);
  });

  test('one that waits asks for all of its pods: what is finished does not move with it', () => {
    expect(sizedFor(finished, {})).toBe(finished);
  });
});
