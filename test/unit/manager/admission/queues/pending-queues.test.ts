import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Inadmissibility } from '../../../../../manager/admission/scheduling/decision.ts';
import { compareQueued, type QueuedWorkload } from '../../../../../manager/admission/workload/ordering.ts';
import { createPendingQueues, type PendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { aWorkload, queued } from '../setup.ts';

const noQuota: Inadmissibility = { reason: 'InsufficientQuota', message: 'short', waitsFor: 'quota' };
const noCluster: Inadmissibility = { reason: 'NoClusterFits', message: 'full', waitsFor: 'cluster' };
const headOf = (queues: PendingQueues) => queues.heads().map(({ queued: { workload } }) => workload.name);
const rejectHead = (queues: PendingQueues, inadmissibility: Inadmissibility) => {
  const [first] = queues.heads();
  if (first === undefined) throw new Error('nobody waits');
  queues.markInadmissible(first, inadmissibility);
};
const reasonOf = (queues: PendingQueues, name: string) => queues.inadmissibilityOf(`team/${name}`)?.reason;

describe('BestEffortFIFO', () => {
  test('holds back all that are scheduled alike with the first that does not fit, and lets others pass', () => {
    const queues = createPendingQueues();
    queues.add('cq', false, queued(aWorkload('big 1', { cpu: '9' }), 0));
    queues.add('cq', false, queued(aWorkload('big 2', { cpu: '9' }), 1));
    queues.add('cq', false, queued(aWorkload('small', { cpu: '1' }), 2));
    expect(headOf(queues)).toEqual(['big 1']);
    rejectHead(queues, noQuota);
    expect(['big 1', 'big 2', 'small'].map((name) => reasonOf(queues, name))).toEqual([
      'InsufficientQuota',
      'InsufficientQuota',
      undefined,
    ]);
    expect(headOf(queues)).toEqual(['small']);
    expect(queues.counts().get('cq')).toEqual({ active: 3, inadmissible: 0 });
    rejectHead(queues, noQuota);
    expect(headOf(queues)).toEqual([]);
    expect(queues.counts().get('cq')).toEqual({ active: 0, inadmissible: 3 });
  });

  test('a newcomer like those that do not fit is told at once, and does not disturb the scheduler', () => {
    const queues = createPendingQueues();
    queues.add('cq', false, queued(aWorkload('a'), 0));
    rejectHead(queues, noQuota);
    queues.add('cq', false, queued(aWorkload('b'), 1));
    expect(reasonOf(queues, 'b')).toBe('InsufficientQuota');
    expect(headOf(queues)).toEqual([]);
  });

  test('those that are scheduled alike but for their priority are tried for themselves: they may preempt others', () => {
    const queues = createPendingQueues();
    queues.add('cq', false, queued(aWorkload('low'), 0));
    rejectHead(queues, noQuota);
    queues.add('cq', false, queued(aWorkload('high'), 1, 5));
    expect(headOf(queues)).toEqual(['high']);
  });

  test('those that are scheduled alike but may go to other clusters are tried for themselves', () => {
    const queues = createPendingQueues();
    queues.add('cq', false, queued(aWorkload('a'), 0), ['eu-1']);
    queues.add('cq', false, queued(aWorkload('b'), 1), ['eu-1', 'us-2']);
    queues.add('cq', false, queued(aWorkload('c'), 2), ['eu-1']);
    rejectHead(queues, noCluster);
    expect(headOf(queues)).toEqual(['b']);
    expect(['a', 'b', 'c'].map((name) => reasonOf(queues, name))).toEqual(['NoClusterFits', undefined, 'NoClusterFits']);
    for (const name of ['a', 'b', 'c']) queues.delete(`team/${name}`);
    expect(queues.counts().get('cq')).toEqual({ active: 0, inadmissible: 0 });
  });

  test('what may be tried again at a time is waited for once, by its group', () => {
    const queues = createPendingQueues();
    const until = (retryAtMs: number): Inadmissibility => ({ ...noCluster, retryAtMs });
    const mark = (retryAtMs: number) => {
      const [first] = queues.heads();
      return first === undefined ? undefined : queues.markInadmissible(first, until(retryAtMs));
    };
    queues.add('cq', false, queued(aWorkload('a'), 0));
    queues.add('cq', false, queued(aWorkload('b'), 1));
    const retry = mark(1_000);
    expect(retry).toBeDefined();
    queues.wakeWaitingForCluster();
    expect(mark(1_000)).toBeUndefined();
    // Whoever stood first has gone meanwhile.
    queues.delete('team/a');
    retry?.();
    expect(headOf(queues)).toEqual(['b']);
    expect(mark(1_000)).toBeDefined();
    queues.delete('team/b');
    retry?.();
    expect(headOf(queues)).toEqual([]);
  });

  test('a wake for clusters leaves alone who waits for quota', () => {
    const queues = createPendingQueues();
    queues.add('cq', false, queued(aWorkload('a', { cpu: '2' }), 0));
    rejectHead(queues, noQuota);
    queues.add('cq', false, queued(aWorkload('b', { cpu: '1' }), 1));
    rejectHead(queues, noCluster);
    expect(headOf(queues)).toEqual([]);
    queues.wakeWaitingForCluster();
    expect(headOf(queues)).toEqual(['b']);
    queues.wake(['cq']);
    expect(headOf(queues)).toEqual(['a']);
  });
});

test('a claim that ends wakes Workloads of other trees only where it held room, and only those that wait for room', () => {
  const queues = createPendingQueues();
  const claim = { cluster: 'eu', flavors: [], borrowing: 0 };
  const behind = (waitsFor: 'quota' | 'cluster'): Inadmissibility => ({ reason: 'BehindOtherQueues', message: 'kept', waitsFor });
  const results: Readonly<Record<string, Inadmissibility>> = {
    room: { ...noCluster, claim },
    quota: { ...noQuota, claim: { ...claim, holds: 'Quota' } },
    'behind quota': behind('quota'),
    'behind room': behind('cluster'),
  };
  for (const [arrival, name] of Object.keys(results).entries()) queues.add(name, false, queued(aWorkload(name), arrival));
  for (const head of queues.heads()) queues.markInadmissible(head, results[head.clusterQueue] ?? expect.fail());
  expect(headOf(queues)).toEqual([]);
  queues.delete('team/quota');
  expect(headOf(queues)).toEqual([]);
  queues.delete('team/room');
  expect(headOf(queues)).toEqual(['behind room']);
});

test('a Workload behind a claim is nominated again each time that a user deletes the one that claims', () => {
  const queues = createPendingQueues();
  const claiming: Inadmissibility = { ...noCluster, claim: { cluster: 'eu', flavors: [], borrowing: 0 } };
  const behind: Inadmissibility = { reason: 'BehindOtherQueues', message: 'kept', waitsFor: 'cluster' };
  queues.add('behind', false, queued(aWorkload('behind'), 100));
  for (let time = 0; time < 20; time++) {
    queues.add('claims', false, queued(aWorkload(`claims-${time}`), time));
    for (const head of queues.heads()) queues.markInadmissible(head, head.clusterQueue === 'claims' ? claiming : behind);
    expect(headOf(queues)).toEqual([]);
    queues.delete(`team/claims-${time}`);
    expect(headOf(queues)).toEqual(['behind']);
  }
});

describe('StrictFIFO', () => {
  test('a first Job that does not fit blocks all behind it, and they are told so', () => {
    const queues = createPendingQueues();
    queues.add('cq', true, queued(aWorkload('big', { cpu: '9' }), 0));
    queues.add('cq', true, queued(aWorkload('small', { cpu: '1' }), 1));
    rejectHead(queues, noQuota);
    expect(['big', 'small'].map((name) => reasonOf(queues, name))).toEqual(['InsufficientQuota', 'BehindEarlierJob']);
    expect(headOf(queues)).toEqual([]);
    queues.delete('team/big');
    expect(headOf(queues)).toEqual(['small']);
  });

  test('a first Job that may be tried again at a time no longer blocks then', () => {
    const queues = createPendingQueues();
    queues.add('cq', true, queued(aWorkload('a'), 0));
    const [first] = queues.heads();
    const retry = first && queues.markInadmissible(first, { ...noCluster, retryAtMs: 1_000 });
    expect(headOf(queues)).toEqual([]);
    retry?.();
    expect(headOf(queues)).toEqual(['a']);
  });

  test('a newcomer behind changes nothing, one in front is tried', () => {
    const queues = createPendingQueues();
    queues.add('cq', true, queued(aWorkload('big', { cpu: '9' }), 0));
    rejectHead(queues, noQuota);
    queues.add('cq', true, queued(aWorkload('later', { cpu: '9' }), 1));
    expect(reasonOf(queues, 'later')).toBe('BehindEarlierJob');
    expect(headOf(queues)).toEqual([]);
    queues.add('cq', true, queued(aWorkload('urgent', { cpu: '1' }), 2, 1));
    expect(headOf(queues)).toEqual(['urgent']);
  });
});

describe('a first Workload that waits for other queues or clusters than there are', () => {
  const never = { reason: 'NoClusterFits', message: '', waitsFor: 'setup' } as const;
  const aside = (strict: boolean) => {
    const queues = createPendingQueues();
    queues.add('cq', strict, queued(aWorkload('never', { cpu: '9' }), 0, 9));
    queues.add('cq', strict, queued(aWorkload('next', { cpu: '1' }), 1));
    rejectHead(queues, never);
    return queues;
  };
  test.each([true, false])('blocks nobody, and is not woken by what becomes free (strict: %s)', (strict) => {
    const queues = aside(strict);
    expect(headOf(queues)).toEqual(['next']);
    queues.wake(['cq']);
    queues.wakeWaitingForCluster();
    expect(headOf(queues)).toEqual(['next']);
    expect(reasonOf(queues, 'never')).toBe('NoClusterFits');
  });
  test('is tried again before one that blocks the queue behind it', () => {
    const queues = aside(true);
    rejectHead(queues, noQuota);
    expect([headOf(queues), reasonOf(queues, 'never')]).toEqual([[], 'NoClusterFits']);
    queues.wakeAll();
    expect(headOf(queues)).toEqual(['never']);
  });
});

test('a Workload that moves to another queue, or asks for something else, leaves nothing behind', () => {
  const queues = createPendingQueues();
  queues.add('one', false, queued(aWorkload('a', { cpu: '1' }), 0));
  queues.add('two', false, queued(aWorkload('a', { cpu: '2' }), 0));
  expect(queues.heads().map(({ clusterQueue }) => clusterQueue)).toEqual(['two']);
  expect(queues.counts().get('one')).toEqual({ active: 0, inadmissible: 0 });
});

test('whatever comes and goes, the head is the first in order, positions count those before, and the first few are told', () => {
  const change = fc.record({
    name: fc.integer({ min: 0, max: 15 }),
    priority: fc.integer({ min: 0, max: 2 }),
    cpu: fc.integer({ min: 1, max: 3 }),
    remove: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const queues = createPendingQueues();
      const model = new Map<string, QueuedWorkload>();
      for (const [index, { name, priority, cpu, remove }] of changes.entries()) {
        const workload = aWorkload(`${name}`, { cpu: `${cpu}` });
        if (remove) {
          queues.delete(workload.key);
          model.delete(workload.key);
        } else {
          const entry = queued(workload, model.get(workload.key)?.arrival ?? index, priority);
          queues.add('cq', false, entry);
          model.set(workload.key, entry);
        }
        const ranked = [...model.values()].toSorted(compareQueued);
        expect(queues.heads()[0]?.queued.workload.key).toBe(ranked[0]?.workload.key);
        expect(ranked.map(({ workload: { key } }) => queues.position(key))).toEqual(ranked.map((_, position) => position));
        expect(queues.firstInOrder('cq', 3)).toEqual(ranked.slice(0, 3));
        expect(queues.waitingIn()).toEqual(ranked.length === 0 ? [] : ['cq']);
      }
    }),
    { seed: 3, numRuns: 100 },
  );
});

