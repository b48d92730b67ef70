/**
 * The life of one Job, from the user's manifest to the freed quota, with every program in this process and no time passing
 * but what the test lets pass. The numbers are those of docs/benchmarks.md.
 */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { activeAdmission } from '../../manager/api/records.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { createManager } from '../../manager/manager.ts';
import { prepareJob } from '../../manager/policy/prepare-job.ts';
import {
  DISPATCH_EPOCH_ANNOTATION,
  JOB_TRACKING_FINALIZER,
  MANAGER_CONTROLLER_NAME,
  ORIGIN_LABEL,
  ORIGIN_UID_ANNOTATION,
  QUEUE_NAME_LABEL,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, PODS, SECRETS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createCrds } from '../support/crds.ts';
import { BUILT_IN_SETTINGS, startCluster, startWorker } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const KEY = { namespace: 'team', name: 'sum' };

/** What a user would `kubectl apply`: two pods of one CPU that run for five seconds each. */
const MANIFEST = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { ...KEY, labels: { [QUEUE_NAME_LABEL]: 'main' } },
  spec: {
    completions: 2,
    parallelism: 2,
    ttlSecondsAfterFinished: 600,
    template: {
      metadata: { annotations: { 'switchyard.dev/simulate-duration': '5s' } },
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'busybox', command: ['sum'], resources: { requests: { cpu: '1' } } }],
      },
    },
  },
};

test('a Job goes out to a worker cluster, runs there, and its status comes home', async () => {
  const clock = new FakeClock();
  const home = await startCluster(clock);
  const east = await startCluster(clock, ['garbage-collector', 'namespace', 'node-agent'], 2);
  const worker = startWorker(east.plane, clock, { ...BUILT_IN_SETTINGS, controllerName: WORKER_CONTROLLER_NAME, controllers: ['job'] });

  // An administrator has set up one cluster and one queue of four CPUs.
  await createCrds(home.client);
  await clock.advance(100);
  for (const name of ['team', 'switchyard']) await home.client.create(NAMESPACES, { metadata: { name } });
  await home.client.create(SECRETS, {
    metadata: { name: 'east', namespace: 'switchyard' },
    data: { kubeconfig: btoa(kubeconfigFor({ url: 'https://east.test' }, 'a-token')) },
  });
  await home.client.create(WORKER_CLUSTERS, {
    metadata: { name: 'east' },
    spec: { kubeconfigSecretRef: { namespace: 'switchyard', name: 'east' }, namespaces: 'Create' },
  });
  await home.client.create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  const quota = { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '4' }] }] };
  await home.client.create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec: { namespaceSelector: {}, resourceGroups: [quota] } });
  await home.client.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: 'team' }, spec: { clusterQueue: 'main' } });
  const manager = createManager({
    client: home.client,
    connectCluster: () => createKubeClient(east.plane.transport(), { userAgent: 'switchyard-manager', clock }),
    recordKeySecret: { namespace: 'switchyard', name: 'record-key' },
    managerId: 'home',
    concurrentDispatches: 4,
    registry: new Registry(),
    clock,
    random: seededRandom(3),
    log: silentLogger,
  });
  const stopping = new AbortController();
  const managing = manager.run(stopping.signal);
  await clock.advance(3000);
  expect(manager.unreadiness()).toBeUndefined();

  // 1, 2. The Job is created: suspended, and the manager's own (the webhook and the submission consumer both do this).
  const prepared = prepareJob(JOB_KIND, MANIFEST);
  if (prepared.kind === 'Refused') throw new Error(prepared.problems.join());
  const created = await home.client.create(JOBS, prepared.job);
  expect(created.spec).toMatchObject({ suspend: true, managedBy: MANAGER_CONTROLLER_NAME });

  // 3, 4. It is queued and admitted: one record says which cluster and which quota, and the Job is no longer suspended.
  // 5. A copy is on that cluster, sanitised, and marked as ours.
  await clock.advance(500);
  const admitted = await home.client.get(JOBS, KEY);
  expect(activeAdmission(admitted, JOB_KIND)).toMatchObject({
    clusterQueue: 'main',
    cluster: 'east',
    epoch: 1,
    flavors: { cpu: 'default' },
  });
  const copy = await east.client.get(JOBS, KEY);
  expect(copy.metadata.labels).toMatchObject({ [ORIGIN_LABEL]: 'home' });
  expect(copy.metadata.annotations).toMatchObject({ [ORIGIN_UID_ANNOTATION]: created.metadata.uid, [DISPATCH_EPOCH_ANNOTATION]: '1' });
  expect(copy.spec).toMatchObject({ suspend: false, managedBy: WORKER_CONTROLLER_NAME });
  expect(copy.spec.ttlSecondsAfterFinished).toBeUndefined();

  // 6. The worker's Job controller runs it, with the tracking finalizer on every pod.
  await clock.advance(3000);
  const pods = (await east.client.list(PODS, { namespace: 'team' })).items;
  expect(pods.map(({ status }) => status?.phase)).toEqual(['Running', 'Running']);
  expect(pods.every(({ metadata }) => metadata.finalizers?.includes(JOB_TRACKING_FINALIZER))).toBe(true);

  // 7. Its status is home, as if it ran here.
  expect((await home.client.get(JOBS, KEY)).status).toMatchObject({ active: 2, ready: 2 });

  // 8. It completes: the final status is home before the copy goes, and the copy takes its pods along.
  await clock.advance(10_000);
  const finished = await home.client.get(JOBS, KEY);
  expect(finished.status).toMatchObject({ succeeded: 2, completionTime: expect.any(String) });
  expect(finished.status?.conditions?.filter(({ status }) => status === 'True').map(({ type }) => type)).toEqual(
    expect.arrayContaining(['QuotaReserved', 'SuccessCriteriaMet', 'Complete']),
  );
  await expect(east.client.get(JOBS, KEY)).rejects.toSatisfy(isNotFound);
  expect((await east.client.list(PODS, { namespace: 'team' })).items).toEqual([]);

  // 9. Its quota is free again.
  const queue = await home.client.get(CLUSTER_QUEUES, { namespace: '', name: 'main' });
  expect(queue.status).toMatchObject({ admittedWorkloads: 0, pendingWorkloads: 0 });

  stopping.abort(new Error('the story is over'));
  await clock.advance(5000);
  await Promise.all([managing, worker.stop(), clock.advance(5000)]);
  await home.plane.close();
  await east.plane.close();
});
