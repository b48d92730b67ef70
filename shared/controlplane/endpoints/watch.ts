import type { Clock, Timer } from '../../runtime/clock.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import type { Random } from '../../runtime/random.ts';
import type { StreamSink } from '../request/answer.ts';
import { candidates, waitForRevision } from '../registry/list.ts';
import type { ListOptions } from '../registry/list-options.ts';
import type { Presenter } from './presentation.ts';
import { isUnsigned, resourceVersionSyntax } from '../registry/request-options.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import { expired, unknownError } from '../apimachinery/status-error.ts';
import type { Store } from '../storage/store.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { StoreEvent, Table } from '../storage/store-table.ts';

export type WatchDeps = { readonly store: Store; readonly clock: Clock; readonly random: Random };

/** kube-apiserver's --min-request-timeout; a watch without timeoutSeconds lasts between this and twice this. */
const MIN_TIMEOUT_SECONDS = 1800;
const BOOKMARK_PERIOD_MS = 60_000;
/** The last bookmark of a watch, for a client that will resume. */
const FINAL_BOOKMARK_MS = 2000;

/** Where a watch begins. `initial`: what exists comes first, as ADDED. */
type Start = { readonly revision: number; readonly initial: boolean; readonly endMark: boolean };

/**
 * Prepares a watch: checks its version and waits for a version of the future where a streaming list asks for one.
 * The stream begins when the result is called. Throws for versions that cannot be read.
 */
export async function prepareWatch(
  deps: WatchDeps,
  resource: ServedResource,
  namespace: string,
  options: ListOptions,
  presenter: Presenter,
): Promise<(sink: StreamSink) => () => void> {
  const { resourceVersion, sendInitialEvents, allowWatchBookmarks } = options;
  if (resourceVersion !== '' && !isUnsigned(resourceVersion)) throw unknownError(resourceVersionSyntax(resourceVersion));
  const asked = Number(resourceVersion === '' ? '0' : resourceVersion);
  if (sendInitialEvents === true && allowWatchBookmarks && asked > deps.store.revision()) await waitForRevision(deps, asked);
  return (sink) => {
    const published = deps.store.publishedRevision();
    const initial = sendInitialEvents ?? asked === 0;
    const start: Start = {
      revision: initial || asked === 0 ? published : asked,
      initial,
      endMark: sendInitialEvents === true && allowWatchBookmarks,
    };
    return runWatch(deps, resource, namespace, options, presenter, start, sink);
  };
}

function runWatch(
  { store, clock, random }: WatchDeps,
  resource: ServedResource,
  namespace: string,
  options: ListOptions,
  presenter: Presenter,
  start: Start,
  sink: StreamSink,
): () => void {
  const { table } = resource;
  const { selector } = options;
  let first = true;
  let ended = false;
  /** The last event that was passed on, or passed by. */
  let position = start.revision;
  /** What is still to be written before the watch is up to date again. */
  let backlog: Generator<void> | undefined;
  const timers: Timer[] = [];
  const stop = (): void => {
    ended = true;
    unsubscribe();
    for (const timer of timers) timer.cancel();
  };
  const finish = (): void => {
    if (ended) return;
    stop();
    sink.end();
  };
  const send = (type: string, stored: StoredObject): void => {
    sink.write(`{"type":"${type}","object":${presenter.watched(stored, first)}}\n`);
    first = false;
  };
  const pass = (event: StoreEvent): void => {
    position = event.revision;
    const change = changeOf(table, event, (stored) => selector.matchesEverything || selector.matches(stored.object));
    if (change !== undefined) send(change.type, change.stored);
  };
  /** A reader that is behind is not written to: what it misses now stays in the history, and is read from there. */
  const next = (event: StoreEvent): void => {
    if (event.revision <= position || backlog !== undefined) return;
    pass(event);
    if (sink.pace?.hasRoom() === false) readHistory();
  };
  const readHistory = (): void => {
    backlog = history();
    sink.pace?.onceRoom(catchUp);
  };
  function* history(): Generator<void> {
    for (;;) {
      if (position < table.compactedRevision()) return forgotten();
      const missed = table.eventsSince(position);
      if (missed.length === 0) return;
      for (const event of missed) {
        const { current } = event;
        if ((namespace === '' || current.namespace === namespace) && (selector.name === '' || current.name === selector.name)) pass(event);
        else position = event.revision;
        yield;
      }
    }
  }
  function* initialEvents(existing: readonly StoredObject[]): Generator<void> {
    for (const stored of existing) {
      if (selector.matchesEverything || selector.matches(stored.object)) send('ADDED', stored);
      yield;
    }
    if (start.endMark) bookmark(start.revision, { 'k8s.io/initial-events-end': 'true' });
    yield* history();
  }
  const forgotten = (): void => {
    const error = expired(`too old resource version: ${position} (${table.compactedRevision()})`);
    sink.write(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
    finish();
  };
  const catchUp = (): void => {
    while (!ended && backlog !== undefined) {
      if (sink.pace?.hasRoom() === false) return sink.pace.onceRoom(catchUp);
      if (backlog.next().done === true) backlog = undefined;
    }
  };
  const bookmark = (revision: number, annotations?: Record<string, string>): void => {
    const metadata = { resourceVersion: String(revision), ...omitUndefined({ annotations }) };
    sink.write(`{"type":"BOOKMARK","object":${presenter.bookmark(metadata, first)}}\n`);
    first = false;
  };
  const unsubscribe = table.subscribe({ namespace, name: selector.name, next });

  if (start.initial) {
    const existing =
      store.revision() === start.revision ? candidates(resource, namespace, selector) : table.listAt(namespace, start.revision);
    backlog = initialEvents([...existing]);
  } else backlog = history();
  catchUp();
  if (ended) return stop;
  const seconds = options.timeoutSeconds ?? 0;
  const timeoutMs = (seconds > 0 ? seconds : MIN_TIMEOUT_SECONDS * (1 + random())) * 1000;
  timers.push(clock.schedule(finish, timeoutMs));
  // It says that everything before has been told. A watch from the future is told nothing before it has come, as by kube-apiserver's
  // cacher.
  const upToDate = (): void => {
    const published = store.publishedRevision();
    if (backlog === undefined && published >= start.revision) bookmark(published);
  };
  if (options.allowWatchBookmarks) scheduleBookmarks(clock, timeoutMs, upToDate, timers);
  return stop;
}

function scheduleBookmarks(clock: Clock, timeoutMs: number, bookmark: () => void, timers: Timer[]): void {
  if (timeoutMs > FINAL_BOOKMARK_MS) timers.push(clock.schedule(bookmark, timeoutMs - FINAL_BOOKMARK_MS));
  const periodic = (slot: number): void => {
    timers[slot] = clock.schedule(() => {
      bookmark();
      periodic(slot);
    }, BOOKMARK_PERIOD_MS);
  };
  periodic(timers.length);
}

/** How a watcher with a selector sees a write; undefined: not at all. */
function changeOf(
  table: Table,
  event: StoreEvent,
  matches: (stored: StoredObject) => boolean,
): { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly stored: StoredObject } | undefined {
  const { deleted, current, previous } = event;
  const before = previous !== undefined && matches(previous);
  if (deleted) return before ? { type: 'DELETED', stored: current } : undefined;
  const now = matches(current);
  if (now) return { type: before ? 'MODIFIED' : 'ADDED', stored: current };
  // Leaving a selector looks like a deletion.
  const departed = before ? table.departed(event) : undefined;
  return departed === undefined ? undefined : { type: 'DELETED', stored: departed };
}
