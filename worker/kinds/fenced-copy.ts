/**
 * Steps of the worker with a copy of a kind beside Jobs. The operator of its kind runs it, and knows nothing of managers: so while the
 * manager is out of reach the copy is suspended, and pods that are still there after {@link OPERATOR_GRACE_MS} are deleted, whatever the
 * operator does. Who has suspended it is marked on the copy: what a manager or a user has suspended is never resumed here.
 */
import { OPERATOR_GRACE_MS } from '../../shared/api/fenced-kinds.ts';
import type { FenceState } from '../fence/origin-fence.ts';

export type FencedCopy = {
  readonly fence: FenceState;
  readonly suspended: boolean;
  /** The worker has suspended it. */
  readonly marked: boolean;
  readonly deleting: boolean;
  /** Since when its fence is known to be tripped, on the clock's `monotonic`; undefined: it is not. */
  readonly stoppedSinceMs: number | undefined;
  /** Number of its pods that have not ended. */
  readonly pods: number;
};

export type FencedCopyStep =
  | { readonly kind: 'Nothing' }
  /** `isLate`: its operator has had its time. */
  | { readonly kind: 'Suspend'; readonly isLate: boolean }
  /** Looks again after so long: its operator has time to stop it. */
  | { readonly kind: 'Wait'; readonly forMs: number }
  | { readonly kind: 'DeletePods' }
  | { readonly kind: 'Resume' };

const NOTHING: FencedCopyStep = { kind: 'Nothing' };

export function decideFencedCopy(copy: FencedCopy, nowMs: number): FencedCopyStep {
  const { fence, suspended, marked, deleting, stoppedSinceMs = nowMs, pods } = copy;
  if (fence === 'Hold') return NOTHING;
  // Pods hold what was reserved for the copy until they have ended; the end of each is another look.
  if (fence === 'Open') return marked && !deleting && pods === 0 ? { kind: 'Resume' } : NOTHING;
  const forMs = stoppedSinceMs + OPERATOR_GRACE_MS - nowMs;
  if (!suspended && !deleting) return { kind: 'Suspend', isLate: forMs <= 0 };
  if (forMs > 0) return { kind: 'Wait', forMs };
  return pods === 0 ? NOTHING : { kind: 'DeletePods' };
}
