import { describe, expect, test } from 'vitest';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import type { FenceState } from '../../../../worker/fence/origin-fence.ts';
import { ago, aJob, aPod, condition, indexedJob, pods, sync, told } from './situation.ts';

const fencedSync = (fence: FenceState, job: Job, seen: readonly Pod[] = [], circumstances: { satisfied?: boolean } = {}) => {
  const { decision, ledger, settled } = sync(job, seen, { fence, ...circumstances });
  return { plan: decision.plan, deadlineInMs: decision.deadlineInMs, ledger, status: settled.status, finished: settled.finished };
};
const STANDS = condition('Fenced', 'ManagerOutOfReach', 'out of reach');

describe('a copy whose fence is open again', () => {
  const fenced = aJob({ parallelism: 2 }, { conditions: [STANDS] });

  test('gets no pods before those have ended that the fence has stopped, which hold what was reserved for it', () => {
    const { plan, status } = fencedSync('Open', fenced, [aPod({ phase: 'Running', deleting: true })]);
    expect(plan.kind).toBe('keep');
    expect(told(status.conditions)).toEqual(['Fenced=True ManagerOutOfReach']);
  });

  test('gets none either where the worker crashed before its status said that it was fenced, and says so', () => {
    const crashed = aJob({ parallelism: 2 }, { active: 2 });
    const { plan, status } = fencedSync('Open', crashed, [aPod({ phase: 'Running', deleting: true, fenced: true, tracked: false })]);
    expect(plan.kind).toBe('keep');
    expect(told(status.conditions)).toEqual(['Fenced=True ManagerOutOfReach']);
    const { plan: ofOthers } = fencedSync('Open', crashed, [aPod({ phase: 'Running', deleting: true, tracked: false })]);
    expect(ofOthers.kind).toBe('create');
  });

  test('gets them as soon as none is left', () => {
    const { plan, status } = fencedSync('Open', fenced);
    expect(plan).toMatchObject({ kind: 'create', slots: [{}, {}] });
    expect(told(status.conditions)).toEqual(['Fenced=False ManagerInReach']);
  });
});

describe('a copy that is fenced', () => {
  test('loses its pods as if it were suspended, and nothing but a condition tells of it', () => {
    const job = indexedJob(3, {}, { completedIndexes: '0', succeeded: 1 });
    const seen = [aPod({ index: 1, phase: 'Running', ready: true }), aPod({ index: 2, phase: 'Running' })];
    const { plan, ledger, status } = fencedSync('Fenced', job, seen);
    expect(plan).toMatchObject({ kind: 'remove', pods: [{ index: 1 }, { index: 2 }] });
    expect(status).toMatchObject({ active: 0, ready: 0, terminating: 2, succeeded: 1, completedIndexes: '0', startTime: ago(600) });
    expect(told(status.conditions)).toEqual(['Fenced=True ManagerOutOfReach']);
    expect([ledger.fencing, ledger.suspension]).toEqual(['Fenced', undefined]);
  });

  test('has what succeeded counted, also now', () => {
    const job = aJob({ completions: 3, parallelism: 2 }, { succeeded: 1 });
    const { status } = fencedSync('Fenced', job, [aPod({ phase: 'Succeeded', name: 'a' }), aPod({ phase: 'Running', name: 'b' })]);
    expect(status).toMatchObject({ succeeded: 2, active: 0, terminating: 1 });
    expect(status.failed ?? 0).toBe(0);
  });

  test('is written once', () => {
    const job = aJob({}, { conditions: [condition('Fenced', 'ManagerOutOfReach', fencedText())], active: 0 });
    const { plan, ledger } = fencedSync('Fenced', job);
    expect([plan, ledger.flush, ledger.fencing]).toEqual([{ kind: 'remove', pods: [] }, false, undefined]);
  });

  test('reaches its deadline like any other', () => {
    expect(fencedSync('Fenced', aJob({ activeDeadlineSeconds: 900 })).deadlineInMs).toBe(300_000);
    const { finished } = fencedSync('Fenced', aJob({ activeDeadlineSeconds: 600 }, { conditions: [STANDS] }));
    expect(finished).toMatchObject({ type: 'Failed', reason: 'DeadlineExceeded' });
  });

  test('with all its completions is complete', () => {
    const { finished, ledger } = fencedSync('Fenced', aJob({}, {}), [aPod({ phase: 'Succeeded' })]);
    expect([finished?.type, ledger.fencing]).toEqual(['Complete', undefined]);
  });

  test('at its end is not disturbed', () => {
    const job = aJob({}, { conditions: [condition('FailureTarget', 'BackoffLimitExceeded', 'too many')] });
    const { plan, ledger } = fencedSync('Fenced', job, [aPod({ phase: 'Running' })]);
    expect([plan.kind, ledger.fencing]).toEqual(['finish', undefined]);
  });

  test('and suspended says that it is suspended, and nothing of the fence', () => {
    const { plan, status } = fencedSync('Fenced', aJob({ suspend: true }), [aPod({ phase: 'Running' })]);
    expect(plan.kind).toBe('remove');
    expect(told(status.conditions)).toEqual(['Suspended=True JobSuspended']);
  });

  test('loses the pods that there are though earlier ones have not shown up yet', () => {
    expect(fencedSync('Fenced', aJob({ parallelism: 2 }), pods(1, { phase: 'Running' }), { satisfied: false }).plan.kind).toBe('remove');
    expect(fencedSync('Open', aJob({ parallelism: 2 }), pods(1, { phase: 'Running' }), { satisfied: false }).plan.kind).toBe('leave');
  });

  test('goes on when the fence is lifted: its missing pods are created', () => {
    const job = indexedJob(3, {}, { completedIndexes: '0', succeeded: 1, conditions: [STANDS] });
    const { plan, ledger, status } = fencedSync('Open', job);
    expect(plan).toMatchObject({ kind: 'create', slots: [{ index: 1 }, { index: 2 }] });
    expect(told(status.conditions)).toEqual(['Fenced=False ManagerInReach']);
    expect(ledger.fencing).toBe('FenceLifted');
  });
});

