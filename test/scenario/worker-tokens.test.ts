/** Goal: the token by which a worker cluster is reached is short-lived, and never ends while a manager runs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Registry } from 'prom-client';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { SECRETS } from '../../shared/api/resources.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { TransportResponse } from '../../shared/kube/transport.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';
import { unsignedToken } from '../support/unsigned-token.ts';

const NAME = 'eu-1';
const MINUTE_MS = 60_000;
const SUB = 'system:serviceaccount:switchyard:manager';
const SECRET = { namespace: 'switchyard', name: NAME };

let world: DispatchWorld;
let access: ClusterAccess | undefined;
let registry: Registry;
/** How far the clock of the worker cluster is ahead. */
let skewMs: number;
let issued: string[];
/** What becomes of the next TokenRequests. */
let answers: ('lost' | 'forbidden' | 'strange' | 'foreign')[];

beforeEach(async () => {
  [skewMs, issued, answers, access, registry] = [0, [], [], undefined, new Registry()];
  await start(expect.getState().currentTestName?.startsWith('it is renewed') ? registry : undefined);
});
async function start(measured?: Registry, clusterSecretsNamespace?: string): Promise<void> {
  world = await createDispatchWorld({
    workers: [NAME],
    ...omitUndefined({ registry: measured, clusterSecretsNamespace }),
    connectCluster(name, given, usual) {
      access = given;
      return usual(name);
    },
  });
  world.worker(NAME).line.instead = (request) => {
    if (request.method !== 'POST' || !request.path.startsWith('/api/v1/namespaces/switchyard/serviceaccounts/manager/token'))
      return undefined;
    const answer = answers.shift();
    if (answer === 'forbidden') return jsonOf(403, { kind: 'Status', code: 403, reason: 'Forbidden', message: 'may not create token' });
    if (answer === 'strange') return jsonOf(201, { status: {} });
    if (answer === 'foreign') return jsonOf(201, { status: { token: tokenAt(clusterMs(), 24, 'system:serviceaccount:a:b') } });
    issued.push(tokenAt(clusterMs(), 24));
    if (answer === 'lost') throw new Error('the connection was cut');
    return jsonOf(201, { status: { token: issued.at(-1) } });
  };
}
afterEach(() => world.close());

const clusterMs = (): number => world.clock.now() + skewMs;
const jsonOf = (status: number, body: object): TransportResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
const tokenAt = (nowMs: number, minutes: number, sub = SUB): string => {
  const iat = Math.floor(nowMs / 1000);
  return unsignedToken({ sub, iat, exp: iat + minutes * 60 });
};
const encoded = (text: string): string => Buffer.from(text).toString('base64');
const writeSecret = async (token: string, server = `https://${NAME}.test`): Promise<void> => {
  const data = { kubeconfig: encoded(kubeconfigFor({ url: server }, token)) };
  await world.home.patch(SECRETS, SECRET, { type: 'merge', body: { data } });
  await world.settle(31_000);
};
const kept = async (): Promise<string | undefined> => {
  const text = (await world.home.get(SECRETS, SECRET)).data?.['kubeconfig.renewed'];
  return text === undefined ? undefined : (JSON.parse(Buffer.from(text, 'base64').toString()) as { token: string }).token;
};
const used = async (): Promise<string | undefined> =>
  String((await access?.credentials())?.headers['authorization']).replace('Bearer ', '');
const minutesPass = (minutes: number): Promise<void> => world.settle(minutes * MINUTE_MS);

