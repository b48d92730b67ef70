import { originLeaseName, readWorkerAnnouncement, workerLeaseName } from '../../../../shared/api/fence-leases.ts';
import type { Job, JobSpec, Lease, Pod } from '../../../../shared/api/kubernetes.ts';
import { JOBS, LEASES } from '../../../../shared/api/resources.ts';
import { toWireMicroTime } from '../../../../shared/api/wire-time.ts';
import type { World } from '../worker-world.ts';

export const CONTROLLER = 'switchyard.dev/worker';
export const FENCE = { fenceAfterMs: 60_000, leaseNamespace: 'kube-system' };
export const BERLIN = 'berlin';

/** Copies of managers on a worker's cluster, and what their managers do there. */
export function fenceScene(current: () => World) {
  const workerLease = (namespace = 'kube-system'): Promise<Lease> =>
    current().admin.get(LEASES, { namespace, name: workerLeaseName(CONTROLLER) });
  const announced = async (namespace?: string) => readWorkerAnnouncement(await workerLease(namespace));
  const token = async (namespace?: string): Promise<string> => (await announced(namespace))?.fenceToken ?? '';

  /** The manager of this origin renews its Lease, and answers the worker's token of this moment, or what it is told to. */
  async function renew(origin = BERLIN, answer?: string, namespace = 'kube-system'): Promise<void> {
    const annotations = { 'switchyard.dev/reconciled': answer ?? (await token(namespace)) };
    const spec = { holderIdentity: 'home_1', renewTime: toWireMicroTime(current().clock.now()), leaseDurationSeconds: 40 };
    const metadata = { namespace, name: originLeaseName(origin), labels: { 'switchyard.dev/origin': origin }, annotations };
    await current().admin.patch(
      LEASES,
      metadata,
      { type: 'apply', body: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, force: true },
      { fieldManager: 'manager' },
    );
  }

  /** Its manager is in contact for so long. */
  async function inContact(seconds: number, origin = BERLIN, namespace?: string): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 5) {
      await renew(origin, undefined, namespace);
      await current().clock.advance(5_000);
    }
  }

  const aCopy = (name: string, spec: Partial<JobSpec> = {}, metadata: Partial<Job['metadata']> = {}): Promise<Job> =>
    current().admin.create(JOBS, {
      metadata: { namespace: 'ns', labels: { 'switchyard.dev/origin': BERLIN }, ...metadata, name },
      spec: {
        managedBy: CONTROLLER,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] } },
        ...spec,
      },
    });
  const podsOf = async (name: string): Promise<Pod[]> =>
    (await current().pods()).filter(({ metadata }) => metadata.labels?.['job-name'] === name && metadata.deletionTimestamp === undefined);
  const running = async (name: string): Promise<number> =>
    (await podsOf(name)).filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed').length;
  const told = async (name: string): Promise<string[]> =>
    ((await current().status(name)).conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

  return { workerLease, announced, token, renew, inContact, aCopy, podsOf, running, told };
}
