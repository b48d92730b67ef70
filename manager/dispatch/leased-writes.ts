import type { ReadClient, StatusClient, WriteClient } from '../../shared/kube/client.ts';
import type { ClusterLease } from './cluster-lease.ts';
import { LeaseNotHeld } from './lease-not-held.ts';

export type LeasedClient = ReadClient & WriteClient & StatusClient;

/**
 * The one way to write on a worker cluster, but for the Lease itself: open while that is held, by our own clock. Asked at the moment of each write,
 * because what was decided a moment ago may be carried out by a program that stood still since. Throws {@link LeaseNotHeld}; nothing was sent then.
 */
export function leasedWrites(client: LeasedClient, lease: Pick<ClusterLease, 'isHeld'>): LeasedClient {
  const held = async <T>(write: () => Promise<T>): Promise<T> => {
    if (!lease.isHeld()) throw new LeaseNotHeld();
    return await write();
  };
  return {
    get: (...call) => client.get(...call),
    list: (...call) => client.list(...call),
    create: (...call) => held(() => client.create(...call)),
    replace: (...call) => held(() => client.replace(...call)),
    patch: (...call) => held(() => client.patch(...call)),
    delete: (...call) => held(() => client.delete(...call)),
    replaceStatus: (...call) => held(() => client.replaceStatus(...call)),
    patchStatus: (...call) => held(() => client.patchStatus(...call)),
  };
}
