import type { Clock, Timer } from '../runtime/clock.ts';
import type { ApiRate, RateLimiter } from './rate-limiter.ts';

/** A rate limiter that many flows share, such as the Jobs of a worker: while calls wait, each flow has one call in each round. */
export interface FairRateLimiter {
  /** The limiter as one flow has it. All calls under one name are one flow. */
  of(flow: string): RateLimiter;
}

type Waiter = { readonly sinceMs: number; readonly admit: (waitedMs: number) => void };

/**
 * client-go's token bucket, whose tokens go round by flow (fair queueing by rounds, Nagle, RFC 970) in place of first come, first served: a
 * flow that begins while others have a thousand calls waiting waits for one call of each of them. Within a flow calls keep their order.
 * `qps` 0 means no limit.
 */
export function createFairRateLimiter({ qps, burst, clock }: ApiRate & { readonly clock: Clock }): FairRateLimiter {
  if (qps <= 0) return { of: () => ({ acquire: async () => 0 }) };
  const buckets = new FairBucket(qps, Math.max(1, burst), clock);
  return { of: (flow) => ({ acquire: (signal) => buckets.acquire(flow, signal) }) };
}

/** Sums of fractions come out a little below what they should be. */
const ALMOST = 1e-9;

class FairBucket {
  readonly #qps: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #countedAtMs: number;
  /** Flows that wait, those that come in this round and those that had their turn in it. */
  #round = new Map<string, Waiter[]>();
  #next = new Map<string, Waiter[]>();
  /** Flows that had their turn in this round, whether more of them waits or not. */
  readonly #served = new Set<string>();
  #timer: Timer | undefined;

  constructor(qps: number, burst: number, clock: Clock) {
    this.#qps = qps;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#countedAtMs = clock.now();
  }

  async acquire(flow: string, signal: AbortSignal | undefined): Promise<number> {
    signal?.throwIfAborted();
    this.#count();
    if (this.#timer === undefined && this.#tokens >= 1 - ALMOST) {
      this.#tokens -= 1;
      return 0;
    }
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter: Waiter = { sinceMs: this.#clock.now(), admit: resolve };
    const waiting = this.#round.get(flow) ?? this.#next.get(flow);
    if (waiting !== undefined) waiting.push(waiter);
    else (this.#served.has(flow) ? this.#next : this.#round).set(flow, [waiter]);
    const abandon = (): void => {
      this.#leave(flow, waiter);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abandon, { once: true });
    this.#arm();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', abandon);
    }
  }

  #count(): void {
    const nowMs = this.#clock.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (Math.max(0, nowMs - this.#countedAtMs) * this.#qps) / 1000);
    this.#countedAtMs = nowMs;
  }

  /** One timer, for the next token that somebody waits for. */
  #arm(): void {
    if (this.#timer !== undefined || (this.#round.size === 0 && this.#next.size === 0)) return;
    this.#timer = this.#clock.schedule(() => this.#serve(), (Math.max(0, 1 - this.#tokens) / this.#qps) * 1000);
  }

  #serve(): void {
    this.#timer = undefined;
    this.#count();
    for (let waiter = this.#take(); waiter !== undefined; waiter = this.#take()) waiter.admit(this.#clock.now() - waiter.sinceMs);
    this.#arm();
  }

  /** The next round begins as soon as all have had their turn, so that who comes back at once is behind those who wait. */
  #endRound(): void {
    if (this.#round.size > 0) return;
    [this.#round, this.#next] = [this.#next, this.#round];
    this.#served.clear();
  }

  /** The first call of the flow whose turn it is, with its token. */
  #take(): Waiter | undefined {
    if (this.#tokens < 1 - ALMOST) return undefined;
    const [first] = this.#round;
    if (first === undefined) return undefined;
    const [flow, waiting] = first;
    const waiter = waiting.shift();
    this.#round.delete(flow);
    this.#served.add(flow);
    if (waiting.length > 0) this.#next.set(flow, waiting);
    this.#tokens -= 1;
    this.#endRound();
    return waiter;
  }

  #leave(flow: string, waiter: Waiter): void {
    for (const flows of [this.#round, this.#next]) {
      const waiting = flows.get(flow);
      const position = waiting?.indexOf(waiter) ?? -1;
      if (position >= 0) waiting?.splice(position, 1);
      if (waiting?.length === 0) flows.delete(flow);
    }
    this.#endRound();
  }
}
