/**
 * What it costs a manager to look whether its promises hold, where very many Jobs wait and run over many clusters: processor time, and for
 * how long at once nothing else goes on.
 */
import { Registry } from 'prom-client';
import { shownCopy } from '../../manager/dispatch/mirror/shown-copies.ts';
import { createLiveInvariants } from '../../manager/invariants/live-invariants.ts';
import type { Account } from '../../manager/invariants/job-invariants.ts';
import { createRecordKeeper } from '../../manager/api/record-keeper.ts';
import { parseRequests } from '../../manager/api/amount.ts';
import type { WorkerCluster } from '../../manager/api/worker-cluster.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { DISPATCH_EPOCH_ANNOTATION, ORIGIN_LABEL, ORIGIN_UID_ANNOTATION } from '../../shared/api/names.ts';
import { createObjectCache } from '../../shared/kube/indexer.ts';
import { keyOfObject } from '../../shared/kube/keys.ts';
import { systemClock, type Clock } from '../../shared/runtime/clock.ts';
import { wholeNumber } from '../../shared/runtime/flags.ts';
import { createInvariantMetrics } from '../../shared/runtime/invariant-metrics.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { aHomeJob, anAdmittedJob, TEST_RECORD_KEYS } from '../support/jobs.ts';
import { threadCpuMs } from './cpu-time.ts';
import { watchTurns } from './longest-turn.ts';
import { defineSuite } from './suite.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const FLAGS = {
  waiting: { value: 'N', fallback: '100000', about: 'Jobs that wait', parse: wholeNumber(0) },
  running: { value: 'N', fallback: '20000', about: 'Jobs that run', parse: wholeNumber(1) },
  clusters: { value: 'N', fallback: '100', about: 'worker clusters', parse: wholeNumber(1) },
  changing: { value: 'N', fallback: '2000', about: 'Jobs that change in each turn of five seconds', parse: wholeNumber(0) },
  turns: { value: 'N', fallback: '300', about: 'turns', parse: wholeNumber(2) },
} as const;

const TURN_MS = 5_000;
/** Of one core, in percent, and what others may be kept waiting, in processor time. */
const CPU_PERCENT_MAX = 3;
const AT_ONCE_MS_MAX = 50;

export const invariantsSuite = defineSuite(FLAGS, ({ waiting, running, clusters, changing, turns }) => async () => {
  const jobs = createObjectCache<Job>();
  const names = Array.from({ length: clusters }, (_, index) => `cluster-${index}`);
  const copies = new Map(names.map((name) => [name, createObjectCache<Job>({ key: (copy) => [keyOfObject(copy)] })]));
  for (let index = 0; index < waiting; index++) jobs.set(aHomeJob({ metadata: { name: `waits-${index}`, uid: `uid-waits-${index}` } }));
  for (let index = 0; index < running; index++) {
    const [name, uid, cluster] = [`runs-${index}`, `uid-runs-${index}`, `cluster-${index % clusters}`];
    const job = anAdmittedJob({ metadata: { name, uid } }, { cluster });
    jobs.set(job);
    copies.get(cluster)?.set(copyOf(job));
  }
  const clock = leapingClock();
  const metrics = createInvariantMetrics(new Registry());
  const charges: Account = { kind: 'Charges', held: parseRequests({ pods: '1' }) };
  const watch = createLiveInvariants({
    kind: JOB_KIND,
    jobs,
    homeHeardMs: () => clock.monotonic(),
    workerClusters: createObjectCache<WorkerCluster>(),
    readRecord: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND).read,
    accountOf: (key) => (key.includes('/runs-') ? charges : { kind: 'Waits' }),
    dispatch: {
      shown: () => new Set(names),
      shownCopies: (key) =>
        [...copies].flatMap(([cluster, cache]) =>
          cache
            .byIndex('key', key)
            .flatMap((job) => shownCopy(JOB_KIND, { cluster, job, deleting: false }, { contact: 'Ready', doubt: { kind: 'None' } }) ?? []),
        ),
      *copiedKeys() {
        for (const cache of copies.values()) yield* new Set(cache.list().map(keyOfObject));
      },
      placeOf: (key) => (key.includes('/runs-') ? `cluster-${Number(key.split('-')[1]) % clusters}` : undefined),
    },
    events: { event: () => undefined, flush: async () => undefined },
    metrics,
    patience: 1,
    clock,
    log: silentLogger,
  });
  const stop = new AbortController();
  const done = watch.run(stop.signal);
  const cpuTimes: number[] = [];
  const atOnce: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    for (let index = 0; index < changing; index++) watch.changed(`team/runs-${(turn * changing + index) % running}`);
    // To watch costs processor time, too, so every other turn is watched.
    const watched = turn % 2 === 0 ? watchTurns() : undefined;
    const begun = threadCpuMs();
    await clock.leap();
    if (watched === undefined) cpuTimes.push(threadCpuMs() - begun);
    else atOnce.push(await watched.longestMs());
  }
  stop.abort();
  await done;
  const cpuMs = cpuTimes.reduce((sum, each) => sum + each, 0) / cpuTimes.length;
  atOnce.sort((a, b) => a - b);
  const [usualMs, mostMs] = [0.5, 0.99].map((part) => atOnce[Math.floor(atOnce.length * part)] ?? 0) as [number, number];
  const percent = (cpuMs / TURN_MS) * 100;
  console.log(`${waiting} Jobs wait, ${running} run on ${clusters} clusters, ${changing} change in each turn`);
  console.log(
    `  processor time    ${cpuMs.toFixed(0)} ms a turn of 5 s, ${percent.toFixed(2)} % of a core, permitted: ${CPU_PERCENT_MAX} %`,
  );
  console.log(`  at once           p50 ${usualMs.toFixed(0)} ms, p99 ${mostMs.toFixed(0)} ms, permitted: ${AT_ONCE_MS_MAX}`);
  return percent <= CPU_PERCENT_MAX && mostMs <= AT_ONCE_MS_MAX;
});

const copyOf = (job: Job): Job => ({
  ...job,
  metadata: {
    ...job.metadata,
    uid: `copy-${job.metadata.uid}`,
    labels: { [ORIGIN_LABEL]: 'm1' },
    annotations: { [ORIGIN_UID_ANNOTATION]: job.metadata.uid, [DISPATCH_EPOCH_ANNOTATION]: '1' },
  },
  status: { active: 1, ready: 1 },
});

/** A clock on which the sleep between two turns is over when that is asked for. */
function leapingClock(): Clock & { leap(): Promise<void> } {
  let leaptMs = 0;
  let wake: (() => void) | undefined;
  let asleep = Promise.withResolvers<void>();
  return {
    now: () => systemClock.now() + leaptMs,
    monotonic: () => systemClock.monotonic() + leaptMs,
    schedule: (callback, delayMs) => {
      if (delayMs < TURN_MS) return systemClock.schedule(callback, delayMs);
      wake = callback;
      asleep.resolve();
      return { cancel: () => undefined };
    },
    /** Until it sleeps again. */
    async leap() {
      await asleep.promise;
      asleep = Promise.withResolvers();
      leaptMs += TURN_MS;
      wake?.();
      await asleep.promise;
    },
  };
}
