/** The dashboard over HTTP: viewers who come and go, what they do, and what they are told as it changes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { createEventReader, type ReceivedEvent } from '../../manager/cli/submissions/server-events.ts';
import type { SubmissionsView } from '../../manager/dashboard/submission-views.ts';
import type { ActionResult, JobPage, JobView, OverviewChange, Viewer } from '../../manager/dashboard/views.ts';
import { actsOn } from '../../manager/api/job-acts.ts';
import {
  formatSharedSubmissions,
  SHARED_SUBMISSIONS,
  type RefusedSubmission,
  type SharedSubmissions,
} from '../../manager/api/shared-submissions.ts';
import { CONFIG_MAPS, JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { aHomeJob } from '../support/jobs.ts';
import { MANAGER_NAMESPACE, serveTestDashboard, type ServedDashboard } from './served-dashboard.ts';

let served: ServedDashboard;
let { clock, cluster, createJob, get, people, seen, server }: ServedDashboard = {} as ServedDashboard;
beforeEach(async () => {
  served = await serveTestDashboard();
  ({ clock, cluster, createJob, get, people, seen, server } = served);
});
afterEach(() => served.close());

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
  const next = async (): Promise<{ id: string; event: string; change: OverviewChange }> => {
    while (received.length === 0) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the stream has ended');
      received.push(...eventsIn(value));
    }
    const { id, event, data } = received.shift() as ReceivedEvent;
    return { id, event, change: JSON.parse(data) as OverviewChange };
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
    expect(seen.asked).toBe(0);
    await get('/api/v1/viewer', 'admin');
    const first = seen.asked;
    for (let again = 0; again < 5; again++) await get('/api/v1/jobs', 'admin');
    expect(seen.asked).toBe(first);
    await clock.advance(61_000);
    await get('/api/v1/jobs', 'admin');
    expect(seen.asked).toBeGreaterThan(first);
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
    const { metadata, spec } = aHomeJob({ metadata: { namespace: 'ann', name: 'alone' } });
    const { managedBy: _managedBy, selector: _selector, ...rest } = spec;
    await cluster.client.create(JOBS, {
      metadata: { namespace: 'ann', name: metadata.name },
      spec: { ...rest, template: { spec: spec.template.spec } },
    } as never);
    const told = async (name: string) => (await get<{ reason: string }>(`/api/v1/namespaces/ann/jobs/${name}`, 'ann')).body.reason;
    expect([await told('alone'), await told('other')]).toEqual(['NotManaged', 'NotFound']);
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

  test('sees what Jobs of their namespaces used, and nothing of others', async () => {
    await createJob('ann', 'hers');
    await createJob('bob', 'his');
    await clock.advance(1_000);
    const usage = (token: string, query = 'by=user'): Promise<{ readonly status: number; readonly body: object }> =>
      get(`/api/v1/usage?${query}`, token);
    expect(await usage('ann')).toMatchObject({ status: 200, body: { by: 'user', rows: [] } });
    for (const token of ['admin', 'nobody']) await usage(token);
    expect(seen.summed).toEqual([['ann'], 'All', []]);
    expect(await usage('ann', 'by=namespace&days=1')).toMatchObject({ body: { fromMs: clock.now() - 86_400_000, untilMs: clock.now() } });
    // Another namespace cannot be asked for.
    await usage('ann', 'by=user&namespace=bob');
    expect(seen.summed.at(-1)).toEqual(['ann']);
    for (const wrong of ['', 'by=color', 'by=user&days=0', 'by=user&days=many'])
      expect(await usage('ann', wrong)).toMatchObject({ status: 422 });
    expect(await get('/api/v1/usage?by=user', undefined)).toMatchObject({ status: 401 });
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
    expect(actsOn(await jobAt('ann', 'hers'))).toEqual([{ what: 'Hold', user: 'ann', at: toWireTime(clock.now()) }]);
    await clock.advance(1_000);
    const { facts } = (await get<JobView>('/api/v1/namespaces/ann/jobs/hers', 'ann')).body;
    expect(facts).toContainEqual({ name: 'Acts', value: `held by ann at ${toWireTime(clock.now() - 1_000)}` });
    expect((await jobAt('bob', 'his')).metadata.annotations ?? {}).not.toHaveProperty(['switchyard.dev/hold']);
    await act('ann', { action: 'Release', jobs: ['ann/hers'], count: 1 });
    expect((await jobAt('ann', 'hers')).metadata.annotations ?? {}).not.toHaveProperty(['switchyard.dev/hold']);
    await clock.advance(1_000);
    expect((await act('ann', { action: 'Cancel', jobs: ['ann/hers'], count: 1 })).body.done).toBe(1);
    await expect(jobAt('ann', 'hers')).rejects.toThrow('not found');
    expect((await act('ann', { action: 'Drain', cluster: 'east' })).body).toMatchObject({ done: 0, results: [{ outcome: 'Refused' }] });
  });

  test('is offered to who may do it', async () => {
    const may = async (path: string, token: string) => (await get<{ may: string[] }>(`/api/v1/${path}`, token)).body.may;
    people['looker'] = { namespaces: '*', queues: true };
    people['operator'] = { namespaces: '*', queues: true, acts: true };
    expect(await may('namespaces/ann/jobs/hers', 'ann')).toEqual(['Hold', 'Release', 'Cancel']);
    expect(await may('namespaces/bob/jobs/his', 'looker')).toEqual([]);
    expect(await may('clusters/east', 'operator')).toEqual(['Cordon', 'Uncordon', 'Drain']);
    expect(await may('clusters/east', 'looker')).toEqual([]);
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

describe('the shared queue of submissions', () => {
  const refusal = (namespace: string | undefined, namespaceUid: string | undefined, id: string): RefusedSubmission => ({
    id,
    atMs: 1_000,
    name: 'sum',
    reason: 'Invalid',
    message: `spec: the secret of ${namespace}`,
    ...omitUndefined({ namespace, namespaceUid }),
  });
  const describes = async (refusals: readonly RefusedSubmission[]): Promise<void> => {
    await cluster.client.create(NAMESPACES, { metadata: { name: MANAGER_NAMESPACE } });
    const told: SharedSubmissions = { prefix: 'bull', queue: 'jobs', backlog: 3, parked: 2, accepted: 9, refused: 4, refusals };
    const metadata = { namespace: MANAGER_NAMESPACE, name: SHARED_SUBMISSIONS };
    await cluster.client.create(CONFIG_MAPS, { metadata, data: formatSharedSubmissions(told) });
  };
  const shared = async (token: string) => (await get<SubmissionsView>('/api/v1/submissions', token)).body.shared;

  test('is there before a leader has described it, and is read once in a while for all', async () => {
    expect(await shared('admin')).toEqual({ health: 'Idle', refusals: [], hidden: 0 });
    await describes([]);
    expect(await shared('admin')).toMatchObject({ health: 'Idle' });
    await clock.advance(6_000);
    expect(await shared('admin')).toEqual({
      health: 'Warning',
      prefix: 'bull',
      queue: 'jobs',
      backlog: 3,
      parked: 2,
      accepted: 9,
      refused: 4,
      refusals: [],
      hidden: 0,
    });
  });

  test('is for who may list queues of submissions everywhere, with refusals of namespaces whose Jobs they may list, of now alone', async () => {
    await createJob('ann', 'hers');
    await clock.advance(1_000);
    const uid = served.identities.of('ann')?.uid ?? '';
    await describes([
      refusal('ann', uid, '1'),
      refusal('ann', 'of-an-earlier-namespace', '2'),
      refusal('ann', undefined, '3'),
      refusal('bob', served.identities.of('bob')?.uid, '4'),
      refusal(undefined, undefined, '5'),
    ]);
    people['watcher'] = { namespaces: ['ann'], queues: false, everywhere: ['submissionqueues'] };
    expect((await shared('admin'))?.refusals.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    for (const tenant of ['ann', 'bob', 'nobody']) expect(await shared(tenant)).toBeUndefined();
    const seen = await shared('watcher');
    expect(seen).toMatchObject({ backlog: 3, refusals: [{ id: '1', namespace: 'ann', name: 'sum' }], hidden: 4 });
    expect(JSON.stringify(seen)).not.toMatch(/of-an-earlier-namespace|secret of bob/);
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
