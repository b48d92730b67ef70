/** What a session shows to whom, and how long it lasts. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ClusterQueue } from '../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../manager/api/cohort.ts';
import type { LocalQueue } from '../../../../manager/api/local-queue.ts';
import { createNamespaceIdentities } from '../../../../manager/api/namespace-identities.ts';
import type { SubmissionQueueObject } from '../../../../manager/api/submission-queue.ts';
import type { WorkerCluster } from '../../../../manager/api/worker-cluster.ts';
import { createExplanations } from '../../../../manager/dashboard/explanations.ts';
import { createFairScheduler } from '../../../../manager/dashboard/fair-scheduler.ts';
import { createFeeds, type FeedEvent } from '../../../../manager/dashboard/feed.ts';
import { createJobIndex } from '../../../../manager/dashboard/job-index.ts';
import { createJobTable } from '../../../../manager/dashboard/job-table.ts';
import { createRightsReader } from '../../../../manager/dashboard/rights-reader.ts';
import { createSessions, type OpenSession, type Session } from '../../../../manager/dashboard/session.ts';
import { createTimeLines } from '../../../../manager/dashboard/time-line-reading.ts';
import type { Job, Namespace } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const JOB = aHomeJob({ metadata: { name: 'sum', namespace: 'ann', uid: 'uid-sum' } });

let clock: FakeClock;
/** Verbs on Jobs of namespace `ann` that the viewer has. */
let verbs: Set<string>;
/** The API server answers nobody. */
let busy: boolean;
let reads: number;
let open: OpenSession;
let leaving: AbortController;
beforeEach(() => {
  clock = new FakeClock();
  leaving = new AbortController();
  [verbs, busy, reads] = [new Set(['list', 'get']), false, 0];
  const jobs = createObjectCache<Job>();
  const index = createJobIndex(JOB_KIND);
  jobs.set(JOB);
  index.handler.added?.(JOB, true);
  const namespaces = createObjectCache<Namespace>();
  namespaces.set({
    metadata: { name: 'ann', uid: 'uid-ann', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  } as Namespace);
  const identities = createNamespaceIdentities({ addHandler: () => undefined, get: namespaces.get });
  const rights = createRightsReader({
    client: {
      async raw({ body, signal }) {
        if (busy) await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
        const { namespace, verb, resource } = (body as { spec: { resourceAttributes: Record<string, string> } }).spec.resourceAttributes;
        return JSON.stringify({ status: { allowed: namespace === 'ann' && resource === 'jobs' && verbs.has(verb ?? '') } });
      },
    },
    namespaces: () => ['ann'],
    identities,
    queues: () => [],
    clusters: () => [],
    clock,
    log: silentLogger,
  });
  const sources = {
    index,
    workerClusters: createObjectCache<WorkerCluster>(),
    clusterQueues: createObjectCache<ClusterQueue>(),
    localQueues: createObjectCache<LocalQueue>(),
    cohorts: createObjectCache<Cohort>(),
  };
  const turns = createFairScheduler({ clock, waitingMax: 8 });
  const never = (): Promise<never> => Promise.reject(new Error('nobody asks for this here'));
  open = createSessions({
    kind: JOB_KIND,
    index,
    sources,
    submissionQueues: createObjectCache<SubmissionQueueObject>(),
    jobs,
    identities,
    feeds: createFeeds({ ...sources, clock, newId: () => 'epoch' }),
    rights,
    explanations: createExplanations({ explain: never, order: never, whatIf: never, openJobs: () => 1, clock, log: silentLogger }),
    table: createJobTable({ index, clusterQueueOf: () => undefined, turns, clock }),
    timeLines: createTimeLines({
      index,
      ended: undefined,
      clusterQueueOf: () => undefined,
      nominalOf: () => new Map(),
      capacityOf: () => new Map(),
      turns,
      clock,
    }),
    readJob: async () => {
      reads++;
      return JOB;
    },
    readEvents: never,
    clock,
  });
});
afterEach(() => leaving.abort(new Error('enough seen')));

async function session(): Promise<Session> {
  const opened = await open({ kind: 'User', user: { username: 'ann', groups: [] } });
  if ('kind' in opened) expect.fail(opened.why);
  return opened;
}

describe('the manifest of a Job', () => {
  test('is not for those who may list Jobs of its namespace and not get them, though they see that it is there', async () => {
    verbs = new Set(['list']);
    const { yaml, job } = await session();
    expect(await job('ann', 'sum')).toMatchObject({ kind: 'Found' });
    expect(await yaml('ann', 'sum')).toMatchObject({ kind: 'Refused', status: 403 });
    expect(reads).toBe(0);
  });

  test('is for those who may get the Job', async () => {
    expect(await (await session()).yaml('ann', 'sum')).toMatchObject({ kind: 'Found', value: expect.stringContaining('uid: uid-sum') });
  });
});

test('of a Job that exists and is none of the manager’s, a program is told so by a reason of its own', async () => {
  const { job } = await session();
  const what = expect.stringContaining('exists, and Switchyard does not run it') as string;
  expect(await job('ann', 'alone')).toEqual({ kind: 'Missing', reason: 'NotManaged', what });
});

describe('a stream', () => {
  const watched = async () => {
    const events: FeedEvent[] = [];
    let over = false;
    const { follow } = await session();
    const reading = async (): Promise<void> => {
      for await (const event of follow(undefined, leaving.signal)) events.push(event);
      over = true;
    };
    void reading();
    await clock.settle();
    expect(events).toHaveLength(1);
    return { isOver: () => over };
  };

  test('goes on while the API server answers nobody, and while rights stay what they were', async () => {
    const { isOver } = await watched();
    busy = true;
    await clock.advance(200_000);
    expect(isOver()).toBe(false);
    busy = false;
    await clock.advance(200_000);
    expect(isOver()).toBe(false);
  });

  test('ends within two minutes where the viewer may no longer see what it shows', async () => {
    const { isOver } = await watched();
    verbs = new Set();
    await clock.advance(121_000);
    expect(isOver()).toBe(true);
  });
});
