import { describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../manager/api/cohort.ts';
import type { LocalQueue } from '../../../../manager/api/local-queue.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import { createEventReader } from '../../../../manager/cli/submissions/server-events.ts';
import { createFeeds, type FeedEvent, type Feeds } from '../../../../manager/dashboard/feed.ts';
import { createJobIndex } from '../../../../manager/dashboard/job-index.ts';
import { changed, type Overview } from '../../../../manager/dashboard/page/overview-model.ts';
import type { Rights } from '../../../../manager/dashboard/rights.ts';
import type { OverviewChange } from '../../../../manager/dashboard/views.ts';
import type { Job, KubeObject } from '../../../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../../../shared/api/names.ts';
import { createObjectCache, type Lister } from '../../../../shared/kube/indexer.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const ALL: Rights = { namespaces: 'All', queues: 'All', clusters: 'All' };
const ANN: Rights = { namespaces: new Set(['ann']), queues: new Set(), clusters: new Set() };
const CLUSTERS = ['east', 'west'] as const;

const meta = (name: string, namespace?: string) => ({
  name,
  uid: `uid-${namespace}-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...(namespace && { namespace }),
});
function listerOf<T extends KubeObject>(...objects: readonly object[]): Lister<T> {
  const cache = createObjectCache<T>();
  for (const object of objects) cache.set(object as Parameters<typeof cache.set>[0]);
  return cache;
}

/** Feeds over two clusters and two queues; `put` and `gone` are what the informer of Jobs tells. */
function aYard() {
  const clock = new FakeClock();
  const index = createJobIndex(JOB_KIND);
  let ids = 0;
  const feeds = createFeeds({
    index,
    clock,
    newId: () => `epoch${++ids}`,
    workerClusters: listerOf<WorkerCluster>(...CLUSTERS.map((name) => ({ metadata: meta(name), spec: {}, status: {} }))),
    clusterQueues: listerOf<ClusterQueue>({ metadata: meta('main'), spec: { cohortName: 'company', resourceGroups: [] }, status: {} }),
    localQueues: listerOf<LocalQueue>(...['ann', 'bob'].map((of) => ({ metadata: meta('main', of), spec: { clusterQueue: 'main' } }))),
    cohorts: listerOf<Cohort>(),
  });
  const put = (job: Job): void => {
    index.handler.added?.(job, false);
    feeds.jobsTouched();
  };
  const gone = (job: Job): void => {
    index.handler.deleted?.(job, true);
    feeds.jobsTouched();
  };
  return { clock, feeds, put, gone };
}

const waiting = (namespace: string, name: string, why = 'there is no room'): Job =>
  aHomeJob({
    metadata: { ...meta(name, namespace), labels: { [QUEUE_NAME_LABEL]: 'main' } },
    status: { conditions: [aCondition('QuotaReserved', { status: 'False', message: why })] },
  });
const running = (namespace: string, name: string, cluster: string, succeeded = 0): Job =>
  anAdmittedJob(
    { metadata: { ...meta(name, namespace), labels: { [QUEUE_NAME_LABEL]: 'main' } }, status: { active: 1, succeeded } },
    { cluster },
  );
const ended = (namespace: string, name: string, cluster: string): Job =>
  anAdmittedJob(
    {
      metadata: { ...meta(name, namespace), labels: { [QUEUE_NAME_LABEL]: 'main' } },
      status: { succeeded: 1, completionTime: '2026-01-01T00:01:00Z', conditions: [aCondition('Complete')] },
    },
    { cluster },
  );

/** Somebody who looks. `events` are those that have come so far. */
function aPage(feeds: Feeds, rights: Rights, lastEventId?: string) {
  const leaving = new AbortController();
  const frames: FeedEvent[] = [];
  const reading = (async () => {
    for await (const event of feeds.follow(rights, lastEventId, leaving.signal)) frames.push(event);
  })();
  const events = () => createEventReader()(frames.map(({ frame }) => Buffer.from(frame).toString()).join(''));
  return {
    frames,
    events,
    changes: (): OverviewChange[] => events().map(({ data }) => JSON.parse(data) as OverviewChange),
    yard: (): Overview =>
      events().reduce<Overview>(
        (yard, { event, data }) => changed(event === 'yard' ? new Map() : yard, JSON.parse(data) as OverviewChange),
        new Map(),
      ),
    async leave() {
      leaving.abort(new Error('enough seen'));
      await reading;
    },
  };
}

describe('what is sent', () => {
  test('is of a Job that goes on one line, and nothing of what lists it', async () => {
    const { clock, feeds, put } = aYard();
    put(running('ann', 'long', 'east'));
    const page = aPage(feeds, ALL);
    await clock.advance(1_000);
    put(running('ann', 'long', 'east', 7));
    await clock.advance(1_000);
    expect(page.changes()).toMatchObject([{}, { items: {}, jobs: [{ key: 'ann/long', succeeded: 7 }], lines: [] }]);
    expect(page.yard().get('cluster/east')).toMatchObject({ running: [{ key: 'ann/long', succeeded: 7 }] });
    await page.leave();
  });

  test('comes soon after a pause, and then once in a second', async () => {
    const { clock, feeds, put } = aYard();
    const page = aPage(feeds, ALL);
    await clock.advance(5_000);
    put(waiting('ann', 'first'));
    await clock.advance(100);
    expect(page.frames).toHaveLength(2);
    for (let number = 0; number < 20; number++) {
      put(waiting('ann', `next-${number}`));
      await clock.advance(100);
    }
    expect(page.frames).toHaveLength(4);
    await page.leave();
  });

  test('is made once for all who may see the same', async () => {
    const { clock, feeds, put } = aYard();
    const pages = [aPage(feeds, ANN), aPage(feeds, { ...ANN, namespaces: new Set(['ann']) }), aPage(feeds, ALL)];
    await clock.advance(1_000);
    put(waiting('ann', 'hers'));
    await clock.advance(1_000);
    const [one, other, another] = pages.map(({ frames }) => frames.map(({ frame }) => frame));
    expect(one).toHaveLength(2);
    for (const [at, frame] of (one ?? []).entries()) {
      expect(other?.[at]).toBe(frame);
      expect(another?.[at]).not.toBe(frame);
    }
    expect(feeds.size).toBe(2);
    for (const page of pages) await page.leave();
  });

  test('is forgotten two minutes after the last one has left, and until then whoever comes back misses nothing', async () => {
    const { clock, feeds, put } = aYard();
    const page = aPage(feeds, ALL);
    await clock.advance(1_000);
    await page.leave();
    put(waiting('ann', 'meanwhile'));
    await clock.advance(100_000);
    const back = aPage(feeds, ALL, page.events().at(-1)?.id);
    await clock.advance(1_000);
    expect(back.events().map(({ event }) => event)).toEqual(['change']);
    expect(back.changes()).toMatchObject([{ jobs: [{ key: 'ann/meanwhile' }] }]);
    await back.leave();
    await clock.advance(130_000);
    expect(feeds.size).toBe(0);
  });
});

test('whoever reads so slowly that what comes next is no longer kept is sent the whole again, and then what follows', async () => {
  const { clock, feeds, put } = aYard();
  const leaving = new AbortController();
  const reading = feeds.follow(ALL, undefined, leaving.signal)[Symbol.asyncIterator]();
  const read = async () => {
    const { value } = (await reading.next()) as IteratorYieldResult<FeedEvent>;
    const [{ event, data } = expect.fail()] = createEventReader()(Buffer.from(value.frame).toString());
    return { event, change: JSON.parse(data) as OverviewChange };
  };
  expect((await read()).event).toBe('yard');
  // Ten minutes of changes are kept.
  for (let second = 0; second < 650; second++) {
    put(running('ann', 'long', 'east', second));
    await clock.advance(1_000);
  }
  const { event, change } = await read();
  expect(event).toBe('yard');
  expect(changed(new Map(), change).get('cluster/east')).toMatchObject({ running: [{ key: 'ann/long', succeeded: 649 }] });
  put(running('ann', 'long', 'east', 650));
  await clock.advance(1_000);
  expect(await read()).toMatchObject({ event: 'change', change: { jobs: [{ key: 'ann/long', succeeded: 650 }] } });
  leaving.abort(new Error('enough seen'));
  await reading.next();
});

test.each([
  { others: 0, comesBackTo: 'change' },
  { others: 80, comesBackTo: 'yard' },
])(
  'what is kept for those who come back is kept of all feeds together (beside $others others: $comesBackTo)',
  async ({ others, comesBackTo }) => {
    const { clock, feeds, put } = aYard();
    const crowd = Array.from({ length: others }, (_, number) => aPage(feeds, { ...ANN, namespaces: new Set(['ann', `other-${number}`]) }));
    const page = aPage(feeds, ANN);
    await clock.advance(1_000);
    await page.leave();
    for (let round = 0; round < 25; round++) {
      for (let number = 0; number < 64; number++) put(waiting('ann', `job-${number}`, `${round}: ${'no room '.repeat(40)}`));
      await clock.advance(1_000);
    }
    const back = aPage(feeds, ANN, page.events().at(-1)?.id);
    await clock.advance(0);
    expect(back.events()[0]?.event).toBe(comesBackTo);
    for (const each of [...crowd, back]) await each.leave();
  },
);

test.each([1, 2, 3, 4, 5, 6])('whoever looked on sees what one sees who comes now, whatever Jobs did (seed %i)', async (seed) => {
  const random = seededRandom(seed);
  const { clock, feeds, put, gone } = aYard();
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const pages = [aPage(feeds, ALL), aPage(feeds, ANN)];
  await clock.advance(1_000);
  for (let round = 0; round < 40; round++) {
    // More than are told of by name in one event, now and then.
    for (let times = Math.floor(random() * (round % 10 === 0 ? 200 : 12)); times > 0; times--) {
      const [namespace, name] = [pick(['ann', 'bob']), `job-${Math.floor(random() * 90)}`];
      const turn = random();
      if (turn < 0.35) put(waiting(namespace, name, `no room: ${round}`));
      else if (turn < 0.7) put(running(namespace, name, pick(CLUSTERS), round));
      else if (turn < 0.9) put(ended(namespace, name, pick(CLUSTERS)));
      else gone(waiting(namespace, name));
    }
    await clock.advance(pick([20, 400, 1_000, 2_500]));
  }
  await clock.advance(2_000);
  for (const [at, rights] of [ALL, ANN].entries()) {
    const fresh = aPage(feeds, rights);
    await clock.advance(0);
    expect(fresh.events().map(({ event }) => event)).toEqual(['yard']);
    expect(pages[at]?.yard()).toEqual(fresh.yard());
    expect(JSON.stringify(pages[at]?.changes()).includes('bob')).toBe(rights === ALL);
    await fresh.leave();
  }
  for (const page of pages) await page.leave();
});
