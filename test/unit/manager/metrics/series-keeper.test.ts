/** Goal: a process that runs for a year has no more series than there are queues and clusters. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createManagerMetrics } from '../../../../manager/metrics/metrics.ts';
import { createSeriesKeeper } from '../../../../manager/metrics/series-keeper.ts';
import type { KubeObject, ObjectKey } from '../../../../shared/api/kubernetes.ts';
import type { EventHandler } from '../../../../shared/kube/informer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** Objects that come and go by name. */
function aCrowd() {
  const handlers: EventHandler<KubeObject>[] = [];
  const there = new Map<string, KubeObject>();
  const keyOf = ({ namespace = '', name }: { namespace?: string | undefined; name: string }): string => `${namespace}/${name}`;
  return {
    addHandler: (handler: EventHandler<KubeObject>) => void handlers.push(handler),
    get: (key: ObjectKey) => there.get(keyOf(key)),
    come(name: string, namespace = '') {
      const object = { metadata: { name, namespace } } as KubeObject;
      there.set(keyOf({ name, namespace }), object);
      for (const handler of handlers) handler.added?.(object, false);
    },
    go(name: string, namespace = '') {
      const object = there.get(keyOf({ name, namespace }));
      there.delete(keyOf({ name, namespace }));
      if (object !== undefined) for (const handler of handlers) handler.deleted?.(object, false);
    },
  };
}

test('ten thousand queues and a thousand clusters come, are counted of and go, and no more series are left than of the last ones', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const metrics = createManagerMetrics(registry, clock);
  const [workerClusters, clusterQueues, submissionQueues] = [aCrowd(), aCrowd(), aCrowd()];
  const keeper = createSeriesKeeper({ registry, metrics, workerClusters, clusterQueues, submissionQueues, kinds: ['Job'], clock });
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  const seriesOf = async (): Promise<number> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  const { admission, dispatch, submission } = metrics;
  const serve = (cluster_queue: string, cluster: string): void => {
    admission.admitted.inc({ cluster_queue, cluster });
    admission.waitTime.observe({ cluster_queue }, 1);
    admission.runTime.observe({ cluster_queue, outcome: 'Complete' }, 1);
    admission.finished.inc({ cluster_queue, result: 'Complete' });
    admission.evicted.inc({ cluster_queue, reason: 'Preempted' });
    admission.preempted.inc({ preempting_cluster_queue: cluster_queue, cluster_queue: 'main', reason: 'InClusterQueue' });
    dispatch.dispatched.inc({ cluster_queue, cluster });
    dispatch.dispatchDuration.observe({ cluster }, 1);
    submission.queueSubmissions.inc({ queue: `team/${cluster_queue}`, result: 'accepted' });
  };
  clusterQueues.come('main');
  workerClusters.come('east');
  serve('main', 'east');
  submissionQueues.come('main', 'team');
  const atRest = await seriesOf();
  let most = 0;
  for (let round = 0; round < 10; round++) {
    for (let each = 0; each < 1_000; each++) {
      const [queue, cluster] = [`queue-${round}-${each}`, `cluster-${round}-${each % 100}`];
      if (each < 100) workerClusters.come(cluster);
      clusterQueues.come(queue);
      submissionQueues.come(queue, 'team');
      serve(queue, cluster);
      clusterQueues.go(queue);
      submissionQueues.go(queue, 'team');
      // The last of its Jobs ends.
      admission.finished.inc({ cluster_queue: queue, result: 'Deleted' });
    }
    for (let each = 0; each < 100; each++) workerClusters.go(`cluster-${round}-${each}`);
    most = Math.max(
      most,
      (await registry.getMetricsAsJSON()).reduce((sum, { values }) => sum + values.length, 0),
    );
    await clock.advance(301_000);
    expect(await seriesOf()).toBe(atRest);
  }
  // Of one round, not of all of them.
  expect(most).toBeLessThan(1.2 * 1_000 * 65);
  stop.abort();
  await running;
});

test('who comes again under its name in time keeps its counts, and a program that ends waits for nothing', async () => {
  const clock = new FakeClock();
  const registry = new Registry();
  const metrics = createManagerMetrics(registry, clock);
  const [workerClusters, clusterQueues, submissionQueues] = [aCrowd(), aCrowd(), aCrowd()];
  const keeper = createSeriesKeeper({ registry, metrics, workerClusters, clusterQueues, submissionQueues, kinds: ['Job'], clock });
  const stop = new AbortController();
  const running = keeper.run(stop.signal);
  clusterQueues.come('main');
  metrics.admission.finished.inc({ cluster_queue: 'main', result: 'Complete', kind: 'Job' }, 7);
  clusterQueues.go('main');
  clusterQueues.come('main');
  metrics.dispatch.watchRestarts.inc({ cluster: 'home', resource: 'jobs' });
  metrics.submission.queueSubmissions.inc({ queue: 'shared', result: 'accepted' });
  await clock.advance(301_000);
  const text = await registry.metrics();
  expect(text).toContain('switchyard_finished_workloads_total{cluster_queue="main",result="Complete",kind="Job"} 7');
  expect(text).toContain('switchyard_watch_restarts_total{cluster="home",resource="jobs"} 1');
  expect(text).toContain('switchyard_submission_queue_submissions_total{queue="shared",result="accepted"} 1');
  stop.abort();
  await running;
  clusterQueues.go('main');
  await clock.advance(301_000);
  expect(await registry.metrics()).toContain('cluster_queue="main"');
});
