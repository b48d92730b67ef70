/** Who may write to a worker cluster, as its Lease says it: on an embedded API server, by a fake clock. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClusterLease, type ClusterLease, type ClusterLeaseOptions } from '../../../../../manager/dispatch/lease/cluster-lease.ts';
import { formatOriginHolder, type OriginHolder, originLeaseName } from '../../../../../shared/api/fence-leases.ts';
import type { Lease } from '../../../../../shared/api/kubernetes.ts';
import { KINDS_ANNOTATION, ORIGIN_LABEL, RECONCILED_ANNOTATION } from '../../../../../shared/api/names.ts';
import { LEASES, NAMESPACES } from '../../../../../shared/api/resources.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { startCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { noting } from '../../../../support/noting-client.ts';

const namespace = 'leases';
const key = { namespace, name: originLeaseName('m1') };
const US: OriginHolder = { homeUid: 'b2d8a4d4-6f5c-4a62-9d6e-1c1c5a4e7b10', instance: 'a' };
const OTHER_HOME: OriginHolder = { homeUid: '00000000-6f5c-4a62-9d6e-1c1c5a4e7b10', instance: 'z' };
const HELD = { kind: 'Held' };
const { signal } = new AbortController();

let clock: FakeClock;
let client: KubeClient;
let close: () => unknown;
/** What happens to a write before it is sent, and once it is carried out. */
let before: () => void;
let after: () => void;
beforeEach(async () => {
  clock = new FakeClock();
  const { plane, client: ofCluster } = await startCluster(clock);
  [close, before, after] = [() => plane.close(), () => undefined, () => undefined];
  const carriedOut = async <T>(call: () => Promise<T>): Promise<T> => {
    before();
    const answer = await call();
    after();
    return answer;
  };
  client = {
    ...noting(ofCluster, []),
    create: (...call) => carriedOut(() => ofCluster.create(...call)),
    replace: (...call) => carriedOut(() => ofCluster.replace(...call)),
  };
  await client.create(NAMESPACES, { metadata: { name: namespace } });
});
afterEach(() => close());

type Us = Partial<ClusterLeaseOptions> & { readonly us?: OriginHolder | undefined };
/** A manager's view of the Lease. It has held it before on the clusters that are in `held`. */
function aLease(given: Us = {}): { readonly lease: ClusterLease; readonly held: Set<string> } {
  const us = 'us' in given ? given.us : US;
  const held = new Set<string>();
  const term = {
    holder: () => us,
    hasHeld: (cluster: string) => held.has(cluster),
    held: (cluster: string) => void held.add(cluster),
    homeVersion: () => undefined,
    takeHomeVersion: () => undefined,
    isHomeVersion: () => false,
  };
  const usual = { client, namespace, origin: 'm1', term, fencedKinds: [], givenUp: () => false, renewIntervalMs: 10_000 };
  return { lease: createClusterLease({ ...usual, clock, log: silentLogger, ...given }), held };
}
const keep = (lease: ClusterLease) => lease.keep('east', signal);
const stored = async (): Promise<Lease> => (await client.get(LEASES, key)) as Lease;
const failing = (error: Error) => (): void => {
  throw error;
};
const answering = (code: number): ApiError => new ApiError(code, { message: 'no', reason: code === 409 ? 'Conflict' : 'Reason' });

