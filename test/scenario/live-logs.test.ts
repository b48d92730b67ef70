/** Logs of pods that run, from a worker cluster through a whole manager and its HTTP server to somebody who follows them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { createEventReader, type ReceivedEvent } from '../../manager/cli/submissions/server-events.ts';
import type { LivePods } from '../../manager/dashboard/views.ts';
import type { ManagerDeps } from '../../manager/process/manager-deps.ts';
import { serveDashboard } from '../../manager/http/serve-dashboard.ts';
import type { PodSpec, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, PODS, type Resource } from '../../shared/api/resources.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { aCrew, aCrewKind, CREW_DEFINITION, CREWS } from '../unit/manager/work-kind/described/described.ts';
import { createCrds } from '../support/crds.ts';
import { createLine, onLine, type Line } from '../support/line.ts';
import { createPodLogBook, type PodLogBook } from '../support/pod-log-book.ts';
import { createWholeWorld, HOME, NAMESPACE, type WholeWorld } from './whole-world.ts';

const MANAGER = { name: 'manager-on-east', uid: 'm', groups: ['system:authenticated'], extra: {} };
const JOB = `/api/v1/namespaces/${NAMESPACE}/jobs/sum`;

let world: WholeWorld;
let url: string;
let book: PodLogBook;
/** By which the manager looks at pods. */
let line: Line;
/** Tokens are names: whose may read the logs of pods. */
let readers: Set<string>;

const REVIEWER = {
  async raw({ path, body }: { readonly path: string; readonly body?: unknown }) {
    const { spec } = body as { spec: { token?: string; user?: string; resourceAttributes?: { resource?: string } } };
    if (path.endsWith('/tokenreviews')) return JSON.stringify({ status: { authenticated: true, user: { username: spec.token } } });
    const isOfLog = spec.resourceAttributes?.resource === 'pods';
    return JSON.stringify({ status: { allowed: !isOfLog || readers.has(spec.user ?? '') } });
  },
} as RawClient;

const rbac = (kind: string): Resource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: false,
});
/** As the chart does. */
async function allow(name: string, rules: readonly object[]): Promise<void> {
  const client = world.client('east');
  await client.create(rbac('ClusterRole'), { metadata: { name }, rules } as never);
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: MANAGER.name }];
  await client.create(rbac('ClusterRoleBinding'), { metadata: { name }, roleRef, subjects } as never);
  await world.clock.advance(1_000);
}
const allowLogs = (): Promise<void> =>
  allow('live-logs', [
    { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
    { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  ]);

beforeEach(async () => {
  readers = new Set(['ann']);
  line = createLine();
  world = await createWholeWorld({
    clusters: ['east'],
    install: async (client, cluster) => {
      if (cluster === HOME) await createCrds(client);
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
    },
  });
  book = createPodLogBook(world.clock);
  let served: string | undefined;
  const dashboard: ManagerDeps['dashboard'] = () => ({
    reviewer: REVIEWER,
    liveLogs: {
      home: createKubeClient(world.plane(HOME).transport(), { userAgent: 'looking', clock: world.clock }),
      connect: (cluster) =>
        createKubeClient(onLine(book.serve(world.plane(cluster).transport(MANAGER)), line, cluster), {
          userAgent: 'looking',
          clock: world.clock,
        }),
    },
    async serve(open) {
      const server = await serveDashboard('127.0.0.1:0', { open, pageFolder: '/nowhere', clock: world.clock, log: silentLogger });
      served = server.url;
      return server;
    },
  });
  world.startManager('manager', { parts: { dashboard, kinds: [aCrewKind()] } });
  world.startWorker('east', 'worker');
  await allow('jobs', [
    { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get'] },
    { apiGroups: ['example.com'], resources: ['crews'], verbs: ['get'] },
  ]);
  await until(() => served !== undefined);
  url = served ?? '';
  await world.submit('sum', { seconds: 3_600 });
  await until(async () => (await world.job('sum')).status?.active === 1);
});
afterEach(() => world.close());

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    // A step of the world's clock, and a turn for whatever comes over the sockets.
    await world.clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
/** While the world goes on. */
async function meanwhile<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  void work.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  await until(() => isOver);
  return work;
}

const ask = async <T = { message: string }>(path: string, token = 'ann'): Promise<{ status: number; body: T }> => {
  const response = await meanwhile(fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } }));
  return { status: response.status, body: (await response.json()) as T };
};
const podOf = async (): Promise<string> => (await ask<LivePods>(`${JOB}/pods`)).body.pods[0]?.pod ?? '';

