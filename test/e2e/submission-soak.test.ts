/**
 * Goal: every key ends in exactly one Job, and everybody who waits hears of its end, while managers and Redis are killed at random: with
 * real processes, in real time. Runs with SWITCHYARD_SLOW=1: 50,000 submissions, or as many as SWITCHYARD_SOAK says.
 */
import path from 'node:path';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { Job } from '../../shared/api/kubernetes.ts';
import { SUBMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { connect, Failed, type Client } from '../../shared/client/client.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom, type Random } from '../../shared/runtime/random.ts';
import { startBenchCluster } from '../bench/cluster.ts';
import { NAMESPACE, setUpQueues } from '../bench/dispatch.ts';
import { ChildProgram } from '../support/child-program.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { isSlow } from '../support/slow.ts';

const MANAGER = path.resolve(import.meta.dirname, '../../manager/main.ts');
const SUBMISSIONS = Number(process.env['SWITCHYARD_SOAK'] ?? 50_000);
const AT_ONCE = 500;
const LIMIT_MS = 3_600_000;

test.runIf(!isSlow)('tens of thousands of submissions under random kills', ({ skip }) => skip('it takes minutes: SWITCHYARD_SLOW=1'));

test.runIf(isSlow)('tens of thousands of submissions under random kills', { timeout: LIMIT_MS }, async () => {
  await using resources = new AsyncDisposableStack();
  const over = new AbortController();
  const cluster = await startBenchCluster(undefined);
  resources.defer(() => cluster.stop());
  const access = accessFromKubeconfig({ kind: 'file', path: cluster.kubeconfigFile }, systemClock);
  const kube = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'soak', clock: systemClock });
  await setUpQueues(kube);
  const redis = await startRedis({ args: ['--appendfsync', 'everysec'] });
  resources.defer(() => redis.stop());
  const managers = createManagers(cluster.kubeconfigFile, redis.url);
  resources.defer(() => managers.stop());
  const heard = new Map<string, string>();
  const yard = endJobs(kube, heard, seededRandom(1), over.signal);
  const client = connect({ redis: redis.url });
  resources.defer(() => client.close());
  resources.defer(async () => over.abort(new Error('the soak is over')));
  onTestFailed(() => console.error(managers.lastWords()));

  const kills = killAtRandom(managers, redis, seededRandom(2), over.signal);
  const waiters: Promise<void>[] = [];
  for (let first = 0; first < SUBMISSIONS; first += AT_ONCE) {
    const keys = Array.from({ length: Math.min(AT_ONCE, SUBMISSIONS - first) }, (_, index) => `soak-${first + index}`);
    await submitAll(client, keys);
    for (const key of keys) waiters.push(endOf(client, key).then((end) => void heard.set(key, end)));
  }
  await Promise.all(waiters);
  const told = await kills.end();
  onTestFinished(() =>
    console.log(
      `${SUBMISSIONS} submissions, ${told.managers} managers and ${told.redis} servers of Redis killed, in ${Math.round(performance.now() / 1000)} s`,
    ),
  );

  expect(told.managers).toBeGreaterThan(0);
  expect(told.redis).toBeGreaterThan(0);
  expect(yard.jobsOf.size).toBe(SUBMISSIONS);
  expect([...yard.jobsOf].filter(([, uids]) => uids.size !== 1)).toEqual([]);
  expect(
    Object.fromEntries(
      [...yard.endOf].filter(([key, end]) => heard.get(key) !== end).map(([key, end]) => [key, { end, heard: heard.get(key) }]),
    ),
  ).toEqual({});
  expect(heard.size).toBe(SUBMISSIONS);
});

/** Whoever is not sure whether it has submitted submits again. */
async function submitAll(client: Client, keys: readonly string[]): Promise<void> {
  for (;;) {
    try {
      await client.submitMany(keys.map((key) => ({ manifest: MANIFEST, options: { key } })));
      return;
    } catch {
      // Redis was killed meanwhile.
      await sleep(systemClock, 200);
    }
  }
}

async function endOf(client: Client, key: string): Promise<string> {
  try {
    await client.wait(key);
    return 'Complete';
  } catch (error) {
    if (error instanceof Failed) return error.reason;
    return String(error);
  }
}

const MANIFEST = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { generateName: 'soak-', namespace: NAMESPACE, labels: { 'switchyard.dev/queue-name': 'main' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] } } },
};

/**
 * Ends each Job soon after it is seen: by a status that says so, as the manager would write it, or by deleting it. Some are deleted once
 * their end is heard of, too.
 */
