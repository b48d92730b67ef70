/**
 * The adversary runs the API server of a worker cluster. They want the manager's memory and its attention, to keep Jobs off other clusters,
 * and to write into the manager cluster what they like.
 */
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClientFactory } from '../../manager/process/client-factory.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { createWorkerConnector, WORKER_LIMITS } from '../../manager/process/worker-connection.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { SECRETS } from '../../shared/api/resources.ts';
import { createAddressRanges } from '../../shared/kube/address-ranges.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { createLogger } from '../../shared/runtime/pino-logger.ts';
import { conditionsOf, createDispatchWorld, type DispatchWorld } from '../scenario/dispatch-world.ts';
import { TestAuthority } from '../support/certificates.ts';
import { aCopy, type HostileServer, json, line, listOf, startHostileServer, tricks, type Trick } from './support/hostile-worker-server.ts';

/** A busy machine may not get to the bound on a length before that on a time, and tries again after a while. */
const POLL = { timeout: 150_000, interval: 100 };
vi.setConfig({ testTimeout: 170_000 });
const MUCH = 'x'.repeat(1_000_000);

/** What it says of the copies of Jobs that were really placed there. */
const GARBAGE_STATUS = {
  active: 1,
  ready: -5,
  failed: 'many',
  succeeded: 1e300,
  startTime: 'yesterday',
  completedIndexes: '0-999999999',
  uncountedTerminatedPods: { succeeded: Array.from({ length: 20_000 }, () => 'same') },
  conditions: [
    { type: 'Strange', status: 'True', reason: MUCH, message: `\u001b[31m${MUCH}` },
    { type: 'Stranger', status: 'Maybe' },
    null,
    MUCH,
  ],
  more: MUCH,
};

/** A cluster that takes Jobs, and shows garbage as their status. */
function garbageStatus(): Trick {
  let tell: (text: string) => void = () => undefined;
  return {
    watch: (_request, response) => {
      response.writeHead(200);
      response.write(line('BOOKMARK', { metadata: { resourceVersion: '100' } }));
      tell = (text) => void response.write(text);
    },
    write: (request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const job = JSON.parse(body) as { metadata: object };
        const made = (resourceVersion: string, status: object) => ({
          ...job,
          metadata: { ...job.metadata, uid: 'copy', resourceVersion },
          status,
        });
        json(made('101', {}), 201)(request, response);
        setTimeout(() => tell(line('MODIFIED', made('102', GARBAGE_STATUS))), 200);
      });
    },
  };
}

let world: DispatchWorld;
let server: HostileServer;
let registry: Registry;
let logged = '';
beforeAll(async () => {
  const authority = await TestAuthority.create();
  const foreign = Array.from({ length: 5_000 }, (_each, index) => aCopy(index === 0 ? 'honest' : `foreign-${index}`));
  const all: Record<string, Trick> = {
    ...tricks(),
    'garbage-status': garbageStatus(),
    'foreign-copies': { jobs: json(listOf(foreign)), write: json({ kind: 'Status', code: 200 }) },
    'comes-later': { jobs: json({ kind: 'Status', code: 429, reason: 'TooManyRequests' }, 429) },
  };
  server = await startHostileServer(all, await authority.sign('server', ['127.0.0.1']));
  registry = new Registry();
  const log = createLogger('debug', { write: (text: string) => void (logged += text) });
  const connect = createWorkerConnector({
    clientOver: createClientFactory({ registry: new Registry(), clock: systemClock }),
    denied: createAddressRanges([]),
    rate: { qps: 0, burst: 1 },
    registry,
    clock: systemClock,
    log,
    limits: { ...WORKER_LIMITS, answerMs: 10_000 },
  });
  world = await createDispatchWorld({
    workers: ['honest-one'],
    realTime: true,
    log,
    registry,
    connectCluster: (name, access, usual) => (name in all ? connect(name, access) : usual(name)),
  });
  for (const name of Object.keys(all)) {
    const kubeconfig = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: server.url(name), 'certificate-authority-data': base64(authority.certPem) } }],
      users: [{ name: 'u', user: { token: 't' } }],
    };
    await world.home.create(SECRETS, {
      metadata: { name, namespace: 'switchyard' },
      data: { kubeconfig: base64(JSON.stringify(kubeconfig)) },
    });
    // The built-in controller announces no worker that could be missed.
    const spec = { kubeconfigSecretRef: { namespace: 'switchyard', name }, capacity: { cpu: '100' } };
    await world.home.create(WORKER_CLUSTERS, { metadata: { name }, spec: { ...spec, jobController: BUILT_IN_JOB_CONTROLLER_NAME } });
  }
});
afterAll(async () => {
  await world.close();
  await server.close();
});