type Follower = {
  readonly events: ReceivedEvent[];
  text(): string;
  isOver(): boolean;
  leave(): void;
};
async function follow(
  pod: string,
  { lastEventId, token = 'ann' }: { lastEventId?: string | undefined; token?: string } = {},
): Promise<Follower> {
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${token}`, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const response = await meanwhile(fetch(`${url}${JOB}/pods/${pod}/log?follow=1`, { headers, signal: leaving.signal }));
  expect(response.status).toBe(200);
  const events: ReceivedEvent[] = [];
  let isOver = false;
  const read = async (): Promise<void> => {
    const eventsIn = createEventReader();
    const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) events.push(...eventsIn(piece.value));
  };
  // It ends, or is left.
  void read().then(
    () => (isOver = true),
    () => (isOver = true),
  );
  return {
    events,
    text: () => events.flatMap(({ event, data }) => (event === 'lines' ? [(JSON.parse(data) as { text: string }).text] : [])).join(''),
    isOver: () => isOver,
    leave: () => leaving.abort(),
  };
}
const numbered = (from: number, to: number): string => Array.from({ length: to - from }, (_, line) => `line ${from + line}\n`).join('');
const writeLines = (pod: string, from: number, to: number): void => book.write(pod, ...numbered(from, to).trimEnd().split('\n'));

describe('where the manager may read logs on a worker cluster', () => {
  beforeEach(allowLogs);

  test('pods that run are shown, by one look for all who look at once', async () => {
    const { status, body } = await ask<LivePods>(`${JOB}/pods`);
    expect({ status, body }).toMatchObject({ status: 200, body: { cluster: 'east', pods: [{ phase: 'Running' }] } });
    expect(body.pods[0]?.pod).toMatch(/^sum-/);
    await ask(`${JOB}/pods`);
    await ask(`${JOB}/pods`);
    expect(line.sent.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['get batch/jobs', 'list pods']);
  });

  test('a log is followed as it is written, to the last line and the end of the pod', async () => {
    const pod = await podOf();
    book.write(pod, 'before somebody looks', '<img src=x onerror=alert(1)>');
    const follower = await follow(pod);
    await until(() => follower.text().endsWith('(1)>\n'));
    book.write(pod, 'while he looks');
    await until(() => follower.text().endsWith('he looks\n'));
    expect(follower.isOver()).toBe(false);
    book.write(pod, 'the last');
    book.end(pod);
    await world
      .client('east')
      .patchStatus(PODS, { namespace: NAMESPACE, name: pod }, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
    await until(() => follower.isOver());
    expect(follower.text()).toBe('before somebody looks\n<img src=x onerror=alert(1)>\nwhile he looks\nthe last\n');
    expect(follower.events.at(-1)).toMatchObject({ event: 'end', data: '{"reason":"the pod has ended"}' });
    expect(book.open).toBe(0);
  });

  test('who comes back, and whom the connection to the cluster breaks, reads every line once', async () => {
    const pod = await podOf();
    writeLines(pod, 0, 50);
    const first = await follow(pod);
    await until(() => first.text() === numbered(0, 50));
    first.leave();
    await until(() => book.open === 0);
    writeLines(pod, 50, 60);
    await world.clock.advance(700);
    writeLines(pod, 60, 80);
    const second = await follow(pod, { lastEventId: first.events.at(-1)?.id });
    await until(() => second.text() === numbered(50, 80));
    book.breakOff();
    writeLines(pod, 80, 100);
    await until(() => second.text() === numbered(50, 100));
    await world.clock.advance(5_000);
    expect(second.text()).toBe(numbered(50, 100));
    second.leave();
  });

  test('what nobody takes is not read from the cluster, and who leaves closes the connection there', async () => {
    const pod = await podOf();
    const leaving = new AbortController();
    const response = await meanwhile(
      fetch(`${url}${JOB}/pods/${pod}/log?follow=1`, { headers: { authorization: 'Bearer ann' }, signal: leaving.signal }),
    );
    expect(response.status).toBe(200);
    await until(() => book.open === 1);
    // 64 MB, of which sockets and buffers on the way hold some.
    for (let part = 0; part < 64; part++) book.write(pod, ...Array.from({ length: 64 }, () => 'x'.repeat(16_000)));
    let before = -1;
    while (before !== book.taken || before === 0) {
      before = book.taken;
      await world.clock.advance(60_000);
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(book.taken).toBeLessThan(16_000_000);
    leaving.abort();
    await until(() => book.open === 0);
  });

  test('pieces of a log have their price, however short: those of one line each, without end, are told 256 a second after the first', async () => {
    const pod = await podOf();
    const follower = await follow(pod);
    await until(() => book.open === 1);
    const sinceMs = world.clock.monotonic();
    writeLines(pod, 0, 3_000);
    await until(() => follower.text().endsWith('line 2999\n'));
    expect(world.clock.monotonic() - sinceMs).toBeGreaterThan(7_000);
    expect(follower.text()).toBe(numbered(0, 3_000));
    follower.leave();
  });

  test('who reads fast gets no more than a quarter of a MiB a second, after the first', async () => {
    const pod = await podOf();
    const follower = await follow(pod);
    for (let part = 0; part < 4; part++) book.write(pod, ...Array.from({ length: 64 }, () => 'x'.repeat(16_000)));
    const sinceMs = world.clock.monotonic();
    await until(() => follower.text().length >= 4 * 64 * 16_001);
    expect(world.clock.monotonic() - sinceMs).toBeGreaterThan(10_000);
    follower.leave();
  });

  test('nobody follows more than eight at once, and one that was closed makes room', async () => {
    const pod = await podOf();
    const followers = [];
    for (let each = 0; each < 8; each++) followers.push(await follow(pod));
    await until(() => book.open === 8);
    const ninth = await follow(pod);
    await until(() => ninth.isOver());
    expect(ninth.events).toMatchObject([
      { event: 'problem', data: expect.stringContaining('too many logs are followed at once') as string },
    ]);
    readers.add('bob');
    const other = await follow(pod, { token: 'bob' });
    await until(() => book.open === 9);
    other.leave();
    followers[0]?.leave();
    await until(() => book.open === 7);
    const again = await follow(pod);
    await until(() => book.open === 8);
    for (const each of [...followers, again]) each.leave();
  });

  test('one that writes nothing ends after half an hour', async () => {
    const pod = await podOf();
    book.write(pod, 'all');
    const [first] = [await follow(pod)];
    await until(() => first.text() === 'all\n');
    // The server ends streams after ten minutes, and the page comes back.
    let last = first;
    for (let again = 0; again < 6 && last.events.at(-1)?.event !== 'end'; again++) {
      const id: string | undefined = first.events.at(-1)?.id;
      await world.clock.advance(601_000);
      await until(() => last.isOver());
      if (last.events.at(-1)?.event !== 'end') last = await follow(pod, { lastEventId: id });
    }
    expect(last.events).toMatchObject([{ event: 'end', data: '{"reason":"nothing was written for 30 minutes"}' }]);
  });

  test('who may not read logs by himself gets none, and his cluster is not even asked', async () => {
    for (const path of [`${JOB}/pods`, `${JOB}/pods/sum-x/log?follow=1`])
      expect(await ask(path, 'bob')).toMatchObject({ status: 403, body: { message: expect.stringContaining('pods/log') as string } });
    expect(line.sent).toEqual([]);
  });

  test('who loses the right is read to no more', async () => {
    const pod = await podOf();
    const follower = await follow(pod);
    await until(() => book.open === 1);
    readers.delete('ann');
    await world.clock.advance(130_000);
    await until(() => follower.isOver());
    expect(book.open).toBe(0);
    expect((await ask(`${JOB}/pods`)).status).toBe(403);
  });

  test('pods that are not of the copy of that Job are not there, whatever they are called', async () => {
    const pod = await podOf();
    const east = world.client('east');
    const { metadata, spec } = await east.get(PODS, { namespace: NAMESPACE, name: pod });
    const owners = metadata.ownerReferences?.map((owner) => ({ ...owner, uid: 'another', controller: true }));
    const stranger = { name: 'sum-stranger', namespace: NAMESPACE, labels: metadata.labels, ownerReferences: owners };
    await east.create(PODS, { metadata: stranger, spec: { containers: spec.containers } } as never);
    await world.clock.advance(5_000);
    expect((await ask<LivePods>(`${JOB}/pods`)).body.pods.map((each) => each.pod)).toEqual([pod]);
    for (const name of ['sum-stranger', 'nobody', '..%2f..%2fsecrets', 'x,metadata.name%3Dy'])
      expect(await ask(`${JOB}/pods/${name}/log?follow=1`)).toMatchObject({ status: 404 });
    expect(book.asked).toEqual([]);
  });
});

test('where the manager cluster is a worker cluster itself, pods there are those of the copy beside the Job', async () => {
  await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'east' }, { type: 'merge', body: { spec: { state: 'Cordoned' } } });
  await world.home.create(WORKER_CLUSTERS, { metadata: { name: 'here' }, spec: { local: true, capacity: { cpu: '4' } } });
  world.startWorker(HOME, 'local', { fenceAfterMs: 60_000 });
  await world.clock.advance(30_000);
  await world.submit('beside', { seconds: 3_600 });
  await until(async () => (await world.job('beside')).status?.active === 1);
  const { metadata } = await world.job('beside');
  const { status, body } = await ask<LivePods>(`/api/v1/namespaces/${NAMESPACE}/jobs/beside/pods`);
  expect({ status, body }).toMatchObject({ status: 200, body: { cluster: 'here', pods: [{ phase: 'Pending' }] } });
  expect(body.pods[0]?.pod).toMatch(new RegExp(`^beside-${metadata.uid.slice(0, 8)}-`));
});

describe('where the manager may not', () => {
  const MISSING =
    /^the manager may not list pods and read pods\/log on cluster east: .*clusters join CONTEXT --name east --live-logs.*managerAccess\.liveLogs.*switchyard logs team\/sum --follow$/;

  test('that is told, with the cluster and what gives the right, and works once it is given', async () => {
    for (const path of [`${JOB}/pods`, `${JOB}/pods/sum-x/log?follow=1`])
      expect(await ask(path)).toMatchObject({ status: 403, body: { message: expect.stringMatching(MISSING) as string } });
    await allowLogs();
    await world.clock.advance(5_000);
    expect((await ask(`${JOB}/pods`)).status).toBe(200);
  });

  test('pods are shown where these may be listed, and the log says what is missing', async () => {
    await allow('pods', [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]);
    const follower = await follow(await podOf());
    await until(() => follower.isOver());
    expect(follower.events).toHaveLength(1);
    expect(follower.events[0]?.event).toBe('problem');
    expect((JSON.parse(follower.events[0]?.data ?? '') as { message: string }).message).toMatch(MISSING);
  });

  test('a cluster that is gone, or does not answer, is named and waited for in vain by nobody', async () => {
    await allowLogs();
    line.isCut = true;
    expect(await ask(`${JOB}/pods`)).toMatchObject({ status: 503, body: { message: 'cluster east does not answer' } });
    line.isCut = false;
    await world.home.patch(
      WORKER_CLUSTERS,
      { namespace: '', name: 'east' },
      {
        type: 'merge',
        body: { spec: { kubeconfigSecretRef: { namespace: 'switchyard', name: 'none' } } },
      },
    );
    await world.clock.advance(40_000);
    expect(await ask(`${JOB}/pods`)).toMatchObject({
      status: 503,
      body: { message: 'cluster east is not connected: Secret switchyard/none does not exist' },
    });
  });
});

test('pods of an object of another kind are those that run for it, and not those that have its labels alone', async () => {
  await allowLogs();
  const key = { namespace: NAMESPACE, name: 'argo' };
  const { metadata, spec } = aCrew();
  await world.home.create(CREWS, {
    metadata: { ...key, labels: metadata.labels ?? {} },
    spec: { ...spec, policy: { suspend: true, managedBy: 'example.com/elsewhere' } },
  } as unknown as Unsaved<WorkObject>);
  const copies = async (): Promise<readonly WorkObject[]> => (await world.client('east').list(CREWS)).items;
  await until(async () => (await copies()).length === 1);
  const [copy] = (await copies()) as readonly { readonly spec: { readonly captain: { readonly spec: PodSpec } } }[];
  const own = copy?.spec.captain.spec ?? expect.unreachable();
  const foreign: PodSpec = { ...own, containers: own.containers.map((each) => ({ ...each, env: [] })) };
  for (const [name, podSpec] of [
    ['captain', own],
    ['stowaway', foreign],
  ] as const) {
    const labels = { 'example.com/crew': 'argo' };
    await world.client('east').create(PODS, { metadata: { namespace: NAMESPACE, name, labels }, spec: podSpec } as never);
  }
  const crew = `/api/v1/namespaces/${NAMESPACE}/crews.example.com/argo`;
  expect((await ask<LivePods>(`${crew}/pods`)).body).toMatchObject({ cluster: 'east', pods: [{ pod: 'captain' }] });
  expect((await ask<LivePods>(`${crew}/pods`)).body.pods).toHaveLength(1);
  expect(await ask(`${crew}/pods/stowaway/log?follow=1`)).toMatchObject({ status: 404 });
  expect(await ask(`${crew}/pods`, 'bob')).toMatchObject({ status: 403 });
});
