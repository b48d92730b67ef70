import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { workloadOf, type Workload } from '../../../../../manager/admission/workload/workload.ts';
import {
  admittedOf,
  digestOfPodSets,
  excessOfPodSets,
  sumOf,
  remainingPods,
  withPods,
  type WorkloadPodSet,
} from '../../../../../manager/admission/workload/workload-pod-sets.ts';
import { ANY_NODE } from '../../../../../manager/admission/workload/node-wish.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { atRestMessage } from '../../../../../manager/api/rest-proof.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import type { WorkStatus } from '../../../../../shared/api/kubernetes.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCrew, aCrewKind } from '../../work-kind/described/described.ts';

const set = (podSet: string, cpu: number, pods: number, parts: Partial<WorkloadPodSet> = {}): WorkloadPodSet => ({
  podSet,
  requests: parseRequests({ cpu: String(cpu * pods), pods: String(pods) }),
  nodeWish: ANY_NODE,
  ...parts,
});
const of = (...podSets: readonly WorkloadPodSet[]) => ({ requests: sumOf(podSets), podSets });
const big = of(set('head', 2, 2), set('workers', 1, 6, { minPods: 2 }));

describe('fewer pods', () => {
  test('are fewer of the pod set that may have fewer, whose number is noted', () => {
    const part = withPods(big, 5);
    expect(part.requests).toEqual(parseRequests({ cpu: '7', pods: '5' }));
    expect(part.podSets?.map(({ requests, admittedPods }) => [requests.get('pods'), admittedPods])).toEqual([
      [2, undefined],
      [3, 3],
    ]);
  });

  test('are all of them from their number on, or where no number is given', () => {
    for (const count of [8, 9, undefined]) expect(withPods(big, count)).toEqual(big);
  });

  test('of one pod set are a share of it', () => {
    expect(withPods({ requests: parseRequests({ cpu: '8', pods: '8' }) }, 3)).toEqual({ requests: parseRequests({ cpu: '3', pods: '3' }) });
  });

  test('the sum is always that of the parts', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 20 }),
        (head, workers, count) => {
          const { requests, podSets = [] } = withPods(of(set('head', 3, head), set('workers', 1, workers, { minPods: 1 })), count);
          expect(requests).toEqual(sumOf(podSets));
          expect(requests.get('pods')).toBe(Math.max(head, Math.min(head + workers, count)));
        },
      ),
    );
  });
});

describe('of an admitted object', () => {
  const record = {
    parallelism: 5,
    podSets: [
      { name: 'head', flavors: {}, requests: { cpu: '4', pods: '2' } },
      { name: 'workers', flavors: {}, requests: { cpu: '3', pods: '3' }, count: 3 },
    ],
  };

  test('pods that a partial admission has left out are not asked for', () => {
    expect(admittedOf(big, record)).toEqual(parseRequests({ cpu: '7', pods: '5' }));
    expect(admittedOf(big, {})).toBe(big.requests);
    expect(admittedOf({ requests: big.requests }, { parallelism: 4 })).toEqual(parseRequests({ cpu: '5', pods: '4' }));
  });

  test('a pod set that asks for more has more, whatever the others give up', () => {
    expect(excessOfPodSets(big, record)).toBeUndefined();
    const moved = of(set('head', 2, 3), set('workers', 1, 2));
    expect(excessOfPodSets(moved, record)).toBe('2 cpu and 1 pods');
    expect(excessOfPodSets(of(set('head', 2, 2), set('others', 1, 1)), record)).toBe('1 cpu and 1 pods');
    expect(excessOfPodSets(big, {})).toBeUndefined();
    expect(excessOfPodSets({}, record)).toBeUndefined();
  });
});

