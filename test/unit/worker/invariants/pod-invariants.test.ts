import { expect, test } from 'vitest';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import { findingsOfPod } from '../../../../worker/invariants/pod-invariants.ts';
import { aJob, aPod } from '../job/situation.ts';

const OURS = 'kubernetes.io/job-controller';
const jobs = (...all: Job[]) => {
  const cache = createObjectCache<Job>();
  for (const job of all) cache.set(job);
  return cache;
};
const found = (pod: Pod | undefined, ...all: Job[]): string[] => findingsOfPod(pod, jobs(...all), OURS).map(({ message }) => message);
const ended: Job['status'] = { conditions: [{ type: 'Complete', status: 'True' }] };

test('a pod keeps its finalizer while its Job has not ended, and loses it with that', () => {
  expect(found(aPod(), aJob())).toEqual([]);
  expect(found(aPod({ tracked: false }))).toEqual([]);
  expect(found(undefined)).toEqual([]);
  expect(found(aPod())).toEqual(['the tracking finalizer is on it, and its Job job is gone']);
  expect(found(aPod(), aJob({}, ended))).toEqual(['the tracking finalizer is on it, and its Job job has ended']);
  expect(found(aPod(), aJob({}, {}, { uid: 'another-uid' }))).toEqual(['the tracking finalizer is on it, and its Job job is gone']);
});

test('a pod that belongs to nobody has no need of it', () => {
  const pod = aPod();
  delete pod.metadata.ownerReferences;
  expect(found(pod)).toEqual(['the tracking finalizer is on it, and it belongs to no Job']);
});

test('pods of other controllers are left to them', () => {
  expect(found(aPod(), aJob({ managedBy: 'example.com/other' }, ended))).toEqual([]);
  const pod = aPod();
  pod.metadata.ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }];
  expect(found(pod)).toEqual([]);
});
