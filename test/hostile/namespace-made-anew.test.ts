/**
 * The adversary waits for names: a namespace is deleted and made anew for another tenant. The new tenant wants the Jobs and logs that are
 * kept of the old one, the old tenant what the new one does. What is told by namespace goes by the UID of the namespace, in history, kept
 * logs and rights.
 */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHistory, podsEntry, recordEntries, tailEntry, type History } from '../../manager/history/history.ts';
import type { HistoryRecord } from '../../manager/history/history-record.ts';
import type { KeyValueStore } from '../../manager/history/key-value-store.ts';
import { createNamespaceHistory } from '../../manager/history/namespace-history.ts';
import { openSqliteStore } from '../../manager/history/sqlite-store.ts';
import { serveSubmissions } from '../../manager/http/serve-submissions.ts';
import type { ApiServer } from '../../manager/http/server.ts';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { createAccessGate } from '../../shared/kube/access-gate.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { serveTestDashboard, type ServedDashboard } from '../scenario/served-dashboard.ts';

const NAME = 'team';
let served: ServedDashboard;
let store: KeyValueStore;
let history: History;
let api: ApiServer;
beforeEach(async () => {
  store = openSqliteStore(':memory:');
  history = createHistory(store);
  served = await serveTestDashboard({ kept: (identities) => createNamespaceHistory(history, identities) });
  const { identities, reviewer, clock } = served;
  api = await serveSubmissions('127.0.0.1:0', {
    portOf: () => undefined,
    history: createNamespaceHistory(history, identities),
    gate: createAccessGate({ client: reviewer, uidOf: (namespace) => identities.of(namespace)?.uid, clock, log: silentLogger }),
    bodyBytesMax: 1_024,
    clock,
    log: silentLogger,
  });
  await made();
  Object.assign(served.people, { old: { namespaces: [NAME], queues: false }, anew: { namespaces: [], queues: false } });
});
afterEach(async () => {
  await api.close();
  await served.close();
  await store.close();
});

