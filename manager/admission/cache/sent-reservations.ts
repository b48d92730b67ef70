import type { Reservation } from '../workload/reservation.ts';
import type { ShapeAvoidance } from '../workload/shape-avoidance.ts';

/** Reservations of Workloads that are sent to their cluster, and of which no copy is known yet. */
export class SentReservations {
  readonly #shapes: Pick<ShapeAvoidance, 'refusedMeanwhile'>;
  /** By shape and key. */
  readonly #alike = new Map<string, Map<string, Reservation>>();
  readonly #refusedAlike = new Map<string, readonly [Reservation, string]>();

  constructor(shapes: Pick<ShapeAvoidance, 'refusedMeanwhile'>) {
    this.#shapes = shapes;
  }

  /** Includes the reservation if its Workload is on its way. */
  watch(reservation: Reservation): void {
    const { workload, assumed } = reservation;
    if (assumed || workload.phase !== 'Admitted' || workload.dispatched || workload.started) return;
    const alike = this.#alike.get(workload.shape) ?? new Map<string, Reservation>();
    this.#alike.set(workload.shape, alike.set(workload.key, reservation));
    this.#compare(reservation);
  }

  forget({ workload: { key, shape } }: Reservation): void {
    this.#refusedAlike.delete(key);
    const alike = this.#alike.get(shape);
    if (alike?.delete(key) === true && alike.size === 0) this.#alike.delete(shape);
  }

  /** The refusals of this shape by clusters have changed. */
  reviewShape(shape: string): void {
    for (const reservation of this.#alike.get(shape)?.values() ?? []) this.#compare(reservation);
  }

  /** Reservations whose cluster has refused others of their shape since, with the reason. */
  refusedAlike(): Iterable<readonly [Reservation, string]> {
    return this.#refusedAlike.values();
  }

  #compare(reservation: Reservation): void {
    const { workload, record } = reservation;
    const reason = workload.refusal === undefined ? this.#shapes.refusedMeanwhile(workload.shape, record) : undefined;
    if (reason === undefined) this.#refusedAlike.delete(workload.key);
    else this.#refusedAlike.set(workload.key, [reservation, reason]);
  }
}
