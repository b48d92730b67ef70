import type { AdmissionCache } from '../cache/admission-cache.ts';
import { hasPlace, type Reservation } from '../workload/reservation.ts';
import { EvictionReason, type Eviction } from './evictions.ts';

/** An object that is deleted and recreated within this time, as by `kubectl replace --force`, causes no eviction. */
const UNRESOLVED_MS = 30_000;

/** Reservations whose admission is no longer valid. */
export class UnresolvedAdmissions {
  readonly #unresolved: (reservation: Reservation) => string | undefined;
  /** Keys of Jobs whose admission was found invalid. */
  readonly #suspects = new Set<string>();
  /** Since when the admission of a Job is invalid. */
  readonly #sinceMs = new Map<string, number>();

  /** `unresolved`: why the admission of a reservation is no longer valid; undefined while it is. */
  constructor(unresolved: (reservation: Reservation) => string | undefined) {
    this.#unresolved = unresolved;
  }

  /** The admission may have become invalid. */
  recheck(reservation: Reservation): void {
    if (this.#unresolved(reservation) !== undefined) this.#suspects.add(reservation.workload.key);
  }

  /**
   * Examines the reservations that were invalid when last examined. Returns those to evict, and after which time there may be more;
   * undefined if none has become invalid.
   */
  find(cache: Pick<AdmissionCache, 'get'>, nowMs: number): { readonly due: Eviction[]; readonly againAfterMs: number | undefined } {
    const found = new Map<string, Eviction>();
    for (const key of new Set([...this.#suspects, ...this.#sinceMs.keys()])) {
      const reservation = cache.get(key);
      const message = reservation && this.#unresolved(reservation);
      if (reservation === undefined || message === undefined) continue;
      found.set(key, { reservation, reason: EvictionReason.AdmissionUnresolved, message });
    }
    this.#suspects.clear();
    for (const key of this.#sinceMs.keys()) if (!found.has(key)) this.#sinceMs.delete(key);
    for (const key of found.keys()) if (!this.#sinceMs.has(key)) this.#sinceMs.set(key, nowMs);
    const due = [...found].flatMap(([key, eviction]) => {
      const { workload, assumed } = eviction.reservation;
      const isDue = nowMs - (this.#sinceMs.get(key) ?? nowMs) >= UNRESOLVED_MS;
      return isDue && !assumed && hasPlace(workload) ? [eviction] : [];
    });
    return { due, againAfterMs: [...this.#sinceMs.values()].includes(nowMs) ? UNRESOLVED_MS : undefined };
  }
}
