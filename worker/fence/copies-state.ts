/** What may be done for the copies of each origin on this cluster, as far as its fence, the rights of the worker and its caches tell. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { readOriginLease } from '../../shared/api/fence-leases.ts';
import type { FencedKind } from '../../shared/api/fenced-kinds.ts';
import type { DeepReadonly, Lease } from '../../shared/api/kubernetes.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Fences } from './fences.ts';
import type { LeasePlaces } from './lease-places.ts';
import type { Openings } from './openings.ts';
import type { FenceState } from './origin-fence.ts';

export type CopiesStateDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: FenceMetrics;
  readonly fences: Fences;
  readonly places: Pick<LeasePlaces, 'arming'>;
  readonly openings: Pick<Openings, 'note' | 'isKnown'>;
  readonly fenceAfterMs: number;
  /** Something else may be done for the copies of this origin now; without one, for all copies. */
  readonly onChange: (origin: string | undefined) => void;
  /** The Lease of a manager names these kinds beside Jobs. */
  readonly onKinds: (kinds: readonly FencedKind[]) => void;
  /** Managers are to hear of it soon. */
  readonly onNews: () => void;
};

export interface CopiesState {
  /** Questions to the server end with this signal. */
  start(signal: AbortSignal): void;
  /** What earlier workers have announced is known. Until then nothing is made. */
  predecessorsKnown(): void;
  ofOrigin(origin: string): FenceState;
  /** A Lease is there now, or an origin has none any more. */
  see(lease: DeepReadonly<Lease> | undefined, left: string | undefined, namespace: string): void;
  /** What the server lets the worker do may have changed. */
  noteRights(): void;
  /** Trips what is due, tells what has changed, and says when to look again. */
  settle(): void;
  /** Aborts once no origin is held to a fence, and none will be: `--fence-after 0`, and every manager has answered that. */
  readonly unneeded: AbortSignal;
  stop(): void;
}

const WHY = {
  OutOfReach: 'the manager has been out of reach for too long: its copies are stopped',
  SteppedBack:
    'the Lease of the manager has gone back in time, so this cluster was restored: copies are stopped until the manager has looked at them',
} as const;

export function createCopiesState(deps: CopiesStateDeps): CopiesState {
  const { clock, fences, places, openings, onChange, onNews } = deps;
  const shown = new Map<string, FenceState>();
  const unneeded = new AbortController();
  const last = { arming: places.arming(), token: fences.token(), refused: false };
  let signal: AbortSignal | undefined;
  let isPredecessorKnown = false;
  let nextLook: Timer | undefined;

  function ofOrigin(origin: string): FenceState {
    const armed = places.arming();
    if (armed === 'Refused') return 'Open';
    if (!isPredecessorKnown) return 'Hold';
    if (!fences.binds() && !fences.has(origin)) return 'Open';
    const state = fences.stateOf(origin, clock.monotonic());
    const isReady = armed !== 'Pending' && (!fences.has(origin) || openings.isKnown(origin));
    return state === 'Open' && !isReady ? 'Hold' : state;
  }

  function settle(): void {
    const nowMs = clock.monotonic();
    const armed = places.arming();
    if (armed === 'Refused') last.refused = true;
    if (armed === 'Armed' && last.refused) {
      last.refused = false;
      fences.startAnew(nowMs);
    }
    tellTrips(deps, armed === 'Refused', nowMs);
    let changed = fences.token() !== last.token;
    last.token = fences.token();
    if (armed !== last.arming) {
      last.arming = armed;
      changed = true;
      onChange(undefined);
    }
    // A fence that opens is open once it is known how far the Jobs are.
    for (const origin of fences.origins()) openings.note(origin, fences.stateOf(origin, nowMs) === 'Open', signal);
    for (const origin of fences.origins()) {
      const state = ofOrigin(origin);
      const before = shown.get(origin);
      if (before === state) continue;
      shown.set(origin, state);
      tellState(deps, origin, state, before);
      changed = true;
      onChange(origin);
    }
    if (changed) onNews();
    if (!fences.binds()) unneeded.abort();
    nextLook?.cancel();
    const nextLookMs = fences.nextLookMs();
    nextLook = nextLookMs === undefined ? undefined : clock.schedule(settle, Math.max(0, nextLookMs - nowMs));
  }

  return {
    start: (until) => (signal = until),
    predecessorsKnown: () => (isPredecessorKnown = true),
    ofOrigin,
    settle,
    unneeded: unneeded.signal,
    noteRights() {
      if (places.arming() !== last.arming) settle();
    },
    see(lease, left, namespace) {
      if (left !== undefined) fences.leaseGone(left, namespace);
      const read = lease && readOriginLease(lease);
      if (lease !== undefined && read === undefined) return;
      if (lease !== undefined && read !== undefined) {
        const { uid, resourceVersion } = lease.metadata;
        const { origin, holder, renewedMs, reconciled, kinds } = read;
        if (kinds.length > 0) deps.onKinds(kinds);
        fences.leaseSeen(origin, { uid, resourceVersion, renewedMs, held: holder !== undefined, reconciled }, clock.monotonic(), namespace);
      }
      settle();
    },
    stop: () => nextLook?.cancel(),
  };
}

/** Where Leases may not be used nothing is stopped. */
function tellTrips({ fences, metrics, log, fenceAfterMs }: CopiesStateDeps, isRefused: boolean, nowMs: number): void {
  for (const { origin, why } of fences.look(nowMs)) {
    if (isRefused) continue;
    metrics.trips.inc({ origin });
    log.warn(WHY[why], { origin, fenceAfterMs });
  }
}

function tellState({ metrics, log }: CopiesStateDeps, origin: string, state: FenceState, before: FenceState | undefined): void {
  metrics.fenced.set({ origin }, state === 'Fenced' ? 1 : 0);
  log.info('what may be done for the copies of an origin has changed', { origin, state, before });
}

export type FenceMetrics = ReturnType<typeof createFenceMetrics>;

export function createFenceMetrics(registry: Registry) {
  const labelNames = ['origin'];
  const registers = [registry];
  return {
    fenced: new Gauge({
      name: 'switchyard_worker_fenced',
      help: '1 while the copies of this origin are stopped, else 0',
      labelNames,
      registers,
    }),
    trips: new Counter({
      name: 'switchyard_worker_fence_trips_total',
      help: 'How often the fence of this origin has tripped',
      labelNames,
      registers,
    }),
  };
}
