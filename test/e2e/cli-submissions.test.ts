/** `switchyard submit` and `cancel` with a queue of submissions: by Redis, and by HTTP, as a user types them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Job } from 'bullmq';
import { serveSubmissions } from '../../manager/http/serve-submissions.ts';
import type { ApiServer } from '../../manager/http/server.ts';
import { openSubmissionPort } from '../../manager/submission/open-submission-port.ts';
import { SubmissionRefused } from '../../manager/submission/submission-queue.ts';
import { sharedTenant } from '../../manager/submission/tenant.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { done, failed, QUEUE_NAME, refOf, startQueue, type QueueUnderTest } from '../support/queue-under-test.ts';
import { startSwitchyardHere, switchyardHere } from '../support/switchyard-here.ts';
import type { Outcome } from '../support/switchyard-process.ts';

const MANIFEST = { apiVersion: 'batch/v1', kind: 'Job', metadata: { generateName: 'sum-' }, spec: { template: { spec: {} } } };

let folder: string;
let world: QueueUnderTest;
let server: ApiServer;
let redis: Redis;
let environment: Record<string, string>;
let file: string;
beforeAll(async () => {
  world = await startQueue(10);
  redis = new Redis(world.redis.url, { maxRetriesPerRequest: null });
  folder = mkdtempSync(path.join(tmpdir(), 'switchyard-cli-'));
  file = path.join(folder, 'job.json');
  writeFileSync(file, JSON.stringify(MANIFEST));
  writeFileSync(path.join(folder, 'token'), 'secret\n');
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
  };
  writeFileSync(path.join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
});
afterAll(async () => {
  redis.disconnect();
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});
let doors: { close(): Promise<void> };
beforeEach(async () => {
  const door = openSubmissionPort(
    sharedTenant({ prefix: 'bull', queue: QUEUE_NAME }, { namespaces: ['team'], bytesMax: 1_000_000 }),
    redis,
    systemClock,
  );
  doors = door;
  server = await serveSubmissions('127.0.0.1:0', {
    portOf: (namespace, queue) => (`${namespace}/${queue}` === 'team/nightly' ? door : undefined),
    bodyBytesMax: 1_000_000,
    gate: async (authorization) =>
      authorization === 'Bearer secret'
        ? { kind: 'Allowed', user: { username: 'submitter' } }
        : { kind: 'Refused', status: 401, why: 'the token is not valid' },
    clock: systemClock,
    log: silentLogger,
  });
  environment = { SWITCHYARD_SERVER: server.url, SWITCHYARD_REDIS_URL: world.redis.url };
});
afterEach(async () => {
  await server.close();
  await doors.close();
  await world.renew();
});

const run = (args: readonly string[]): Promise<Outcome> => start(args).outcome;
const start = (args: readonly string[]) => startSwitchyardHere(args, { kubeconfig: path.join(folder, 'kubeconfig'), environment });
const WAYS = { redis: ['--via', 'redis', '--submission-queue', QUEUE_NAME], http: ['--via', 'http', '--submission-queue', 'nightly'] };
const parked = async (key: string): Promise<Job> => {
  await expect.poll(async () => (await world.users.getJob(key))?.getState(), { timeout: 100_000 }).toBe('delayed');
  return (await world.users.getJob(key)) as Job;
};

describe.each(['redis', 'http'] as const)('by %s', (via) => {
  const way = WAYS[via];

  test('a Job is submitted once under its key, and followed to its end', { timeout: 120_000 }, async () => {
    world.consume();
    const following = start(['submit', file, '--key', 'run-17', '--wait', ...way]);
    const job = await parked('run-17');
    await world.queue.report(refOf(job), { phase: 'Running', cluster: 'east', active: 1, succeeded: 0, failed: 0 });
    await expect.poll(() => following.said().stderr, { timeout: 100_000 }).toContain('run-17 Running on east');
    // Again, meanwhile: the same submission.
    expect(await run(['submit', file, '--key', 'run-17', ...way])).toEqual({ code: 0, stdout: 'run-17 submitted\n', stderr: '' });
    await world.finish(job, done(3));
    expect(await following.outcome).toMatchObject({ code: 0, stdout: 'run-17 submitted\nrun-17 complete: Job team/sum\n' });
    expect(world.seen.length).toBeGreaterThan(0);
    expect(world.seen.every(({ key }) => key === 'run-17')).toBe(true);
    expect(await run(['cancel', '--key', 'run-17', ...way])).toMatchObject({ code: 0, stdout: 'run-17 had ended; nothing was done\n' });
  });

  test('the ConfigMaps of its file go with it', { timeout: 120_000 }, async () => {
    world.consume();
    const both = path.join(folder, 'both.yaml');
    const container = { name: 'main', image: 'busybox', envFrom: [{ configMapRef: { name: 'settings' } }] };
    const job = { ...MANIFEST, spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } };
    const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { rate: '0.1' } };
    writeFileSync(both, `${JSON.stringify(job)}\n---\n${JSON.stringify(settings)}\n`);
    expect(await run(['submit', both, '--key', 'both', ...way])).toMatchObject({ code: 0, stdout: 'both submitted\n' });
    await parked('both');
    const attachments = [{ name: 'settings', data: { rate: '0.1' } }];
    expect(world.seen.map(({ data }) => data)).toMatchObject([{ manifest: job, attachments }]);
  });

  test('one that fails, or is refused, ends with exit code 1 and says why', { timeout: 120_000 }, async () => {
    world.consume(async ({ key }) => {
      if (key === 'refused') throw new SubmissionRefused('Forbidden', 'metadata.namespace: is not of this queue');
      return { job: { namespace: 'team', name: 'sum' }, uid: 'u', outcome: failed('DeadlineExceeded') };
    });
    const [refused, failing] = await Promise.all(
      ['refused', 'failing'].map((key) => run(['submit', file, '--key', key, '--wait', '-o', 'json', ...way])),
    );
    expect(refused).toMatchObject({ code: 1 });
    expect(JSON.parse(refused?.stdout ?? '')).toEqual({
      submissions: [{ key: 'refused', kind: 'Failed', code: 'Forbidden', message: 'metadata.namespace: is not of this queue' }],
    });
    expect(failing).toMatchObject({ code: 1 });
    expect(JSON.parse(failing?.stdout ?? '')).toMatchObject({ submissions: [{ key: 'failing', code: 'DeadlineExceeded' }] });
  });

  test('another payload under a key that is taken is refused, and one that waits is cancelled', { timeout: 120_000 }, async () => {
    world.consume();
    const other = path.join(folder, 'other.json');
    writeFileSync(other, JSON.stringify({ ...MANIFEST, metadata: { generateName: 'other-' } }));
    expect(await run(['submit', file, '--key', 'taken', ...way])).toMatchObject({ code: 0 });
    const conflict = await run(['submit', other, '--key', 'taken', ...way]);
    expect(conflict).toMatchObject({ code: 1, stdout: '' });
    expect(conflict.stderr).toContain('another payload lies under the key taken');
    await parked('taken');
    expect(await run(['cancel', '--key', 'taken', ...way])).toMatchObject({ code: 0, stdout: 'taken cancelled\n' });
    expect(world.withdrawn).toMatchObject([{ ref: { key: 'taken' } }]);
    expect(await run(['cancel', '--key', 'nobody', ...way])).toMatchObject({ code: 1 });
  });
});

test('by HTTP the stream is taken up again where it broke', { timeout: 120_000 }, async () => {
  world.consume();
  const following = start(['submit', file, '--key', 'long', '--wait', ...WAYS.http]);
  const job = await parked('long');
  await world.queue.report(refOf(job), { phase: 'Running', cluster: 'east', active: 1, succeeded: 0, failed: 0 });
  await expect.poll(() => following.said().stderr, { timeout: 100_000 }).toContain('long Running on east');
  const { port } = new URL(server.url);
  await server.close();
  await world.finish(job, done(1));
  server = await serveSubmissions(`127.0.0.1:${port}`, {
    portOf: () => doors as ReturnType<typeof openSubmissionPort>,
    bodyBytesMax: 1_000_000,
    gate: async () => ({ kind: 'Allowed', user: { username: 'submitter' } }),
    clock: systemClock,
    log: silentLogger,
  });
  const { code, stdout, stderr } = await following.outcome;
  expect([code, stdout]).toEqual([0, 'long submitted\nlong complete: Job team/sum\n']);
  // Nothing is told twice.
  expect(stderr.match(/long Running on east/g)).toHaveLength(1);
});

test('what is missing or not allowed is said with its remedy', { timeout: 120_000 }, async () => {
  const nobody = { SWITCHYARD_SERVER: '', SWITCHYARD_REDIS_URL: '' };
  const say = async (args: readonly string[], own: Record<string, string> = {}): Promise<string> => {
    const { code, stderr } = await switchyardHere(args, {
      kubeconfig: path.join(folder, 'kubeconfig'),
      environment: { ...environment, ...own },
    });
    return `${code} ${stderr}`;
  };
  writeFileSync(path.join(folder, 'wrong'), 'wrong');
  const said = await Promise.all([
    say(['submit', file, '--key', 'k']),
    say(['submit', file, '--via', 'redis'], nobody),
    say(['submit', file, '--via', 'http'], { SWITCHYARD_SERVER: 'http://switchyard.example' }),
    say(['submit', file, ...WAYS.http, '--token-file', path.join(folder, 'wrong')]),
    say(['submit', file, '--via', 'http', '--submission-queue', 'elsewhere']),
    say(['submit', file, ...WAYS.http], { SWITCHYARD_SERVER: 'http://127.0.0.1:1' }),
    say(['cancel', '--key', 'k'], nobody),
    say(['cancel', '--key', 'k', '--via', 'redis', '--redis-url-file', path.join(folder, 'wrong')], nobody),
    say(['cancel', '--key', 'k', '--via', 'redis', '--redis-url-file', path.join(folder, 'wrong')]),
  ]);
  for (const [index, expected] of [
    /^2 .*--key: .*--via redis or --via http/s,
    /^2 .*--redis-url: is missing/s,
    /^2 .*--server.* write an https:\/\/ URL/s,
    /^3 .*does not know who you are/s,
    /^1 .*SubmissionQueue team\/elsewhere does not exist/s,
    /^3 .*cannot be reached.*--server/s,
    /^2 .*--server URL.*--redis-url URL/s,
    /^2 .*--redis-url-file: ".*wrong" is no redis:\/\/ or rediss:\/\/ URL/s,
    /^2 .*--redis-url and --redis-url-file exclude one another/s,
  ].entries())
    expect(said[index]).toMatch(expected);
});
