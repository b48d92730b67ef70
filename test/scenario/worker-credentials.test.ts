/** Goal: credentials of a worker cluster that are short-lived are replaced in time, and nothing is listed anew for it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { SECRETS } from '../../shared/api/resources.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import { createDispatchWorld, type DispatchWorld } from './dispatch-world.ts';
import { unsignedToken } from '../support/unsigned-token.ts';

/** When a fake clock starts, in seconds. */
const START_S = Date.UTC(2026, 0, 1) / 1000;
const NAME = 'eu-1';

let world: DispatchWorld;
let accesses: ClusterAccess[];
beforeEach(async () => {
  accesses = [];
  world = await createDispatchWorld({
    workers: [NAME],
    connectCluster(name, access, usual) {
      accesses.push(access);
      return usual(name);
    },
  });
});
afterEach(() => world.close());

const writeSecret = async (kubeconfig: string): Promise<void> => {
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  await world.home.patch(SECRETS, { namespace: 'switchyard', name: NAME }, { type: 'merge', body: { data } });
};
const giveToken = (token: string): Promise<void> => writeSecret(kubeconfigFor({ url: `https://${NAME}.test` }, token));
const aTokenUntil = (secondsFromStart: number): string => unsignedToken({ exp: START_S + secondsFromStart });
/** The header of the connection that was made last. */
const authorization = async (): Promise<unknown> => (await accesses.at(-1)?.credentials())?.headers['authorization'];
const looksAtTheSecret = (): number => world.homeLine.sent.filter((call) => call.endsWith(`/secrets/${NAME}`)).length;
const connections = (): number => accesses.length;
const listsOfJobs = (): number => world.worker(NAME).line.sent.filter((call) => call === 'GET /apis/batch/v1/jobs').length;

test('a new token in the Secret is used from then on, and the connection, its watches and its caches stay', async () => {
  expect(await authorization()).toBe('Bearer a-token');
  const listed = listsOfJobs();
  await giveToken('another');
  await world.settle(31_000);
  expect(await authorization()).toBe('Bearer another');
  expect({ connections: connections(), lists: listsOfJobs() }).toEqual({ connections: 1, lists: listed });
});

test('a Secret that names another server is another connection', async () => {
  await writeSecret(kubeconfigFor({ url: 'https://elsewhere.test' }, 'a-token'));
  await world.settle(31_000);
  expect(connections()).toBe(2);
  expect(accesses.at(-1)?.server).toBe('https://elsewhere.test');
});

test('a token that says when it ends has been replaced ten seconds before', async () => {
  await giveToken(aTokenUntil(55));
  await world.settle(32_000);
  expect(await authorization()).toBe(`Bearer ${aTokenUntil(55)}`);
  await giveToken(aTokenUntil(3_600));
  await world.settle(13_000);
  expect(await authorization()).toBe(`Bearer ${aTokenUntil(3_600)}`);
});

test('a token that the cluster refuses is looked up at once, and one that stays is not looked up for every refusal', async () => {
  await giveToken('another');
  await refuse();
  expect(await authorization()).toBe('Bearer another');
  await refuse();
  const looks = looksAtTheSecret();
  for (let count = 0; count < 10; count++) await refuse();
  expect(looksAtTheSecret()).toBe(looks);
});

test.each([
  ['without an end', 'a-token'],
  ['that ends in a year', aTokenUntil(365 * 86_400)],
  ['whose end makes no sense', unsignedToken({ exp: 'soon' })],
])('a token %s costs one look at the Secret in 30 seconds', async (_what, token) => {
  await giveToken(token);
  await world.settle(31_000);
  const looks = looksAtTheSecret();
  await world.settle(300_000);
  expect(looksAtTheSecret() - looks).toBe(10);
});

test('a token that has ended and is not replaced costs one look in five seconds', async () => {
  await giveToken(aTokenUntil(1));
  await world.settle(31_000);
  const looks = looksAtTheSecret();
  await world.settle(60_000);
  expect(looksAtTheSecret() - looks).toBe(12);
});

test('a Secret that no longer says how to get there ends the connection, until it does again', async () => {
  await writeSecret('users: [');
  await world.settle(31_000);
  const cluster = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: NAME });
  expect(cluster.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
    'Reachable=False KubeconfigInvalid',
    'Synced=Unknown KubeconfigInvalid',
    'Able=Unknown KubeconfigInvalid',
    'Ready=False KubeconfigInvalid',
    'WorkerAlive=Unknown Connecting',
  ]);
  await giveToken('another');
  await world.settle(10_000);
  expect({ connections: connections(), authorization: await authorization() }).toEqual({ connections: 2, authorization: 'Bearer another' });
});

async function refuse(): Promise<void> {
  const access = accesses.at(-1);
  if (access === undefined) throw new Error('nothing is connected');
  access.invalidate(await access.credentials());
  await world.settle();
}
