import { describe, expect, test } from 'vitest';
import {
  formatHomeVersion,
  formatOriginHolder,
  leaseNamespaces,
  originLeaseName,
  parseHomeVersion,
  parseOriginHolder,
  readOriginLease,
  readWorkerAnnouncement,
  workerAnnotations,
  workerLeaseName,
} from '../../../../shared/api/fence-leases.ts';
import type { Lease } from '../../../../shared/api/kubernetes.ts';

const ORIGIN = 'berlin';
const lease = (metadata: Partial<Lease['metadata']>, spec?: Lease['spec']): Lease =>
  ({ metadata: { namespace: 'kube-system', name: originLeaseName(ORIGIN), ...metadata }, ...(spec && { spec }) }) as Lease;
const ofOrigin = (annotations: Record<string, string> = {}, spec?: Lease['spec']): Lease =>
  lease({ labels: { 'switchyard.dev/origin': ORIGIN }, annotations }, spec);

describe('names', () => {
  test.each([
    ['nothing', undefined, ['switchyard-system', 'kube-system']],
    ['what an earlier release stored by default', 'kube-system', ['switchyard-system', 'kube-system']],
    ['the default', 'switchyard-system', ['switchyard-system', 'kube-system']],
    ['another namespace', 'leases', ['leases']],
  ])('a WorkerCluster that names %s has its Leases there', (_, named, namespaces) => expect(leaseNamespaces(named)).toEqual(namespaces));

  test('an origin has a Lease of its own, however long its name is', () => {
    expect(originLeaseName('a')).toBe('switchyard-origin-ca978112ca1bbdca');
    expect(originLeaseName('x'.repeat(63))).toMatch(/^switchyard-origin-[0-9a-f]{16}$/);
    expect(originLeaseName('a')).not.toBe(originLeaseName('b'));
  });

  test('the usual worker has a plain name, one for other Jobs another', () => {
    expect(workerLeaseName('switchyard.dev/worker')).toBe('switchyard-worker');
    expect(workerLeaseName('kubernetes.io/job-controller')).toMatch(/^switchyard-worker-[0-9a-f]{8}$/);
  });
});

describe('the Lease of a manager', () => {
  test('says who holds it, when it was renewed and for which token', () => {
    const annotations = {
      'switchyard.dev/reconciled': 'token-1',
      'switchyard.dev/home-version': '1234.c2VhbA',
      'switchyard.dev/kinds': '[{"group":"ray.io","version":"v1","plural":"rayjobs","kind":"RayJob","suspend":"spec.suspend"}]',
    };
    const spec = { holderIdentity: 'uid-of-home_1f', renewTime: '2026-01-01T00:00:05.250000Z' };
    expect(readOriginLease(ofOrigin(annotations, spec))).toEqual({
      origin: ORIGIN,
      holder: { homeUid: 'uid-of-home', instance: '1f' },
      renewedMs: Date.UTC(2026, 0, 1, 0, 0, 5, 250),
      reconciled: 'token-1',
      homeVersion: { resourceVersion: '1234', seal: 'c2VhbA' },
      kinds: [
        {
          resource: { group: 'ray.io', version: 'v1', plural: 'rayjobs', kind: 'RayJob', namespaced: true },
          suspend: ['spec', 'suspend'],
          suspendedCondition: undefined,
        },
      ],
    });
  });

  test('that was released says nothing but its origin', () => {
    const nothing = { holder: undefined, renewedMs: undefined, reconciled: undefined, homeVersion: undefined, kinds: [] };
    expect(readOriginLease(ofOrigin({}, { holderIdentity: '' }))).toEqual({ origin: ORIGIN, ...nothing });
  });

  test('with the label of another origin than its name says is nobody’s', () => {
    expect(readOriginLease(lease({ labels: { 'switchyard.dev/origin': 'paris' } }))).toBeUndefined();
    expect(readOriginLease(lease({}))).toBeUndefined();
  });

  test('written by somebody else is read as far as it can be', () => {
    const annotations = { 'switchyard.dev/reconciled': 'x'.repeat(10_000), 'switchyard.dev/home-version': '12' };
    const spec = { holderIdentity: 'somebody', renewTime: 'yesterday' };
    expect(readOriginLease(ofOrigin(annotations, spec))).toEqual({
      origin: ORIGIN,
      holder: undefined,
      renewedMs: undefined,
      reconciled: undefined,
      homeVersion: undefined,
      kinds: [],
    });
  });

  test('what is formatted is read back', () => {
    const holder = { homeUid: '8f2c', instance: 'a_b' };
    expect(parseOriginHolder(formatOriginHolder(holder))).toEqual(holder);
    const version = { resourceVersion: '99', seal: 'a-b_c=' };
    expect(parseHomeVersion(formatHomeVersion(version))).toEqual(version);
  });
});