describe('a Lease that nobody holds', () => {
  test('is made, with who holds it, for how long, and which kinds are fenced', async () => {
    const { lease, held } = aLease({ fencedKinds: [] });
    expect([lease.isHeld(), lease.gains(), lease.sentMs(), lease.dueInMs()]).toEqual([false, 0, undefined, 0]);
    expect(await keep(lease)).toEqual(HELD);
    const { metadata, spec } = await stored();
    expect(metadata.labels).toEqual({ [ORIGIN_LABEL]: 'm1' });
    expect(metadata.annotations?.[RECONCILED_ANNOTATION]).toBeUndefined();
    expect(metadata.annotations?.[KINDS_ANNOTATION]).toBeUndefined();
    const now = '2026-01-01T00:00:00.000000Z';
    expect(spec).toEqual({
      holderIdentity: formatOriginHolder(US),
      leaseDurationSeconds: 40,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 0,
    });
    expect([lease.isHeld(), lease.gains(), lease.sentMs(), lease.dueInMs()]).toEqual([true, 1, 0, 10_000]);
    expect([...held]).toEqual(['east']);
  });

  test('is held for four intervals, and for 15 seconds at least', async () => {
    await keep(aLease({ renewIntervalMs: 500 }).lease);
    expect((await stored()).spec?.leaseDurationSeconds).toBe(15);
  });

  test('is not held by a manager that does not know its own cluster', async () => {
    expect(await keep(aLease({ us: undefined }).lease)).toMatchObject({ kind: 'Refused', reason: 'IdentityUnknown' });
    expect(await client.list(LEASES, { namespace })).toMatchObject({ items: [] });
  });
});

describe('a Lease that is held', () => {
  test('is renewed when it is due, and counts as acquired once', async () => {
    const { lease } = aLease();
    await keep(lease);
    await clock.advance(9_999);
    expect(lease.dueInMs()).toBe(1);
    await clock.advance(1);
    expect(lease.dueInMs()).toBe(0);
    expect(await keep(lease)).toEqual(HELD);
    expect([lease.dueInMs(), lease.sentMs(), lease.gains()]).toEqual([10_000, 10_000, 1]);
    expect((await stored()).spec).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:10.000000Z',
      leaseTransitions: 0,
    });
  });

  test('is lost after its duration, and then gained again', async () => {
    const { lease } = aLease();
    await keep(lease);
    await clock.advance(39_999);
    expect(lease.isHeld()).toBe(true);
    await clock.advance(1);
    expect(lease.isHeld()).toBe(false);
    expect(await keep(lease)).toEqual(HELD);
    expect([lease.isHeld(), lease.gains()]).toEqual([true, 2]);
  });

  test('confirms a fence token at once, until the cluster is given up', async () => {
    let givenUp = false;
    const { lease } = aLease({ givenUp: () => givenUp });
    lease.confirm('token-0');
    expect(lease.confirmed()).toBeUndefined();
    await keep(lease);
    expect([lease.confirmed(), lease.dueInMs()]).toEqual(['token-0', 10_000]);
    lease.confirm('token-1');
    expect([lease.confirmed(), lease.dueInMs()]).toEqual(['token-0', 0]);
    await keep(lease);
    expect([lease.confirmed(), lease.dueInMs()]).toEqual(['token-1', 10_000]);
    expect((await stored()).metadata.annotations?.[RECONCILED_ANNOTATION]).toBe('token-1');
    givenUp = true;
    const sentMs = lease.sentMs();
    await clock.advance(10_000);
    await keep(lease);
    expect([lease.confirmed(), lease.sentMs(), lease.isHeld()]).toEqual([undefined, sentMs, true]);
    // A confirmation from before may be wrong when the cluster is taken back.
    givenUp = false;
    expect(lease.dueInMs()).toBe(10_000);
    await keep(lease);
    expect((await stored()).metadata.annotations?.[RECONCILED_ANNOTATION]).toBeUndefined();
  });

  test('passes a confirmed token on to the next leader of the same manager cluster, and to no other', async () => {
    const { lease } = aLease();
    lease.confirm('token');
    await keep(lease);
    const { lease: successor } = aLease({ us: { ...US, instance: 'b' } });
    expect(await keep(successor)).toEqual(HELD);
    expect([successor.confirmed(), (await stored()).spec?.leaseTransitions]).toEqual(['token', 1]);
    const { lease: other } = aLease({ us: OTHER_HOME });
    expect(await keep(other)).toMatchObject({ kind: 'Refused', reason: 'OtherManager' });
    await clock.advance(40_000);
    expect(await keep(other)).toEqual(HELD);
    expect([other.confirmed(), (await stored()).spec?.leaseTransitions]).toEqual([undefined, 2]);
  });

  test('is let go of by one write that is no renewal, and only by who holds it', async () => {
    const { lease } = aLease();
    await lease.release();
    expect(await client.list(LEASES, { namespace })).toMatchObject({ items: [] });
    await keep(lease);
    await clock.advance(5_000);
    await lease.release();
    const { spec } = await stored();
    expect(spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, renewTime: '2026-01-01T00:00:00.000000Z' });
    expect([lease.isHeld(), lease.dueInMs()]).toEqual([false, 0]);
    expect(await keep(aLease({ us: OTHER_HOME }).lease)).toEqual(HELD);
    await lease.release();
    expect((await stored()).spec?.holderIdentity).toBe(formatOriginHolder(OTHER_HOME));
  });

  test('is not let go of after a renewal without an answer, and letting go may fail', async () => {
    const { lease } = aLease();
    await keep(lease);
    before = failing(new Error('the line is cut'));
    await lease.release();
    expect((await stored()).spec?.holderIdentity).toBe(formatOriginHolder(US));
    const { lease: unsure } = aLease({ us: { ...US, instance: 'b' } });
    before = () => undefined;
    await keep(unsure);
    before = failing(answering(500));
    expect(await keep(unsure)).toMatchObject({ kind: 'Failed' });
    before = () => undefined;
    await unsure.release();
    expect((await stored()).spec?.holderIdentity).toBe(formatOriginHolder({ ...US, instance: 'b' }));
  });
});

