import type { KubeObject } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import { createBackoff, type Backoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { sleep } from '../runtime/clock.ts';
import { given } from '../runtime/given.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import { onAbort } from '../runtime/tasks.ts';
import { ApiError, hasStatusCause, isGone } from './api-error.ts';
import type { ObjectList, ReadClient, WatchClient, WatchEvent } from './client.ts';
import { checkListed, checkWatched } from './object-shape.ts';
import { createPageSize, type PageSize } from './page-size.ts';
import { UnusableAnswer } from './unusable-answer.ts';

/** What a reflector reports, in order. */
export interface ReflectorSink<T> {
  /** A new LIST begins; pages follow. */
  listStarted(): void;
  page(items: readonly T[]): void;
  /** The LIST is complete: what it did not contain is gone. */
  listEnded(resourceVersion: string): void;
  events(batch: readonly WatchEvent<T>[]): void;
}

export type ReflectorOptions<T extends KubeObject> = {
  readonly client: ReadClient & WatchClient;
  readonly resource: Resource<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** '' or absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * Told of answers that cannot be used; given for servers that are not trusted, which are then left alone for a while. `fault` is undefined
   * when they are usable again: a list was complete. `source` tells several reflectors apart.
   */
  readonly onFault?: (source: string, fault: UnusableAnswer | undefined) => void;
};

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
/** All pages of one list together: one page now and then would be a list that never ends. */
const LIST_MAX_MS = 5 * 60_000;
/** Pages may be empty while a server looks for what was selected, but not for ever. */
const EMPTY_PAGES_MAX = 1_000;

/** LIST once, then WATCH for ever: resumes where it was cut, lists again when the server has forgotten that place. */
export async function reflect<T extends KubeObject>(
  options: ReflectorOptions<T>,
  sink: ReflectorSink<T>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, onFault } = options;
  const source = `${options.resource.plural}/${options.namespace ?? ''}`;
  const backoff = createBackoff({ baseMs: BACKOFF_BASE_MS, maxMs: BACKOFF_MAX_MS, random });
  const faultBackoff = createBackoff({ baseMs: FAULT_BACKOFF_BASE_MS, maxMs: FAULT_BACKOFF_MAX_MS, random });
  const pageSize = createPageSize();
  let faultyAtMs = Number.NEGATIVE_INFINITY;
  let faulty = false;
  let resumeFrom: string | undefined;
  while (!signal.aborted) {
    try {
      if (resumeFrom === undefined) {
        resumeFrom = await listInto(options, sink, pageSize, signal);
        backoff.reset();
        if (faulty) onFault?.(source, undefined);
        faulty = false;
      }
      for await (const seen of watchFrom(options, sink, resumeFrom, backoff, signal)) resumeFrom = seen;
    } catch (error) {
      if (signal.aborted) return;
      if (mustRelist(error)) resumeFrom = undefined;
      const fault = onFault === undefined ? undefined : faultOf(error);
      if (fault !== undefined) {
        if (clock.now() - faultyAtMs > FAULT_FORGOTTEN_MS) faultBackoff.reset();
        faultyAtMs = clock.now();
        faulty = true;
        onFault?.(source, fault);
      }
      await pause(options, error, (fault === undefined ? backoff : faultBackoff).nextDelayMs(), resumeFrom === undefined, signal);
    }
  }
}

/** API servers send nobody elsewhere. */
const faultOf = (error: unknown): UnusableAnswer | undefined =>
  error instanceof ApiError && error.code < 400
    ? new UnusableAnswer('NotKubernetes', `the server answered ${error.code}, which is no answer of an API server`)
    : error instanceof UnusableAnswer
      ? error
      : undefined;

function pause<T extends KubeObject>(
  { clock, log, resource }: ReflectorOptions<T>,
  error: unknown,
  backoffMs: number,
  relist: boolean,
  signal: AbortSignal,
): Promise<void> {
  const delayMs = Math.max(backoffMs, error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0);
  const fields = { resource: resource.plural, delayMs: Math.round(delayMs), relist };
  // 410 is how a server says that time has passed; it is no fault.
  if (isGone(error)) log.info('watch expired, listing again', fields);
  else log.warn('list or watch failed, trying again', { ...fields, error });
  return sleep(clock, delayMs, signal);
}

/**
 * Whether resuming is pointless. A refused, throttled or failing server is asked again from the same place; a place
 * that it has forgotten (410) or never had (restored from an older backup), or any other refusal, calls for a new list.
 */
function mustRelist(error: unknown): boolean {
  // What cannot be read here would come again there.
  if (error instanceof UnusableAnswer) return true;
  if (!(error instanceof ApiError)) return false;
  if (hasStatusCause(error, 'ResourceVersionTooLarge')) return true;
  return error.code < 500 && ![401, 403, 429].includes(error.code);
}

