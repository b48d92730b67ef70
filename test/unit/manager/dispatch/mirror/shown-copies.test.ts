import { expect, test } from 'vitest';
import type { Doubt } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { shownCopy } from '../../../../../manager/dispatch/mirror/shown-copies.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import {
  CARRY_PENDING_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  FENCED_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
} from '../../../../../shared/api/names.ts';
import { aCondition, aHomeJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { qualifiedName, qualifierOf } from '../../../../../manager/work-kind/qualified-name.ts';
import { aCrew, aCrewKind, CREWS } from '../../work-kind/described/described.ts';

const annotations = { [ORIGIN_UID_ANNOTATION]: 'uid-home-1', [DISPATCH_EPOCH_ANNOTATION]: '2' };
const copy = (parts: Partial<Job>, cpu = '500m') => {
  const job = aHomeJob({ metadata: { uid: 'copy-1', annotations }, spec: { parallelism: 4, completions: 3, suspend: false } });
  job.spec.template.spec = { containers: [{ name: 'main', image: 'i', resources: { requests: { cpu } } }] };
  return { cluster: 'eu-1', deleting: false, job: { ...job, ...parts } };
};

const IN_SIGHT = { contact: 'Ready', doubt: { kind: 'None' } } as const;

test('of a copy counts what its pods request that are active, and how many it may have', () => {
  expect(shownCopy(JOB_KIND, copy({ status: { active: 2, terminating: 1 } }), IN_SIGHT)).toEqual({
    cluster: 'eu-1',
    inSight: true,
    uid: 'copy-1',
    originUid: 'uid-home-1',
    epoch: 2,
    suspended: false,
    deleting: false,
    active: 2,
    terminating: 1,
    podsAtOnce: 3,
    running: new Map([
      ['cpu', 1000],
      ['pods', 2],
    ]),
  });
});

test('the end of a copy is certain from its criterion on, though pods may be there yet', () => {
  const judged = (type: string): boolean | undefined =>
    shownCopy(JOB_KIND, copy({ status: { conditions: [aCondition(type)] } }), IN_SIGHT)?.judged;
  expect([judged('SuccessCriteriaMet'), judged('FailureTarget'), judged('Suspended')]).toEqual([true, true, undefined]);
});

test('a copy has its objects when its mark says so', () => {
  const isCarried = (mark: string): boolean | undefined => {
    const { job, ...rest } = copy({});
    const marked = { ...job, metadata: { ...job.metadata, annotations: { ...annotations, [CARRY_PENDING_ANNOTATION]: mark } } };
    return shownCopy(JOB_KIND, { ...rest, job: marked }, IN_SIGHT)?.carried;
  };
  expect([isCarried('true'), isCarried('false')]).toEqual([undefined, true]);
});

test('a copy of a described kind says that the fence of its worker has suspended it', () => {
  const kind = createKinds(JOB_KIND, [aCrewKind()]);
  const isFenced = (mark: Record<string, string>): boolean | undefined => {
    const job = aCrew({ metadata: { name: qualifiedName(qualifierOf(CREWS), 'argo'), annotations: { ...annotations, ...mark } } });
    return shownCopy(kind, { cluster: 'eu-1', deleting: false, job }, IN_SIGHT)?.fenced;
  };
  expect([isFenced({ [FENCED_ANNOTATION]: 'ManagerOutOfReach' }), isFenced({})]).toEqual([true, undefined]);
});

test('nothing runs of a copy that has ended, whatever numbers its cluster left there', () => {
  const status = { active: 2, terminating: 1, conditions: [aCondition('Complete')] };
  expect(shownCopy(JOB_KIND, copy({ status }), IN_SIGHT)).toMatchObject({ active: 0, terminating: 0 });
});

test('what a cluster writes that is no quantity says nothing of what runs', () => {
  expect(shownCopy(JOB_KIND, copy({ status: { active: 1 } }, 'much'), IN_SIGHT)?.running).toBeUndefined();
});

test('a copy that does not say whose it is is nobody’s', () => {
  const nobodys = copy({});
  nobodys.job.metadata = { ...nobodys.job.metadata, annotations: {} };
  expect(shownCopy(JOB_KIND, nobodys, IN_SIGHT)).toBeUndefined();
});

test('a copy to which a write is under way may be in another state by now', () => {
  const isWritten = (doubt: Doubt): boolean | undefined => shownCopy(JOB_KIND, copy({}), { contact: 'Ready', doubt })?.isWritten;
  expect([isWritten({ kind: 'Waiting', forMs: 20_000 }), isWritten({ kind: 'Look' }), isWritten({ kind: 'None' })]).toEqual([
    true,
    true,
    undefined,
  ]);
});