async function made(): Promise<string> {
  const { metadata } = await served.cluster.client.create(NAMESPACES, { metadata: { name: NAME } });
  await served.clock.advance(5_000);
  return metadata.uid;
}
/** The namespace and all in it go, another tenant gets the name, and is granted what the old one had. */
async function madeAnew(): Promise<string> {
  for (const { metadata } of (await served.cluster.client.list(JOBS, { namespace: NAME })).items)
    await served.cluster.client.delete(JOBS, { namespace: NAME, name: metadata.name }, { propagationPolicy: 'Background' });
  await served.cluster.client.delete(NAMESPACES, { namespace: '', name: NAME });
  await served.clock.advance(20_000);
  Object.assign(served.people, { old: { namespaces: [], queues: false }, anew: { namespaces: [NAME], queues: false } });
  return made();
}
/** What is kept of a Job that has ended by now. */
async function keep(name: string, parts: Partial<HistoryRecord> = {}): Promise<void> {
  const at = (beforeMs: number): string => new Date(served.clock.now() - beforeMs).toISOString();
  const uid = `uid-${name}`;
  const record: HistoryRecord = {
    uid,
    namespace: NAME,
    name,
    outcome: 'Failed',
    created: at(3_000),
    admitted: at(2_000),
    ended: at(1_000),
    succeeded: 0,
    failed: 1,
    ...parts,
  };
  const pod = { pod: `${name}-a`, uid: `${uid}-a`, phase: 'Failed', exitCode: 1, tail: true } as never;
  await history.put([
    ...recordEntries(record),
    podsEntry(uid, { cluster: 'east', epoch: 1, copyUid: 'copy', pods: [pod] }),
    tailEntry(uid, 'copy', `${name}-a`, gzipSync(`log of ${name}`)),
  ]);
}
const overHttp = async (token: string, path = ''): Promise<{ status: number; text: string }> => {
  const response = await fetch(`${api.url}/apis/history/v1/namespaces/${NAME}/jobs${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, text: await response.text() };
};
const page = async (token: string, path: string): Promise<{ status: number; text: string }> => {
  const { status, body } = await served.get<object>(`/api/v1/${path}`, token);
  return { status, text: JSON.stringify(body) };
};
const uidNow = (): string => served.identities.of(NAME)?.uid ?? '';
/** All the ways to ask for a Job that is over and its log, with what somebody is answered. */
async function answers(token: string, name: string): Promise<Record<string, string>> {
  const all = {
    page: await page(token, `namespaces/${NAME}/jobs/${name}`),
    log: await page(token, `namespaces/${NAME}/jobs/${name}/pods/${name}-a/log`),
    events: await page(token, `namespaces/${NAME}/jobs/${name}/events`),
    'over HTTP': await overHttp(token, `/${name}`),
    'log over HTTP': await overHttp(token, `/${name}/pods/${name}-a/log`),
  };
  return Object.fromEntries(Object.entries(all).map(([how, { status }]) => [how, String(status)]));
}
const NONE = { page: '404', log: '404', events: '404', 'over HTTP': '404', 'log over HTTP': '404' };
const ALL = { page: '200', log: '200', events: '200', 'over HTTP': '200', 'log over HTTP': '200' };
const FORBIDDEN = { page: '403', log: '403', events: '403', 'over HTTP': '403', 'log over HTTP': '403' };

describe('the new tenant', () => {
  test('finds nothing of the old Jobs and their logs, by whatever door, and all of the own', async () => {
    await keep('old-job', { namespaceUid: uidNow() });
    expect(await answers('old', 'old-job')).toEqual(ALL);
    const uid = await madeAnew();
    expect(await answers('anew', 'old-job')).toEqual(NONE);
    expect(JSON.parse((await overHttp('anew')).text)).toEqual({ items: [] });
    await keep('new-job', { namespaceUid: uid });
    expect(await answers('anew', 'new-job')).toEqual(ALL);
    expect((await overHttp('anew')).text).not.toContain('old-job');
  });

  test('is not shown the old Job where both have one of that name, whichever ended last', async () => {
    const old = uidNow();
    const uid = await madeAnew();
    await keep('sum', { namespaceUid: uid });
    await keep('sum', { uid: 'uid-of-the-old', namespaceUid: old, ended: new Date(served.clock.now()).toISOString() });
    expect(await page('anew', `namespaces/${NAME}/jobs/sum`)).toMatchObject({
      status: 200,
      text: expect.not.stringContaining('uid-of-the-old'),
    });
    expect((await overHttp('anew', '/sum')).text).not.toContain('uid-of-the-old');
    expect((await page('admin', `namespaces/${NAME}/jobs/sum`)).text).toContain('uid-of-the-old');
  });

  test('has an empty time line, and an empty yard of the time before', async () => {
    await keep('old-job', { namespaceUid: uidNow() });
    const atMs = served.clock.now() - 1_500;
    expect((await page('admin', `yard?at=${atMs}`)).text).toContain('old-job');
    await madeAnew();
    await served.createJob(NAME, 'own-job');
    await served.clock.advance(2_000);
    const failed = async (token: string): Promise<number> => {
      const { body } = await served.get<{ buckets: { failed: number }[] }>('/api/v1/timeline?hours=1', token);
      return body.buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
    };
    expect([await failed('anew'), await failed('admin')]).toEqual([0, 1]);
    expect((await page('anew', `yard?at=${atMs}`)).text).not.toContain('old-job');
  });
});

test('records without a UID are shown where their Job is younger than the namespace, and else to those who see all namespaces', async () => {
  await keep('early');
  expect(await answers('old', 'early')).toEqual(ALL);
  await madeAnew();
  await keep('late');
  expect(await answers('anew', 'early')).toEqual(NONE);
  expect(await answers('anew', 'late')).toEqual(ALL);
  expect((await page('admin', `namespaces/${NAME}/jobs/early`)).status).toBe(200);
});

test('history of a namespace that is gone is shown to those who see all namespaces alone', async () => {
  await keep('old-job', { namespaceUid: uidNow() });
  await served.cluster.client.delete(NAMESPACES, { namespace: '', name: NAME });
  await served.clock.advance(20_000);
  expect(await answers('old', 'old-job')).toEqual(NONE);
  expect((await page('admin', `namespaces/${NAME}/jobs/old-job`)).status).toBe(200);
});

describe('the old tenant', () => {
  test('is asked about anew as soon as the name means another namespace, though the answer of before was good for a minute', async () => {
    await keep('old-job', { namespaceUid: uidNow() });
    expect(await answers('old', 'old-job')).toEqual(ALL);
    expect((await overHttp('old')).status).toBe(200);
    const uid = await madeAnew();
    await keep('new-job', { namespaceUid: uid });
    await served.createJob(NAME, 'runs');
    await served.clock.advance(2_000);
    expect(await answers('old', 'new-job')).toEqual(FORBIDDEN);
    expect((await overHttp('old')).status).toBe(403);
    expect((await page('old', `namespaces/${NAME}/jobs/runs`)).status).toBe(403);
    expect(JSON.parse((await page('old', 'jobs')).text)).toMatchObject({ total: 0 });
    expect(JSON.parse((await page('anew', 'jobs')).text)).toMatchObject({ total: 1 });
  });

  test('loses an open stream when the namespace goes, and hears nothing of the next one', async () => {
    await served.createJob(NAME, 'own-job');
    await served.clock.advance(2_000);
    const response = await fetch(`${served.server.url}/api/v1/stream`, { headers: { authorization: 'Bearer old' } });
    expect(response.status).toBe(200);
    const heard = response.text();
    await madeAnew();
    await served.createJob(NAME, 'secret-job');
    await served.clock.advance(2_000);
    const said = await heard;
    expect(said).toContain('event: yard');
    expect(said).not.toContain('secret-job');
  });
});
