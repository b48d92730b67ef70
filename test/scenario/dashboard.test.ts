/** The dashboard over HTTP: an embedded manager cluster, the manager's caches, a table of who may what, and viewers who come and go. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES, type ClusterQueue } from '../../manager/api/cluster-queue.ts';
import { COHORTS, type Cohort } from '../../manager/api/cohort.ts';
import { LOCAL_QUEUES, type LocalQueue } from '../../manager/api/local-queue.ts';
import { SUBMISSION_QUEUES, type SubmissionQueueObject } from '../../manager/api/submission-queue.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { createEventReader, type ReceivedEvent } from '../../manager/cli/submissions/server-events.ts';
import { createDashboard } from '../../manager/dashboard/dashboard.ts';
import type {
  ActionResult,
  ClusterView,
  JobPage,
  JobView,
  PastYard,
  QueueTimeLine,
  QueueView,
  SubmissionsView,
  TimeLine,
  Viewer,
  YardChange,
} from '../../manager/dashboard/views.ts';
import type { KeptJob } from '../../manager/dashboard/job-view.ts';
import { dashboardRoutes } from '../../manager/http/dashboard-routes.ts';
import { serveApi, type ApiServer } from '../../manager/http/server.ts';
import { staticRoutes } from '../../manager/http/static-files.ts';
import type { KubeObject, Unsaved } from '../../shared/api/kubernetes.ts';
import { JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createCrds } from '../support/crds.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aHomeJob } from '../support/jobs.ts';

/** Tokens are names. `namespaces` are those of which somebody may list, get and read the logs of Jobs. */
type Person = { namespaces: readonly string[] | '*'; queues: boolean; acts?: boolean };
let people: Record<string, Person>;
let asked: number;
/** What history has. */
let gone: KeptJob[];
let wished: unknown[];
let clock: FakeClock;
let cluster: EmbeddedCluster;
let server: ApiServer;
let stop: AbortController;
let running: Promise<unknown>;

const reviewer: RawClient = {
  async raw({ path, body }) {
    asked++;
    const { spec } = body as {
      spec: { token?: string; user?: string; resourceAttributes?: { namespace: string; resource: string; verb: string } };
    };
    if (path.endsWith('/tokenreviews')) {
      const name = spec.token ?? '';
      return JSON.stringify({
        status: people[name] === undefined ? { authenticated: false } : { authenticated: true, user: { username: name } },
      });
    }
    const { namespaces, queues, acts } = people[spec.user ?? ''] ?? { namespaces: [], queues: false };
    const { namespace = '', resource = '', verb = '' } = spec.resourceAttributes ?? {};
    if (['patch', 'delete'].includes(verb) && acts !== true) return JSON.stringify({ status: { allowed: false } });
    const ofNamespace = ['jobs', 'pods', 'submissionqueues'].includes(resource);
    const allowed = ofNamespace ? namespaces === '*' || namespaces.includes(namespace) : queues;
    return JSON.stringify({ status: { allowed } });
  },
} as RawClient;

