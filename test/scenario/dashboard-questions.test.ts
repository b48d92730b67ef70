/** The dashboard over HTTP: what is asked of queues, clusters, Events and the past. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { SUBMISSION_QUEUES } from '../../manager/api/submission-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type { ClusterTimeLine, PastOverview, QueueTimeLine, TimeLine } from '../../manager/dashboard/past-views.ts';
import type { SubmissionsView } from '../../manager/dashboard/submission-views.ts';
import type { EventsView, ClusterView, QueueView } from '../../manager/dashboard/views.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { serveTestDashboard, type ServedDashboard } from './served-dashboard.ts';

let served: ServedDashboard;
let { clock, cluster, createJob, get, people, seen }: ServedDashboard = {} as ServedDashboard;
beforeEach(async () => {
  served = await serveTestDashboard();
  ({ clock, cluster, createJob, get, people, seen } = served);
});
afterEach(() => served.close());

describe('the pages of queues, clusters and submissions', () => {
  const make = async (): Promise<void> => {
    await cluster.client.create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec: { namespaceSelector: {}, resourceGroups: [] } });
    await cluster.client.create(WORKER_CLUSTERS, { metadata: { name: 'east' }, spec: { local: true } });
    for (const namespace of ['ann', 'bob']) {
      await cluster.client.create(LOCAL_QUEUES, { metadata: { namespace, name: `of-${namespace}` }, spec: { clusterQueue: 'main' } });
      const metadata = { namespace, name: `by-${namespace}` };
      await cluster.client.create(SUBMISSION_QUEUES, { metadata, spec: { serviceAccountName: 'maker' } });
    }
    await createJob('ann', 'hers');
    await createJob('bob', 'his');
    await clock.advance(1_000);
  };

  test('show whoever may see it who uses a queue, who goes first in it, and what a cluster is like', async () => {
    await make();
    const queue = (await get<QueueView>('/api/v1/queues/main', 'admin')).body;
    expect(queue.localQueues.map(({ key }) => key)).toEqual(['ann/of-ann', 'bob/of-bob']);
    expect(queue.order.map(({ place, job }) => [place, job.key])).toEqual([
      [1, 'bob/his'],
      [2, 'ann/hers'],
    ]);
    expect((await get<ClusterView>('/api/v1/clusters/east', 'admin')).body).toMatchObject({
      track: { name: 'east' },
      commands: [{ does: 'cordon' }, {}, {}],
    });
    const submissions = (await get<SubmissionsView>('/api/v1/submissions', 'admin')).body;
    expect(submissions.queues.map(({ key }) => key)).toEqual(['ann/by-ann', 'bob/by-bob']);
    expect(await get('/api/v1/queues/none', 'admin')).toMatchObject({ status: 404 });
    expect(await get('/api/v1/clusters/none', 'admin')).toMatchObject({ status: 404 });
  });

  test('are not there for a tenant who may read none of them, and tell one who may read a queue of nobody else', async () => {
    await make();
    for (const path of ['queues/main', 'queues/none', 'clusters/east', 'clusters/none'])
      expect(await get(`/api/v1/${path}`, 'ann')).toMatchObject({ status: 403 });
    expect((await get<SubmissionsView>('/api/v1/submissions', 'ann')).body.queues.map(({ key }) => key)).toEqual(['ann/by-ann']);
    people['bob'] = { namespaces: ['bob'], queues: true };
    const { body } = await get<QueueView>('/api/v1/queues/main', 'bob');
    expect(body).toMatchObject({
      localQueues: [{ key: 'bob/of-bob' }],
      otherLocalQueues: 1,
      order: [{ place: 1, job: { key: 'bob/his' } }],
    });
    expect(JSON.stringify(body)).not.toContain('ann');
  });
});

describe('what would be if', () => {
  const ASKED = '/api/v1/queues/main/what-if?quota=default:cpu=2';
  beforeEach(async () => {
    const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '1' }] }] }];
    await cluster.client.create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec: { namespaceSelector: {}, resourceGroups } } as never);
    await clock.advance(1_000);
  });

  test('is told whoever may see the queue, with the command that does it', async () => {
    expect(await get(ASKED, 'admin')).toMatchObject({
      status: 200,
      body: { queues: [], jobs: [], commands: ['kubectl patch'] },
    });
    expect(seen.wished).toEqual([
      [{ object: 'ClusterQueue', name: 'main', edit: { field: 'quota', flavor: 'default', resource: 'cpu', amount: '2' } }],
    ]);
    expect(await get('/api/v1/queues/none/what-if?weight=2', 'admin')).toMatchObject({ status: 404 });
  });

  test('is refused where the question is wrong, or not his to ask, and then nothing is worked out', async () => {
    expect(await get('/api/v1/queues/main/what-if?quota=default:cpu=lots', 'admin')).toMatchObject({ status: 422 });
    expect(await get('/api/v1/queues/main/what-if?drain=none', 'admin')).toMatchObject({ status: 422 });
    expect(await get(ASKED, 'ann')).toMatchObject({ status: 403 });
    expect(seen.wished).toEqual([]);
  });
});

describe('Events', () => {
  test('of a Job are told whoever may list Events there, and those that speak of another object are not', async () => {
    await createJob('ann', 'hers');
    await clock.advance(1_000);
    const { metadata } = await cluster.client.get(JOBS, { namespace: 'ann', name: 'hers' });
    const event = (name: string, uid: string, message: string) =>
      cluster.client.create(EVENTS, {
        metadata: { namespace: 'ann', name },
        involvedObject: { kind: 'Job', namespace: 'ann', name: 'hers', uid },
        type: 'Warning',
        reason: 'Moved',
        message,
        source: { component: 'test' },
        lastTimestamp: new Date(clock.now()).toISOString().replace(/\.\d+Z/, 'Z'),
        count: 2,
      } as never);
    await event('of-hers', metadata.uid, 'away from east\u202e');
    await event('of-another', 'another', 'of one that had its name');
    const path = '/api/v1/namespaces/ann/jobs/hers/events';
    expect((await get<EventsView>(path, 'ann')).body.events).toMatchObject([
      { isWarning: true, reason: 'Moved', message: 'away from east ', from: 'test', count: 2 },
    ]);
    expect(await get(path, 'bob')).toMatchObject({ status: 403 });
    expect(await get('/api/v1/namespaces/ann/jobs/none/events', 'ann')).toMatchObject({ status: 404 });
  });
});

describe('the time line', () => {
  test('counts Jobs that are there and Jobs that are gone, each once, for whoever may see them', async () => {
    const nowMs = clock.now();
    const at = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();
    const past = { created: at(50), admitted: at(40), ended: at(30), succeeded: 1, failed: 0 };
    seen.gone = [
      { ...past, uid: 'u1', namespace: 'ann', name: 'old', outcome: 'Complete' },
      { ...past, uid: 'u2', namespace: 'bob', name: 'old', outcome: 'Failed' },
    ];
    await createJob('ann', 'hers');
    await clock.advance(1_000);
    const of = async (token: string) => {
      const { buckets } = (await get<TimeLine>('/api/v1/timeline?hours=1', token)).body;
      const sum = (what: 'created' | 'admitted' | 'complete' | 'failed'): number => buckets.reduce((all, each) => all + each[what], 0);
      return [buckets.length, sum('created'), sum('admitted'), sum('complete'), sum('failed'), buckets.at(-1)?.waiting];
    };
    expect(await of('admin')).toEqual([60, 3, 2, 1, 1, 1]);
    expect(await of('ann')).toEqual([60, 2, 1, 1, 0, 1]);
    expect(await of('nobody')).toEqual([60, 0, 0, 0, 0, 0]);
    expect(await get('/api/v1/timeline?hours=1000', 'ann')).toMatchObject({ status: 422 });
  });

  test('of a moment and of a queue is told whoever may see them, and wrong questions are refused', async () => {
    await createJob('ann', 'hers');
    const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '4' }] }] }];
    await cluster.client.create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec: { namespaceSelector: {}, resourceGroups } } as never);
    await clock.advance(5_000);
    const now = `/api/v1/yard?at=${clock.now()}`;
    expect((await get<PastOverview>(now, 'ann')).body).toMatchObject({
      waiting: [{ count: 1, first: [{ key: 'ann/hers' }] }],
      running: [],
    });
    expect((await get<PastOverview>(now, 'bob')).body).toMatchObject({ waiting: [], running: [] });
    expect(await get(`/api/v1/yard?at=${clock.now() + 60_000}`, 'admin')).toMatchObject({ status: 422 });
    expect((await get<QueueTimeLine>('/api/v1/queues/main/timeline?hours=1', 'admin')).body.held).toMatchObject([
      { resource: 'cpu', nominal: 4 },
    ]);
    expect(await get('/api/v1/queues/main/timeline', 'ann')).toMatchObject({ status: 403 });
    expect(await get('/api/v1/queues/none/timeline', 'admin')).toMatchObject({ status: 404 });
    expect(await get('/api/v1/queues/main/timeline?hours=x', 'admin')).toMatchObject({ status: 422 });
  });

  test('of a cluster are told to who may see the cluster', async () => {
    await cluster.client.create(WORKER_CLUSTERS, { metadata: { name: 'east' }, spec: { local: true, capacity: { cpu: '8' } } });
    await clock.advance(1_000);
    const { body } = await get<ClusterTimeLine>('/api/v1/clusters/east/timeline?hours=1', 'admin');
    expect(body.held).toMatchObject([{ resource: 'cpu', capacity: 8 }]);
    expect(await get('/api/v1/clusters/east/timeline', 'ann')).toMatchObject({ status: 403 });
    expect(await get('/api/v1/clusters/none/timeline', 'admin')).toMatchObject({ status: 404 });
    expect(await get('/api/v1/clusters/east/timeline?hours=x', 'admin')).toMatchObject({ status: 422 });
  });
});
