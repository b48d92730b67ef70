import { awaitsDependents, FOREGROUND_FINALIZER, type GraphObject, ORPHAN_FINALIZER } from './owner-graph.ts';

/**
 * What is known of one owner: there, gone, or there and waiting for its dependents to go. A namespaced owner of a cluster-scoped object
 * cannot be looked for.
 */
export type OwnerState = 'solid' | 'absent' | 'awaiting-dependents' | 'misplaced';

/** What becomes of an object with owners. */
export type Fate =
  | { readonly kind: 'keep' }
  /** Drop the references to these owners. */
  | { readonly kind: 'detach'; readonly ownerUids: readonly string[] }
  | {
      readonly kind: 'delete';
      readonly policy: 'Background' | 'Foreground' | 'Orphan';
      /** The object's references must stop blocking first: its own dependents wait for it in a circle. */
      readonly unblockFirst: boolean;
    };

/** The garbage collector's rule (attemptToDeleteItem). `states` has one entry per owner reference, in order. */
export function decideFate(object: GraphObject, states: readonly OwnerState[], dependents: readonly GraphObject[]): Fate {
  // 0. A mistake of its author decides nothing.
  if (states.includes('misplaced')) return { kind: 'keep' };
  const inState = (state: OwnerState): string[] =>
    object.owners.flatMap((owner, index) => ((states[index] ?? 'solid') === state ? [owner.uid] : []));
  const awaiting = inState('awaiting-dependents');
  const lost = [...inState('absent'), ...awaiting];
  // 1. Nobody it belongs to is gone or going.
  if (lost.length === 0) return { kind: 'keep' };
  // 2. Somebody still needs it. A reference to a waiting owner must go too, or that owner would wait for ever.
  if (inState('solid').length > 0) return { kind: 'detach', ownerUids: lost };
  // 3. An owner waits for it, and it has dependents itself: they go before it.
  if (awaiting.length > 0 && dependents.length > 0) {
    return { kind: 'delete', policy: 'Foreground', unblockFirst: dependents.some(awaitsDependents) };
  }
  // 4. It goes, in the manner that somebody may have asked for already.
  return { kind: 'delete', policy: requestedPolicy(object), unblockFirst: false };
}

function requestedPolicy({ finalizers }: GraphObject): 'Background' | 'Foreground' | 'Orphan' {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}
