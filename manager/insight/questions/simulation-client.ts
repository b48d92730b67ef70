import { Worker } from 'node:worker_threads';
import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { createTimeSlices } from '../../../shared/runtime/time-slices.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { WorkKindSpec } from '../../api/work-kind.ts';
import type { ManagerFlags, WorldObjects } from '../world/world-objects.ts';
import type { SimulationResult, SimulationQuery } from './simulation-queries.ts';
import type { FromThread, ToThread } from './simulation-worker.ts';

/**
 * Answers queries about all pending and admitted Jobs. Decisions about 20,000 Jobs take seconds, so they run in another thread, one query
 * at a time.
 */
export interface SimulationClient {
  /** Rejects if the thread fails or does not answer in time. */
  ask(question: SimulationQuery): Promise<SimulationResult>;
  close(): Promise<void>;
}

export type SimulationClientDeps = {
  readonly kind: WorkKind;
  /** The current objects of the caches; their Jobs must be immutable. */
  readonly objects: () => WorldObjects;
  readonly flags: ManagerFlags;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A sent world is reused for at least this long. */
const CACHE_TTL_MS = 1_000;
/** A sent world is also reused for this multiple of the time that sending took: at most a tenth of the manager's thread. */
const REUSE_FACTOR = 9;
const SLICE_MS = 8;
const JOBS_PER_MESSAGE = 100;
/** Finished Jobs that are sent at most, the last ones, for their run times. */
const OVER_MAX = 2_000;
const ANSWER_MS = 60_000;
/** After this time without a query the thread ends, which frees its memory. */
const IDLE_MS = 30_000;
const MEMORY_MIB = 768;

type Thread = { readonly worker: Worker; sentMs: number; reuseMs: number };

export function createSimulationClient(deps: SimulationClientDeps): SimulationClient {
  return new ThreadedSimulation(deps);
}

class ThreadedSimulation implements SimulationClient {
  readonly #deps: SimulationClientDeps;
  readonly #described: readonly WorkKindSpec[];
  #thread: Thread | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: Timer | undefined;

  constructor(deps: SimulationClientDeps) {
    this.#deps = deps;
    this.#described = deps.kind.others.flatMap((each) => each.described ?? []);
  }

  ask(question: SimulationQuery): Promise<SimulationResult> {
    const answer = this.#last.then(() => this.#answerTo(question));
    // The caller gets the failure; the next query is not affected.
    this.#last = Promise.allSettled([answer]);
    return answer;
  }

  async close(): Promise<void> {
    this.#idle?.cancel();
    await this.#end();
  }

  async #answerTo(question: SimulationQuery): Promise<SimulationResult> {
    const { clock } = this.#deps;
    this.#idle?.cancel();
    const asked = (this.#thread ??= this.#start());
    if (clock.monotonic() - asked.sentMs > asked.reuseMs) await this.#sendWorld(asked);
    const answered = Promise.withResolvers<FromThread>();
    const failed = (error: Error): void => answered.reject(error);
    const exited = (): void => answered.reject(new Error('the thread that explains Jobs has ended'));
    asked.worker.once('message', answered.resolve).once('error', failed).once('exit', exited);
    const timer = clock.schedule(() => answered.reject(new Error(`no answer in ${ANSWER_MS} ms`)), ANSWER_MS);
    try {
      asked.worker.postMessage({ kind: 'Ask', question } satisfies ToThread);
      const answer = await answered.promise;
      if ('problem' in answer) throw new Error(answer.problem);
      return answer.answer;
    } catch (error) {
      // A failed query may still be running in the thread.
      await this.#end();
      throw error;
    } finally {
      timer.cancel();
      asked.worker.off('message', answered.resolve).off('error', failed).off('exit', exited);
      this.#idle = clock.schedule(() => void this.#end(), IDLE_MS);
    }
  }

  #start(): Thread {
    const worker = new Worker(new URL('./simulation-worker.ts', import.meta.url), {
      name: 'world',
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    });
    // The thread must not keep an idle process alive.
    worker.unref();
    const started = { worker, sentMs: Number.NEGATIVE_INFINITY, reuseMs: 0 };
    worker.on('error', (error) => {
      this.#deps.log.warn('the thread that explains Jobs has failed', { error });
      if (this.#thread === started) this.#thread = undefined;
    });
    return started;
  }

  async #end(): Promise<void> {
    const ended = this.#thread;
    this.#thread = undefined;
    await ended?.worker.terminate();
  }

  async #sendWorld(to: Thread): Promise<void> {
    const { objects, flags, clock } = this.#deps;
    const send = (message: ToThread): void => to.worker.postMessage(message);
    const { jobs, ...others } = objects();
    const all = [...jobs];
    const nowMs = clock.now();
    send({ kind: 'World', described: this.#described, objects: others, flags, nowMs });
    const slices = createTimeSlices(clock, SLICE_MS);
    let spentMs = 0;
    const over: DeepReadonly<WorkObject>[] = [];
    const open: DeepReadonly<WorkObject>[] = [];
    for (let from = 0; from < all.length; from += JOBS_PER_MESSAGE) {
      const sinceMs = clock.monotonic();
      for (const job of all.slice(from, from + JOBS_PER_MESSAGE)) (isFinished(job.status) ? over : open).push(job);
      send({ kind: 'Jobs', jobs: open.splice(0) });
      spentMs += clock.monotonic() - sinceMs;
      await slices.nextWhenOver();
    }
    for (let from = Math.max(0, over.length - OVER_MAX); from < over.length; from += JOBS_PER_MESSAGE) {
      const sinceMs = clock.monotonic();
      send({ kind: 'Jobs', jobs: over.slice(from, from + JOBS_PER_MESSAGE) });
      spentMs += clock.monotonic() - sinceMs;
      await slices.nextWhenOver();
    }
    to.sentMs = clock.monotonic();
    to.reuseMs = Math.max(CACHE_TTL_MS, REUSE_FACTOR * spentMs);
  }
}
