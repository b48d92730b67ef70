/**
 * Reads the ends of logs while the pods are still there, which the tracking finalizer sees to, and puts them where the manager fetches
 * them. A pod whose log is being read keeps its finalizer, for two seconds at most: then it goes without. Nothing else waits for it, and
 * nothing is lost but a tail.
 */
import { gzipSync } from 'node:zlib';
import type { Counter } from 'prom-client';
import { cutToTail, lastLineOf } from '../../shared/api/log-tails.ts';
import { LINE_LENGTH_MAX } from '../../shared/api/ended-pods.ts';
import { ApiError, isForbidden } from '../../shared/kube/api-error.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import { formatKey } from '../../shared/kube/keys.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { PodView } from '../job/pod-view.ts';
import type { TailSeen } from './ended-pod.ts';
import { isCopy, keepLogsOf, wantsTail, type KeepLogs, type KeptCopy } from './keep-rule.ts';
import { logRequest } from './log-request.ts';
import type { TailStore } from './tail-store.ts';

export interface TailKeeper {
  /** Has the logs of these pods read whose are wanted, each once. `onRead` is called when none of this copy is under way any more. */
  begin(copy: KeptCopy, pods: readonly PodView[], ends: boolean, onRead: () => void): void;
  /** The log of this pod is being read: it is to stay. */
  isUnderWay(copyUid: string, podUid: string): boolean;
  tailOf(copyUid: string, podUid: string): TailSeen | undefined;
  /** The copy has ended, or is gone. */
  forget(copyUid: string): void;
}

export type TailKeeperDeps = {
  readonly client: RawClient;
  readonly store: TailStore;
  /** Of Jobs that say nothing. */
  readonly keepLogs: KeepLogs;
  /** Of one log, before it is compressed. */
  readonly tailBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
  /** Label `result`. */
  readonly reads: Counter<'result'>;
};

/** Longest that a pod stays for the sake of its log. */
export const TAIL_PATIENCE_MS = 2_000;
/** Reads under way at once, of all Jobs and of one: a node that does not answer must not take the others' turns. */
const READS_MAX = 16;
const READS_OF_JOB_MAX = 4;
/** Who may not read logs is not told so at every pod. */
const FORBIDDEN_PAUSE_MS = 5 * 60_000;

/** What has been read, and is being, of one copy. */
type Reading = {
  readonly copy: KeptCopy;
  counts: { failed: number; others: number };
  /** UIDs of pods that were looked at. */
  readonly seen: Set<string>;
  readonly inFlight: Set<string>;
  /** By UID. */
  readonly tails: Map<string, TailSeen>;
  running: number;
  onRead: () => void;
};
/** What may come of a log that is to be kept: the values of the label `result`. */
export const TAIL_RESULTS = ['kept', 'empty', 'failed', 'late', 'full'] as const;
type Turn = { readonly reading: Reading; readonly pod: PodView; readonly given: AbortController; readonly timer: Timer };
type Result = (typeof TAIL_RESULTS)[number];

export function createTailKeeper(deps: TailKeeperDeps): TailKeeper {
  return new Keeper(deps);
}

class Keeper implements TailKeeper {
  readonly #deps: TailKeeperDeps;
  readonly #readings = new Map<string, Reading>();
  readonly #waiting: Turn[] = [];
  #running = 0;
  #forbiddenUntilMs = Number.NEGATIVE_INFINITY;

  constructor(deps: TailKeeperDeps) {
    this.#deps = deps;
  }

