import { beforeEach, describe, expect, test } from 'vitest';
import type { IdentityProblem } from '../../../../../manager/dispatch/cluster/cluster-identities.ts';
import { createClusterProbe, type ClusterProbe } from '../../../../../manager/dispatch/cluster/cluster-probe.ts';
import { createKubeClient } from '../../../../../shared/kube/kube-client.ts';
import type { TransportRequest, TransportResponse } from '../../../../../shared/kube/transport.ts';
import { sleep } from '../../../../../shared/runtime/clock.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const ok = (body: unknown): TransportResponse => ({ status: 200, headers: {}, body: JSON.stringify(body) });
const refusal = (status: number, reason: string, message = 'no'): TransportResponse => ({
  status,
  headers: {},
  body: JSON.stringify({ kind: 'Status', code: status, reason, message }),
});
const HONEST = {
  namespace: ok({ metadata: { name: 'kube-system', uid: 'uid-1' } }),
  version: ok({ gitVersion: 'v1.36.2' }),
  jobs: ok({ kind: 'JobList', metadata: { resourceVersion: '7' }, items: [] }),
};
const NEVER = new AbortController().signal;

let clock: FakeClock;
let answers: { namespace: TransportResponse; version: TransportResponse; jobs: TransportResponse };
let sent: string[];
let identified: string[];
let problem: IdentityProblem | undefined;
let late: number;
/** Milliseconds until the first, the second … call from now on is answered; those after them are at once. */
let delaysMs: number[];
let probe: ClusterProbe;
const aProbe = (servedNamespaces?: readonly string[]): ClusterProbe => {
  const transport = {
    send: async ({ path, signal }: TransportRequest) => {
      sent.push(path);
      const delayMs = delaysMs.shift();
      if (delayMs !== undefined) await sleep(clock, delayMs, signal);
      signal?.throwIfAborted();
      return path.endsWith('/kube-system') ? answers.namespace : path === '/version' ? answers.version : answers.jobs;
    },
    stream: () => Promise.reject(new Error('nothing is watched')),
    close: async () => undefined,
  };
  const identify = async (uid: string): Promise<IdentityProblem | undefined> => {
    identified.push(uid);
    return problem;
  };
  return createClusterProbe({
    kind: JOB_KIND,
    client: createKubeClient(transport, { userAgent: 'test', clock }),
    origin: 'm1',
    servedNamespaces,
    identify,
    onLate: () => late++,
    clock,
  });
};
beforeEach(() => {
  clock = new FakeClock();
  answers = { ...HONEST };
  [sent, identified, problem, late, delaysMs] = [[], [], undefined, 0, []];
  probe = aProbe();
});

const WHO = '/api/v1/namespaces/kube-system';
const LIST = '/apis/batch/v1/jobs?labelSelector=switchyard.dev%2Forigin%3Dm1&limit=1';

describe('an answer that is late', () => {
  test('counts, after the failures that it was until then', async () => {
    await probe.ask(false, NEVER);
    delaysMs = [12_000, 12_000, 12_000];
    const asked = probe.ask(false, NEVER);
    await clock.advance(11_900);
    expect(late).toBe(2);
    await clock.advance(200);
    expect(await asked).toMatchObject({ kind: 'Answered', roundTripMs: 12_000 });
    expect([late, sent.length]).toEqual([2, 6]);
  });

  test('is not waited for where another connection is answered', async () => {
    await probe.ask(false, NEVER);
    delaysMs = [600_000, 1_000];
    const asked = probe.ask(false, NEVER);
    await clock.advance(6_100);
    expect(await asked).toMatchObject({ kind: 'Answered' });
    expect(late).toBe(1);
  });

  test('is given up after fifteen seconds, as the third failure', async () => {
    await probe.ask(false, NEVER);
    delaysMs = [600_000, 600_000, 600_000, 600_000];
    const asked = probe.ask(false, NEVER);
    await clock.advance(15_000);
    expect(await asked).toMatchObject({ kind: 'Failed', message: 'no answer within 15000 ms' });
    expect(late).toBe(2);
    await clock.advance(60_000);
    expect(late).toBe(2);
  });
});