describe('a Lease that others write', () => {
  test('of a manager of another cluster under the same id: the message says what to do', async () => {
    await keep(aLease({ us: OTHER_HOME }).lease);
    const { lease } = aLease();
    expect(await keep(lease)).toEqual({
      kind: 'Refused',
      reason: 'OtherManager',
      message: expect.stringMatching(
        /UID 00000000-.* under the same id, "m1" \(Lease leases\/.*\); give one of the two another --manager-id/,
      ) as string,
    });
    expect([lease.isHeld(), lease.sentMs(), lease.gains()]).toEqual([false, undefined, 0]);
  });

  test('of a successor of this leader: this one stands back, although it held the Lease before', async () => {
    const { lease } = aLease();
    await keep(lease);
    expect(await keep(aLease({ us: { ...US, instance: 'b' } }).lease)).toEqual(HELD);
    await clock.advance(10_000);
    expect(await keep(lease)).toMatchObject({
      reason: 'OtherManager',
      message: expect.stringMatching(
        /^another manager of the same manager cluster, .*\(b in Lease leases\/.*\); stop one of the two$/,
      ) as string,
    });
    expect(lease.isHeld()).toBe(false);
  });

  test('by hand, with a holder that is no manager: it is waited for', async () => {
    const metadata = { ...key, labels: {} };
    await client.create(LEASES, { metadata, spec: { holderIdentity: 'somebody', leaseDurationSeconds: 60 } });
    const { lease } = aLease();
    expect(await keep(lease)).toMatchObject({
      message: expect.stringContaining('it is held by "somebody", which is no manager') as string,
    });
    await clock.advance(59_999);
    expect(await keep(lease)).toMatchObject({ kind: 'Refused' });
    await clock.advance(1);
    expect(await keep(lease)).toEqual(HELD);
    expect((await stored()).spec?.leaseTransitions).toBe(1);
  });

  test('between two renewals, without taking it: it is read again and renewed, and counts as gained anew', async () => {
    const { lease } = aLease();
    await keep(lease);
    const now = await stored();
    await client.replace(LEASES, { ...now, metadata: { ...now.metadata, labels: { touched: 'yes' } } });
    expect(await keep(lease)).toEqual(HELD);
    expect((await stored()).metadata.labels).toEqual({ [ORIGIN_LABEL]: 'm1' });
    expect([lease.isHeld(), lease.gains()]).toEqual([true, 2]);
  });

  test('again and again: a third look is left to the next call', async () => {
    const { lease } = aLease();
    await keep(lease);
    before = failing(answering(409));
    expect(await keep(lease)).toMatchObject({ kind: 'Failed' });
    before = () => undefined;
    expect(await keep(lease)).toEqual(HELD);
  });

  test('and delete: it counts as one of a restored cluster', async () => {
    const { lease } = aLease();
    await keep(lease);
    await client.delete(LEASES, key, {});
    const kept = await keep(lease);
    expect(kept).toMatchObject({ kind: 'WentBack', error: expect.objectContaining({ name: 'LeaseWentBack' }) as unknown });
  });
});