beforeEach(async () => {
  people = {
    admin: { namespaces: '*', queues: true },
    ann: { namespaces: ['ann'], queues: false },
    bob: { namespaces: ['bob'], queues: false },
    nobody: { namespaces: [], queues: false },
  };
  asked = 0;
  gone = [];
  wished = [];
  clock = new FakeClock();
  cluster = await startCluster(clock);
  await createCrds(cluster.client);
  for (const name of ['ann', 'bob']) await cluster.client.create(NAMESPACES, { metadata: { name } });
  const options = { client: cluster.client, clock, random: seededRandom(1), log: silentLogger };
  const informerOf = <T extends KubeObject>(resource: Resource<T>): Informer<T> => createInformer({ ...options, resource });
  const informers = {
    jobs: informerOf(JOBS),
    workerClusters: informerOf<WorkerCluster>(WORKER_CLUSTERS),
    clusterQueues: informerOf<ClusterQueue>(CLUSTER_QUEUES),
    localQueues: informerOf<LocalQueue>(LOCAL_QUEUES),
    cohorts: informerOf<Cohort>(COHORTS),
    submissionQueues: informerOf<SubmissionQueueObject>(SUBMISSION_QUEUES),
  };
  let ids = 0;
  const dashboard = createDashboard({
    informers,
    reviewer,
    proxy: undefined,
    explain: async (job) => ({ kind: 'Waiting', job: job.metadata.name }),
    order: async () => ({ kind: 'Order', waiting: 2, first: ['bob/his', 'ann/hers'].map((key) => ({ key, priority: 0 })) }),
    whatIf: async (_queue, edits) => {
      wished.push(edits);
      return { kind: 'WhatIf', view: { queues: [], jobs: [], more: 0, isSettled: true, commands: ['kubectl patch'] } };
    },
    readJob: (key) => cluster.client.get(JOBS, key),
    kept: { query: async () => [], endedSince: async () => gone, podsOf: async () => [], tail: async () => undefined },
    writer: cluster.client,
    newId: () => `epoch${++ids}`,
    clock,
    log: silentLogger,
  });
  stop = new AbortController();
  running = Promise.all(Object.values(informers).map((informer) => informer.run(stop.signal)));
  await clock.advance(1_000);
  const page = {
    path: 'index.html',
    body: Buffer.from('<p>page'),
    encoded: [{ coding: 'br' as const, body: Buffer.from('br') }],
    etag: '"e1"',
  };
  server = await serveApi('127.0.0.1:0', {
    routes: [...dashboardRoutes(dashboard.open), ...staticRoutes([page])],
    gate: async () => ({ status: 403, why: 'no' }),
    bodyBytesMax: 65_536,
    clock,
    log: silentLogger,
  });
});
afterEach(async () => {
  await server.close();
  stop.abort(new Error('the test is over'));
  await clock.advance(1_000);
  await running;
  await cluster.plane.close();
});

const createJob = async (namespace: string, name: string): Promise<void> => {
  const { metadata, ...job } = aHomeJob();
  await cluster.client.create(JOBS, {
    ...job,
    metadata: { namespace, name, labels: metadata.labels ?? {} },
    spec: { ...job.spec, selector: undefined, template: { spec: job.spec.template.spec } },
  } as unknown as Unsaved<typeof job & { metadata: typeof metadata }>);
};
const get = async <T>(
  path: string,
  token: string | undefined,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: T }> => {
  const response = await fetch(`${server.url}${path}`, {
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  });
  return { status: response.status, body: (await response.json()) as T };
};

/** A stream of the dashboard, read event by event. */
async function follow(token: string, lastEventId?: string) {
  const leaving = new AbortController();
  const response = await fetch(`${server.url}/api/v1/stream`, {
    headers: { authorization: `Bearer ${token}`, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
    signal: leaving.signal,
  });
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  const eventsIn = createEventReader();
  const received: ReceivedEvent[] = [];
  const next = async (): Promise<{ id: string; event: string; change: YardChange }> => {
    while (received.length === 0) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the stream has ended');
      received.push(...eventsIn(value));
    }
    const { id, event, data } = received.shift() as ReceivedEvent;
    return { id, event, change: JSON.parse(data) as YardChange };
  };
  return { next, leave: () => leaving.abort() };
}

