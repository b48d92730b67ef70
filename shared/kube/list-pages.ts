import type { KubeObject } from '../api/kubernetes.ts';
import { sleep } from '../runtime/clock.ts';
import { omitUndefined } from '../runtime/omit-undefined.ts';
import { createTimeSlices } from '../runtime/time-slices.ts';
import { ApiError, isGone } from './api-error.ts';
import type { ObjectList } from './client.ts';
import { checkListed } from './object-shape.ts';
import type { PageSize } from './page-size.ts';
import type { ReflectorOptions, ReflectorSink } from './reflector-options.ts';
import { UnusableAnswer } from './unusable-answer.ts';

/** What a page brings is taken in so long at a time: hundreds of large objects take longer than others should wait. */
const SLICE_MS = 10;

const ITEMS_AT_ONCE = 20;

/** All pages of one list together: one page now and then would be a list that never ends. */
const LIST_MAX_MS = 5 * 60_000;

/** Pages may be empty while a server looks for what was selected, but not for ever. */
const EMPTY_PAGES_MAX = 1_000;

export function pause<T extends KubeObject>(
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

/** Lists page by page. Returns the resourceVersion from which to watch. */
export async function listInto<T extends KubeObject>(
  options: ReflectorOptions<T>,
  sink: ReflectorSink<T>,
  pageSize: PageSize,
  heard: () => void,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await listPages(options, sink, pageSize, heard, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
    // A continue token lives for some minutes; a slow consumer of a long list falls back to one long answer.
    return listPages(options, sink, undefined, heard, signal);
  }
}

async function listPages<T extends KubeObject>(
  { client, resource, namespace, labelSelector, fieldSelector, answer, clock }: ReflectorOptions<T>,
  sink: ReflectorSink<T>,
  pageSize: PageSize | undefined,
  heard: () => void,
  signal: AbortSignal,
): Promise<string> {
  sink.listStarted();
  const startedMs = clock.monotonic();
  let emptyPages = 0;
  let continueToken: string | undefined;
  const nextPage = async (): Promise<ObjectList<T>> => {
    for (;;) {
      const limit = pageSize?.current();
      try {
        const page = await client.list<T>(resource, {
          signal,
          ...omitUndefined({ namespace, labelSelector, fieldSelector, answer, limit, continueToken }),
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
    heard();
    for (const item of page.items) checkListed(item);
    const slices = createTimeSlices(clock, SLICE_MS);
    for (let start = 0; start < page.items.length; start += ITEMS_AT_ONCE) {
      await slices.nextWhenOver(signal);
      signal.throwIfAborted();
      sink.page(page.items.slice(start, start + ITEMS_AT_ONCE));
    }
    const { continueToken: next } = page;
    if (next === undefined) {
      sink.listEnded(page.resourceVersion);
      return page.resourceVersion;
    }
    if (page.items.length === 0) emptyPages++;
    if (next === continueToken || emptyPages > EMPTY_PAGES_MAX)
      throw new UnusableAnswer('NotKubernetes', 'the list does not come to an end');
    if (clock.monotonic() - startedMs > LIST_MAX_MS)
      throw new UnusableAnswer('AnswerTooSlow', `the list did not end within ${LIST_MAX_MS} ms`);
    continueToken = next;
  }
}
