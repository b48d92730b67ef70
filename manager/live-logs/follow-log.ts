import { ApiError, isForbidden } from '../../shared/kube/api-error.ts';
import { podLogPath } from '../../shared/kube/pod-log-path.ts';
import type { TrafficPace } from '../../shared/kube/traffic-pace.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { LogEvent } from '../dashboard/live-logs.ts';
import { hasEnded, type CopyPod } from './copy-pods.ts';
import { createLogReader, formatPosition, sinceTimeOf, writtenMs, type LogPosition } from './log-position.ts';
import type { WorkerReader } from './worker-readers.ts';

export type FollowedLog = {
  readonly namespace: string;
  /** The pod as first found. */
  readonly pod: CopyPod;
  /** Finds the pod again; undefined: it is gone. */
  readonly find: () => Promise<CopyPod | undefined>;
  /** The present client of its cluster. */
  readonly client: () => Promise<Pick<WorkerReader, 'stream'>>;
  /** The position up to which the reader has read. */
  readonly from: LogPosition | undefined;
  /** Rate limits of the reader. */
  readonly paces: readonly TrafficPace[];
  /** The message where the cluster forbids reading. */
  readonly refused: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** Lines before the start of reading. */
export const TAIL_LINES = 1_000;
/** The stream ends after this time without a line; a viewer who still reads reconnects. */
export const IDLE_MS = 30 * 60_000;
/** The approximate bound of one event. */
const PIECE_LENGTH = 32 * 1024;
/** The least cost of a piece in the rate limit: many short lines are thus batched. */
const PIECE_COST = 1024;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 15_000;
/** Failures in a row, without a line or an answer of the cluster in between. */
const FAILURES_MAX = 6;
const HEARD_AGAIN_MS = 60_000;

/**
 * How a read ended. `Told`: the cluster refused it (the container has not started, the pod is gone). `Failed`: the cluster failed. `Lost`:
 * no answer.
 */
type Outcome = 'Whole' | 'Told' | 'Failed' | 'Lost';

/**
 * Follows the log of a pod. Data beyond the reader's pace waits on the side of the cluster. A read that ends, breaks or never begins is
 * repeated from the position reached, as long as the pod exists, and once more when the pod has ended, so that no line is missed.
 */
export async function* followLog({
  namespace,
  find,
  client,
  paces,
  refused,
  clock,
  signal,
  ...first
}: FollowedLog): AsyncGenerator<LogEvent> {
  let { pod, from } = first;
  let heardMs = clock.monotonic() - silentMs(from, clock.now());
  let failures = 0;
  const id = (): string => (from === undefined ? '' : formatPosition(from));
  const isIdle = (): boolean => clock.monotonic() - heardMs >= IDLE_MS;

  let reader = createLogReader(from);
  /** A line without an end cannot be read again. */
  function* ending(reason: string): Generator<LogEvent> {
    const text = reader.rest();
    from = reader.at;
    if (text !== '') yield { id: id(), event: 'lines', data: { text } };
    yield { id: id(), event: 'end', data: { reason } };
  }

  for (let again = 0; !signal.aborted; again++) {
    // 1. Read on as far as possible.
    reader = createLogReader(from);
    const idle = createIdleTimer(clock, () => heardMs);
    let outcome: Outcome = 'Whole';
    try {
      const chunks = await (await client()).stream(pathOf(namespace, pod, from), { signal: AbortSignal.any([signal, idle.signal]) });
      for await (const chunk of chunks)
        for (let start = 0; start < chunk.length; start += PIECE_LENGTH) {
          const piece = chunk.slice(start, start + PIECE_LENGTH);
          const text = reader.take(piece);
          from = reader.at;
          if (text !== '') {
            failures = again = 0;
            heardMs = clock.monotonic();
            yield { id: id(), event: 'lines', data: { text } };
          }
          for (const pace of paces) {
            pace.received(Math.max(piece.length, PIECE_COST), 0);
            await pace.settled(signal);
          }
        }
    } catch (error) {
      if (signal.aborted) return;
      if (isForbidden(error)) return yield { id: id(), event: 'problem', data: { message: refused } };
      outcome = error instanceof ApiError ? (error.code < 500 ? 'Told' : 'Failed') : 'Lost';
    } finally {
      idle.cancel();
    }
    // 2. A complete read ends here: a pod that had ended before the read writes no more.
    if (hasEnded(pod) && (outcome === 'Whole' || outcome === 'Told')) {
      return yield* ending(pod.phase === 'Failed' ? 'the pod has failed' : 'the pod has ended');
    }
    if (isIdle()) return yield { id: id(), event: 'end', data: { reason: `nothing was written for ${IDLE_MS / 60_000} minutes` } };
    // 3. Read the state of the pod, and read on.
    await sleep(clock, Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(again, 5)), signal);
    if (signal.aborted) return;
    try {
      const now = await find();
      if (now === undefined) return yield* ending(outcome === 'Whole' ? 'the pod has ended' : 'the pod is gone');
      pod = now;
      // The API server answers, whatever the kubelet behind it does.
      failures = outcome === 'Failed' ? failures + 1 : 0;
    } catch (error) {
      if (isForbidden(error)) return yield { id: id(), event: 'problem', data: { message: refused } };
      failures++;
    }
    if (failures >= FAILURES_MAX)
      return yield { id: id(), event: 'problem', data: { message: 'its cluster does not answer as it should; open it again to try on' } };
  }
}

function pathOf(namespace: string, { name, container }: CopyPod, from: LogPosition | undefined): string {
  const part = from === undefined ? { tailLines: TAIL_LINES } : { sinceTime: sinceTimeOf(from) };
  return podLogPath({ namespace, name }, { container, follow: true, timestamps: true, ...part });
}

/** Milliseconds without a line before a viewer reconnects; bounded, so that the viewer still receives what there is. */
const silentMs = (from: LogPosition | undefined, nowMs: number): number =>
  from === undefined ? 0 : Math.min(IDLE_MS - HEARD_AGAIN_MS, Math.max(0, nowMs - writtenMs(from)));

/** Aborts after too long without a line. */
function createIdleTimer(clock: Clock, heardMs: () => number): { readonly signal: AbortSignal; cancel(): void } {
  const idle = new AbortController();
  const look = (): void => {
    const leftMs = heardMs() + IDLE_MS - clock.monotonic();
    if (leftMs <= 0) idle.abort(new Error('nothing is written'));
    else timer = clock.schedule(look, leftMs);
  };
  let timer = clock.schedule(look, Math.max(0, heardMs() + IDLE_MS - clock.monotonic()));
  return { signal: idle.signal, cancel: () => timer.cancel() };
}
