import type { RateLimiter } from '../../shared/kube/rate-limiter.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Tenant } from './tenant.ts';
import { createWeightedFairQueue } from './weighted-fair-queue.ts';

export type TenantGateDeps = {
  /** Of all tenants together. */
  readonly rate: RateLimiter;
  /** Turns under way at once. One tenant has at most half of them, so that what is slow of one does not stop all. */
  readonly turnsMax: number;
  /** Jobs of a tenant that have not ended. */
  readonly unended: (tenant: string) => number;
  /** Told for each turn how long it was waited for. */
  readonly onTurn?: (tenant: Tenant, waitedMs: number) => void;
  readonly clock: Clock;
};

/** What is in front of the API server: submissions of all tenants wait here for their turns, and none of a tenant that is at its limit. */
export interface TenantGate {
  /**
   * Does the work when it is its turn. `known`: it has a Job already, and adds none. Rejects with the signal's reason when that aborts
   * first.
   */
  turn<T>(tenant: Tenant, known: boolean, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** A Job has ended. */
  ended(): void;
}

type Waiting = { readonly tenant: Tenant; readonly known: boolean; readonly begin: () => void; gone: boolean };
/** Tokens of a tenant's own rate: at most those of a second. */
type Bucket = { tokens: number; countedAtMs: number };

export function createTenantGate({ rate, turnsMax, unended, onTurn, clock }: TenantGateDeps): TenantGate {
  const order = createWeightedFairQueue<Waiting>();
  const inFlight = new Map<string, number>();
  /** Of those under way, how many will add a Job. */
  const adding = new Map<string, number>();
  const buckets = new Map<string, Bucket>();
  const rates = new Map<string, number>();
  const perTenantMax = Math.max(1, Math.ceil(turnsMax / 2));
  let total = 0;
  let pumping = false;
  let timer: { cancel(): void } | undefined;

  const hasRoom = ({ tenant: { id, limits }, known }: Waiting): boolean =>
    (inFlight.get(id) ?? 0) < perTenantMax && (known || unended(id) + (adding.get(id) ?? 0) < limits.parked);

  function mayGo(waiting: Waiting): boolean {
    return waiting.gone || (hasRoom(waiting) && tokensOf(waiting.tenant) >= 1);
  }

  function tokensOf({ id, limits: { perSecond } }: Tenant): number {
    if (perSecond === Infinity) return 1;
    const nowMs = clock.now();
    const { tokens, countedAtMs } = buckets.get(id) ?? { tokens: perSecond, countedAtMs: nowMs };
    const now = Math.min(perSecond, tokens + ((nowMs - countedAtMs) * perSecond) / 1_000);
    buckets.set(id, { tokens: now, countedAtMs: nowMs });
    return now;
  }

  /** One at a time: who goes is chosen when the token is there, and not when it is asked for. */
  async function pump(): Promise<void> {
    if (pumping) return;
    pumping = true;
    try {
      while (total < turnsMax) {
        const next = order.next(mayGo);
        if (next === undefined) break;
        if (next.gone) continue;
        next.begin();
        await rate.acquire();
      }
    } finally {
      pumping = false;
    }
    waitForTokens();
  }

  /** Whoever waits for nothing but its own rate is woken by a timer; everything else that is waited for tells. */
  function waitForTokens(): void {
    timer?.cancel();
    timer = undefined;
    let soonestMs = Infinity;
    for (const id of order.keys()) {
      const bucket = buckets.get(id);
      const perSecond = rates.get(id) ?? Infinity;
      if (bucket !== undefined && bucket.tokens < 1 && perSecond !== Infinity) {
        soonestMs = Math.min(soonestMs, ((1 - bucket.tokens) * 1_000) / perSecond);
      }
    }
    if (soonestMs !== Infinity) timer = clock.schedule(() => void pump(), Math.ceil(soonestMs));
  }

  const add = (counts: Map<string, number>, id: string, difference: 1 | -1): void => {
    const now = (counts.get(id) ?? 0) + difference;
    if (now === 0) counts.delete(id);
    else counts.set(id, now);
  };

  return {
    async turn(tenant, known, work, signal) {
      signal.throwIfAborted();
      const { id, limits } = tenant;
      const askedAtMs = clock.now();
      const begun = Promise.withResolvers<void>();
      const waiting: Waiting = {
        tenant,
        known,
        begin: () => {
          total++;
          add(inFlight, id, 1);
          if (!known) add(adding, id, 1);
          const bucket = buckets.get(id);
          if (bucket !== undefined) bucket.tokens -= 1;
          begun.resolve();
        },
        gone: false,
      };
      const leave = (): void => {
        waiting.gone = true;
        begun.reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      if (limits.perSecond !== Infinity) rates.set(id, limits.perSecond);
      order.add(id, tenant.weight, waiting);
      void pump();
      try {
        await begun.promise;
      } finally {
        signal.removeEventListener('abort', leave);
      }
      onTurn?.(tenant, clock.now() - askedAtMs);
      try {
        return await work();
      } finally {
        total--;
        add(inFlight, id, -1);
        if (!known) add(adding, id, -1);
        void pump();
      }
    },
    ended: () => void pump(),
  };
}
