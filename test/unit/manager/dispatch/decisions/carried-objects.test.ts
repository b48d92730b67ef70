import { describe, expect, test } from 'vitest';
import { CARRY_PENDING_ANNOTATION } from '../../../../../shared/api/names.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import type { Copy } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';
import { actions, copyOn, plan } from './mirror-situation.ts';

const POD = { containers: [{ name: 'main', envFrom: [{ configMapRef: { name: 'settings' } }] }] };
const anAdmittedJobThatCarries = (carry: AdmissionRecord['carry']): Job =>
  anAdmittedJob({ spec: { template: { spec: POD } } }, omitUndefined({ carry }));
const aCopy = (local: Job, annotations: Record<string, string>): Copy => {
  const copy = copyOn('eu-1', local, { suspend: true });
  const { metadata } = copy.job;
  return { ...copy, job: { ...copy.job, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } } };
};

describe('a Job that takes objects along', () => {
  test('gets a suspended copy that is marked, and the kinds that it takes', () => {
    const decided = plan(anAdmittedJobThatCarries(['ConfigMaps']), []);
    expect(actions(decided)).toEqual(['Create eu-1']);
    expect(decided.remote).toMatchObject([
      {
        kind: 'Create',
        carry: ['ConfigMaps'],
        job: { spec: { suspend: true }, metadata: { annotations: { [CARRY_PENDING_ANNOTATION]: 'true' } } },
      },
    ]);
  });

  test.each<[string, readonly ('ConfigMaps' | 'Secrets')[] | undefined]>([
    ['whose record says nothing', undefined],
    ['whose pods refer to no object of these kinds', ['Secrets']],
  ])('and one %s gets a copy that starts at once', (_which, carry) => {
    expect(plan(anAdmittedJobThatCarries(carry), []).remote).toMatchObject([{ kind: 'Create', job: { spec: { suspend: false } } }]);
  });

  test('has them written before its copy is resumed, also where users or webhooks of the cluster have taken the mark from it', () => {
    const local = anAdmittedJobThatCarries(['ConfigMaps']);
    expect(actions(plan(local, [aCopy(local, { [CARRY_PENDING_ANNOTATION]: 'true' })]))).toEqual(['Carry eu-1']);
    expect(actions(plan(local, [aCopy(local, {})]))).toEqual(['Carry eu-1']);
    expect(actions(plan(local, [aCopy(local, { [CARRY_PENDING_ANNOTATION]: 'false' })]))).toEqual(['Update eu-1']);
  });

  test('is resumed at once where its copy has begun before: its objects are there', () => {
    const local = anAdmittedJobThatCarries(['ConfigMaps']);
    const copy = aCopy(local, {});
    const begun = { ...copy, job: { ...copy.job, status: { startTime: '2026-01-01T00:00:00Z' } } };
    expect(actions(plan(local, [begun]))).toEqual(['Update eu-1']);
  });
});