describe('a worker cluster is asked', () => {
  test('first who it is, and from then on for one of its copies', async () => {
    expect(await probe.ask(false, NEVER)).toMatchObject({ kind: 'Answered', version: 'v1.36.2' });
    await probe.ask(false, NEVER);
    expect(sent).toEqual([WHO, '/version', LIST, LIST]);
    expect(identified).toEqual(['uid-1']);
  });

  test('in the first of the namespaces that it serves', async () => {
    await aProbe(['team-b', 'team-a']).ask(false, NEVER);
    expect(sent.at(-1)).toBe(LIST.replace('/jobs', '/namespaces/team-b/jobs'));
  });

  test('who it is again after an hour', async () => {
    await probe.ask(false, NEVER);
    await clock.advance(3_600_000);
    answers.version = ok({ gitVersion: 'v1.37.0' });
    expect(await probe.ask(false, NEVER)).toMatchObject({ version: 'v1.37.0' });
    expect(identified).toEqual(['uid-1', 'uid-1']);
  });

  test.each([
    ['did not answer', refusal(503, 'ServiceUnavailable')],
    ['refused', refusal(403, 'Forbidden')],
  ])('who it is again once it %s', async (_what, answer) => {
    await probe.ask(false, NEVER);
    answers.jobs = answer;
    await probe.ask(false, NEVER);
    answers = { ...HONEST, namespace: ok({ metadata: { uid: 'uid-2' } }) };
    await probe.ask(false, NEVER);
    expect(identified).toEqual(['uid-1', 'uid-2']);
  });

  test('whether it answers at all, while its Jobs cannot be listed', async () => {
    await probe.ask(false, NEVER);
    sent = [];
    await probe.ask(true, NEVER);
    expect(sent).toEqual(['/version']);
  });
});

describe('a worker cluster', () => {
  test.each([
    ['does not know our user', { jobs: refusal(401, 'Unauthorized') }, 'Unauthorized', /does not know the manager’s user/],
    ['does not let us list Jobs', { jobs: refusal(403, 'Forbidden') }, 'Forbidden', /may not list its Jobs there: no$/],
    ['does not say who it is', { namespace: refusal(403, 'Forbidden') }, 'IdentityUnknown', /verb get on the namespace kube-system/],
    ['has no namespace kube-system', { namespace: refusal(404, 'NotFound') }, 'IdentityUnknown', /no namespace kube-system/],
    ['does not know our user when asked who it is', { namespace: refusal(401, 'Unauthorized') }, 'Unauthorized', /user/],
  ])('that %s refuses us', async (_what, parts, reason, message) => {
    answers = { ...HONEST, ...parts };
    expect(await probe.ask(false, NEVER)).toEqual({ kind: 'Refused', reason, message: expect.stringMatching(message) });
  });

  test.each([
    ['whose storage is broken', { jobs: refusal(500, 'InternalError', 'etcdserver: no leader') }, 'ConnectionFailed'],
    ['whose namespace has no UID', { namespace: ok({ metadata: {} }) }, 'NotKubernetes'],
    ['whose UID is no UID', { namespace: ok({ metadata: { uid: 'a\nb' } }) }, 'NotKubernetes'],
  ])('%s fails, which may be over in a moment', async (_what, parts, reason) => {
    answers = { ...HONEST, ...parts };
    expect(await probe.ask(false, NEVER)).toMatchObject({ kind: 'Failed', reason });
  });

  test('that must not be used is asked nothing more', async () => {
    problem = { reason: 'DuplicateCluster', message: 'west has it' };
    expect(await probe.ask(false, NEVER)).toEqual({ kind: 'Refused', ...problem });
    expect(sent).toEqual([WHO]);
  });
});