describe('who looks at the dashboard', () => {
  test('is asked for a token of the cluster', async () => {
    expect(await get('/api/v1/viewer', undefined)).toMatchObject({ status: 401 });
    expect(await get('/api/v1/viewer', 'forged')).toMatchObject({
      status: 401,
      body: { message: 'the token is not valid in this cluster' },
    });
    expect((await get<Viewer>('/api/v1/viewer', 'admin')).body).toMatchObject({
      name: 'admin',
      namespaces: 'All',
      queues: 'All',
      clusters: 'All',
    });
  });

  test('is asked about once in a minute, and not before somebody asks', async () => {
    expect(asked).toBe(0);
    await get('/api/v1/viewer', 'admin');
    const first = asked;
    for (let again = 0; again < 5; again++) await get('/api/v1/jobs', 'admin');
    expect(asked).toBe(first);
    await clock.advance(61_000);
    await get('/api/v1/jobs', 'admin');
    expect(asked).toBeGreaterThan(first);
  });

  test('sees the Jobs of his namespaces, and those of nobody else: not in the table, not by name, not in the stream', async () => {
    await createJob('ann', 'hers');
    await createJob('bob', 'his');
    await clock.advance(1_000);
    expect((await get<JobPage>('/api/v1/jobs', 'ann')).body).toMatchObject({ total: 1, jobs: [{ key: 'ann/hers' }] });
    expect((await get<JobPage>('/api/v1/jobs?namespace=bob', 'ann')).body).toMatchObject({ total: 0, jobs: [] });
    expect((await get<JobPage>('/api/v1/jobs?group=namespace', 'bob')).body.groups).toEqual([{ key: 'bob', count: 1 }]);
    expect((await get<JobPage>('/api/v1/jobs', 'nobody')).body.total).toBe(0);
    for (const part of ['', '/explanation', '/yaml', '/pods', '/pods/x/log'])
      expect(await get(`/api/v1/namespaces/bob/jobs/his${part}`, 'ann')).toMatchObject({ status: 403 });
    expect((await get<JobView>('/api/v1/namespaces/ann/jobs/hers', 'ann')).body.line.key).toBe('ann/hers');
    expect(await get('/api/v1/namespaces/ann/jobs/other', 'ann')).toMatchObject({ status: 404 });
    for (const part of ['pods', 'pods/x/log'])
      expect(await get(`/api/v1/namespaces/ann/jobs/hers/${part}`, 'ann')).toMatchObject({
        status: 404,
        body: { message: expect.stringContaining('switchyard logs ann/hers --follow') as string },
      });
    expect((await get<object>('/api/v1/namespaces/ann/jobs/hers/explanation', 'ann')).body).toEqual({ kind: 'Waiting', job: 'hers' });

    const stream = await follow('ann');
    const { event, change } = await stream.next();
    expect(event).toBe('yard');
    expect(JSON.stringify(change)).not.toContain('bob');
    await createJob('bob', 'later');
    await createJob('ann', 'later');
    await clock.advance(2_000);
    const news = await stream.next();
    expect(news.change.jobs.map(({ key }) => key)).toEqual(['ann/later']);
    expect(JSON.stringify(news.change)).not.toContain('bob');
    stream.leave();
  });

  test('loses his stream when his rights change, and comes back to what he may see now', async () => {
    await createJob('ann', 'hers');
    await createJob('bob', 'his');
    await clock.advance(1_000);
    const stream = await follow('ann');
    const { id } = await stream.next();
    people['ann'] = { namespaces: ['bob'], queues: false };
    await clock.advance(130_000);
    await expect(stream.next()).rejects.toThrow('the stream has ended');
    const anew = await follow('ann', id);
    const { event, change } = await anew.next();
    expect(event).toBe('yard');
    expect(change.items['totals']).toMatchObject({ states: { Waiting: 1 } });
    expect((await get<JobPage>('/api/v1/jobs', 'ann')).body.jobs.map(({ key }) => key)).toEqual(['bob/his']);
    anew.leave();
  });
});

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
    expect(wished).toEqual([
      [{ object: 'ClusterQueue', name: 'main', edit: { field: 'quota', flavor: 'default', resource: 'cpu', amount: '2' } }],
    ]);
    expect(await get('/api/v1/queues/none/what-if?weight=2', 'admin')).toMatchObject({ status: 404 });
  });

  test('is refused where the question is wrong, or not his to ask, and then nothing is worked out', async () => {
    expect(await get('/api/v1/queues/main/what-if?quota=default:cpu=lots', 'admin')).toMatchObject({ status: 422 });
    expect(await get('/api/v1/queues/main/what-if?drain=none', 'admin')).toMatchObject({ status: 422 });
    expect(await get(ASKED, 'ann')).toMatchObject({ status: 403 });
    expect(wished).toEqual([]);
  });
});

