import type { ReadClient, StatusClient, WriteClient } from '../../../shared/kube/client.ts';
import type { LeaseHold } from '../../../shared/kube/lease-hold.ts';
import type { ClusterLease } from './cluster-lease.ts';
import { LeaseNotHeld } from '../cluster/lease-not-held.ts';

export type LeasedClient = ReadClient & WriteClient & StatusClient;

/**
 * The only client that writes on a worker cluster, except for the Lease itself. Writes pass while the Lease is held by the clock of this
 * manager. The Lease is checked when a write is called and again when it is sent, because a paused process may send a decision late. Throws
 * {@link LeaseNotHeld}; no request was sent then. With `hold` writes also wait while leadership of this manager is unconfirmed. Writes of
 * the Lease do not wait: its holder is decided there.
 */
export function leasedWrites(client: LeasedClient, lease: Pick<ClusterLease, 'isHeld'>, hold?: LeaseHold): LeasedClient {
  const check = (): void => {
    if (!lease.isHeld()) throw new LeaseNotHeld();
  };
  const held = async <O extends Sent, T>(options: O | undefined, write: (options: O & Sent) => Promise<T>): Promise<T> => {
    check();
    const given = options ?? ({} as O);
    await hold?.writable(given.signal);
    return await write({
      ...given,
      async beforeSend() {
        await hold?.writable(given.signal);
        check();
      },
    });
  };
  return {
    get: (...call) => client.get(...call),
    list: (...call) => client.list(...call),
    create: (resource, object, options) => held(options, (each) => client.create(resource, object, each)),
    replace: (resource, object, options) => held(options, (each) => client.replace(resource, object, each)),
    patch: (resource, key, patch, options) => held(options, (each) => client.patch(resource, key, patch, each)),
    delete: (resource, key, options) => held(options, (each) => client.delete(resource, key, each)),
    replaceStatus: (resource, object, options) => held(options, (each) => client.replaceStatus(resource, object, each)),
    patchStatus: (resource, key, patch, options) => held(options, (each) => client.patchStatus(resource, key, patch, each)),
  };
}

type Sent = { readonly signal?: AbortSignal; readonly beforeSend?: () => Promise<void> };
