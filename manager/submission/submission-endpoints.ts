import type { Informer } from '../../shared/kube/informer.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import type { SubmissionPort } from '../api/submission-port.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import { signCaller, signCanceller } from './caller-signature.ts';
import type { SignCaller } from './open-submission-port.ts';
import { tenantsOf } from './tenants.ts';
import type { Tenant, TenantRules } from './tenant.ts';

type OpenPort = SubmissionPort & { close(): Promise<void> };

export type SubmissionEndpointsDeps = {
  readonly shared: Tenant | undefined;
  readonly objects: Pick<Informer<SubmissionQueueObject>, 'addHandler' | 'list'>;
  readonly open: (tenant: Tenant, sign: SignCaller) => OpenPort;
  /** Seal who submits. */
  readonly keys: Promise<RecordKeys>;
  readonly tenantRules: TenantRules;
  readonly log: Logger;
};

/** The doors of the SubmissionQueues that are served, opened when somebody first comes. Every replica has its own. */
export interface SubmissionEndpoints {
  of(namespace: string, queue: string): SubmissionPort | undefined;
  close(): Promise<void>;
}

/** Call before the informer runs. */
export function createSubmissionEndpoints({ shared, objects, open, keys, tenantRules, log }: SubmissionEndpointsDeps): SubmissionEndpoints {
  const doors = new Map<string, OpenPort>();
  /** By `namespace/name`; undefined while nobody has asked since they changed. */
  let served: ReadonlyMap<string, Tenant> | undefined;
  const leave = (id: string): void => {
    const door = doors.get(id);
    doors.delete(id);
    door?.close().catch((error: unknown) => log.warn('a queue could not be closed', { error }));
  };
  const changed = (): void => {
    served = undefined;
  };
  objects.addHandler({ added: changed, updated: changed, deleted: (object) => (changed(), leave(object.metadata.uid)) });
  return {
    of(namespace, queue) {
      served ??= new Map(
        tenantsOf(shared, objects.list(), tenantRules)
          .tenants.filter((tenant) => tenant !== shared)
          .map((tenant) => [tenant.label, tenant]),
      );
      const tenant = served.get(`${namespace}/${queue}`);
      if (tenant === undefined) return undefined;
      // Prefix and queue of an object cannot be changed.
      const of = { tenant: tenant.id };
      const sign: SignCaller = {
        submitted: async (key, data, user) => signCaller(await keys, { ...of, key, data }, user),
        cancelled: async (key, submittedAt, user) => signCanceller(await keys, { ...of, key, submittedAt }, user),
      };
      const door = doors.get(tenant.id) ?? open(tenant, sign);
      doors.set(tenant.id, door);
      return door;
    },
    close: async () => void (await Promise.allSettled([...doors.values()].map((door) => door.close()))),
  };
}
