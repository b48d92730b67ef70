import path from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { connectBullmqQueue } from '../../../manager/submission/bullmq-queue.ts';
import { singleRedis } from '../../../manager/submission/redis-settings.ts';
import type { ParkedSubmission } from '../../../manager/submission/submission-queue.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { inParallel } from '../../../worker/in-parallel.ts';
import { ChildProgram } from '../../support/child-program.ts';
import { residentBytesOf } from '../process-figures.ts';

/** A manifest of about a kilobyte. */
const DATA = {
  manifest: {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: 'load', labels: { 'switchyard.dev/queue-name': 'main' }, annotations: { note: 'n'.repeat(500) } },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] } } },
  },
};
/** As in the image. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
const BULK = 1_000;
const AT_ONCE = 50;
const LOOK_MS = 50;

export type AcceptanceFigures = { readonly bulkPerSecond: number; readonly singlePerSecond: number };

/** Of a queue that nobody serves. */
export async function measureAcceptance(redisUrl: string, count: number): Promise<AcceptanceFigures> {
  await using resources = new AsyncDisposableStack();
  const queue = openQueue(redisUrl, 'acceptance', resources);
  await addInBulk(queue, Math.min(count, 5_000), 'warm-up');
  const bulkPerSecond = count / (await secondsOf(() => addInBulk(queue, count, 'bulk')));
  const singles = Math.ceil(count / 5);
  const keys = Array.from({ length: singles }, (_, index) => `single-${index}`);
  const add = async (jobId: string): Promise<void> => void (await queue.add('job', DATA, { jobId }));
  const singlePerSecond = singles / (await secondsOf(() => inParallel(keys, AT_ONCE, add)));
  return { bulkPerSecond, singlePerSecond };
}

export type ParkingFigures = {
  readonly redisBytes: number;
  readonly consumerBytes: number;
  readonly parkedPerSecond: number;
  readonly settledSeconds: number;
};

export async function measureParking(redisUrl: string, { parked, settled }: { parked: number; settled: number }): Promise<ParkingFigures> {
  await using resources = new AsyncDisposableStack();
  const queue = openQueue(redisUrl, 'parking', resources);
  const redis = new Redis(redisUrl);
  resources.defer(async () => redis.disconnect());
  const program = path.join(import.meta.dirname, 'consumer-program.ts');
  const consumer = resources.use(new ChildProgram('the consumer', [process.execPath, ...NODE_FLAGS, program], { REDIS_URL: redisUrl }));
  await consumer.find((line) => (line === 'serving' ? true : undefined));
  const delayed = async (): Promise<number> => (await queue.getJobCounts('delayed'))['delayed'] ?? 0;
  // What its first submissions load and compile is no part of what the others cost.
  await addInBulk(queue, 1_000, 'warm-up');
  await until(async () => (await delayed()) >= 1_000);
  const [consumerBefore, redisBefore] = [residentBytesOf(consumer.pid), await usedBytes(redis)];
  const seconds = await secondsOf(async () => {
    await addInBulk(queue, parked, 'parked');
    await until(async () => (await delayed()) >= parked + 1_000);
  });
  const [consumerBytes, redisBytes] = [residentBytesOf(consumer.pid) - consumerBefore, (await usedBytes(redis)) - redisBefore];

  const leader = connectBullmqQueue({
    redis: singleRedis(redisUrl),
    name: 'parking',
    prefix: 'bench',
    concurrency: 1,
    clock: systemClock,
    log: silentLogger,
  });
  resources.defer(() => leader.close());
  const ended: ParkedSubmission[] = [];
  for await (const page of leader.parked()) {
    ended.push(...page.slice(0, settled - ended.length));
    if (ended.length >= settled) break;
  }
  const settledSeconds = await secondsOf(async () => {
    await inParallel(ended, AT_ONCE, ({ ref, job, uid }) =>
      leader.finish(ref, { kind: 'Completed', result: { ...job, uid, succeeded: 1, failed: 0 } }, uid),
    );
    await until(async () => ((await queue.getJobCounts('completed'))['completed'] ?? 0) >= settled);
  });
  return { redisBytes, consumerBytes, parkedPerSecond: parked / seconds, settledSeconds };
}

function openQueue(redisUrl: string, name: string, resources: AsyncDisposableStack): Queue {
  const { hostname: host, port } = new URL(redisUrl);
  const queue = new Queue(name, { connection: { host, port: Number(port) }, prefix: 'bench' });
  resources.defer(() => queue.close());
  return queue;
}

async function addInBulk(queue: Queue, count: number, prefix: string): Promise<void> {
  for (let first = 0; first < count; first += BULK) {
    const size = Math.min(BULK, count - first);
    await queue.addBulk(
      Array.from({ length: size }, (_, index) => ({ name: 'job', data: DATA, opts: { jobId: `${prefix}-${first + index}` } })),
    );
  }
}

const usedBytes = async (redis: Redis): Promise<number> => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);

/** Also for measurements: nothing tells when BullMQ has parked or settled the last of very many. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}