test('what is finished of a pod set is not needed of as many as were admitted', () => {
  const podSet = { name: 'workers', count: 6, template: {} };
  expect(remainingPods(podSet)).toBeUndefined();
  expect(remainingPods({ ...podSet, finished: 0 })).toBeUndefined();
  expect(remainingPods({ ...podSet, finished: 2 })).toBe(4);
  expect(remainingPods({ ...podSet, finished: 2 }, 3)).toBe(1);
  expect(remainingPods({ ...podSet, finished: 9 }, 3)).toBe(0);
});

test('pod sets are alike by what they ask for, and by the fewest of it', () => {
  expect(digestOfPodSets([set('a', 1, 3)])).toBe(digestOfPodSets([set('a', 1, 3, { podsNeeded: 1 })]));
  expect(digestOfPodSets([set('a', 1, 3)])).not.toBe(digestOfPodSets([set('a', 1, 3, { minPods: 2 })]));
});

describe('a crew of a captain, two on deck and three at oars, of which one is enough', () => {
  const kind = aCrewKind();
  const DISPATCHED = { type: 'Dispatched', status: 'True', reason: 'Dispatched', message: 'dispatched to cluster "eu-1" (placement 1)' };
  const crewIn = (
    record: AdmissionRecord | undefined,
    parts: { readonly status?: WorkStatus; readonly suspend?: boolean } = {},
  ): Workload => {
    const policy = { managedBy: 'example.com/elsewhere', suspend: parts.suspend ?? record === undefined };
    const crew = aCrew({ spec: { policy }, ...(parts.status === undefined ? {} : { status: parts.status }) });
    const workload = workloadOf(kind, crew, record === undefined ? { kind: 'None' } : { kind: 'Record', record });
    if (workload === undefined) throw new Error('it is the manager’s');
    return workload;
  };
  const record = aRecord({
    cluster: 'eu-1',
    requests: { cpu: '4500m', pods: '4' },
    parallelism: 4,
    podSets: [
      { name: 'captain', flavors: {}, requests: { cpu: '500m', pods: '1' } },
      { name: 'deck', flavors: {}, requests: { cpu: '2', pods: '2' } },
      { name: 'oars', flavors: {}, requests: { cpu: '2', pods: '1' }, count: 1 },
    ],
  });
  const needed = ({ podSets = [] }: Workload) => podSets.map(({ podsNeeded }) => podsNeeded);
  const done = (conditions: object[]): WorkStatus => ({ phase: 'Sailing', done: { deck: 1, oars: 1 }, conditions }) as WorkStatus;

  test('may be admitted with four', () => {
    const workload = crewIn(undefined);
    expect(workload.minPods).toBe(4);
    expect(workload.podSets?.map(({ minPods }) => minPods)).toEqual([undefined, undefined, 1]);
  });

  test('admitted with four, asks for no more than that, and does not need the pods that are done', () => {
    const workload = crewIn(record, { status: done([DISPATCHED]) });
    expect(admittedOf(workload, record)).toEqual(parseRequests({ cpu: '4500m', pods: '4' }));
    expect(excessOfPodSets(workload, record)).toBeUndefined();
    expect(needed(workload)).toEqual([undefined, 1, 0]);
    expect(workload.podsNeeded).toBeUndefined();
  });

  test.each([
    ['of another placement', { ...DISPATCHED, message: 'dispatched to cluster "eu-1" (placement 7)' }],
    ['of a copy that is gone', { ...DISPATCHED, status: 'False' }],
  ])('a status %s proves nothing of what this copy has done', (_what, dispatched) => {
    expect(needed(crewIn(record, { status: done([dispatched]) }))).toEqual([undefined, undefined, undefined]);
  });

  test('once it waits again it needs all of its pods', () => {
    const rests = { type: 'Dispatched', status: 'False', reason: 'AtRest', message: atRestMessage(record) };
    const workload = crewIn({ ...record, evicted: true }, { status: done([rests]), suspend: true });
    expect(workload.phase).toBe('Pending');
    expect([workload.requests.get('pods'), workload.podsNeeded, needed(workload)]).toEqual([
      6,
      undefined,
      [undefined, undefined, undefined],
    ]);
  });
});
