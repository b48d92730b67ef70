import { beforeEach, describe, expect, test } from 'vitest';
import { createServedKinds, type ServedKinds } from '../../../../../manager/dispatch/connection/served-kinds.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { qualifierOf } from '../../../../../manager/work-kind/qualified-name.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { ReadClient, WatchClient } from '../../../../../shared/kube/client.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aCrewKind } from '../../work-kind/described/described.ts';

const CREWS = createKinds(JOB_KIND, [aCrewKind()]).of('crews.example.com:argo');
const CREW = qualifierOf(CREWS.resource) ?? '';

let clock: FakeClock;
let served: ServedKinds;
let changes: number;
/** What the cluster answers to lists; nothing: no items. */
let refusal: Error | undefined;
let watched: number;
let client: ReadClient & WatchClient;
beforeEach(() => {
  [clock, changes, refusal, watched] = [new FakeClock(), 0, undefined, 0];
  served = createServedKinds([CREWS], clock, () => void changes++);
  client = {
    get: async () => ({ metadata: { name: 'read' } }),
    async list() {
      if (refusal !== undefined) throw refusal;
      return { items: [{ metadata: { name: 'a' } }], resourceVersion: '7' };
    },
    async watch() {
      watched++;
      return [];
    },
  } as never;
});
const notServed = () => new ApiError(404, { message: 'the server could not find the requested resource' });
const forbidden = () => new ApiError(403, { reason: 'Forbidden', message: 'no' });

describe('a kind of work', () => {
  test('is unknown until it was listed; Jobs are always there', () => {
    expect([served.names(), served.isServed(CREW), served.isServed(undefined), changes]).toEqual([undefined, false, true, 0]);
  });

  test('that the cluster lists is served, is watched there, and is told of once', async () => {
    const noting = served.noting(CREWS.resource, client, false);
    expect(await noting.list(CREWS.resource)).toMatchObject({ items: [{ metadata: { name: 'a' } }], resourceVersion: '7' });
    await noting.list(CREWS.resource);
    expect([served.names(), served.isServed(CREW), changes]).toEqual([[CREW], true, 1]);
    await noting.watch(CREWS.resource, { resourceVersion: '7' });
    expect(watched).toBe(1);
    expect(await noting.get(CREWS.resource, { namespace: 'team', name: 'read' })).toMatchObject({ metadata: { name: 'read' } });
  });

  test.each([
    ['the cluster does not have', notServed],
    ['the manager may not list there', forbidden],
  ])('that %s has no objects, and is asked about again a minute later', async (_which, error) => {
    refusal = error();
    const noting = served.noting(CREWS.resource, client, false);
    expect(await noting.list(CREWS.resource)).toEqual({ items: [], resourceVersion: '1' });
    expect([served.names(), served.isServed(CREW), changes]).toEqual([[], false, 1]);
    const [events] = [(await noting.watch(CREWS.resource, { resourceVersion: '1' }))[Symbol.asyncIterator]()];
    let ended: unknown;
    void events.next().catch((problem: unknown) => (ended = problem));
    await clock.advance(59_999);
    expect([ended, watched]).toEqual([undefined, 0]);
    await clock.advance(1);
    expect(ended).toMatchObject({ code: 410, reason: 'Expired' });
    refusal = undefined;
    await noting.list(CREWS.resource);
    expect([served.names(), changes]).toEqual([[CREW], 2]);
    // What was seen before is gone: the next list begins where this one ended.
    refusal = error();
    expect(await noting.list(CREWS.resource)).toEqual({ items: [], resourceVersion: '7' });
    expect([served.names(), changes]).toEqual([[], 3]);
  });

  test('that may not be listed in one of several namespaces is not taken for one that is not served', async () => {
    const noting = served.noting(CREWS.resource, client, true);
    refusal = forbidden();
    await expect(noting.list(CREWS.resource)).rejects.toThrow('no');
    refusal = notServed();
    expect(await noting.list(CREWS.resource)).toMatchObject({ items: [] });
    expect(served.names()).toEqual([]);
  });

  test('about which the cluster gives no answer stays what it was', async () => {
    const noting = served.noting(CREWS.resource, client, false);
    refusal = new ApiError(500, { message: 'broken' });
    await expect(noting.list(CREWS.resource)).rejects.toThrow('broken');
    expect([served.names(), changes]).toEqual([undefined, 0]);
  });
});
