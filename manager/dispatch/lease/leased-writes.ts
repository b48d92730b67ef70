import type { ReadClient, StatusClient, WriteClient } from '../../../shared/kube/client.ts';
import type { LeaseHold } from '../../../shared/kube/lease-hold.ts';
import { type WriteCall, writesAround } from '../../../shared/kube/writes-around.ts';
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
  const held = async <O extends WriteCall, T>(options: O | undefined, write: (options: O & WriteCall) => Promise<T>): Promise<T> => {
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
    ...writesAround(client, held),
  };
}
