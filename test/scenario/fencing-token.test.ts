/** Goal: the script of examples/fencing-token, run as its pods run it, lets nothing of an earlier placement into a real Redis. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { remoteJob } from '../../manager/work-kind/job/copy/remote-job.ts';
import { prepareJob, type JobManifest } from '../../manager/policy/prepare-job.ts';
import type { Container, Job } from '../../shared/api/kubernetes.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const MANIFEST = parse(
  readFileSync(path.join(import.meta.dirname, '..', '..', 'examples', 'fencing-token', 'job.yaml'), 'utf8'),
) as JobManifest;

let server: TestRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterEach(() => server.wipe());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** The container of a pod, as the copy of this placement has it. */
function containerOf(epoch: number, uid: string): Container {
  const prepared = prepareJob(JOB_KIND, structuredClone(MANIFEST));
  if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
  const metadata = {
    ...prepared.job.metadata,
    uid,
    name: 'fencing-token',
    namespace: 'default',
    resourceVersion: '1',
    creationTimestamp: '',
  };
  const job = { ...prepared.job, metadata, status: {} } as Job;
  const copy = remoteJob(job, { origin: 'm1', epoch, jobController: 'switchyard.dev/worker', local: false, flavors: [] });
  const [container] = copy.spec.template.spec?.containers ?? [];
  if (container === undefined) throw new Error('the example has no container');
  return container;
}

type Pod = { readonly epoch: number; readonly index?: number; readonly uid?: string; readonly work: string };

/** Runs a pod to its end. What it prints is what redis-cli says. */
async function run({ epoch, index = 0, uid = 'uid-1', work }: Pod): Promise<{ readonly succeeded: boolean; readonly said: string }> {
  const { command: [shell = '', ...options] = [], args = [], env: given = [] } = containerOf(epoch, uid);
  const told = Object.fromEntries(given.map(({ name, value }) => [name, value ?? '']));
  const own = { ...told, JOB_COMPLETION_INDEX: String(index), STORE: server.url, WORK: work };
  const variables = { PATH: process.env['PATH'] ?? '', ...own };
  return promisify(execFile)(shell, [...options, ...args], { env: variables, timeout: 30_000 }).then(
    ({ stdout }) => ({ succeeded: true, said: stdout }),
    ({ stdout, stderr }: { stdout: string; stderr: string }) => ({ succeeded: false, said: stdout + stderr }),
  );
}

const stored = (uid = 'uid-1'): Promise<Record<string, string>> => redis.hgetall(`results:${uid}`);

test('results of one placement, and of another attempt in it, are stored', async () => {
  expect(await run({ epoch: 1, index: 0, work: 'echo a' })).toMatchObject({ succeeded: true });
  expect(await run({ epoch: 1, index: 1, work: 'echo b' })).toMatchObject({ succeeded: true });
  expect(await run({ epoch: 1, index: 0, work: 'echo "a once more"' })).toMatchObject({ succeeded: true });
  expect(await stored()).toEqual({ epoch: '1', '0': 'a once more', '1': 'b' });
});

test('a pod of an earlier placement is told before it begins that it is too late', async () => {
  await run({ epoch: 10, work: 'echo new' });
  const late = await run({ epoch: 9, work: 'redis-cli -u "$STORE" SET worked yes' });
  expect(late.succeeded).toBe(false);
  expect(late.said).toContain('STALE placement 9 is over, the newest is 10');
  expect(await stored()).toEqual({ epoch: '10', '0': 'new' });
  expect(await redis.get('worked')).toBeNull();
});

test('a pod that worked on while its Job began elsewhere cannot overwrite what was stored there, nor anything after that', async () => {
  const { command = [], args = [] } = containerOf(2, 'uid-1');
  // While the pod of placement 1 works, all of placement 2 happens.
  const meanwhile = {
    command: [...command, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '),
    variables: 'SWITCHYARD_EPOCH=2 JOB_COMPLETION_INDEX=0 WORK="echo new"',
  };
  const old = await run({ epoch: 1, work: `env ${meanwhile.variables} ${meanwhile.command}; echo old` });
  expect(old.succeeded).toBe(false);
  expect(old.said).toContain('STALE placement 1 is over, the newest is 2');
  expect(await stored()).toEqual({ epoch: '2', '0': 'new' });
});

test('what one Job stores is nothing to another of its name', async () => {
  await run({ epoch: 5, uid: 'uid-1', work: 'echo first' });
  expect(await run({ epoch: 1, uid: 'uid-2', work: 'echo second' })).toMatchObject({ succeeded: true });
  expect(await stored('uid-2')).toEqual({ epoch: '1', '0': 'second' });
});
