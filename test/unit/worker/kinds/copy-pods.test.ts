import { expect, test } from 'vitest';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import { childJobIndexers, copyPodIndexers, originUidOfPod, podsOfCopy } from '../../../../worker/kinds/copy-pods.ts';
import { createPodTrimmer, podIndexers } from '../../../../worker/job/pod-cache.ts';

const env = [
  { name: 'SWITCHYARD_EPOCH', value: '1' },
  { name: 'SWITCHYARD_JOB', value: 'team/train' },
  { name: 'SWITCHYARD_JOB_UID', value: 'original' },
  { name: 'SWITCHYARD_MANAGER', value: 'home' },
];
const POD_SPEC = { containers: [{ name: 'main', image: 'busybox', env }] };
const ownedBy = (kind: string, name: string): object => ({ apiVersion: 'v1', kind, name, uid: `uid-of-${name}`, controller: true });
const common = { namespace: 'team', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const aPod = (name: string, owner: object | undefined, phase = 'Running', spec: object = POD_SPEC): Pod =>
  createPodTrimmer()({
    metadata: { ...common, name, uid: `uid-of-${name}`, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec,
    status: { phase },
  } as never);
const aJob = (name: string, owner?: object): Job =>
  ({
    metadata: { ...common, name, uid: `uid-of-${name}`, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: { template: { spec: POD_SPEC } },
  }) as never;

const CHILD = aJob('train-workers-0', ownedBy('JobSet', 'train'));
const COPY = aJob('copy');
const PODS = [
  aPod('head', ownedBy('RayCluster', 'train')),
  aPod('ended', ownedBy('RayCluster', 'train'), 'Succeeded'),
  aPod('of-child', ownedBy('Job', 'train-workers-0')),
  aPod('of-copy', ownedBy('Job', 'copy')),
  aPod('foreign', ownedBy('RayCluster', 'other'), 'Running', { containers: [{ name: 'main' }] }),
  aPod('bare', undefined),
];

test('the pods of a copy are those that its operator has made, and those of Jobs that it has made, as far as they have not ended', () => {
  const pods = createObjectCache<Pod>({ ...podIndexers, ...copyPodIndexers });
  const jobs = createObjectCache<Job>(childJobIndexers);
  for (const pod of PODS) pods.set(pod);
  for (const job of [CHILD, COPY]) jobs.set(job);
  expect(podsOfCopy(pods, jobs, 'original').map(({ metadata }) => metadata.name)).toEqual(['head', 'bare', 'of-child']);
  expect(podsOfCopy(pods, jobs, 'another')).toEqual([]);
  expect(PODS.map((pod) => originUidOfPod(pod, jobs))).toEqual(['original', 'original', 'original', undefined, undefined, 'original']);
});
