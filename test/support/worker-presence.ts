import { workerAnnotations, workerLeaseName, type WorkerAnnouncement } from '../../shared/api/fence-leases.ts';
import type { Lease, ObjectKey } from '../../shared/api/kubernetes.ts';
import { WORKER_CONTROLLER_NAME, WORKER_LABEL } from '../../shared/api/names.ts';
import { LEASES } from '../../shared/api/resources.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import { isAlreadyExists } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

const RENEW_EVERY_MS = 10_000;
const leaseOf = (controllerName = WORKER_CONTROLLER_NAME): ObjectKey => ({
  namespace: 'kube-system',
  name: workerLeaseName(controllerName),
});
/** The longest that a manager believes. */
const LIFE_SECONDS = 3600;
const REANNOUNCE_MS = 1_800_000;

/** Writes the Lease of a worker, whether there is one or not. */
export async function writeWorkerLease(
  client: KubeClient,
  announcement: Partial<WorkerAnnouncement>,
  spec: NonNullable<Lease['spec']>,
  namespace = 'kube-system',
): Promise<void> {
  const annotations = workerAnnotations({
    controllerName: WORKER_CONTROLLER_NAME,
    version: '1.0.0',
    fenceAfterSeconds: 0,
    fenceToken: 'token',
    fencedKinds: [],
    renewalsSeen: new Map(),
    ...announcement,
  });
  const body = { metadata: { ...leaseOf(announcement.controllerName), namespace, labels: { [WORKER_LABEL]: 'true' }, annotations }, spec };
  try {
    await client.create(LEASES, body);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await client.patch(LEASES, { ...leaseOf(announcement.controllerName), namespace }, { type: 'merge', body });
  }
}

/**
 * A worker without a fence has announced itself on this cluster, and is there until somebody else writes its Lease, or `stop` is called.
 */
export async function announceWorker(
  client: KubeClient,
  clock: Clock,
  controllerName = WORKER_CONTROLLER_NAME,
  namespace = 'kube-system',
): Promise<{ readonly stop: () => void }> {
  const { name } = leaseOf(controllerName);
  const announce = (): Promise<void> =>
    writeWorkerLease(
      client,
      { controllerName },
      { holderIdentity: 'worker', leaseDurationSeconds: LIFE_SECONDS, renewTime: toWireMicroTime(clock.now()) },
      namespace,
    );
  await announce();
  let timer: Timer;
  const again = async (): Promise<void> => {
    const { items } = await client.list(LEASES, { namespace });
    const isOurs = items.some(({ metadata, spec }) => metadata.name === name && spec?.leaseDurationSeconds === LIFE_SECONDS);
    if (isOurs) await announce();
  };
  const later = (): void => {
    timer = clock.schedule(() => {
      later();
      void again();
    }, REANNOUNCE_MS);
  };
  later();
  return { stop: () => timer.cancel() };
}

export const withoutWorkerLease = (client: KubeClient): Promise<unknown> => client.delete(LEASES, leaseOf());

/** What tells a manager that a worker with such a fence lives on this cluster: its Lease, renewed until `stop` is called. */
export async function startWorkerPresence(
  client: KubeClient,
  clock: Clock,
  fenceAfterSeconds: number,
): Promise<{ readonly stop: () => void }> {
  const spec = () => ({ holderIdentity: 'worker', leaseDurationSeconds: 40, renewTime: toWireMicroTime(clock.now()) });
  await writeWorkerLease(client, { fenceAfterSeconds }, spec());
  let timer: Timer;
  let problem: unknown;
  const renewLater = (): void => {
    timer = clock.schedule(() => {
      client.patch(LEASES, leaseOf(), { type: 'merge', body: { spec: spec() } }).catch((error: unknown) => {
        problem ??= error;
      });
      renewLater();
    }, RENEW_EVERY_MS);
  };
  renewLater();
  return {
    stop: () => {
      timer.cancel();
      if (problem !== undefined) throw new Error('the Lease of the worker could not be renewed', { cause: problem });
    },
  };
}
