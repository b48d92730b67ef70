/** Goal: what is kept up as Workloads come and go is what counting them anew would find. Method: random histories of Jobs, seeded. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { createAdmissionRetries } from '../../../../../manager/admission/snapshot/admission-retries.ts';
import { createJobWatcher } from '../../../../../manager/admission/controllers/job-watcher.ts';
import { createPendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { NO_PRIORITY_CLASSES } from '../../../../../manager/admission/workload/priority.ts';
import { createQueueCounts, namedQueueOf } from '../../../../../manager/admission/cache/queue-counts.ts';
import { countsOf } from '../../../../../manager/admission/controllers/admission-state.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { workloadOf } from '../../../../../manager/admission/workload/workload.ts';
import { createRecordKeeper } from '../../../../../manager/api/record-keeper.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { QUEUE_NAME_LABEL } from '../../../../../shared/api/names.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { aCondition, aHomeJob, anAdmittedJob, aRecord, recordOn, TEST_RECORD_KEYS } from '../../../../support/jobs.ts';
import { aClusterQueue, objects } from '../setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const localQueue = (name: string, clusterQueue: string) => ({
  metadata: { name, namespace: 'team', uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { clusterQueue },
});
const setup = buildQueueingSetup(
  objects({
    localQueues: [localQueue('a', 'cq'), localQueue('b', 'cq'), localQueue('c', 'other')],
    clusterQueues: [aClusterQueue('cq', { default: '9' }), aClusterQueue('other', { default: '9' })],
  }),
);

test('a queue that nobody is in any more is not counted', () => {
  const counts = createQueueCounts();
  counts.replace(undefined, 'a');
  counts.replace(undefined, 'a');
  counts.replace('a', 'b');
  counts.replace('b', 'b');
  expect([...counts.all()]).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  counts.replace('a', undefined);
  expect([...counts.all().keys()]).toEqual(['b']);
  expect(namedQueueOf({ namespace: 'team', queue: undefined })).toBeUndefined();
});

test.each([1, 2, 3, 4, 5])('whatever becomes of Jobs, the counts are those of counting anew (seed %i)', (seed) => {
  const random = seededRandom(seed);
  const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const cache = createAdmissionCache(setup);
  const watcher = createJobWatcher({
    kind: JOB_KIND,
    cache,
    queues: createPendingQueues(),
    retries: createAdmissionRetries(),
    readRecord: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND).read,
    priorityClasses: () => NO_PRIORITY_CLASSES,
    metrics: createManagerMetrics(new Registry()).admission,
    now: () => Date.parse('2026-01-01T00:01:00Z'),
    wakeScheduler: () => undefined,
  });
  const jobs = new Map<string, Job>();
  let version = 10;
  const parts = (name: string) => ({
    name,
    uid: `uid-${name}`,
    resourceVersion: `${version++}`,
    labels: random() < 0.1 ? {} : { [QUEUE_NAME_LABEL]: among(['a', 'b', 'c', 'nowhere']) },
  });
  const steps: ((name: string) => void)[] = [
    (name) => see(aHomeJob({ metadata: parts(name) })),
    (name) => see(anAdmittedJob({ metadata: parts(name) })),
    (name) => see(anAdmittedJob({ metadata: parts(name), status: { conditions: [aCondition('Complete')] } })),
    (name) => {
      const job = jobs.get(name);
      const workload = job && workloadOf(JOB_KIND, job, recordOn(job));
      if (workload === undefined || !watcher.isPending(workload.key) || cache.get(workload.key) !== undefined) return;
      cache.assume(workload, aRecord({ clusterQueue: among(['cq', 'other']) }));
    },
    (name) => {
      const reservation = cache.get(`team/${name}`);
      if (reservation?.assumed === true) watcher.giveUp(reservation, { reason: 'AdmissionRefused', message: 'no' });
    },
    (name) => {
      const job = jobs.get(name);
      if (job !== undefined) watcher.deleted(job);
      jobs.delete(name);
    },
    () => {
      watcher.requeue();
      watcher.continueVisits(() => random() < 0.5);
    },
  ];
  const see = (job: Job): void => {
    jobs.set(job.metadata.name, job);
    watcher.updated(job);
  };
  for (let step = 0; step < 400; step++) {
    among(steps)(`job-${Math.floor(random() * 12)}`);
    expect(countsOf({ cache, watcher }, setup)).toEqual(countedAnew());
  }

  function countedAnew() {
    const counts = { clusterQueues: new Map<string, object>(), localQueues: new Map<string, object>() };
    const count = (into: Map<string, object>, key: string | undefined, what: 'pending' | 'admitted'): void => {
      if (key === undefined) return;
      const before = { pending: 0, admitted: 0, ...into.get(key) };
      into.set(key, { ...before, [what]: before[what] + 1 });
    };
    for (const workload of watcher.pending()) {
      if (cache.get(workload.key) !== undefined) continue;
      const local = namedQueueOf(workload);
      count(counts.localQueues, local, 'pending');
      count(counts.clusterQueues, setup.localQueues.get(local ?? '')?.clusterQueue, 'pending');
    }
    for (const { workload, record } of cache.reservations()) {
      count(counts.localQueues, namedQueueOf(workload), 'admitted');
      count(counts.clusterQueues, record.clusterQueue, 'admitted');
    }
    return counts;
  }
});
