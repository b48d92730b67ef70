import type { Job, Pod } from '../../shared/api/kubernetes.ts';
import { JOB_TRACKING_FINALIZER } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { inParallel } from '../../worker/in-parallel.ts';

const NAMESPACE = 'floor';
const LANES = 16;

/** Does what is measured, and takes the processor time that it costs. */
export type Stopwatch = (work: () => Promise<unknown>) => Promise<void>;

/**
 * Jobs a second of a loop that makes the writes of a one-pod Job's whole way and nothing else: no watch, no decision, no
 * waiting for anything but the answers. What manager, worker, kubelet and user write is all in here. As many as `warmUp` come first, and
 * are not counted.
 */
export async function measureFloor(
  home: KubeClient,
  workers: readonly KubeClient[],
  { warmUp, jobs, measured }: { readonly warmUp: number; readonly jobs: number; readonly measured: Stopwatch },
): Promise<number> {
  for (const client of [home, ...workers]) await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  const write = (name: string, count: number): Promise<unknown> =>
    inParallel(
      Array.from({ length: count }, (_, index) => index),
      LANES,
      async (index) => {
        const worker = workers[index % workers.length];
        if (worker !== undefined) await writeOneJob(home, worker, `${name}-${index}`);
      },
    );
  await write('warm-up', warmUp);
  const startedMs = performance.now();
  await measured(() => write('floor', jobs));
  return jobs / ((performance.now() - startedMs) / 1000);
}

async function writeOneJob(home: KubeClient, worker: KubeClient, name: string): Promise<void> {
  const key = { namespace: NAMESPACE, name };
  const status = (client: KubeClient, body: object) => client.patchStatus(JOBS, key, { type: 'merge', body: { status: body } });
  const started = { startTime: '2026-01-01T00:00:00Z', active: 1, ready: 0 };
  const counting = { active: 0, uncountedTerminatedPods: { succeeded: ['pod'] }, conditions: [condition('SuccessCriteriaMet')] };
  const complete = {
    active: 0,
    succeeded: 1,
    uncountedTerminatedPods: { succeeded: null },
    startTime: '2026-01-01T00:00:00Z',
    completionTime: '2026-01-01T00:00:01Z',
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  };
  // The user, admission, dispatch.
  await home.create(JOBS, aJob(name, true));
  await home.patch(JOBS, key, {
    type: 'merge',
    body: { metadata: { annotations: { record: 'x'.repeat(120) } }, spec: { suspend: false } },
  });
  await worker.create(JOBS, aJob(name, false));
  // The Job controller, with the kubelet's write among its own.
  await worker.create(PODS, aPod(name));
  await status(worker, started);
  await worker.patchStatus(PODS, key, { type: 'merge', body: { status: { phase: 'Succeeded' } } });
  await status(worker, counting);
  await worker.patch(PODS, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  await status(worker, complete);
  // Status home, twice, and the copy goes.
  await status(home, started);
  await status(home, complete);
  await worker.delete(JOBS, key, { propagationPolicy: 'Background' });
}

const condition = (type: string): object => ({
  type,
  status: 'True',
  reason: 'CompletionsReached',
  message: 'Reached expected number of succeeded pods',
});

const POD_SPEC = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] };

const aJob = (name: string, suspend: boolean): Job =>
  ({
    metadata: { namespace: NAMESPACE, name },
    spec: { suspend, managedBy: 'example.com/nobody', template: { spec: POD_SPEC } },
  }) as unknown as Job;

const aPod = (name: string): Pod =>
  ({ metadata: { namespace: NAMESPACE, name, finalizers: [JOB_TRACKING_FINALIZER] }, spec: POD_SPEC }) as unknown as Pod;
