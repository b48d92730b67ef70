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
  /** As it was found first. */
  readonly pod: CopyPod;
  /** Finds it again; undefined: it is gone. */
  readonly find: () => Promise<CopyPod | undefined>;
  /** A connection to its cluster, as it is to be used now. */
  readonly client: () => Promise<Pick<WorkerReader, 'stream'>>;
  /** What was read before. */
  readonly from: LogPosition | undefined;
  /** What holds back who reads too much. */
  readonly paces: readonly TrafficPace[];
  /** What is said where the cluster refuses it. */
  readonly refused: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** What was written before somebody looks. */
export const TAIL_LINES = 1_000;
/** Without a line for so long it ends: who still looks asks anew. */
export const IDLE_MS = 30 * 60_000;
/** A piece is what one event has at most, about. */
const PIECE_LENGTH = 32 * 1024;
/** What one costs, however short it is: lines that come one by one are told together then. */
const PIECE_COST = 1024;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 15_000;
/** One after another without a line in between, or a word from the cluster. */
const FAILURES_MAX = 6;
const HEARD_AGAIN_MS = 60_000;

/** How a reading ended: `Told` is a word of the cluster (the container has not begun, the pod is gone), `Failed` a trouble of its own, `Lost` no word at all. */
type Outcome = 'Whole' | 'Told' | 'Failed' | 'Lost';

/**
 * Reads the log of a pod as it is written. What is not asked for is not read: it waits on the side of the cluster. An answer that ends, breaks or never began is asked for again from
 * where it was read to, as long as the pod is there; when the pod has ended, once more, so that nothing of it is missed.
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
  /** What has no end of its line cannot be read again. */
  function* ending(reason: string): Generator<LogEvent> {
    const text = reader.rest();
    from = reader.at;
    if (text !== '') yield { id: id(), event: 'lines', data: { text } };
    yield { id: id(), event: 'end', data: { reason } };
  }

  for (let again = 0; !signal.aborted; again++) {
    // 1. Read on, as far as it goes.
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
    // 2. What was all of it ends here: a pod that had ended before it was read writes no more.
    if (hasEnded(pod) && (outcome === 'Whole' || outcome === 'Told')) {
      return yield* ending(pod.phase === 'Failed' ? 'the pod has failed' : 'the pod has ended');
    }
    if (isIdle()) return yield { id: id(), event: 'end', data: { reason: `nothing was written for ${IDLE_MS / 60_000} minutes` } };
    // 3. Look how the pod is, and read on.
    await sleep(clock, Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(again, 5)), signal);
    if (signal.aborted) return;
    try {
      const now = await find();
      if (now === undefined) return yield* ending(outcome === 'Whole' ? 'the pod has ended' : 'the pod is gone');
      pod = now;
      // The API server is there, whatever becomes of what it passes on.
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

/** For how long it was silent when somebody comes back; he hears what there is all the same. */
const silentMs = (from: LogPosition | undefined, nowMs: number): number =>
  from === undefined ? 0 : Math.min(IDLE_MS - HEARD_AGAIN_MS, Math.max(0, nowMs - writtenMs(from)));

/** Aborts when nothing was heard for too long. */
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