describe('the time line', () => {
  test('counts Jobs that are there and Jobs that are gone, each once, for whoever may see them', async () => {
    const nowMs = clock.now();
    const at = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();
    const past = { created: at(50), admitted: at(40), ended: at(30), succeeded: 1, failed: 0 };
    gone = [
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
    expect((await get<PastYard>(now, 'ann')).body).toMatchObject({ waiting: [{ count: 1, first: [{ key: 'ann/hers' }] }], running: [] });
    expect((await get<PastYard>(now, 'bob')).body).toMatchObject({ waiting: [], running: [] });
    expect(await get(`/api/v1/yard?at=${clock.now() + 60_000}`, 'admin')).toMatchObject({ status: 422 });
    expect((await get<QueueTimeLine>('/api/v1/queues/main/timeline?hours=1', 'admin')).body.held).toMatchObject([
      { resource: 'cpu', nominal: 4 },
    ]);
    expect(await get('/api/v1/queues/main/timeline', 'ann')).toMatchObject({ status: 403 });
    expect(await get('/api/v1/queues/none/timeline', 'admin')).toMatchObject({ status: 404 });
    expect(await get('/api/v1/queues/main/timeline?hours=x', 'admin')).toMatchObject({ status: 422 });
  });
});

describe('what is done from the page', () => {
  const act = async (token: string, body: object, headers: Record<string, string> = { 'x-switchyard-dashboard': '1' }) => {
    const response = await fetch(`${server.url}/api/v1/actions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as ActionResult };
  };
  const jobAt = (namespace: string, name: string) => cluster.client.get(JOBS, { namespace, name });
  beforeEach(async () => {
    people['ann'] = { namespaces: ['ann'], queues: false, acts: true };
    await createJob('ann', 'hers');
    await createJob('bob', 'his');
    await cluster.client.create(WORKER_CLUSTERS, { metadata: { name: 'east' }, spec: { local: true } });
    await clock.advance(1_000);
  });

  test('is done where the visitor may do it himself, one by one, and nowhere else', async () => {
    const jobs = ['ann/hers', 'ann/none', 'bob/his'];
    expect(await act('ann', { action: 'Hold', jobs, count: 3 })).toMatchObject({
      status: 200,
      body: { done: 1, results: [{ outcome: 'Done' }, { outcome: 'Missing' }, { name: 'bob/his', outcome: 'Refused' }] },
    });
    expect((await jobAt('ann', 'hers')).metadata.annotations).toMatchObject({ 'switchyard.dev/hold': 'true' });
    expect((await jobAt('bob', 'his')).metadata.annotations ?? {}).not.toHaveProperty(['switchyard.dev/hold']);
    await act('ann', { action: 'Release', jobs: ['ann/hers'], count: 1 });
    expect((await jobAt('ann', 'hers')).metadata.annotations ?? {}).not.toHaveProperty(['switchyard.dev/hold']);
    expect((await act('ann', { action: 'Cancel', jobs: ['ann/hers'], count: 1 })).body.done).toBe(1);
    await expect(jobAt('ann', 'hers')).rejects.toThrow('not found');
    expect((await act('ann', { action: 'Drain', cluster: 'east' })).body).toMatchObject({ done: 0, results: [{ outcome: 'Refused' }] });
  });

  test('sets the state of a cluster for whoever may write it, and no longer once he may not', async () => {
    people['admin'] = { namespaces: '*', queues: true, acts: true };
    for (const [action, state] of Object.entries({ Cordon: 'Cordoned', Drain: 'Draining', Uncordon: 'Active' })) {
      expect((await act('admin', { action, cluster: 'east' })).body.done).toBe(1);
      expect(await cluster.client.get(WORKER_CLUSTERS, { namespace: '', name: 'east' })).toMatchObject({ spec: { state } });
    }
    people['admin'] = { namespaces: '*', queues: true };
    expect((await act('admin', { action: 'Cordon', cluster: 'east' })).body.done).toBe(0);
    expect((await act('admin', { action: 'Cordon', cluster: 'none' })).body.results).toMatchObject([{ outcome: 'Refused' }]);
  });

  test('is not taken from another site, without a token, or with another number than was confirmed', async () => {
    const body = { action: 'Cancel', jobs: ['ann/hers'], count: 1 };
    expect((await act('ann', body, {})).status).toBe(403);
    expect((await act('ann', body, { 'x-switchyard-dashboard': '1', origin: 'https://evil.example' })).status).toBe(403);
    expect((await act('forged', body)).status).toBe(401);
    expect((await act('ann', { ...body, count: 2 })).status).toBe(422);
    expect((await jobAt('ann', 'hers')).metadata.deletionTimestamp).toBeUndefined();
    expect((await act('ann', body, { 'x-switchyard-dashboard': '1', origin: server.url })).body.done).toBe(1);
  });
});

describe('the stream', () => {
  test('goes on after a break with exactly what came in between', async () => {
    const stream = await follow('admin');
    const first = await stream.next();
    await createJob('ann', 'one');
    await clock.advance(2_000);
    const second = await stream.next();
    expect(second.change.jobs.map(({ key }) => key)).toEqual(['ann/one']);
    stream.leave();
    await createJob('ann', 'two');
    await clock.advance(2_000);
    await createJob('ann', 'three');
    await clock.advance(2_000);
    const again = await follow('admin', second.id);
    expect((await again.next()).change.jobs.map(({ key }) => key)).toEqual(['ann/two']);
    expect((await again.next()).change.jobs.map(({ key }) => key)).toEqual(['ann/three']);
    again.leave();
    // Of another server, or of long ago: all of it.
    const elsewhere = await follow('admin', first.id.replace('epoch', 'other'));
    expect((await elsewhere.next()).event).toBe('yard');
    elsewhere.leave();
  });

  test('tells many changes of one tick at once, and how many more there are', async () => {
    const stream = await follow('admin');
    await stream.next();
    for (let number = 0; number < 80; number++) await createJob('ann', `job-${number}`);
    await clock.advance(2_000);
    const { change } = await stream.next();
    expect(change.jobs.length + change.more).toBe(80);
    expect(change.jobs).toHaveLength(64);
    expect(change.items['totals']).toMatchObject({ states: { Waiting: 80 } });
    stream.leave();
  });
});

describe('the page', () => {
  test('comes with a policy that lets nothing run but itself, and is fetched once', async () => {
    const response = await fetch(`${server.url}/`, { headers: { 'accept-encoding': 'gzip;q=0, br' } });
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('content-encoding')).toBe('br');
    await response.body?.cancel();
    const known = await fetch(`${server.url}/`, { headers: { 'if-none-match': 'W/"e1"' } });
    expect(known.status).toBe(304);
    expect((await fetch(`${server.url}/assets/../../package.json`)).status).toBe(404);
  });

  test('takes names of objects for what they are: the answer is JSON, and nobody takes it for a page', async () => {
    await createJob('ann', 'plain');
    await clock.advance(1_000);
    const response = await fetch(`${server.url}/api/v1/jobs?text=%3Cscript%3E`, { headers: { authorization: 'Bearer admin' } });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(((await response.json()) as JobPage).total).toBe(0);
    expect(await get('/api/v1/jobs?order=color', 'admin')).toMatchObject({ status: 422 });
  });
});
