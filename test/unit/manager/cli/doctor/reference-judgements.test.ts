import { describe, expect, test } from 'vitest';
import {
  judgeReferences,
  type LookedAt,
  nameOf,
  type ReferredObject,
  referredObjects,
} from '../../../../../manager/cli/doctor/reference-judgements.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import type { Job, PodSpec } from '../../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

const job = (name: string, pod: Partial<PodSpec>, status: Job['status'] = {}): Job => {
  const base = aHomeJob();
  const template = { ...base.spec.template, spec: { containers: [], ...pod } };
  return { ...base, metadata: { ...base.metadata, name }, spec: { ...base.spec, template }, status };
};
const SETTINGS: Partial<PodSpec> = { containers: [{ name: 'main', envFrom: [{ configMapRef: { name: 'settings' } }] }] };
const DATA: Partial<PodSpec> = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };

describe('the objects that Jobs refer to', () => {
  test('are each listed once, with the Jobs that bring them along and the Jobs that need them there', () => {
    const jobs = [
      job('one', { ...SETTINGS, ...DATA }),
      job('two', { ...SETTINGS, runtimeClassName: 'gvisor', serviceAccountName: 'robot' }),
    ];
    const carryOf = ({ metadata }: { readonly metadata: { readonly name: string } }) =>
      metadata.name === 'one' ? (['ConfigMaps'] as const) : [];
    expect(referredObjects(JOB_KIND, jobs, carryOf)).toEqual([
      { kind: 'ConfigMap', name: 'settings', carriedBy: ['Job one'], neededBy: ['Job two'] },
      { kind: 'PersistentVolumeClaim', name: 'data', carriedBy: [], neededBy: ['Job one'] },
      { kind: 'RuntimeClass', name: 'gvisor', carriedBy: [], neededBy: ['Job two'] },
      { kind: 'ServiceAccount', name: 'robot', carriedBy: [], neededBy: ['Job two'] },
    ]);
  });

  test('are not those of Jobs that have ended, nor optional ones', () => {
    const optional: Partial<PodSpec> = {
      containers: [{ name: 'main', envFrom: [{ secretRef: { name: 'token', optional: true } }] }],
    };
    const ended = { conditions: [{ type: 'Complete', status: 'True' as const }] } as Job['status'];
    expect(referredObjects(JOB_KIND, [job('one', DATA, ended), job('two', optional)], () => [])).toEqual([]);
  });
});

describe('clusters compared', () => {
  const data: ReferredObject = { kind: 'PersistentVolumeClaim', name: 'data', carriedBy: [], neededBy: ['Job train'] };
  const settings: ReferredObject = { kind: 'ConfigMap', name: 'settings', carriedBy: ['Job train'], neededBy: [] };
  const looked = (
    cluster: string,
    {
      present = [],
      missing = [],
      ...parts
    }: { present?: ReferredObject[]; missing?: ReferredObject[] } & Partial<Pick<LookedAt, 'isHome' | 'problem'>>,
  ): LookedAt => ({ cluster, isHome: false, ...parts, present: new Set(present.map(nameOf)), missing: new Set(missing.map(nameOf)) });
  const lines = (objects: readonly ReferredObject[], ...looks: readonly LookedAt[]) =>
    judgeReferences('team', objects, looks).map(({ check, result, found }) => `${result} ${check}: ${found}`);

  test('one that lacks what another has is worth knowing', () => {
    expect(lines([data, settings], looked('east', { missing: [data] }), looked('west', { present: [data] }))).toEqual([
      'note namespace team on east: lacks PersistentVolumeClaim data (Job train)',
      'ok namespace team on west: has 1 of 1 objects',
    ]);
  });

  test('what no cluster has is wrong, and so is what is to travel and does not exist', () => {
    expect(
      lines([data, settings], looked('the manager cluster', { isHome: true, missing: [settings] }), looked('east', { missing: [data] })),
    ).toEqual([
      'wrong namespace team on the manager cluster: lacks ConfigMap settings (Job train)',
      'note namespace team on east: lacks PersistentVolumeClaim data (Job train)',
      'wrong namespace team: no cluster has PersistentVolumeClaim data, for Job train',
    ]);
  });

  test('a cluster that cannot be looked at, and an object that may not be read, are no proof that anything is missing', () => {
    expect(lines([data], looked('east', { missing: [data] }), looked('west', { problem: 'no context' }), looked('north', {}))).toEqual([
      'note namespace team on east: lacks PersistentVolumeClaim data (Job train)',
      'note namespace team on west: cannot be looked at: no context',
      'ok namespace team on north: has 0 of 1 objects; you may not read PersistentVolumeClaim data',
    ]);
  });

  test('without references there is nothing to compare, and long lists are cut', () => {
    expect(lines([], looked('east', {}))).toEqual(['ok namespace team: no work that has not ended refers to an object']);
    const many = Array.from({ length: 8 }, (_, index) => ({ ...data, name: `data-${index}` }));
    const [line] = lines(many, looked('east', { missing: many }), looked('west', { present: many }));
    expect(line).toMatch(/data-4 \(Job train\) and 3 more$/);
  });
});
