import { isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { type ReconcileResult, runController } from '../../../shared/kube/controller.ts';
import { createWorkqueue, type WorkqueueMetrics } from '../../../shared/kube/workqueue.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import {
  formatNeededObject,
  MISSING_OBJECTS_MAX,
  NEEDED_RESOURCES,
  type NeededObject,
  type ObjectAnswer,
  type ObjectWaiters,
} from '../../api/needed-objects.ts';
import { referenceKey } from '../../api/pod-references.ts';
import { createRateSlots } from './rate-slots.ts';

/**
 * Asks one cluster whether objects exist that waiting Jobs need: once when a Job needs one first, and again at intervals while a Job waits
 * for it. An object that no Job needs is forgotten.
 */
export interface ObjectInquiries {
  /** The last answer. An object that was never asked for is asked for from now on. */
  answer(namespace: string, object: NeededObject): ObjectAnswer;
  /** Names of objects that the cluster lacks, in order, for the status of its WorkerCluster. */
  missing(): readonly string[];
  run(signal: AbortSignal): Promise<void>;
}

export type ObjectInquiriesOptions = {
  readonly cluster: string;
  readonly client: Pick<ReadClient, 'get'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: WorkqueueMetrics;
  /** Whether the cluster answers now. */
  readonly isReady: () => boolean;
  /** Those who learn of new answers. */
  readonly waiters: ObjectWaiters;
};

/** Intervals between questions about one object while a Job waits for it. */
const MISSING_MS = 10_000;
const PRESENT_MS = 60_000;
const UNANSWERED_MS = 5_000;
/** Rights may be granted later. */
const FORBIDDEN_MS = 300_000;
const TIMEOUT_MS = 5_000;
/** First questions, and repeated ones, which never delay the first. */
const FIRST_RATE = { perSecond: 20, burst: 100 };
const AGAIN_RATE = { perSecond: 5, burst: 50 };
const CONCURRENCY = 4;
/** Answers kept, of each namespace and together: of any further object nothing is known. */
const NAMESPACE_MAX = 200;
const ANSWERS_MAX = 2_000;

type Entry = { readonly namespace: string; readonly object: NeededObject; readonly answer: ObjectAnswer };

export const createObjectInquiries = (options: ObjectInquiriesOptions): ObjectInquiries => new Inquiries(options);

class Inquiries implements ObjectInquiries {
  readonly #options: ObjectInquiriesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #perNamespace = new Map<string, number>();
  readonly #forbiddenUntilMs = new Map<string, number>();
  readonly #first = createRateSlots(FIRST_RATE);
  readonly #again = createRateSlots(AGAIN_RATE);
  readonly #queue;

  constructor(options: ObjectInquiriesOptions) {
    this.#options = options;
    const { clock, metrics } = options;
    this.#queue = createWorkqueue({ name: 'object-inquiries', clock, rateLimit: { baseDelayMs: 1_000, maxDelayMs: 60_000 }, metrics });
  }

  answer(namespace: string, object: NeededObject): ObjectAnswer {
    const id = idOf(namespace, object);
    const known = this.#entries.get(id)?.answer;
    if (known !== undefined) return known;
    if (!this.#options.isReady()) return 'Unanswered';
    const kept = this.#perNamespace.get(namespace) ?? 0;
    if (kept >= NAMESPACE_MAX || this.#entries.size >= ANSWERS_MAX) return 'Unknown';
    this.#perNamespace.set(namespace, kept + 1);
    this.#entries.set(id, { namespace, object, answer: 'Asked' });
    this.#queue.add(id);
    return 'Asked';
  }

  missing(): readonly string[] {
    const names = [...this.#entries.values()].flatMap(({ namespace, object, answer }) =>
      answer === 'Missing' ? [formatNeededObject(namespace, object)] : [],
    );
    return names.toSorted().slice(0, MISSING_OBJECTS_MAX);
  }

  async run(signal: AbortSignal): Promise<void> {
    onAbort(signal, () => this.#queue.shutDown());
    const { cluster, log } = this.#options;
    const reconcile = (id: string): Promise<ReconcileResult> => this.#inquire(id, signal);
    await runController({ name: `objects-${cluster}`, queue: this.#queue, concurrency: CONCURRENCY, reconcile, log });
  }

  async #inquire(id: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { clock, isReady, waiters } = this.#options;
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const { namespace, object } = entry;
    if (!waiters.isNeeded(namespace, referenceKey(object))) return this.#forget(id, entry);
    if (!isReady()) {
      this.#becomes(id, entry.answer === 'Asked' ? 'Unanswered' : entry.answer);
      return { requeueAfterMs: UNANSWERED_MS };
    }
    const right = `${namespace}/${object.kind}`;
    const forbiddenMs = (this.#forbiddenUntilMs.get(right) ?? 0) - clock.monotonic();
    if (forbiddenMs > 0) {
      this.#becomes(id, 'Unknown');
      return { requeueAfterMs: Math.ceil(forbiddenMs) };
    }
    const slotMs = (entry.answer === 'Asked' ? this.#first : this.#again).waitMs(id, clock.monotonic());
    if (slotMs > 0) return { requeueAfterMs: Math.ceil(slotMs) };
    const answer = await this.#ask(entry, signal);
    if (signal.aborted) return undefined;
    if (answer === undefined) {
      // The Jobs that wait for a first answer wait for none of this cluster while it gives none.
      for (const [each, { answer: before }] of this.#entries) if (before === 'Asked') this.#becomes(each, 'Unanswered');
      return { requeueAfterMs: UNANSWERED_MS };
    }
    if (answer === 'Unknown') {
      this.#forbiddenUntilMs.set(right, clock.monotonic() + FORBIDDEN_MS);
      this.#becomes(id, 'Unknown');
      return { requeueAfterMs: FORBIDDEN_MS };
    }
    this.#becomes(id, answer);
    return { requeueAfterMs: answer === 'Missing' ? MISSING_MS : PRESENT_MS };
  }

  /** Undefined: no answer. */
  async #ask({ namespace, object }: Entry, signal: AbortSignal): Promise<ObjectAnswer | undefined> {
    const { client, clock, cluster, log } = this.#options;
    const { kind, name } = object;
    try {
      await withDeadline(clock, TIMEOUT_MS, signal, (each) => client.get(NEEDED_RESOURCES[kind], { namespace, name }, { signal: each }));
      return 'Present';
    } catch (error) {
      if (isNotFound(error)) return 'Missing';
      if (isForbidden(error)) {
        log.info('whether Jobs find what they need is not known: the manager may not look there', { cluster, namespace, kind });
        return 'Unknown';
      }
      log.debug('a cluster does not answer whether it has an object', { cluster, namespace, kind, name, error });
      return undefined;
    }
  }

  #forget(id: string, { namespace, object, answer }: Entry): undefined {
    this.#entries.delete(id);
    const kept = (this.#perNamespace.get(namespace) ?? 1) - 1;
    if (kept > 0) this.#perNamespace.set(namespace, kept);
    else this.#perNamespace.delete(namespace);
    if (this.#perNamespace.size === 0) this.#forbiddenUntilMs.clear();
    if (answer === 'Missing') this.#options.waiters.changed(namespace, referenceKey(object));
  }

  #becomes(id: string, answer: ObjectAnswer): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.answer === answer) return;
    this.#entries.set(id, { ...entry, answer });
    this.#options.waiters.changed(entry.namespace, referenceKey(entry.object));
  }
}

const idOf = (namespace: string, object: NeededObject): string => `${namespace}/${referenceKey(object)}`;