function endJobs(
  kube: KubeClient,
  heard: ReadonlyMap<string, string>,
  random: Random,
  signal: AbortSignal,
): { readonly jobsOf: ReadonlyMap<string, ReadonlySet<string>>; readonly endOf: ReadonlyMap<string, string> } {
  const jobsOf = new Map<string, Set<string>>();
  const ends = new Map<string, string>();
  const end = async (job: Job, how: string): Promise<void> => {
    const { name, namespace, uid } = job.metadata;
    await sleep(systemClock, random() * 5_000, signal);
    if (how === 'JobDeleted') {
      await kube.delete(JOBS, { name, namespace }, { propagationPolicy: 'Background', uid });
      return;
    }
    await kube.patchStatus(JOBS, { name, namespace }, { type: 'merge', body: { metadata: { uid }, status: statusOf(how) } });
    // The manager itself writes such an end and notes it down: it is not away from before that until after the Job is deleted, as here it
    // may be.
    if (random() < 0.3) {
      while (!heard.has(job.metadata.annotations?.[SUBMISSION_ANNOTATION] ?? '')) await sleep(systemClock, 1_000, signal);
      await kube.delete(JOBS, { name, namespace }, { propagationPolicy: 'Background', uid });
    }
  };
  const informer = createInformer<Job>({
    client: kube,
    resource: JOBS,
    namespace: NAMESPACE,
    clock: systemClock,
    random,
    log: silentLogger,
  });
  informer.addHandler({
    added: (job) => {
      const key = job.metadata.annotations?.[SUBMISSION_ANNOTATION] ?? '';
      const uids = jobsOf.get(key) ?? new Set<string>();
      if (uids.has(job.metadata.uid)) return;
      jobsOf.set(key, uids.add(job.metadata.uid));
      const luck = random();
      const how = luck < 0.05 ? 'JobDeleted' : luck < 0.15 ? 'BackoffLimitExceeded' : 'Complete';
      ends.set(key, how);
      void end(job as Job, how).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
  });
  void informer.run(signal);
  return { jobsOf, endOf: ends };
}

function statusOf(how: string): NonNullable<Job['status']> {
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type: string, reason: string) => ({
    type,
    status: 'True' as const,
    reason,
    message: '',
    lastProbeTime: at,
    lastTransitionTime: at,
  });
  return how === 'Complete'
    ? {
        startTime: at,
        completionTime: at,
        succeeded: 1,
        conditions: [condition('SuccessCriteriaMet', 'CompletionsReached'), condition('Complete', 'CompletionsReached')],
      }
    : { startTime: at, failed: 1, conditions: [condition('FailureTarget', how), condition('Failed', how)] };
}

type Managers = { kill(): void; stop(): Promise<void>; lastWords(): string };

function createManagers(kubeconfigFile: string, redisUrl: string): Managers {
  const said: string[] = [];
  const launch = (): ChildProgram => {
    const flags = [`--kubeconfig=${kubeconfigFile}`, `--redis-url=${redisUrl}`, `--submission-namespaces=${NAMESPACE}`];
    const program = new ChildProgram('the manager', [process.execPath, MANAGER, ...flags, '--kube-api-qps=0', '--story-event-qps=0']);
    program.onLine((line) => {
      said.push(line);
      if (said.length > 50) said.shift();
    });
    return program;
  };
  let isWanted = true;
  let running = launch();
  /** Whoever ends is started again, as a kubelet would, also one that has lost its leadership on a busy machine. */
  const keep = async (): Promise<void> => {
    while (isWanted) {
      await running.whenEnded();
      await sleep(systemClock, 1_000);
      if (isWanted) running = launch();
    }
  };
  const keeping = keep();
  return {
    kill: () => running.kill(),
    stop: async () => {
      isWanted = false;
      await running.stop();
      await keeping;
      await running.stop();
    },
    lastWords: () => said.join('\n'),
  };
}

function killAtRandom(
  managers: Managers,
  redis: TestRedis,
  random: Random,
  signal: AbortSignal,
): { end(): Promise<{ readonly managers: number; readonly redis: number }> } {
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const killed = { managers: 0, redis: 0 };
  const run = async (): Promise<void> => {
    while (!until.aborted) {
      // Whoever is next leads after 15 s, when the lease of the one that was killed is over.
      await sleep(systemClock, 10_000 + random() * 30_000, until);
      if (until.aborted) return;
      if (random() < 0.7) {
        managers.kill();
        killed.managers++;
      } else {
        await redis.crash();
        killed.redis++;
        await sleep(systemClock, random() * 2_000);
        await redis.restart();
      }
    }
  };
  const running = run().catch((error: unknown) => {
    if (!until.aborted) throw error;
  });
  return {
    end: async () => {
      ending.abort(new Error('all have ended'));
      await running;
      return killed;
    },
  };
}
