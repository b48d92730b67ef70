/** Who waits for the manager, and who never does. */
import { describe, expect, test } from 'vitest';
import { matchConditions, ofInstallation, RESOURCE_RULES, UNLABELLED_CONDITIONS } from '../../../../manager/policy/webhook-conditions.ts';
import type { Job, WorkObject } from '../../../../shared/api/kubernetes.ts';
import {
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  WORKER_CONTROLLER_NAME,
} from '../../../../shared/api/names.ts';
import { aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { matches, type PolicyRequest } from '../../../support/policy-evaluation.ts';

const IDENTITIES = { managers: ['manager'], localWorkers: ['worker'] };
const asks = (kind: 'Mutating' | 'Validating', request: Partial<PolicyRequest> & Pick<PolicyRequest, 'object'>): boolean =>
  matches(matchConditions(kind, IDENTITIES), {
    subresource: '',
    oldObject: undefined,
    username: 'alice',
    fieldManager: 'kubectl',
    ...request,
  });
const judges = (oldObject: Job | undefined, object: Job, request: Partial<PolicyRequest> = {}): boolean =>
  asks('Validating', { object, oldObject, ...request });
const plain = (labels: Record<string, string> = {}): Job => {
  const job = aHomeJob({ metadata: { labels }, spec: { suspend: false } });
  delete job.spec.managedBy;
  return job;
};

describe('a new Job', () => {
  test('with a queue is prepared and judged', () => {
    expect(asks('Mutating', { object: plain({ [QUEUE_NAME_LABEL]: 'main' }) })).toBe(true);
    expect(judges(undefined, plain({ [QUEUE_NAME_LABEL]: 'main' }))).toBe(true);
    expect(asks('Mutating', { object: plain({ [QUEUE_NAME_LABEL]: '' }) })).toBe(false);
  });

  test('of Kueue’s never waits, unless the installation takes Kueue’s label', () => {
    const prepares = (kueueQueueLabel: boolean, labels: Record<string, string>): boolean =>
      matches(matchConditions('Mutating', IDENTITIES, kueueQueueLabel), {
        subresource: '',
        object: plain(labels),
        oldObject: undefined,
        username: 'alice',
        fieldManager: 'kubectl',
      });
    const kueues = { [KUEUE_QUEUE_NAME_LABEL]: 'main' };
    expect(prepares(false, kueues)).toBe(false);
    expect(prepares(true, kueues)).toBe(true);
    expect(prepares(true, { ...kueues, [QUEUE_NAME_LABEL]: '' })).toBe(false);
    expect(prepares(true, { [KUEUE_QUEUE_NAME_LABEL]: '' })).toBe(false);
    expect(prepares(true, { team: 'a' })).toBe(false);
    expect(judges(undefined, plain(kueues))).toBe(false);
    expect(judges(plain(kueues), plain())).toBe(false);
  });

  test('without a queue waits for the manager only where nobody else is to manage it', () => {
    const isAsked = (object: Job, username = 'alice', fieldManager = 'kubectl'): boolean =>
      matches(ofInstallation(UNLABELLED_CONDITIONS, IDENTITIES), { subresource: '', object, oldObject: undefined, username, fieldManager });
    const managedBy = (controller: string): Job => {
      const job = plain();
      return { ...job, spec: { ...job.spec, managedBy: controller } };
    };
    expect(isAsked(plain())).toBe(true);
    expect(isAsked(managedBy('kubernetes.io/job-controller'))).toBe(true);
    expect(isAsked(managedBy('switchyard.dev/manager'))).toBe(true);
    expect(isAsked(managedBy(WORKER_CONTROLLER_NAME))).toBe(false);
    expect(isAsked(plain(), 'manager', MANAGER_FIELD_MANAGER)).toBe(false);
    expect(isAsked({ ...plain(), metadata: { ...plain().metadata, namespace: 'kube-system' } })).toBe(false);
    expect(isAsked({ metadata: { name: 'bare', namespace: 'team' }, spec: {} } as Job)).toBe(true);
  });

  test('with a managed spec and no queue is judged', () => {
    expect(judges(undefined, aHomeJob({ metadata: { labels: {} } }))).toBe(true);
    expect(judges(undefined, aHomeJob({ metadata: { labels: { [QUEUE_NAME_LABEL]: '' } } }))).toBe(true);
  });

  test('of which nothing is ours never waits', () => {
    expect(judges(undefined, plain({ team: 'a' }))).toBe(false);
    expect(asks('Mutating', { object: plain({ team: 'a' }) })).toBe(false);
    const bare = { metadata: { name: 'bare', namespace: 'team' }, spec: {} } as Job;
    expect(judges(undefined, bare)).toBe(false);
  });

  test('of the manager’s own making never waits, one of somebody else with its identity does', () => {
    const byManager = { username: 'manager', fieldManager: MANAGER_FIELD_MANAGER };
    expect(judges(undefined, plain({ [QUEUE_NAME_LABEL]: 'main' }), byManager)).toBe(false);
    expect(judges(undefined, plain({ [QUEUE_NAME_LABEL]: 'main' }), { username: 'manager' })).toBe(true);
    expect(judges(undefined, plain({ [QUEUE_NAME_LABEL]: 'main' }), { username: 'manager', fieldManager: undefined })).toBe(true);
  });
});

describe('a change', () => {
  test('of a name of ours is judged, on whatever Job', () => {
    expect(judges(plain(), plain({ [ORIGIN_LABEL]: 'x' }))).toBe(true);
    expect(judges(plain({ [ORIGIN_LABEL]: 'x' }), plain())).toBe(true);
    expect(judges(plain(), aHomeJob({ metadata: { annotations: { [PRIORITY_ANNOTATION]: '1' } } }))).toBe(true);
  });

  test('of a Job of ours waits for the manager where it is about more than who owns it', () => {
    expect(judges(anAdmittedJob(), anAdmittedJob({ spec: { suspend: true } }))).toBe(false);
    expect(judges(aHomeJob(), aHomeJob({ spec: { suspend: false } }))).toBe(true);
    expect(judges(anAdmittedJob(), anAdmittedJob({ metadata: { finalizers: ['foregroundDeletion'] } }))).toBe(false);
    expect(judges(aHomeJob(), aHomeJob({ metadata: { annotations: { long: 'text' } } }))).toBe(true);
    expect(judges(aHomeJob(), aHomeJob({ spec: { template: {} } }))).toBe(true);
    expect(judges(aHomeJob(), aHomeJob({ spec: { backoffLimit: 0 } }))).toBe(false);
  });

  test('of the status is judged where the status is ours to tell', () => {
    const status = { subresource: 'status' };
    expect(judges(anAdmittedJob(), anAdmittedJob(), status)).toBe(true);
    expect(judges(plain({ [QUEUE_NAME_LABEL]: 'main' }), plain({ [QUEUE_NAME_LABEL]: 'main' }), status)).toBe(false);
    const copy = aHomeJob({ metadata: { labels: { [ORIGIN_LABEL]: 'home' } }, spec: { managedBy: WORKER_CONTROLLER_NAME } });
    expect(judges(copy, copy, status)).toBe(true);
    expect(judges(copy, copy, { ...status, username: 'worker' })).toBe(false);
  });
});

describe('a change of an object of a described kind', () => {
  const resource = { group: 'ray.io', version: 'v1', plural: 'rayjobs', kind: 'RayJob', namespaced: true };
  const rayJob = (spec: object, metadata: object = {}): WorkObject => ({
    ...aHomeJob(),
    metadata: { ...aHomeJob().metadata, ...metadata },
    spec: { suspend: true, managedBy: 'kueue.x-k8s.io/multikueue', ...spec },
  });
  const judgesIt = (oldObject: WorkObject, object: WorkObject, more: Partial<PolicyRequest> = {}): boolean =>
    asks('Validating', { resource, object, oldObject, ...more });

  test('is judged wherever it keeps its fields: what it has none of is not looked for', () => {
    expect(judgesIt(rayJob({}), rayJob({ suspend: false }))).toBe(true);
    expect(judgesIt(rayJob({}), rayJob({ managedBy: 'ray.io/kuberay-operator' }))).toBe(true);
    expect(judgesIt(rayJob({}), rayJob({ entrypoint: 'python' }))).toBe(true);
    expect(judgesIt(rayJob({}), rayJob({}, { annotations: { note: 'a' } }))).toBe(true);
    expect(judgesIt(rayJob({}), rayJob({}, { finalizers: ['foregroundDeletion'] }))).toBe(false);
  });

  test('is no business of the manager’s where it is of a foreign object, or its operator tells the status of a copy', () => {
    const [foreign, copy] = [{ labels: { app: 'x' } }, { labels: { [ORIGIN_LABEL]: 'home' } }];
    const status = { subresource: 'status' };
    expect(judgesIt(rayJob({}, foreign), rayJob({ suspend: false }, foreign))).toBe(false);
    expect(judgesIt(rayJob({}, copy), rayJob({}, copy), status)).toBe(false);
    expect(judgesIt(rayJob({}, copy), rayJob({ suspend: false }, copy))).toBe(true);
    // The fence of the worker on this cluster, while the manager is away; without the label it is an ordinary user.
    const byWorker = { username: 'worker', fieldManager: undefined };
    expect(judgesIt(rayJob({ suspend: false }, copy), rayJob({}, copy), byWorker)).toBe(false);
    expect(judgesIt(rayJob({}), rayJob({ suspend: false }), byWorker)).toBe(true);
    expect(judgesIt(rayJob({}), rayJob({}), status)).toBe(true);
  });

  test('without a queue of its own is asked about at its creation, whoever is to run it: which field says so the webhook knows', () => {
    const request = { subresource: '', oldObject: undefined, username: 'alice', fieldManager: 'kubectl' };
    const conditions = ofInstallation(UNLABELLED_CONDITIONS, IDENTITIES);
    for (const managedBy of ['ray.io/kuberay-operator', 'example.com/other'])
      expect(matches(conditions, { ...request, resource, object: rayJob({ managedBy }, { labels: {} }) })).toBe(true);
  });
});

test('the webhooks hear of Jobs that are created, and the validating one of changes and of the status as well', () => {
  const heard = (kind: 'Mutating' | 'Validating') =>
    RESOURCE_RULES[kind].flatMap(({ resources, operations }) => operations.map((operation) => `${operation} ${resources.join()}`));
  expect(heard('Mutating')).toEqual(['CREATE jobs']);
  expect(heard('Validating')).toEqual(['CREATE jobs', 'UPDATE jobs', 'UPDATE jobs/status']);
});
