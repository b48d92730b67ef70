import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { Reservation } from '../workload/reservation.ts';

/** When something of Workloads must have happened, in epoch milliseconds. Each is looked at when it changes and when its time has come, and never in between. */
export interface Deadlines<D extends Due> {
  /** Replaces what is known of a reservation. */
  watch(reservation: Reservation): void;
  forget(key: string): void;
  /** Those whose time is over, and when that of the next one is. */
  overdue(nowMs: number): { readonly found: readonly Overdue<D>[]; readonly nextMs: number | undefined };
}

export type Due = { readonly dueMs: number };
export type Overdue<D extends Due> = { readonly reservation: Reservation; readonly due: D };

/** `dueOf` says when the time of a reservation is over; undefined when nobody asks. */
export function createDeadlines<D extends Due>(dueOf: (reservation: Reservation) => D | undefined): Deadlines<D> {
  const deadlines = new IndexedHeap<Overdue<D>>(
    ({ reservation }) => reservation.workload.key,
    (a, b) => a.due.dueMs - b.due.dueMs,
  );
  return {
    watch: (reservation) => {
      const due = dueOf(reservation);
      if (due === undefined) deadlines.delete(reservation.workload.key);
      else deadlines.set({ reservation, due });
    },
    forget: (key) => void deadlines.delete(key),
    overdue: (nowMs) => {
      const found: Overdue<D>[] = [];
      for (let first = deadlines.peek(); first !== undefined && first.due.dueMs <= nowMs; first = deadlines.peek()) {
        found.push(first);
        deadlines.delete(first.reservation.workload.key);
      }
      const nextMs = deadlines.peek()?.due.dueMs;
      // Until it is seen to be evicted it is overdue.
      for (const each of found) deadlines.set(each);
      return { found, nextMs };
    },
  };
}