/** Lists page by page. Returns the resourceVersion from which to watch. */
async function listInto<T extends KubeObject>(
  options: ReflectorOptions<T>,
  sink: ReflectorSink<T>,
  pageSize: PageSize,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await listPages(options, sink, pageSize, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
    // A continue token lives for some minutes; a slow consumer of a long list falls back to one long answer.
    return listPages(options, sink, undefined, signal);
  }
}

async function listPages<T extends KubeObject>(
  { client, resource, namespace, labelSelector, fieldSelector, clock }: ReflectorOptions<T>,
  sink: ReflectorSink<T>,
  pageSize: PageSize | undefined,
  signal: AbortSignal,
): Promise<string> {
  sink.listStarted();
  const startedMs = clock.now();
  let emptyPages = 0;
  let continueToken: string | undefined;
  const nextPage = async (): Promise<ObjectList<T>> => {
    for (;;) {
      const limit = pageSize?.current();
      try {
        const page = await client.list<T>(resource, {
          signal,
          ...given({ namespace, labelSelector, fieldSelector, limit, continueToken }),
        });
        pageSize?.fitted();
        return page;
      } catch (error) {
        const less = error instanceof UnusableAnswer && pageSize?.tooMuch(error.fault) === true;
        if (!less || signal.aborted) throw error;
      }
    }
  };
  for (;;) {
    const page = await nextPage();
    signal.throwIfAborted();
    for (const item of page.items) checkListed(item);
    sink.page(page.items);
    const { continueToken: next } = page;
    if (next === undefined) {
      sink.listEnded(page.resourceVersion);
      return page.resourceVersion;
    }
    if (page.items.length === 0) emptyPages++;
    if (next === continueToken || emptyPages > EMPTY_PAGES_MAX)
      throw new UnusableAnswer('NotKubernetes', 'the list does not come to an end');
    if (clock.now() - startedMs > LIST_MAX_MS) throw new UnusableAnswer('AnswerTooSlow', `the list did not end within ${LIST_MAX_MS} ms`);
    continueToken = next;
  }
}

/** One watch, until it ends. Yields the resourceVersion of everything processed. Throws when it broke or was of no use. */
async function* watchFrom<T extends KubeObject>(
  options: ReflectorOptions<T>,
  sink: ReflectorSink<T>,
  resourceVersion: string,
  backoff: Backoff,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { client, resource, clock, random, namespace, labelSelector, fieldSelector } = options;
  const startedMs = clock.now();
  const idle = idleGuard(clock, signal);
  let useful = false;
  try {
    const stream = await client.watch<T>(resource, {
      resourceVersion,
      timeoutSeconds: Math.round(WATCH_SECONDS_MIN + random() * WATCH_SECONDS_SPREAD),
      signal: idle.signal,
      ...given({ namespace, labelSelector, fieldSelector }),
    });
    for await (const batch of stream) {
      if (signal.aborted) return;
      for (const event of batch) checkWatched(event);
      idle.alive();
      if (!useful) backoff.reset();
      useful = true;
      sink.events(batch);
      const last = batch.at(-1);
      if (last !== undefined) yield last.object.metadata.resourceVersion;
    }
  } catch (error) {
    if (idle.expired()) options.log.info('watch went silent, resuming it', { resource: resource.plural });
    else throw error;
  } finally {
    idle.stop();
  }
  if (!useful && !signal.aborted && clock.now() - startedMs < WATCH_SHORT_MS) throw new Error('the server ended the watch at once');
  backoff.reset();
}

/** Aborts its signal when `alive` is not called for WATCH_IDLE_MS, or with `outer`. */
function idleGuard(clock: Clock, outer: AbortSignal): { signal: AbortSignal; alive(): void; expired(): boolean; stop(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort(outer.reason);
  onAbort(outer, abort);
  let aliveAtMs = clock.now();
  let silent = false;
  // Looking at the time of the last sign of life when the timer fires is cheaper than a new timer for every event.
  const check = (): void => {
    const quietMs = clock.now() - aliveAtMs;
    if (quietMs < WATCH_IDLE_MS) timer = clock.schedule(check, WATCH_IDLE_MS - quietMs);
    else {
      silent = true;
      controller.abort(new Error(`no sign of life for ${WATCH_IDLE_MS} ms`));
    }
  };
  let timer = clock.schedule(check, WATCH_IDLE_MS);
  return {
    signal: controller.signal,
    alive: () => {
      aliveAtMs = clock.now();
    },
    expired: () => silent && !outer.aborted,
    stop: () => {
      timer.cancel();
      outer.removeEventListener('abort', abort);
    },
  };
}
