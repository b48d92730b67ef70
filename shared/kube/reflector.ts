import type { KubeObject } from '../api/kubernetes.ts';
import { type Backoff, createBackoff } from '../runtime/backoff.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import { ApiError, hasStatusCause } from './api-error.ts';
import type { WatchEvent } from './client.ts';
import { idleGuard } from './idle-guard.ts';
import { listInto, pause } from './list-pages.ts';
import { checkWatched } from './object-shape.ts';
import { createPageSize } from './page-size.ts';
import type { ReflectorOptions, ReflectorSink } from './reflector-options.ts';
import { isOlder } from './resource-version.ts';
import { UnusableAnswer } from './unusable-answer.ts';

/** The server does not know a resourceVersion any more that it has given before. */
export class WentBack extends Error {
  override readonly name = 'WentBack';

  constructor(resource: string, seen: string, current: string) {
    super(`the resourceVersion of ${resource} went back from ${seen} to ${current}, as after a restore from an older backup`);
  }
}

/** Keeps a sink up to date with one resource of one API server. */
export interface Reflector {
  /** LIST once, then WATCH for ever: resumes where it was cut, lists again when the server has forgotten that place. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Resolves when everything has been reported that the server had when this was called. The watch is opened anew from where it is, so that
   * one that is held up somewhere does not count, and only what it missed is sent again; a server that does not say in a few seconds how
   * far it is is listed anew. Rejects when `signal` aborts first.
   */
  catchUp(signal: AbortSignal): Promise<void>;
  /**
   * {@link catchUp} is likely to be called in about {@link CATCH_UP_AHEAD_MS}: the watch that it needs is opened now, so that its bookmark
   * is near by then.
   */
  willCatchUp(): void;
  /** When the server last gave a sign of life on this list and watch: on the clock's `monotonic`, from the making of the reflector on. */
  lastHeardMs(): number;
}

const BACKOFF_BASE_MS = 800;

const BACKOFF_MAX_MS = 30_000;

/** The server ends each watch after a time of our choice, spread so that not all come back at once. */
const WATCH_SECONDS_MIN = 240;

const WATCH_SECONDS_SPREAD = 240;

/** Servers send a bookmark about once a minute; a watch that says nothing for this long is taken for dead. */
const WATCH_IDLE_MS = 130_000;

/** A watch that ends sooner and has brought nothing counts as a failure (client-go: "very short watch"). */
const WATCH_SHORT_MS = 1000;

/** Between looks at a server whose answers cannot be used. */
const FAULT_BACKOFF_BASE_MS = 15_000;

const FAULT_BACKOFF_MAX_MS = 10 * 60_000;

/** Who has given no such answer for this long is believed again. */
const FAULT_FORGOTTEN_MS = 15 * 60_000;

/** A watch that ends no sooner than this before its time ended because its time was over. */
const WATCH_EARLY_MS = 1_000;

/** For who wants to catch up: servers send a bookmark 2 s before a watch ends. */
const CATCH_UP_WATCH_SECONDS = 3;

/** For so long after its start a watch of {@link CATCH_UP_WATCH_SECONDS} has its bookmark still before it. */
const BOOKMARK_AHEAD_MS = 1_000;

/** How long before the bookmark is needed its watch is best opened: with time left for the question how far the server is. */
export const CATCH_UP_AHEAD_MS = 700;

/** By then storage that tells how far it is every 5 s (etcd's progress notifications) has told so. */
const CATCH_UP_WATCHES = 3;

/** How much longer than its time a watch may take to say something. */
const CATCH_UP_GRACE_MS = 2_000;

/** Somebody who waits to be as far as the server was. `target` is known once the server has been asked. */
type Waiting = { target: string | undefined; watches: number; readonly reached: PromiseWithResolvers<void> };

/** A reflector as described by {@link Reflector}. Nothing starts before `run`. */
export function createReflector<T extends KubeObject>(options: ReflectorOptions<T>, sink: ReflectorSink<T>): Reflector {
  return new ListingReflector(options, sink);
}

class ListingReflector<T extends KubeObject> implements Reflector {
  readonly #options: ReflectorOptions<T>;
  readonly #sink: ReflectorSink<T>;
  readonly #source: string;
  readonly #backoff: Backoff;
  readonly #faultBackoff: Backoff;
  readonly #pageSize = createPageSize();
  readonly #waiting = new Set<Waiting>();
  #faultyAtMs = Number.NEGATIVE_INFINITY;
  #faulty = false;
  /** Up to where everything has been reported; undefined: a list is due. */
  #position: string | undefined;
  /** Whether the server may have been replaced by an older one since it gave us our place. */
  #unsure = false;
  /** The next watch is to bring its bookmark soon. */
  #isCatchUpNear = false;
  /** The server was asked how far it is since the present watch began. */
  #isPositionAsked = false;
  /** Until when the present watch has its bookmark surely before it, on the clock's `monotonic`. */
  #bookmarkAheadMs = Number.NEGATIVE_INFINITY;
  /** Ends the present watch or pause. */
  #hurry = new AbortController();
  /** Somebody else has seen that our place may be of another course of things. */
  #displaced = false;
  #heardMs: number;
  #watched = false;

