/**
 * The adversary has one account, or one namespace of ServiceAccounts, and as many tokens of it as they like: `kubectl create token` makes
 * them. They want all streams, questions and answers of the dashboard. What limits count is the user, or the namespace of ServiceAccounts,
 * and others are served as before.
 */
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { createAddressRanges } from '../../shared/kube/address-ranges.ts';
import { serveTestDashboard, type ServedDashboard, type TestDashboardOptions } from '../scenario/served-dashboard.ts';

const PROXY = { userHeader: 'x-forwarded-user', groupsHeader: 'x-forwarded-groups', from: createAddressRanges(['127.0.0.0/8']) };

let served: ServedDashboard;
let leaving: AbortController;
/** A response that nobody refers to is collected, and its stream closed with it. */
let held: Response[];
async function serve(options: TestDashboardOptions = {}): Promise<void> {
  served = await serveTestDashboard(options);
  leaving = new AbortController();
  held = [];
  for (let number = 0; number < 8; number++)
    served.people[`robot-${number}`] = { namespaces: ['ann'], queues: true, username: `system:serviceaccount:ann:robot-${number}` };
}
afterEach(async () => {
  leaving.abort();
  await served.close();
});

const ask = (path: string, headers: Record<string, string>): Promise<Response> =>
  fetch(`${served.server.url}/api/v1/${path}`, { headers, signal: leaving.signal });
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
/** How many of these streams are open. */
async function opened(all: readonly Record<string, string>[]): Promise<number> {
  const responses = await Promise.all(all.map((headers) => ask('stream', headers)));
  held.push(...responses);
  expect(responses.map(({ status }) => status).filter((status) => status !== 200 && status !== 429)).toEqual([]);
  return responses.filter(({ status }) => status === 200).length;
}
/** Tokens that nobody knows yet are asked about five times a second: the clock goes on until these are known. */
async function known(tokens: readonly string[]): Promise<void> {
  let answered = 0;
  const asked = tokens.map(async (token) => {
    expect((await ask('viewer', bearer(token))).status).toBe(200);
    answered++;
  });
  while (answered < tokens.length) {
    await served.clock.advance(200);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(asked);
}

describe('streams', () => {
  test('of one user are an eighth of all, with however many tokens', { timeout: 60_000 }, async () => {
    await serve();
    const tokens = Array.from({ length: 16 }, (_, number) => `ann.${number}`);
    await known(tokens);
    expect(await opened(tokens.flatMap((token) => Array.from({ length: 16 }, () => bearer(token))))).toBe(128);
    expect((await ask('stream', bearer('bob'))).status).toBe(200);
  });

  test('of ServiceAccounts are counted by their namespace', { timeout: 60_000 }, async () => {
    await serve();
    const robots = Array.from({ length: 8 }, (_, number) => `robot-${number}`);
    await known(robots);
    expect(await opened(robots.flatMap((token) => Array.from({ length: 32 }, () => bearer(token))))).toBe(128);
  });

  test('of users behind the sign-in proxy are counted by user', { timeout: 60_000 }, async () => {
    await serve({ proxy: PROXY });
    expect(await opened(Array.from({ length: 200 }, () => ({ 'x-forwarded-user': 'ann' })))).toBe(128);
    expect(await opened(Array.from({ length: 60 }, () => ({ 'x-forwarded-user': 'bob' })))).toBe(60);
  });

  test('leave connections to pages, though all of them are taken', { timeout: 120_000 }, async () => {
    await serve({ proxy: PROXY });
    for (let user = 0; user < 8; user++)
      expect(await opened(Array.from({ length: 128 }, () => ({ 'x-forwarded-user': `user-${user}` })))).toBe(128);
    expect((await ask('stream', { 'x-forwarded-user': 'bob' })).status).toBe(429);
    for (let again = 0; again < 20; again++) expect((await ask('viewer', { 'x-forwarded-user': 'bob' })).status).toBe(200);
  });
});

describe('page requests', () => {
  /** A request to act whose body never ends; resolves with the status of the answer, if there is one. */
  async function unfinished(headers: Record<string, string>): Promise<{ readonly status: Promise<number | undefined> }> {
    const { hostname, port } = new URL(served.server.url);
    const socket = connect(Number(port), hostname);
    const status = new Promise<number | undefined>((resolve) => {
      socket.once('data', (text: Buffer) => resolve(Number(text.toString().split(' ')[1])));
      socket.once('close', () => resolve(undefined)).on('error', () => resolve(undefined));
    });
    leaving.signal.addEventListener('abort', () => socket.destroy());
    const first = ['POST /api/v1/actions HTTP/1.1', 'Host: x', 'X-Switchyard-Dashboard: 1', 'Content-Length: 100'];
    const text = [...first, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), '', '{'].join('\r\n');
    await new Promise((resolve) => socket.write(text, resolve));
    return { status };
  }

  test('of one user are an eighth of all that may be under way, with however many tokens, and others are answered', {
    timeout: 60_000,
  }, async () => {
    await serve();
    const tokens = Array.from({ length: 8 }, (_, number) => `ann.${number}`);
    await known([...tokens, 'bob']);
    const flood = await Promise.all(Array.from({ length: 100 }, (_, number) => unfinished(bearer(tokens[number % 8] ?? ''))));
    const refused: number[] = [];
    for (const { status } of flood) void status.then((each) => each !== undefined && refused.push(each));
    await expect.poll(() => refused.length, { timeout: 20_000 }).toBe(36);
    expect(new Set(refused)).toEqual(new Set([429]));
    expect((await ask('viewer', bearer('ann.0'))).status).toBe(429);
    for (let again = 0; again < 20; again++) expect((await ask('viewer', bearer('bob'))).status).toBe(200);
  });

  test('of strangers are refused before their bodies are read, so that they hold none', { timeout: 60_000 }, async () => {
    await serve();
    await known(['bob']);
    const flood = await Promise.all(Array.from({ length: 600 }, () => unfinished({})));
    expect(new Set(await Promise.all(flood.map(({ status }) => status)))).toEqual(new Set([401]));
    expect((await ask('viewer', bearer('bob'))).status).toBe(200);
  });
});