  begin(copy: KeptCopy, pods: readonly PodView[], ends: boolean, onRead: () => void): void {
    const { clock, keepLogs } = this.#deps;
    const keep = keepLogsOf(copy, keepLogs);
    if (keep === 'None' || pods.length === 0 || !isCopy(copy) || clock.monotonic() < this.#forbiddenUntilMs) return;
    for (const pod of pods) {
      const { counts, seen } = this.#readings.get(copy.metadata.uid) ?? NOTHING_READ;
      if (seen.has(pod.uid) || !wantsTail(pod, keep, counts, ends)) continue;
      const reading = this.#readingOf(copy);
      reading.onRead = onRead;
      reading.seen.add(pod.uid);
      reading.inFlight.add(pod.uid);
      reading.counts[pod.succeeded ? 'others' : 'failed']++;
      const given = new AbortController();
      const turn: Turn = { reading, pod, given, timer: clock.schedule(() => this.#giveUp(turn), TAIL_PATIENCE_MS) };
      this.#waiting.push(turn);
    }
    this.#take();
  }

  #readingOf(copy: KeptCopy): Reading {
    const { uid } = copy.metadata;
    const known = this.#readings.get(uid);
    if (known !== undefined) return known;
    const counts = { failed: 0, others: 0 };
    const reading: Reading = { copy, counts, seen: new Set(), inFlight: new Set(), tails: new Map(), running: 0, onRead: () => undefined };
    this.#readings.set(uid, reading);
    return reading;
  }

  #giveUp(turn: Turn): void {
    const position = this.#waiting.indexOf(turn);
    if (position >= 0) this.#waiting.splice(position, 1);
    turn.given.abort(new Error(`the log was not read within ${TAIL_PATIENCE_MS} ms`));
    this.#over(turn, 'late');
  }

  #over({ reading, pod, timer }: Turn, result: Result): void {
    timer.cancel();
    if (!reading.inFlight.delete(pod.uid)) return;
    this.#deps.reads.inc({ result });
    if (reading.inFlight.size === 0) reading.onRead();
  }

  #take(): void {
    while (this.#running < READS_MAX) {
      const next = this.#waiting.findIndex(({ reading }) => reading.running < READS_OF_JOB_MAX);
      const turn = next < 0 ? undefined : this.#waiting.splice(next, 1)[0];
      if (turn === undefined) return;
      this.#running++;
      turn.reading.running++;
      void this.#read(turn).then((result) => {
        this.#running--;
        turn.reading.running--;
        this.#over(turn, result);
        this.#take();
      });
    }
  }

  /** Never throws. */
  async #read({ reading, pod, given: { signal } }: Turn): Promise<Result> {
    const { client, tailBytes, store, log } = this.#deps;
    const { copy, tails } = reading;
    try {
      const text = await client.raw({ method: 'GET', ...logRequest(pod, tailBytes), signal });
      if (signal.aborted) return 'late';
      const lastLine = lastLineOf(text, LINE_LENGTH_MAX);
      if (lastLine === undefined) return 'empty';
      tails.set(pod.uid, { lastLine, kept: false });
      // Of a copy that is gone nothing would be removed any more.
      if (this.#readings.get(copy.metadata.uid) !== reading) return 'late';
      const kept = await store.keep(copy, pod.pod.metadata.name, gzipSync(cutToTail(text, tailBytes)), signal);
      tails.set(pod.uid, { lastLine, kept });
      return kept ? 'kept' : 'full';
    } catch (error) {
      if (signal.aborted) return 'late';
      if (isForbidden(error)) this.#pause(error);
      // 400: none of its containers has begun. 404: it is gone.
      else if (!(error instanceof ApiError) || error.code >= 500)
        log.debug('the log of a pod could not be kept', { copy: formatKey(copy.metadata), pod: pod.pod.metadata.name, error });
      return 'failed';
    }
  }

  #pause(error: unknown): void {
    const { clock, log } = this.#deps;
    if (clock.monotonic() < this.#forbiddenUntilMs) return;
    this.#forbiddenUntilMs = clock.monotonic() + FORBIDDEN_PAUSE_MS;
    log.warn(
      'logs of pods cannot be kept: the worker may not read or store them; its chart gives the right, or start it with --keep-logs=None',
      { error },
    );
  }

  isUnderWay(copyUid: string, podUid: string): boolean {
    return this.#readings.get(copyUid)?.inFlight.has(podUid) === true;
  }

  tailOf(copyUid: string, podUid: string): TailSeen | undefined {
    return this.#readings.get(copyUid)?.tails.get(podUid);
  }

  forget(copyUid: string): void {
    this.#readings.delete(copyUid);
    this.#deps.store.forget(copyUid);
  }
}

const NOTHING_READ = { counts: { failed: 0, others: 0 }, seen: new Set<string>() };