  constructor(options: ReflectorOptions<T>, sink: ReflectorSink<T>) {
    const { clock, random, resource, namespace } = options;
    this.#options = options;
    this.#sink = sink;
    this.#source = `${resource.plural}/${namespace ?? ''}`;
    this.#backoff = createBackoff({ baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, random });
    this.#faultBackoff = createBackoff({ baseMs: FAULT_BACKOFF_BASE_MS, maxMs: FAULT_BACKOFF_MAX_MS, random });
    this.#heardMs = clock.monotonic();
    options.course?.onRewind(() => {
      this.#displaced = true;
      this.#hurry.abort(new Error('the server may have gone back in time'));
    });
  }

  lastHeardMs(): number {
    return this.#heardMs;
  }

  async catchUp(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const waiting: Waiting = { target: undefined, watches: 0, reached: Promise.withResolvers() };
    const abort = (): void => waiting.reached.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#waiting.add(waiting);
    const isWatched = this.#options.clock.monotonic() < this.#bookmarkAheadMs;
    try {
      if (!isWatched || !(await this.#isAsked(signal))) this.#hurry.abort(new Error('the watch is to catch up'));
      await waiting.reached.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#waiting.delete(waiting);
    }
  }

  willCatchUp(): void {
    this.#isCatchUpNear = true;
    this.#hurry.abort(new Error('the watch is to catch up soon'));
  }

  /** Whether the server has said how far it is, in time for the bookmark of the present watch. */
  async #isAsked(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#askPosition(this.#position ?? '', signal);
      this.#isPositionAsked = true;
      return this.#options.clock.monotonic() < this.#bookmarkAheadMs;
    } catch {
      // The next watch asks again, and its failure is reported.
      return false;
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#hurry = new AbortController();
      try {
        if ([...this.#waiting].some(({ watches }) => watches >= CATCH_UP_WATCHES)) this.#position = undefined;
        if (this.#displaced) await this.#listElsewhere(signal);
        this.#position ??= await this.#list(signal);
        await this.#watch(this.#position, signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#recover(error, signal);
      }
    }
  }

  /** Where the list shows that the server is not as far as we were, that is known and not only suspected. */
  async #listElsewhere(signal: AbortSignal): Promise<void> {
    const before = this.#position ?? '';
    this.#displaced = false;
    this.#sink.wentBack();
    let position: string;
    try {
      position = await this.#list(signal);
    } catch (error) {
      this.#displaced = true;
      throw error;
    }
    this.#position = position;
    this.#checkOrder(before, position);
  }

  async #list(signal: AbortSignal): Promise<string> {
    const waiting = [...this.#waiting];
    const resourceVersion = await listInto(this.#options, this.#sink, this.#pageSize, () => this.#hear(), signal);
    this.#options.course?.observed(resourceVersion);
    this.#backoff.reset();
    this.#unsure = false;
    if (this.#faulty) this.#options.onFault?.(this.#source, undefined);
    this.#faulty = false;
    for (const { reached } of waiting) reached.resolve();
    return resourceVersion;
  }

  /** One watch, until it ends. Throws when it broke or was of no use. */
  async #watch(from: string, signal: AbortSignal): Promise<void> {
    const { client, resource, clock, random, namespace, labelSelector, fieldSelector, answer, log, course } = this.#options;
    const catchesUp = this.#waiting.size > 0 || this.#isCatchUpNear;
    // Whoever is to catch up asks how far the server is.
    const isAhead = catchesUp && this.#waiting.size === 0;
    this.#isCatchUpNear = false;
    this.#isPositionAsked = false;
    const timeoutSeconds = catchesUp ? CATCH_UP_WATCH_SECONDS : Math.round(WATCH_SECONDS_MIN + random() * WATCH_SECONDS_SPREAD);
    // Where nobody keeps a course, there are Leases that tell of a restore.
    const listsAfter = course !== undefined && !catchesUp;
    const hurry = this.#hurry.signal;
    const startedMs = clock.monotonic();
    const idle = idleGuard(clock, catchesUp ? timeoutSeconds * 1000 + CATCH_UP_GRACE_MS : WATCH_IDLE_MS, [signal, hurry]);
    let useful = false;
    const ask = !isAhead && (this.#unsure || catchesUp);
    this.#unsure = true;
    this.#options.onRestart?.(resource.plural, this.#watched ? 1 : 0);
    this.#watched = true;
    if (!hurry.aborted) for (const waiting of this.#waiting) waiting.watches++;
    try {
      const stream = await client.watch<T>(resource, {
        resourceVersion: from,
        timeoutSeconds,
        signal: idle.signal,
        ...omitUndefined({ namespace, labelSelector, fieldSelector, answer }),
      });
      // Not before: a server that is replaced from now on breaks the watch.
      const first = [...this.#waiting].some(({ target }) => target === undefined);
      if (ask) await this.#askPosition(from, idle.signal);
      this.#hear();
      if (catchesUp) this.#bookmarkAheadMs = startedMs + BOOKMARK_AHEAD_MS;
      // The bookmark of this watch may be older than a late answer. That of another watch is not.
      if (catchesUp && first && clock.monotonic() - startedMs >= BOOKMARK_AHEAD_MS && this.#isBehind()) return;
      for await (const batch of stream) {
        if (signal.aborted) return;
        this.#checkBatch(batch);
        idle.alive();
        this.#hear();
        if (!useful) this.#backoff.reset();
        useful = true;
        this.#sink.events(batch);
        this.#reach(batch.at(-1)?.object.metadata.resourceVersion ?? from);
      }
    } catch (error) {
      if (idle.expired())
        log.info(listsAfter ? 'watch went silent, listing anew' : 'watch went silent, resuming it', { resource: resource.plural });
      else if (signal.aborted || !hurry.aborted) throw error;
    } finally {
      idle.stop();
      this.#bookmarkAheadMs = Number.NEGATIVE_INFINITY;
    }
    // Nobody knows what the server was meanwhile: one that was restored then may by now be further than it had been.
    if (listsAfter && idle.expired()) this.#displaced = true;
    const lastedMs = clock.monotonic() - startedMs;
    if (!useful && !signal.aborted && !hurry.aborted && lastedMs < WATCH_SHORT_MS) throw new Error('the server ended the watch at once');
    this.#unsure =
      (isAhead && !this.#isPositionAsked) || hurry.aborted || idle.expired() || lastedMs < timeoutSeconds * 1000 - WATCH_EARLY_MS;
    this.#backoff.reset();
  }

  /** Asks how far the server is, which is the least that can be asked of a list. */
  async #askPosition(from: string, signal: AbortSignal): Promise<void> {
    const { client, resource, namespace, labelSelector, fieldSelector, answer, course } = this.#options;
    const options = omitUndefined({ namespace, labelSelector, fieldSelector, answer });
    const highest = course?.highest() ?? '';
    const { resourceVersion } = await client.list<T>(resource, { limit: 1, signal, ...options });
    this.#checkOrder(from, resourceVersion);
    course?.compared(resourceVersion, highest);
    for (const waiting of this.#waiting) waiting.target ??= resourceVersion;
    // Events of the watch may have come meanwhile.
    this.#reach(this.#position ?? from);
  }

  /** Somebody waits for a version that no event or bookmark has shown yet. */
  #isBehind(): boolean {
    return [...this.#waiting].some(({ target }) => target !== undefined && isOlder(this.#position ?? '', target));
  }

  #checkBatch(batch: readonly WatchEvent<T>[]): void {
    let seen = this.#position ?? '';
    for (const event of batch) {
      checkWatched(event);
      const { resourceVersion } = event.object.metadata;
      this.#checkOrder(seen, resourceVersion);
      seen = resourceVersion;
    }
  }

  #checkOrder(seen: string, next: string): void {
    if (isOlder(next, seen)) throw new WentBack(this.#options.resource.plural, seen, next);
  }

  #reach(position: string): void {
    this.#position = position;
    this.#options.course?.observed(position);
    for (const { target, reached } of this.#waiting) if (target !== undefined && !isOlder(position, target)) reached.resolve();
  }

  #hear(): void {
    this.#heardMs = this.#options.clock.monotonic();
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, onFault, onWentBack } = this.#options;
    if (mustRelist(error)) this.#position = undefined;
    if (error instanceof WentBack || (error instanceof ApiError && isOfTheFuture(error))) {
      this.#sink.wentBack();
      onWentBack?.(error);
    }
    const fault = onFault === undefined ? undefined : faultOf(error);
    if (fault !== undefined) {
      if (clock.monotonic() - this.#faultyAtMs > FAULT_FORGOTTEN_MS) this.#faultBackoff.reset();
      this.#faultyAtMs = clock.monotonic();
      this.#faulty = true;
      onFault?.(this.#source, fault);
    }
    const delayMs = (fault === undefined ? this.#backoff : this.#faultBackoff).nextDelayMs();
    await pause(this.#options, error, delayMs, this.#position === undefined, AbortSignal.any([signal, this.#hurry.signal]));
  }
}

/** API servers send nobody elsewhere. */
const faultOf = (error: unknown): UnusableAnswer | undefined =>
  error instanceof ApiError && error.code < 400
    ? new UnusableAnswer('NotKubernetes', `the server answered ${error.code}, which is no answer of an API server`)
    : error instanceof UnusableAnswer
      ? error
      : undefined;

/**
 * Whether resuming is pointless. A refused, throttled or failing server is asked again from the same place; a place
 * that it has forgotten (410) or never had (restored from an older backup), or any other refusal, calls for a new list.
 */
function mustRelist(error: unknown): boolean {
  // What cannot be read here would come again there.
  if (error instanceof UnusableAnswer || error instanceof WentBack) return true;
  if (!(error instanceof ApiError)) return false;
  if (isOfTheFuture(error)) return true;
  return error.code < 500 && ![401, 403, 429].includes(error.code);
}

const isOfTheFuture = (error: ApiError): boolean => hasStatusCause(error, 'ResourceVersionTooLarge');
