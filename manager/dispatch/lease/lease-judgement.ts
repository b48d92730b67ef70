import type { OriginHolder } from '../../../shared/api/fence-leases.ts';

/** The Lease of our origin on a worker cluster, as it was last read. Whoever may write there may have written anything into it. */
export type KnownLease = {
  /** undefined: somebody who is no manager, or nobody. */
  readonly holder: OriginHolder | undefined;
  /** Nobody holds it: its holder has let go of it. */
  readonly released: boolean;
  /** For how long we have seen no change of it, in milliseconds of a clock that does not step. */
  readonly unchangedMs: number;
  /** Who has not renewed it for so long has given it up. */
  readonly durationMs: number;
};
export type LeaseStep = 'Create' | 'Renew' | 'TakeOver' | 'Refuse';

/**
 * What to do about the Lease without which nothing is done on a cluster. Of all that call themselves by one id, one may write there. In order:
 *
 * 1. There is none: it is made.
 * 2. It is ours: it is renewed.
 * 3. It was let go of, or its holder has not renewed it for its duration, as we have seen with our own clock: it is taken over.
 * 4. A leader of our own home cluster has it: that one has been followed by us, and it is taken over. But not if we have had it before: then
 *    somebody has followed us, or a clone of our home cluster runs, and we stand back.
 * 5. Somebody else has it: we stand back.
 */
export function judgeLease(lease: KnownLease | undefined, us: OriginHolder, hadBefore: boolean): LeaseStep {
  if (lease === undefined) return 'Create'; // 1
  const { holder, released, unchangedMs, durationMs } = lease;
  if (!released && holder?.homeUid === us.homeUid && holder.instance === us.instance) return 'Renew'; // 2
  if (released || unchangedMs >= durationMs) return 'TakeOver'; // 3
  return holder?.homeUid === us.homeUid && !hadBefore ? 'TakeOver' : 'Refuse'; // 4, 5
}