test('it is renewed at half of its life, used at once and kept in the Secret, beside a kubeconfig that stays as it is', async () => {
  const first = tokenAt(world.clock.now(), 24);
  await writeSecret(first);
  await minutesPass(11);
  expect([issued, await used()]).toEqual([[], first]);
  await minutesPass(2);
  expect([issued.length, await used(), await kept()]).toEqual([1, issued[0], issued[0]]);
  expect((await world.home.get(SECRETS, SECRET)).data?.['kubeconfig']).toBe(encoded(kubeconfigFor({ url: `https://${NAME}.test` }, first)));
  await minutesPass(24);
  expect([issued.length, await used()]).toEqual([3, issued[2]]);
  const { exp } = JSON.parse(Buffer.from((issued[2] ?? '').split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
  expect(await registry.getSingleMetricAsString('switchyard_worker_token_expires_seconds')).toContain(`{cluster="${NAME}"} ${exp}`);
});

test('one that never ends is replaced at once, and the next manager uses what this one has kept', async () => {
  await writeSecret(unsignedToken({ sub: SUB }));
  expect([issued.length, await used(), await kept()]).toEqual([1, issued[0], issued[0]]);
  await world.stop();
  await world.start();
  await world.settle(5_000);
  expect([issued.length, await used()]).toEqual([1, issued[0]]);
});

test('a Secret from a backup, or a kubeconfig that GitOps puts back, changes nothing; a newer token in it counts', async () => {
  const first = tokenAt(world.clock.now(), 24);
  await writeSecret(first);
  const backup = (await world.home.get(SECRETS, SECRET)).data ?? {};
  await minutesPass(13);
  await world.home.patch(SECRETS, SECRET, { type: 'merge', body: { data: { ...backup, 'kubeconfig.renewed': null } } });
  await world.settle(62_000);
  expect([await used(), await kept()]).toEqual([issued[0], issued[0]]);
  const byHand = tokenAt(world.clock.now(), 24);
  await writeSecret(byHand);
  expect(await used()).toBe(byHand);
});

test('answers that are lost, strange, or for another account are asked for again, and nothing of them is used', async () => {
  await writeSecret(tokenAt(world.clock.now(), 24));
  answers.push('lost', 'strange', 'foreign');
  await minutesPass(12.5);
  expect([issued.length, await used(), await kept()]).toEqual([2, issued[1], issued[1]]);
});

test('an account that may not renew its token is asked again every ten minutes, and the token is used until its end', async () => {
  const first = tokenAt(world.clock.now(), 24);
  await writeSecret(first);
  answers.push('forbidden');
  await minutesPass(21);
  expect([answers.length, issued.length, await used()]).toEqual([0, 0, first]);
  await minutesPass(1.5);
  expect(await used()).toBe(issued[0]);
});

test.each([5, -5])('a clock that is %i of 24 minutes off does not let it end', async (minutes) => {
  skewMs = minutes * MINUTE_MS;
  await writeSecret(tokenAt(clusterMs(), 24));
  for (let each = 0; each < 40; each++) {
    await minutesPass(1);
    const { exp } = JSON.parse(Buffer.from(((await used()) ?? '').split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
    expect(exp * 1000).toBeGreaterThan(clusterMs());
  }
});

test('a kubeconfig that names another server is given no token of the first', async () => {
  await writeSecret(tokenAt(world.clock.now(), 24));
  await minutesPass(13);
  const forOther = tokenAt(world.clock.now() - MINUTE_MS, 24);
  await writeSecret(forOther, 'https://elsewhere.test');
  expect([access?.server, await used()]).toEqual(['https://elsewhere.test', forOther]);
});

test('a token that ended while no manager ran is told with its end and the command; a revoked one as well', async () => {
  const refused = jsonOf(401, { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
  const ready = async (): Promise<string | undefined> =>
    (await world.home.get(WORKER_CLUSTERS, { namespace: '', name: NAME })).status?.conditions?.find(({ type }) => type === 'Ready')
      ?.message;
  await writeSecret(tokenAt(world.clock.now(), 24));
  world.worker(NAME).line.instead = () => refused;
  await world.settle(60_000);
  expect(await ready()).toMatch(
    /where its token was revoked or its account made anew, run `switchyard clusters join CONTEXT --name eu-1` again/,
  );
  await writeSecret(tokenAt(world.clock.now() - 30 * MINUTE_MS, 24));
  await world.settle(60_000);
  expect(await ready()).toMatch(
    /its token ended at 2025-12-31T\d\d:\d\d:\d\d.000Z, and no manager was there to renew it in time: run `switchyard clusters join/,
  );
});

test('a second manager beside it has tokens of its own, and neither takes the other’s away', async () => {
  await writeSecret(tokenAt(world.clock.now(), 24));
  const second = await world.startSecond();
  await minutesPass(13);
  const after = issued.length;
  await minutesPass(6);
  expect({ renewedTwice: after <= 2, quiet: issued.length === after, good: issued.includes((await used()) ?? '') }).toEqual({
    renewedTwice: true,
    quiet: true,
    good: true,
  });
  await second.stop();
});

test('a WorkerCluster that names a Secret of another namespace than that of the kubeconfigs is told where to put it', async () => {
  await world.close();
  await start(undefined, 'clusters');
  await world.settle(5_000);
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: NAME });
  expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    message: 'spec.kubeconfigSecretRef names namespace switchyard; put the Secret into clusters',
  });
});
