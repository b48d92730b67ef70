/**
 * Goal: the policy about the manager's account lets through what the manager does on its own cluster, and nothing that makes a pod there.
 */
import { describe, expect, test } from 'vitest';
import { admissionPolicies } from '../../../../manager/policy/admission-policies.ts';
import { OWN_ACCOUNT_RULES } from '../../../../manager/policy/own-account.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER, ORIGIN_LABEL, WORKER_CONTROLLER_NAME } from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { violations, type PolicyRequest } from '../../../support/policy-evaluation.ts';

const [MANAGER, OTHER, WORKER] = ['manager', 'hub', 'worker'] as const;
const waiting = aHomeJob({ spec: { suspend: true } });
const copy = aHomeJob({ metadata: { labels: { [ORIGIN_LABEL]: 'home' } }, spec: { managedBy: WORKER_CONTROLLER_NAME, suspend: false } });
const foreign = aHomeJob({ metadata: { labels: {}, annotations: {} }, spec: { managedBy: 'example.com/other', suspend: false } });

type Installation = {
  readonly managers?: readonly string[];
  readonly localWorkers?: readonly string[];
  readonly username?: string;
  readonly subresource?: string;
};

/** Fields that the policy refuses of a write. */
function refusedOf(
  oldObject: Job | undefined,
  object: Job,
  { managers = [MANAGER, OTHER], localWorkers = [], username = MANAGER, subresource = '' }: Installation = {},
): string[] {
  const policies = admissionPolicies('switchyard', { managers, localWorkers });
  const [{ spec } = { spec: {} }] = policies.filter(
    ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name === 'switchyard-manager',
  );
  const request: PolicyRequest = { subresource, oldObject, object, username, fieldManager: MANAGER_FIELD_MANAGER };
  return violations(spec, request).map((message) => message.slice(0, message.indexOf(': ')));
}
const inNamespace = (namespace: string, job: Job): Job => ({ ...job, metadata: { ...job.metadata, namespace } });

describe('the manager on its own cluster', () => {
  test('creates Jobs that wait for admission, outside of the namespaces of Kubernetes', () => {
    expect(refusedOf(undefined, waiting)).toEqual([]);
    expect(refusedOf(undefined, aHomeJob({ spec: { suspend: false } }))).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, foreign)).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, inNamespace('kube-system', waiting))).toEqual(['metadata.namespace']);
  });

  test('creates copies where the cluster is a worker cluster, too, and nowhere else; so does the manager of another cluster', () => {
    expect(refusedOf(undefined, copy)).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, copy, { localWorkers: [WORKER] })).toEqual([]);
    expect(refusedOf(undefined, foreign, { localWorkers: [WORKER] })).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, copy, { username: OTHER })).toEqual([]);
    expect(refusedOf(undefined, inNamespace('kube-public', copy), { localWorkers: [WORKER] })).toEqual(['metadata.namespace']);
  });

  test('creates no Job in its own namespace that runs as another account than default', () => {
    const account = 'system:serviceaccount:switchyard:manager';
    const installation = { managers: [account], localWorkers: [WORKER], username: account };
    const runningAs = (serviceAccountName: string): Job => {
      const { template } = copy.spec;
      return { ...copy, spec: { ...copy.spec, template: { ...template, spec: { ...template.spec, serviceAccountName } } } } as Job;
    };
    const field = ['spec.template.spec.serviceAccountName'];
    expect(refusedOf(undefined, inNamespace('switchyard', runningAs('certificates')), installation)).toEqual(field);
    for (const job of [copy, runningAs('default')]) expect(refusedOf(undefined, inNamespace('switchyard', job), installation)).toEqual([]);
    for (const namespace of ['team', 'switchyard-jobs'])
      expect(refusedOf(undefined, inNamespace(namespace, runningAs('builder')), installation)).toEqual([]);
  });

  test('admits, and changes copies, but never another’s Job, whatever label the write gives to it', () => {
    expect(refusedOf(waiting, aHomeJob({ spec: { suspend: false } }))).toEqual([]);
    expect(refusedOf(copy, { ...copy, spec: { ...copy.spec, template: {} } })).toEqual([]);
    expect(refusedOf(waiting, { ...waiting, spec: { ...waiting.spec, template: {} } })).toEqual(['spec.template']);
    expect(refusedOf(foreign, foreign)).toEqual(['spec.managedBy']);
    expect(refusedOf(foreign, { ...foreign, metadata: { ...foreign.metadata, labels: { [ORIGIN_LABEL]: 'home' } } })).toEqual([
      'spec.managedBy',
    ]);
    expect(refusedOf(foreign, foreign, { subresource: 'status' })).toEqual(['spec.managedBy']);
    expect(refusedOf(waiting, waiting, { subresource: 'status' })).toEqual([]);
  });

  test('is the only one whom these rules are about', () => {
    for (const username of ['alice', WORKER]) expect(refusedOf(undefined, foreign, { username })).toEqual([]);
    expect(OWN_ACCOUNT_RULES.map(({ brokenWhen }) => brokenWhen).filter((each) => each.includes('fieldManager'))).toEqual([]);
  });
});
