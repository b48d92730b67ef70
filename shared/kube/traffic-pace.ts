import { sleep, type Clock } from '../runtime/clock.ts';

/**
 * How fast one server may make us work. What it sends is charged to an account that fills by itself, and faster the more we ask of it:
 * traffic in proportion to our own writes is what an honest server has. In debt, it is not read until the debt is paid; what it
 * sends meanwhile waits on its side of the connection.
 */
export interface TrafficPace {
  /** So many bytes were received, in so many events. */
  received(bytes: number, events: number): void;
  /** We have sent a write with a body of so many bytes: answers and events will follow. */
  wrote(bytes: number): void;
  /** Undefined when nothing is owed; else resolves when the debt is paid, or `signal` aborts. */
  settled(signal?: AbortSignal): Promise<void> | undefined;
}

export type TrafficPaceOptions = {
  readonly clock: Clock;
  /** What the account grows by on its own in a second, in bytes. */
  readonly bytesPerSecond: number;
  /** The most it holds. */
  readonly burstBytes: number;
  /** How long the server was not read, in milliseconds. */
  readonly onHeldBack?: (ms: number) => void;
};

/** What an event costs us beside its bytes: a look at a Job and all its copies. */
const EVENT_COST_BYTES = 8 * 1024;
/** A write is followed by an answer and some events of about its size, and by those of its pods' progress. */
const EARNED_BY_A_WRITE = 256 * 1024;
const EARNED_PER_BYTE_WRITTEN = 16;

export function createTrafficPace({ clock, bytesPerSecond, burstBytes, onHeldBack }: TrafficPaceOptions): TrafficPace {
  let balance = burstBytes;
  let countedAtMs = clock.now();
  const count = (): void => {
    const nowMs = clock.now();
    balance = Math.min(burstBytes, balance + (Math.max(0, nowMs - countedAtMs) * bytesPerSecond) / 1000);
    countedAtMs = nowMs;
  };
  const wait = async (signal: AbortSignal | undefined): Promise<void> => {
    while (balance < 0 && signal?.aborted !== true) {
      const delayMs = Math.min(DELAY_MAX_MS, Math.ceil((-balance * 1000) / bytesPerSecond));
      await sleep(clock, delayMs, signal);
      onHeldBack?.(delayMs);
      count();
    }
  };
  return {
    received(bytes, events) {
      count();
      balance -= bytes + events * EVENT_COST_BYTES;
    },
    wrote(bytes) {
      count();
      balance = Math.min(burstBytes, balance + EARNED_BY_A_WRITE + EARNED_PER_BYTE_WRITTEN * bytes);
    },
    settled: (signal) => (balance < 0 ? wait(signal) : undefined),
  };
}

/** Writes may pay the debt sooner than time does. */
const DELAY_MAX_MS = 250;
