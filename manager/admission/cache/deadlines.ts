import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { Reservation } from '../workload/reservation.ts';

/** Deadlines of Workloads, in epoch milliseconds. A reservation is examined when it changes and when it is due, never in between. */
export interface Deadlines<D extends Due> {
  /** Replaces the deadline of a reservation. */
  watch(reservation: Reservation): void;
  forget(key: string): void;
  /** The overdue reservations, and the next deadline. */
  overdue(nowMs: number): { readonly found: readonly Overdue<D>[]; readonly nextMs: number | undefined };
}

export type Due = { readonly dueMs: number };
export type Overdue<D extends Due> = { readonly reservation: Reservation; readonly due: D };

/** `dueOf`: the deadline of a reservation; undefined if it has none. */
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
      // A reservation stays overdue until its eviction is observed.
      for (const each of found) deadlines.set(each);
      return { found, nextMs };
    },
  };
}