const base64 = (said: string): string => Buffer.from(said).toString('base64');
const ready = async (name: string) => {
  const { status }: WorkerCluster = await world.home.get(WORKER_CLUSTERS, { namespace: '', name });
  return status?.conditions?.find(({ type }) => type === 'Ready');
};
const shouldBeReady = (reason: string): string => (reason === 'Connected' ? 'True' : 'False');

describe('a worker cluster that answers with', () => {
  test.each(Object.entries(tricks()))('%s is told of in its condition', async (name, { reason, message = /./ }) => {
    // What its nodes offer may be told a moment later than that it is connected.
    const told = { status: shouldBeReady(reason), reason, message: expect.stringMatching(message) as string };
    await expect.poll(() => ready(name), POLL).toMatchObject(told);
    const condition = await ready(name);
    expect(condition?.message.length).toBeLessThan(500);
    expect(condition?.message).not.toMatch(/secret|PWNED|xxx/);
  });

  test('what cannot be used is counted, by cluster and reason', async () => {
    await expect
      .poll(() => registry.metrics(), POLL)
      .toContain('switchyard_cluster_faults_total{cluster="endless-event",reason="AnswerTooLarge"}');
  });

  test('the same again and again is asked less and less', async () => {
    await expect.poll(async () => (await ready('page-of-no-objects'))?.reason, POLL).toBe('NotKubernetes');
    const inEightSeconds = async () => {
      const before = server.requests('page-of-no-objects');
      await world.settle(8_000);
      return server.requests('page-of-no-objects') - before;
    };
    // The probe, each ten seconds, goes on. How soon the pauses are that long depends on the machine.
    await expect.poll(inEightSeconds, { timeout: 60_000 }).toBeLessThan(4);
  }, 90_000);

  test('none of it is logged at length', () => {
    expect(Math.max(...logged.split('\n').map(({ length }) => length))).toBeLessThan(20_000);
  });
});

describe('meanwhile', () => {
  test('a Job whose name is taken on a hostile cluster runs on an honest one, at once', async () => {
    await expect.poll(() => ready('foreign-copies'), POLL).toMatchObject({ status: 'True', reason: 'Connected' });
    await world.submit('honest', { annotations: { 'switchyard.dev/clusters': 'honest-one' } });
    const honest = world.worker('honest-one');
    await expect.poll(() => honest.copy('honest'), POLL).toBeDefined();
    await honest.start('honest');
    await honest.complete('honest');
    await expect.poll(async () => conditionsOf(await world.job('honest')), POLL).toContainEqual(expect.stringMatching(/^Complete=True/));
  });

  test('thousands of copies of Jobs that never were cost the manager cluster a few questions a second', () => {
    const asked = world.homeLine.sent.filter((request) => request.startsWith('GET') && request.includes('/jobs/foreign-'));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(600);
  });

  test('a status of garbage comes home as far as it is none, and small', async () => {
    await expect.poll(() => ready('garbage-status'), POLL).toMatchObject({ status: 'True', reason: 'Connected' });
    await world.submit('victim', { annotations: { 'switchyard.dev/clusters': 'garbage-status' } });
    await expect.poll(async () => (await world.job('victim')).status?.active, POLL).toBe(1);
    const { status } = await world.job('victim');
    expect(JSON.stringify(status).length).toBeLessThan(12_000);
    expect(status?.startTime).toBeUndefined();
    expect(status?.failed ?? 0).toBe(0);
    const strange = status?.conditions?.find(({ type }) => type === 'Strange');
    expect(strange?.message).toMatch(/^ \[31mx+…$/);
    expect(strange?.message).toHaveLength(4096);
  });
});
