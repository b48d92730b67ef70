import { workerAnnotations, workerLeaseName } from '../../shared/api/fence-leases.ts';
import { WORKER_CONTROLLER_NAME, WORKER_LABEL } from '../../shared/api/names.ts';
import { LEASES } from '../../shared/api/resources.ts';
import { toWireMicroTime } from '../../shared/api/wire-time.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';

const RENEW_EVERY_MS = 10_000;

/** What tells a manager that a worker with such a fence lives on this cluster: its Lease, renewed until `stop` is called. */
export async function startWorkerPresence(
  client: KubeClient,
  clock: Clock,
  fenceAfterSeconds: number,
): Promise<{ readonly stop: () => void }> {
  const name = workerLeaseName(WORKER_CONTROLLER_NAME);
  const annotations = workerAnnotations({
    controllerName: WORKER_CONTROLLER_NAME,
    version: '1.0.0',
    fenceAfterSeconds,
    fenceToken: 'token',
    renewalsSeen: new Map(),
  });
  const spec = () => ({ holderIdentity: 'worker', leaseDurationSeconds: 40, renewTime: toWireMicroTime(clock.now()) });
  await client.create(LEASES, {
    metadata: { namespace: 'kube-system', name, labels: { [WORKER_LABEL]: 'true' }, annotations },
    spec: spec(),
  });
  let timer: Timer;
  let problem: unknown;
  const renewLater = (): void => {
    timer = clock.schedule(() => {
      client.patch(LEASES, { namespace: 'kube-system', name }, { type: 'merge', body: { spec: spec() } }).catch((error: unknown) => {
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
