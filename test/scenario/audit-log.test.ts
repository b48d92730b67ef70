/** Who did what through the doors of the manager, by real requests over HTTP. */
import { afterEach, expect, test } from 'vitest';
import { SubmissionProblem, type SubmissionPort } from '../../manager/api/submission-port.ts';
import type { AuditEntry } from '../../manager/audit/audit-line.ts';
import { serveSubmissions } from '../../manager/http/serve-submissions.ts';
import { JOBS } from '../../shared/api/resources.ts';
import type { AccessGate } from '../../shared/kube/access-gate.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { serveTestDashboard } from './served-dashboard.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Tokens are names; `ann` may do everything. */
const gate: AccessGate = async (authorization) => {
  const username = authorization?.slice('Bearer '.length);
  if (username === undefined) return { kind: 'Refused', status: 401, why: 'send a token' };
  const user = { username, uid: `uid-of-${username}`, groups: ['dev'] };
  return username === 'ann' ? { kind: 'Allowed', user } : { kind: 'Refused', status: 403, why: 'not granted', user };
};

async function submissions(parts: Partial<SubmissionPort> = {}) {
  const entries: AuditEntry[] = [];
  const door: SubmissionPort = {
    submit: async (_payload, key = 'made') => ({ key, isNew: key !== 'old' }),
    look: async () => undefined,
    cancel: async () => ({ cancelled: true, state: 'delayed' }),
    // oxlint-disable-next-line require-yield
    async *follow() {
      throw new Error('nobody follows');
    },
    ...parts,
  };
  const server = await serveSubmissions('127.0.0.1:0', {
    portOf: (_namespace, queue) => (queue === 'batch' ? door : undefined),
    gate,
    bodyBytesMax: 1_024,
    audit: { door: 'http', log: { note: (entry) => void entries.push(entry) } },
    clock: new FakeClock(),
    log: silentLogger,
  });
  closers.push(() => server.close());
  const ask = async (method: string, rest: string, token = 'ann', body?: string, queue = 'batch'): Promise<number> => {
    const response = await fetch(`${server.url}/apis/submissions/v1/namespaces/team/queues/${queue}/submissions${rest}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body }),
    });
    await response.text();
    return response.status;
  };
  return { entries, ask };
}
const inShort = ({ user, what, on, outcome, reason }: AuditEntry): string =>
  [user?.username ?? '?', what, on.kind, `${on.namespace ?? ''}/${on.name ?? ''}`, outcome, reason ?? ''].join(' ').trimEnd();
const JOB = '{"spec":{}}';

test('each submission and cancellation over HTTP is one line with its caller, and looking is none', async () => {
  const { entries, ask } = await submissions();
  expect(await ask('POST', '', 'ann', JOB)).toBe(201);
  expect(await ask('POST', '/old', 'ann', JOB)).toBe(200);
  expect(await ask('DELETE', '/k')).toBe(200);
  expect(await ask('GET', '/k')).toBe(404);
  expect(entries.map(inShort)).toEqual([
    'ann submit Submission team/batch/made Done',
    'ann submit Submission team/batch/old Done it was taken before, with the same payload',
    'ann cancel Submission team/batch/k Done',
  ]);
  expect(entries[0]?.user).toEqual({ username: 'ann', uid: 'uid-of-ann', groups: ['dev'] });
  expect(entries[0]?.from).toEqual({ door: 'http', address: '127.0.0.1' });
});

test('what is refused is a line, too, with the name of a caller whose token is good', async () => {
  const { entries, ask } = await submissions();
  expect(await ask('POST', '/k', '', JOB)).toBe(401);
  expect(await ask('DELETE', '/k', 'mallory')).toBe(403);
  expect(await ask('POST', '/k', 'ann', '{"spec":')).toBe(400);
  expect(await ask('POST', '/k', 'ann', '[]')).toBe(422);
  expect(await ask('POST', '/k', 'ann', `{"spec":"${'x'.repeat(2_000)}"}`)).toBe(413);
  expect(await ask('DELETE', '/k', 'ann', undefined, 'none')).toBe(404);
  expect(entries.map((entry) => inShort(entry).split(':', 1)[0])).toEqual([
    '? submit Submission team/batch/k Refused 401 Unauthorized',
    'mallory cancel Submission team/batch/k Refused 403 Forbidden',
    'ann submit Submission team/batch/k Refused 400 BadRequest',
    'ann submit Submission team/batch/k Refused 422 Invalid',
    'ann submit Submission team/batch/k Refused 413 RequestEntityTooLarge',
    'ann cancel Submission team/none/k Missing 404 NotFound',
  ]);
});

test('a cancellation says whether it was done, and what fails does not pass for refused', async () => {
  const answers: SubmissionPort['cancel'][] = [
    async () => ({ cancelled: false, state: 'completed' }),
    async () => {
      throw new SubmissionProblem('TimedOut', 'no manager has seen to it');
    },
    async () => {
      throw new Error('Redis at 10.0.0.9 is away');
    },
  ];
  const { entries, ask } = await submissions({ cancel: (key) => (answers.shift() ?? (() => Promise.reject(new Error('no more'))))(key) });
  expect([await ask('DELETE', '/a'), await ask('DELETE', '/b'), await ask('DELETE', '/c')]).toEqual([200, 202, 503]);
  expect(entries.map(({ outcome, reason }) => `${outcome}: ${reason}`)).toEqual([
    'Missing: it does not end as cancelled: its state is completed',
    'Pending: no manager has seen to it',
    'Failed: something that is needed did not answer; whether it was done is not known',
  ]);
});

test('each Job that an action of the dashboard is about is a line, and so is an action that is refused as a whole', async () => {
  const entries: AuditEntry[] = [];
  const served = await serveTestDashboard({ audit: { note: (entry) => void entries.push(entry) } });
  closers.push(() => served.close());
  served.people['ann'] = { namespaces: ['ann'], queues: false, acts: true };
  await served.createJob('ann', 'hers');
  await served.createJob('bob', 'his');
  await served.clock.advance(1_000);
  const { uid } = (await served.cluster.client.get(JOBS, { namespace: 'ann', name: 'hers' })).metadata;
  const act = async (token: string | undefined, body: object, headers: Record<string, string> = { 'x-switchyard-dashboard': '1' }) => {
    const response = await fetch(`${served.server.url}/api/v1/actions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    await response.text();
    return response.status;
  };
  expect(await act('ann', { action: 'Hold', jobs: ['ann/hers', 'bob/his'], count: 2 })).toBe(200);
  await served.clock.advance(1_000);
  expect(await act('ann', { action: 'Release', jobs: ['ann/hers'], count: 1 })).toBe(200);
  expect(await act('ann', { action: 'Drain', cluster: 'east' })).toBe(200);
  expect(await act('ann', { action: 'Cancel', jobs: ['ann/hers'], count: 1 })).toBe(200);
  const done = entries.splice(0);
  expect(done.map((entry) => `${inShort(entry).split(' ').slice(0, 5).join(' ')}`)).toEqual([
    'ann hold Job ann/hers Done',
    'ann hold Job bob/his Refused',
    'ann release Job ann/hers Done',
    'ann drain WorkerCluster /east Refused',
    'ann cancel Job ann/hers Done',
  ]);
  expect(done.filter(({ on }) => on.name === 'hers').map(({ on }) => on.uid)).toEqual([uid, uid, uid]);
  expect(done[0]?.from).toEqual({ door: 'dashboard', address: '127.0.0.1' });

  expect(await act(undefined, { action: 'Cancel', jobs: ['ann/hers'], count: 1 })).toBe(401);
  expect(await act('ann', { action: 'Cancel', jobs: ['ann/hers'], count: 1 }, {})).toBe(403);
  expect(await act('ann', { action: 'Destroy' })).toBe(422);
  expect(entries.map((entry) => inShort(entry).split(':', 1)[0])).toEqual([
    '? act Unknown / Refused 401 Unauthorized',
    '? act Unknown / Refused 403 Forbidden',
    'ann act Unknown / Refused 422 Invalid',
  ]);
});