describe('behind a Workload that waits for those that it preempts', () => {
  const claim = { cluster: 'eu-1', flavors: [], borrowing: 0 };
  const waitingFor = (parts: { readonly preempts?: true }) => {
    const queues = createPendingQueues();
    queues.add('cq', false, queued(aWorkload('large', { cpu: '9' }), 0, 1));
    queues.add('cq', false, queued(aWorkload('small', { cpu: '1' }), 1, 1));
    const [first = expect.fail()] = queues.heads();
    queues.markInadmissible(first, { ...noQuota, reason: 'Preempting', claim: { ...claim, ...parts } });
    return queues;
  };

  test('nobody of its ClusterQueue passes, unless by a higher priority, until it no longer waits for them', () => {
    const queues = waitingFor({ preempts: true });
    expect(headOf(queues)).toEqual([]);
    expect(reasonOf(queues, 'small')).toBe('BehindEarlierJob');
    queues.add('cq', false, queued(aWorkload('urgent', { cpu: '1' }), 2, 2));
    expect(headOf(queues)).toEqual(['urgent']);
    queues.delete('team/urgent');
    queues.delete('team/large');
    expect(headOf(queues)).toEqual(['small']);
  });

  test('who only has something kept for it is passed', () => {
    expect(headOf(waitingFor({}))).toEqual(['small']);
  });
});

