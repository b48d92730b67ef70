import { expect, test } from 'vitest';
import type { WorkOfKind } from '../../../../shared/api/fenced-kinds.ts';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import { childJobIndexers, copyOfPod, copyPodIndexers, podsOfCopy } from '../../../../worker/kinds/copy-pods.ts';
import { createPodTrimmer, podIndexers } from '../../../../worker/job/pod-cache.ts';

const env = [
  { name: 'SWITCHYARD_EPOCH', value: '1' },
  { name: 'SWITCHYARD_JOB', value: 'team/train' },
  { name: 'SWITCHYARD_JOB_UID', value: 'original' },
  { name: 'SWITCHYARD_MANAGER', value: 'home' },
];
const POD_SPEC = { containers: [{ name: 'main', image: 'busybox', env }] };
const ownedBy = (kind: string, name: string, apiVersion = kind === 'Job' ? 'batch/v1' : 'example.com/v1'): object => ({
  apiVersion,
  kind,
  name,
  uid: `uid-of-${name}`,
  controller: true,
});
const common = { namespace: 'team', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
type PodParts = { readonly phase?: string; readonly spec?: object; readonly labels?: object };
const aPod = (name: string, owner: object | undefined, { phase = 'Running', spec = POD_SPEC, labels = {} }: PodParts = {}): Pod =>
  createPodTrimmer()({
    metadata: { ...common, name, uid: `uid-of-${name}`, labels, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec,
    status: { phase },
  } as never);
const aJob = (name: string, owner?: object): Job =>
  ({
    metadata: { ...common, name, uid: `uid-of-${name}`, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: { template: { spec: POD_SPEC } },
  }) as never;

const BARE = { containers: [{ name: 'main', image: 'busybox' }] };
const LABELS = { 'ray.io/job': 'train' };
const CHILD = aJob('train-workers-0', ownedBy('JobSet', 'train'));
const COPY = aJob('copy');
const PODS = [
  aPod('head', ownedBy('RayCluster', 'train')),
  aPod('ended', ownedBy('RayCluster', 'train'), { phase: 'Succeeded' }),
  aPod('of-child', ownedBy('Job', 'train-workers-0')),
  aPod('of-a-job', ownedBy('Job', 'copy')),
  aPod('unnamed', ownedBy('RayCluster', 'train'), { spec: BARE, labels: LABELS }),
  aPod('foreign', ownedBy('RayCluster', 'other'), { spec: BARE, labels: { 'ray.io/job': 'other' } }),
  aPod('bare', undefined, { spec: BARE, labels: LABELS }),
];
const aCopy = (originUid: string, podSelector?: string): WorkOfKind => ({
  metadata: {
    ...common,
    name: 'train',
    uid: 'u',
    annotations: {
      'switchyard.dev/origin-uid': originUid,
      ...(podSelector === undefined ? {} : { 'switchyard.dev/pod-selector': podSelector }),
    },
  },
});
const pods = createObjectCache<Pod>({ ...podIndexers, ...copyPodIndexers });
const jobs = createObjectCache<Job>(childJobIndexers);
for (const pod of PODS) pods.set(pod);
for (const job of [CHILD, COPY]) jobs.set(job);
const namesOf = (copy: WorkOfKind): readonly string[] => podsOfCopy(pods, jobs, copy).map(({ metadata }) => metadata.name);

test('the pods of a copy are those that its operator has made, and those of Jobs that it has made, as far as they have not ended', () => {
  expect(namesOf(aCopy('original'))).toEqual(['head', 'of-child']);
  expect(namesOf(aCopy('another'))).toEqual([]);
});

test('pods of an operator that do not say whose they are, are its by their labels', () => {
  expect(namesOf(aCopy('original', 'ray.io/job=train'))).toEqual(['head', 'of-child', 'unnamed']);
  expect(namesOf(aCopy('original', 'ray.io/job=nobody'))).toEqual(['head', 'of-child']);
  expect([namesOf(aCopy('another', '')), namesOf(aCopy('another', '!!')), namesOf(aCopy('another', ','))]).toEqual([[], [], []]);
});

test('of a pod is known whose it is, or that its labels have to say it; a pod of a plain Job, or of nobody, is of no copy', () => {
  const original = { originUid: 'original' };
  expect(PODS.map((pod) => copyOfPod(pod, jobs))).toEqual([original, original, original, undefined, 'unknown', 'unknown', undefined]);
});

test('of a Job of another group the pods are an operator’s, and known by what they say', () => {
  const owner = ownedBy('Job', 'volcano', 'batch.volcano.sh/v1alpha1');
  const [named, unnamed] = [aPod('named', owner), aPod('unnamed', owner, { spec: BARE, labels: LABELS })];
  const all = createObjectCache<Pod>({ ...podIndexers, ...copyPodIndexers });
  for (const pod of [named, unnamed]) all.set(pod);
  const found = (copy: WorkOfKind): string[] => podsOfCopy(all, jobs, copy).map(({ metadata }) => metadata.name);
  expect([found(aCopy('original')), found(aCopy('another', 'ray.io/job=train'))]).toEqual([['named'], ['unnamed']]);
  expect([copyOfPod(named, jobs), copyOfPod(unnamed, jobs)]).toEqual([{ originUid: 'original' }, 'unknown']);
});