test('each fresh token costs one question, and none for each namespace, queue and cluster', async () => {
  await serve();
  await known(['ann']);
  const before = served.seen.asked;
  await known(Array.from({ length: 15 }, (_, number) => `ann.${number}`));
  expect(served.seen.asked - before).toBe(15);
});

test('a flood of `what if` waits for itself: another user of the same rights has the second turn', async () => {
  await serve({ whatIfMs: 1_000 });
  Object.assign(served.people, { ann: { namespaces: '*', queues: true }, ben: { namespaces: '*', queues: true } });
  const quota = { name: 'cpu', nominalQuota: '8' };
  await served.cluster.client.create(CLUSTER_QUEUES, {
    metadata: { name: 'main' },
    spec: { resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [quota] }] }] },
  } as never);
  await served.clock.advance(1_000);
  const tokens = ['ann', 'ann.1', 'ann.2', 'ben'];
  await known(tokens);
  const whatIf = (token: string, cpu: number): Promise<Response> => ask(`queues/main/what-if?quota=default:cpu=${cpu}`, bearer(token));
  const flood = Array.from({ length: 40 }, (_, number) => whatIf(tokens[number % 3] ?? '', 100 + number).then(({ status }) => status));
  await expect.poll(() => served.seen.wished.length).toBe(1);
  const other = whatIf('ben', 1).then(({ status }) => status);
  let isOver = false;
  const all = Promise.all([other, ...flood]).finally(() => (isOver = true));
  while (!isOver) {
    await served.clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const [status, ...statuses] = await all;
  // While the first of the flood is answered, another one may take the turn that was next; then it is the other user's.
  const turn = served.seen.wished.findIndex((edits) => JSON.stringify(edits).includes('"amount":"1"'));
  expect([status, turn === 1 || turn === 2]).toEqual([200, true]);
  // Sixteen wait beside the one that is answered.
  expect(statuses.filter((each) => each === 200).length).toBeLessThanOrEqual(17);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});