describe('LocalQueues that share a ClusterQueue by what they have used', () => {
  const inQueue = (name: string, queue: string, arrival: number, priority = 0) =>
    queued(aWorkload(name, { cpu: '1' }, { queue }), arrival, priority);
  const withUsage = (usage: Record<string, number>) => createPendingQueues((localQueue) => usage[localQueue]);

  test('the one that has used least goes first, before a higher priority of another', () => {
    const usage: Record<string, number> = { 'team/a': 3, 'team/b': 1 };
    const queues = withUsage(usage);
    queues.add('cq', false, inQueue('a1', 'a', 0, 100));
    queues.add('cq', false, inQueue('b1', 'b', 1));
    queues.add('cq', false, inQueue('b2', 'b', 2, 5));
    expect(headOf(queues)).toEqual(['b2']);
    expect(['b2', 'b1', 'a1'].map((name) => queues.position(`team/${name}`))).toEqual([0, 1, 2]);
    queues.delete('team/b2');
    usage['team/b'] = 9;
    queues.usageChanged('cq', 'team/b');
    expect(headOf(queues)).toEqual(['a1']);
    expect(['a1', 'b1'].map((name) => queues.position(`team/${name}`))).toEqual([0, 1]);
  });

  test('Jobs that are scheduled alike do not share their fate across LocalQueues, because their turns differ', () => {
    const queues = withUsage({ 'team/a': 1, 'team/b': 2 });
    queues.add('cq', false, inQueue('a1', 'a', 0));
    queues.add('cq', false, inQueue('b1', 'b', 1));
    rejectHead(queues, noQuota);
    expect(headOf(queues)).toEqual(['b1']);
  });

  test('a StrictFIFO queue that waits for its first Job does not when another LocalQueue has used less by now', () => {
    const usage: Record<string, number> = { 'team/a': 1, 'team/b': 2 };
    const queues = withUsage(usage);
    queues.add('cq', true, inQueue('a1', 'a', 0));
    queues.add('cq', true, inQueue('b1', 'b', 1));
    rejectHead(queues, noQuota);
    expect(headOf(queues)).toEqual([]);
    queues.usageChanged();
    expect(headOf(queues)).toEqual([]);
    usage['team/a'] = 3;
    queues.usageChanged();
    expect(headOf(queues)).toEqual(['b1']);
  });

  test('usage orders them no more where the ClusterQueue has ceased to ask for it, once they are queued anew', () => {
    const usage: Record<string, number> = { 'team/a': 3, 'team/b': 1 };
    const queues = withUsage(usage);
    const jobs = [inQueue('a1', 'a', 0), inQueue('b1', 'b', 1)];
    for (const job of jobs) queues.add('cq', false, job);
    expect(headOf(queues)).toEqual(['b1']);
    for (const localQueue of Object.keys(usage)) delete usage[localQueue];
    queues.usageChanged();
    for (const job of jobs) queues.add('cq', false, job);
    expect(headOf(queues)).toEqual(['a1']);
  });

  test('where usage does not count all are one', () => {
    const queues = withUsage({});
    queues.add('cq', false, inQueue('b1', 'b', 1));
    queues.add('cq', false, inQueue('a1', 'a', 0));
    expect(headOf(queues)).toEqual(['a1']);
    rejectHead(queues, noQuota);
    queues.usageChanged('cq', 'team/a');
    queues.usageChanged('unheard of');
    expect(headOf(queues)).toEqual([]);
  });
});
