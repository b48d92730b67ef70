import type { OriginHolder } from '../../../shared/api/fence-leases.ts';

/** The Lease of this manager's id on a worker cluster, as last read. Any user with write access there can have changed it. */
export type KnownLease = {
  /** undefined: the holder identity names no manager, or is empty. */
  readonly holder: OriginHolder | undefined;
  /** The Lease has no holder: the last holder released it. */
  readonly released: boolean;
  /** Milliseconds since the last observed change of the Lease, on the monotonic clock. */
  readonly unchangedMs: number;
  /** A holder that does not renew the Lease for this long has lost it. */
  readonly durationMs: number;
};
export type LeaseStep = 'Create' | 'Renew' | 'TakeOver' | 'Refuse';

/**
 * Decides what to do about the Lease that guards all writes to a worker cluster. Of all managers with one id, a single one may write there.
 * In order:
 *
 * 1. There is no Lease: create it.
 * 2. This manager holds the Lease: renew it.
 * 3. The Lease was released, or its holder has not renewed it for its duration by the clock of this manager: take it over.
 * 4. A leader of the same home cluster holds the Lease: this manager is its successor, and takes it over. Not if this term has held the
 *    Lease before: then a successor of this manager, or a clone of its home cluster, runs, and this manager stands back.
 * 5. Any other holder: stand back.
 */
export function judgeLease(lease: KnownLease | undefined, us: OriginHolder, hadBefore: boolean): LeaseStep {
  if (lease === undefined) return 'Create'; // 1
  const { holder, released, unchangedMs, durationMs } = lease;
  if (!released && holder?.homeUid === us.homeUid && holder.instance === us.instance) return 'Renew'; // 2
  if (released || unchangedMs >= durationMs) return 'TakeOver'; // 3
  return holder?.homeUid === us.homeUid && !hadBefore ? 'TakeOver' : 'Refuse'; // 4, 5
}