describe('a copy that is held', () => {
  test('keeps its pods and gets none', () => {
    const job = aJob({ completions: 4, parallelism: 3 });
    const { plan, ledger, status } = fencedSync('Hold', job, pods(1, { phase: 'Running', ready: true }));
    expect(plan).toEqual({ kind: 'keep' });
    expect(status).toMatchObject({ active: 1, ready: 1 });
    expect([told(status.conditions), ledger.fencing]).toEqual([[], undefined]);
  });

  test('that was fenced before stays that, as far as its status goes', () => {
    const { plan, status } = fencedSync('Hold', aJob({}, { conditions: [STANDS] }));
    expect([plan.kind, told(status.conditions)]).toEqual(['keep', ['Fenced=True ManagerOutOfReach']]);
  });

  test('is suspended when it is told to be', () => {
    expect(fencedSync('Hold', aJob({ suspend: true }), pods(1, { phase: 'Running' })).plan.kind).toBe('remove');
  });

  test('counts what ends, and completes', () => {
    const { finished } = fencedSync('Hold', aJob(), [aPod({ phase: 'Succeeded' })]);
    expect(finished?.type).toBe('Complete');
  });
});

describe('a work queue', () => {
  const queue = (status: Job['status'] = {}): Job => {
    const job = aJob({ parallelism: 3 }, { succeeded: 1, ...status });
    delete job.spec.completions;
    return job;
  };

  test('of which one pod has succeeded is not complete because the fence took the others', () => {
    expect(fencedSync('Fenced', queue(), pods(2, { phase: 'Running' })).finished).toBeUndefined();
    expect(fencedSync('Fenced', queue({ conditions: [STANDS] })).finished).toBeUndefined();
    expect(fencedSync('Hold', queue({ conditions: [STANDS] })).finished).toBeUndefined();
    const stopped = [aPod({ phase: 'Running', deleting: true, fenced: true, tracked: false })];
    expect(told(fencedSync('Hold', queue(), stopped).status.conditions)).toEqual(['Fenced=True ManagerOutOfReach']);
  });

  test('whose pods had all ended is complete', () => {
    expect(fencedSync('Fenced', queue()).finished?.type).toBe('Complete');
  });

  test('that is to have no pods is not waited for', () => {
    const job = queue({ conditions: [STANDS] });
    job.spec.parallelism = 0;
    expect(told(fencedSync('Open', job).status.conditions)).toEqual(['Fenced=False ManagerInReach']);
  });

  test('has one pod to finish with, however many have succeeded', () => {
    const { plan } = fencedSync('Open', queue({ succeeded: 7, conditions: [STANDS] }));
    expect(plan).toMatchObject({ kind: 'create', slots: [{}] });
  });

  test('is taken up again when the fence is lifted, and finished as usual', () => {
    const { plan, status } = fencedSync('Open', queue({ conditions: [STANDS] }));
    expect(plan).toMatchObject({ kind: 'create', slots: [{}, {}] });
    expect(told(status.conditions)).toEqual(['Fenced=False ManagerInReach']);
    const lifted = queue({ conditions: [condition('Fenced', 'ManagerInReach', 'back', 'False')] });
    expect(fencedSync('Open', lifted, pods(2, { phase: 'Running' })).plan.kind).toBe('keep');
    expect(fencedSync('Open', lifted).finished?.type).toBe('Complete');
  });
});

function fencedText(): string {
  return fencedSync('Fenced', aJob()).status.conditions?.find(({ type }) => type === 'Fenced')?.message ?? '';
}