describe('an answer that says no', () => {
  test.each([
    [401, 'Refused', 'Unauthorized', /^it does not know the manager’s user: no$/],
    [404, 'Refused', 'LeaseForbidden', /cannot be made in namespace "leases" there; name one that exists in spec\.leaseNamespace: no$/],
    [403, 'Refused', 'LeaseForbidden', /^the manager may not keep its Lease there: it needs the verbs .* in namespace "leases"/],
    [400, 'Refused', 'LeaseForbidden', /^the manager may not keep its Lease there/],
    [422, 'Refused', 'LeaseForbidden', /^the manager may not keep its Lease there/],
    [429, 'Failed', undefined, /no/],
    [500, 'Failed', undefined, /no/],
  ])('%i is %s %s', async (code, kind, reason, message) => {
    const { lease } = aLease();
    before = failing(answering(code));
    const kept = await keep(lease);
    expect(kept).toMatchObject({ kind, message: expect.stringMatching(message) as string, ...(reason && { reason }) });
    expect([lease.isHeld(), lease.gains()]).toEqual([false, 0]);
  });
});

describe('whether the worker may have seen a renewal', () => {
  test.each([
    ['an answer that says no', answering(403), false],
    ['no connection', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), false],
    ['a time-out at the API server', answering(408), true],
    ['an answer of 500', answering(500), true],
    ['a broken line', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), true],
  ])('%s', async (_what, error, may) => {
    const { lease } = aLease();
    await clock.advance(7_000);
    after = failing(error);
    await keep(lease);
    expect(lease.sentMs()).toBe(may ? 7_000 : undefined);
    // No renewal is sent before the cluster has answered something else.
    expect(lease.dueInMs()).toBe(0);
  });

  test('no answer within 15 seconds is a failure, and the renewal may have been carried out', async () => {
    const create: KubeClient['create'] = (_resource, _object, options) =>
      new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error)));
    const { lease } = aLease({ client: { ...client, create } });
    const kept = keep(lease);
    await clock.advance(14_999);
    expect(lease.sentMs()).toBeUndefined();
    await clock.advance(1);
    expect(await kept).toMatchObject({ kind: 'Failed' });
    expect(lease.sentMs()).toBe(0);
  });

  test.each([
    [9_000, HELD, true],
    [10_000, HELD, true],
    [11_000, { kind: 'Failed', message: 'the renewal was decided 11000 ms ago and is not sent any more' }, false],
  ])(
    'after a process stood still for %i ms, its renewal is sent only if it was decided within ten seconds',
    async (pauseMs, kept, isRenewed) => {
      const { lease } = aLease();
      expect(await keep(lease)).toEqual(HELD);
      await clock.advance(10_000);
      const sentMs = lease.sentMs() ?? 0;
      // The time of day goes on while a machine sleeps; its steady clock may stand still.
      before = () => clock.stepTimeOfDay(pauseMs);
      expect(await keep(lease)).toMatchObject(kept);
      // The first counts as sent, because it may have been; its answer gives the Lease ten seconds more.
      expect(lease.sentMs()).toBeGreaterThan(sentMs);
      await clock.advance(30_000);
      expect(lease.isHeld()).toBe(isRenewed);
    },
  );
});
