import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { CONTROLLER_UID_LABEL } from '../../../shared/api/names.ts';
import { EVENTS, PODS, type Resource } from '../../../shared/api/resources.ts';
import { isForbidden } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { runController, type ReconcileResult } from '../../../shared/kube/controller.ts';
import { createWorkqueue, type Workqueue, type WorkqueueMetrics } from '../../../shared/kube/workqueue.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { startTrouble } from '../status-home/start-troubles.ts';
import { createRateSlots } from './rate-slots.ts';
import { isSameText } from '../writes/write-troubles.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * Reads from one cluster why copies there do not start: ten seconds after a copy was first seen without a pod that is or was ready, then at
 * growing intervals. A copy that starts in time costs no call. Lists that the manager may not make are skipped.
 */
export interface StartInquiries {
  /** Takes the present copy of a Job; undefined when there is none. */
  saw(localKey: string, copy: DeepReadonly<WorkObject> | undefined): void;
  /** Why the copy does not start, as far as its cluster has reported. */
  answer(localKey: string): string | undefined;
  run(signal: AbortSignal): Promise<void>;
}

export type StartInquiriesOptions = {
  readonly kind: WorkKind;
  readonly cluster: string;
  readonly client: ReadClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WorkqueueMetrics;
  /** The copy of this Job that exists and is not being deleted. */
  readonly copyOf: (localKey: string) => DeepReadonly<WorkObject> | undefined;
  /** The answer for this Job has changed. */
  readonly onAnswer: (localKey: string) => void;
};

const FIRST_AFTER_MS = 10_000;
const AFTER_MAX_MS = 320_000;
/** The answer for a Job changes at most once in this time. */
const REPORT_INTERVAL_MS = 60_000;
const TIMEOUT_MS = 10_000;
/** Each slot costs one or two calls. */
const RATE = { perSecond: 2, burst: 20 };
const PODS_MAX = 5;
const EVENTS_MAX = 20;
/** A list that is forbidden is tried again after this time: rights may be granted later. */
const FORBIDDEN_MS = 600_000;

type Waiting = {
  readonly uid: string;
  /** On the clock's `monotonic`. */
  readonly dueMs: number;
  readonly afterMs: number;
  readonly answer: string | undefined;
  readonly answeredMs: number;
};

export function createStartInquiries(options: StartInquiriesOptions): StartInquiries {
  return new Inquiries(options);
}

class Inquiries implements StartInquiries {
  readonly #options: StartInquiriesOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #queue: Workqueue;
  readonly #slots = createRateSlots(RATE);
  readonly #forbiddenUntilMs = new Map<string, number>();
  readonly #stopped = new AbortController();

  constructor(options: StartInquiriesOptions) {
    this.#options = options;
    const { clock, metrics } = options;
    this.#queue = createWorkqueue({ name: 'start-inquiries', clock, rateLimit: { baseDelayMs: 1_000, maxDelayMs: 60_000 }, metrics });
  }

  saw(localKey: string, copy: DeepReadonly<WorkObject> | undefined): void {
    const { kind, clock } = this.#options;
    if (copy === undefined || !kind.copies.isWaitingToStart(copy)) {
      this.#waiting.delete(localKey);
      return;
    }
    const { uid } = copy.metadata;
    if (this.#waiting.get(localKey)?.uid === uid) return;
    const dueMs = clock.monotonic() + FIRST_AFTER_MS;
    this.#waiting.set(localKey, { uid, dueMs, afterMs: FIRST_AFTER_MS, answer: undefined, answeredMs: Number.NEGATIVE_INFINITY });
    this.#queue.addAfter(localKey, FIRST_AFTER_MS);
  }

  answer(localKey: string): string | undefined {
    return this.#waiting.get(localKey)?.answer;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cluster, log } = this.#options;
    onAbort(signal, () => {
      this.#stopped.abort(signal.reason);
      this.#queue.shutDown();
    });
    const reconcile = (key: string): Promise<ReconcileResult> => this.#inquire(key);
    await runController({ name: `start-${cluster}`, queue: this.#queue, concurrency: 1, reconcile, log });
  }

  async #inquire(key: string): Promise<ReconcileResult> {
    const { kind, cluster, clock, log, copyOf, onAnswer } = this.#options;
    const waiting = this.#waiting;
    const before = waiting.get(key);
    if (before === undefined) return undefined;
    // Rounded up: a timer never fires within a fraction of a millisecond.
    const earlyMs = Math.ceil(before.dueMs - clock.monotonic());
    if (earlyMs > 0) return { requeueAfterMs: earlyMs };
    const copy = copyOf(key);
    if (copy === undefined || copy.metadata.uid !== before.uid || !kind.copies.isWaitingToStart(copy)) {
      waiting.delete(key);
      return undefined;
    }
    const slotMs = this.#slots.waitMs(key, clock.monotonic());
    if (slotMs > 0) return { requeueAfterMs: slotMs };
    const answer = await this.#ask(copy).catch((error: unknown) => {
      // A cluster out of reach is reported elsewhere: the last answer stays.
      log.debug('what keeps a Job from starting could not be asked', { cluster, job: key, error });
      return before.answer;
    });
    // The copy may have started meanwhile, or be another one.
    const now = waiting.get(key);
    if (now === undefined || now.uid !== before.uid) return undefined;
    const nowMs = clock.monotonic();
    const hasChanged =
      (answer === undefined) !== (now.answer === undefined) || (answer !== undefined && !isSameText(answer, now.answer ?? ''));
    const isReported = hasChanged && nowMs - now.answeredMs >= REPORT_INTERVAL_MS;
    const afterMs = Math.min(now.afterMs * 2, AFTER_MAX_MS);
    waiting.set(key, { ...now, afterMs, dueMs: nowMs + afterMs, ...(isReported ? { answer: answer, answeredMs: nowMs } : {}) });
    if (isReported) onAnswer(key);
    return { requeueAfterMs: afterMs };
  }

  async #ask(copy: DeepReadonly<WorkObject>): Promise<string | undefined> {
    const { namespace, uid } = copy.metadata;
    const { active } = this.#options.kind.progress(copy);
    const labelSelector = `${CONTROLLER_UID_LABEL}=${uid}`;
    const pods = active === 0 ? [] : await this.#list(PODS, { namespace, labelSelector, limit: PODS_MAX });
    const events = await this.#list(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid},type=Warning`, limit: EVENTS_MAX });
    return startTrouble(pods.slice(0, PODS_MAX), events.slice(0, EVENTS_MAX), active);
  }

  async #list(
    resource: Resource,
    options: { namespace: string; fieldSelector?: string; labelSelector?: string; limit: number },
  ): Promise<readonly unknown[]> {
    const { cluster, client, clock, log } = this.#options;
    const stopped = this.#stopped.signal;
    if ((this.#forbiddenUntilMs.get(resource.plural) ?? 0) > clock.monotonic()) return [];
    try {
      const { items } = await withDeadline(clock, TIMEOUT_MS, stopped, (signal) => client.list(resource, { ...options, signal }));
      this.#forbiddenUntilMs.delete(resource.plural);
      return items;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const hasChanged = !this.#forbiddenUntilMs.has(resource.plural);
      this.#forbiddenUntilMs.set(resource.plural, clock.monotonic() + FORBIDDEN_MS);
      if (hasChanged)
        log.warn('Jobs are not told why they do not start: the manager may not list these there', { cluster, resource: resource.plural });
      return [];
    }
  }
}
