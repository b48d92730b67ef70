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

export function createTenantGate(deps: TenantGateDeps): TenantGate {
  return new FairGate(deps);
}

class FairGate implements TenantGate {
  readonly #deps: TenantGateDeps;
  readonly #order = createWeightedFairQueue<Waiting>();
  readonly #inFlight = new Map<string, number>();
  /** Of those under way, how many will add a Job. */
  readonly #adding = new Map<string, number>();
  readonly #buckets = new Map<string, Bucket>();
  readonly #rates = new Map<string, number>();
  readonly #perTenantMax: number;
  #total = 0;
  #pumping = false;
  #timer: { cancel(): void } | undefined;

  constructor(deps: TenantGateDeps) {
    this.#deps = deps;
    this.#perTenantMax = Math.max(1, Math.ceil(deps.turnsMax / 2));
  }

  async turn<T>(tenant: Tenant, known: boolean, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { onTurn, clock } = this.#deps;
    const { id, limits } = tenant;
    const askedAtMs = clock.now();
    const begun = Promise.withResolvers<void>();
    const begin = (): void => {
      this.#began(id, known);
      begun.resolve();
    };
    const waiting: Waiting = { tenant, known, begin, gone: false };
    const leave = (): void => {
      waiting.gone = true;
      begun.reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    if (limits.perSecond !== Infinity) this.#rates.set(id, limits.perSecond);
    this.#order.add(id, tenant.weight, waiting);
    void this.#pump();
    try {
      await begun.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
    onTurn?.(tenant, clock.now() - askedAtMs);
    try {
      return await work();
    } finally {
      this.#count(id, known, -1);
      void this.#pump();
    }
  }

  ended(): void {
    void this.#pump();
  }

  #began(id: string, known: boolean): void {
    this.#count(id, known, 1);
    const bucket = this.#buckets.get(id);
    if (bucket !== undefined) bucket.tokens -= 1;
  }

  #count(id: string, known: boolean, difference: 1 | -1): void {
    this.#total += difference;
    add(this.#inFlight, id, difference);
    if (!known) add(this.#adding, id, difference);
  }

  /** One at a time: who goes is chosen when the token is there, and not when it is asked for. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#total < this.#deps.turnsMax) {
        const next = this.#order.next((waiting) => this.#mayGo(waiting));
        if (next === undefined) break;
        if (next.gone) continue;
        next.begin();
        await this.#deps.rate.acquire();
      }
    } finally {
      this.#pumping = false;
    }
    this.#waitForTokens();
  }

  #mayGo(waiting: Waiting): boolean {
    return waiting.gone || (this.#hasRoom(waiting) && this.#tokensOf(waiting.tenant) >= 1);
  }

  #hasRoom({ tenant: { id, limits }, known }: Waiting): boolean {
    if ((this.#inFlight.get(id) ?? 0) >= this.#perTenantMax) return false;
    return known || this.#deps.unended(id) + (this.#adding.get(id) ?? 0) < limits.parked;
  }

  #tokensOf({ id, limits: { perSecond } }: Tenant): number {
    if (perSecond === Infinity) return 1;
    const nowMs = this.#deps.clock.now();
    const { tokens, countedAtMs } = this.#buckets.get(id) ?? { tokens: perSecond, countedAtMs: nowMs };
    const now = Math.min(perSecond, tokens + ((nowMs - countedAtMs) * perSecond) / 1_000);
    this.#buckets.set(id, { tokens: now, countedAtMs: nowMs });
    return now;
  }

  /** Whoever waits for nothing but its own rate is woken by a timer; everything else that is waited for tells. */
  #waitForTokens(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    let soonestMs = Infinity;
    for (const id of this.#order.keys()) {
      const bucket = this.#buckets.get(id);
      const perSecond = this.#rates.get(id) ?? Infinity;
      if (bucket !== undefined && bucket.tokens < 1 && perSecond !== Infinity) {
        soonestMs = Math.min(soonestMs, ((1 - bucket.tokens) * 1_000) / perSecond);
      }
    }
    if (soonestMs !== Infinity) this.#timer = this.#deps.clock.schedule(() => void this.#pump(), Math.ceil(soonestMs));
  }
}

function add(counts: Map<string, number>, id: string, difference: 1 | -1): void {
  const now = (counts.get(id) ?? 0) + difference;
  if (now === 0) counts.delete(id);
  else counts.set(id, now);
}