describe('the Lease of a worker', () => {
  const announcement = {
    controllerName: 'switchyard.dev/worker',
    version: '1.2.3',
    fenceAfterSeconds: 60,
    fenceToken: 't',
    fencedKinds: ['jobsets.v1alpha2.jobset.x-k8s.io', 'rayjobs.v1.ray.io'],
    renewalsSeen: new Map([[ORIGIN, { renewTime: '2026-01-01T00:00:00.000000Z', elapsedSeconds: 12.5, fenceAfterSeconds: 7.5 }]]),
  };
  const withAnnotations = (annotations: Record<string, string>): Lease => lease({ annotations });

  test('tells what was announced', () => {
    expect(readWorkerAnnouncement(withAnnotations(workerAnnotations(announcement)))).toEqual(announcement);
  });

  test.each(['switchyard.dev/controller-name', 'switchyard.dev/fence-after', 'switchyard.dev/fence-token'])(
    'without %s is no announcement',
    (name) => {
      const { [name]: _, ...rest } = workerAnnotations(announcement);
      expect(readWorkerAnnouncement(withAnnotations(rest))).toBeUndefined();
    },
  );

  test('that stops no copies of kinds beside Jobs says so, so that what the worker before it announced does not stay', () => {
    const annotations = workerAnnotations({ ...announcement, fencedKinds: [] });
    expect(annotations).toMatchObject({ 'switchyard.dev/fenced-kinds': '' });
    expect(readWorkerAnnouncement(withAnnotations(annotations))?.fencedKinds).toEqual([]);
  });

  test.each(['-1', '1.5', '60s', ''])('with fence-after %j is no announcement', (text) => {
    const annotations = { ...workerAnnotations(announcement), 'switchyard.dev/fence-after': text };
    expect(readWorkerAnnouncement(withAnnotations(annotations))).toBeUndefined();
  });

  test.each([
    ['no JSON', '{'],
    ['a list', '[1]'],
    ['entries of other shapes', JSON.stringify({ a: 1, b: null, c: { renewTime: 'x', elapsedSeconds: 1 }, d: { elapsedSeconds: 1 } })],
    ['times below zero', JSON.stringify({ a: { renewTime: '2026-01-01T00:00:00Z', elapsedSeconds: -1 } })],
    ['what is nested too deeply to be one', '['.repeat(100_000)],
    ['more than an annotation holds', `{"a":"${'x'.repeat(200_000)}"}`],
  ])('whose renewals are %s has seen none', (_, text) => {
    const annotations = { ...workerAnnotations(announcement), 'switchyard.dev/renewals-seen': text };
    expect(readWorkerAnnouncement(withAnnotations(annotations))).toEqual({ ...announcement, renewalsSeen: new Map() });
  });

  test.each([undefined, -1, '60', null])(
    'of an older version, or with %j in its place, does not say which fence bound for an origin',
    (fenceAfterSeconds) => {
      const seen = { renewTime: '2026-01-01T00:00:00Z', elapsedSeconds: 1 };
      const text = JSON.stringify({ [ORIGIN]: { ...seen, fenceAfterSeconds } });
      const read = readWorkerAnnouncement(withAnnotations({ ...workerAnnotations(announcement), 'switchyard.dev/renewals-seen': text }));
      expect(read?.renewalsSeen.get(ORIGIN)).toEqual({ ...seen, fenceAfterSeconds: undefined });
    },
  );

  test('an origin by the name of a method of objects is one like any other', () => {
    const renewalsSeen = new Map([['__proto__', { renewTime: '2026-01-01T00:00:00Z', elapsedSeconds: 1, fenceAfterSeconds: 60 }]]);
    const read = readWorkerAnnouncement(withAnnotations(workerAnnotations({ ...announcement, renewalsSeen })));
    expect(read?.renewalsSeen).toEqual(renewalsSeen);
  });
});
