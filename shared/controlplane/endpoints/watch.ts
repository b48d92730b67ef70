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
    return new OpenWatch({ ...deps, resource, namespace, options, presenter, start, sink }).open();
  };
}

type WatchRequest = WatchDeps & {
  readonly resource: ServedResource;
  readonly namespace: string;
  readonly options: ListOptions;
  readonly presenter: Presenter;
  readonly start: Start;
  readonly sink: StreamSink;
};

class OpenWatch {
  readonly #request: WatchRequest;
  #first = true;
  #ended = false;
  /** The last event that was passed on, or passed by. */
  #position: number;
  /** What is still to be written before the watch is up to date again. */
  #backlog: Generator<void> | undefined;
  readonly #timers: Timer[] = [];
  #unsubscribe: () => void = () => undefined;

  constructor(request: WatchRequest) {
    this.#request = request;
    this.#position = request.start.revision;
  }

  /** Begins the stream; the result ends it. */
  open(): () => void {
    const { resource, namespace, options, start, store } = this.#request;
    const { table } = resource;
    this.#unsubscribe = table.subscribe({ namespace, name: options.selector.name, next: (event) => this.#next(event) });

    if (start.initial) {
      const existing =
        store.revision() === start.revision ? candidates(resource, namespace, options.selector) : table.listAt(namespace, start.revision);
      this.#backlog = this.#initialEvents([...existing]);
    } else this.#backlog = this.#history();
    this.#catchUp();
    if (!this.#ended) this.#schedule();
    return () => this.#stop();
  }

  /** Its end, and its bookmarks. */
  #schedule(): void {
    const { options, start, store, clock, random } = this.#request;
    const seconds = options.timeoutSeconds ?? 0;
    const timeoutMs = (seconds > 0 ? seconds : MIN_TIMEOUT_SECONDS * (1 + random())) * 1000;
    this.#timers.push(clock.schedule(() => this.#finish(), timeoutMs));
    // It says that everything before has been told. A watch from the future is told nothing before it has come, as by kube-apiserver's
    // cacher.
    const upToDate = (): void => {
      const published = store.publishedRevision();
      if (this.#backlog === undefined && published >= start.revision) this.#bookmark(published);
    };
    if (options.allowWatchBookmarks) scheduleBookmarks(clock, timeoutMs, upToDate, this.#timers);
  }

  *#initialEvents(existing: readonly StoredObject[]): Generator<void> {
    const { options, start } = this.#request;
    for (const stored of existing) {
      if (selects(options, stored)) this.#send('ADDED', stored);
      yield;
    }
    if (start.endMark) this.#bookmark(start.revision, { 'k8s.io/initial-events-end': 'true' });
    yield* this.#history();
  }

  *#history(): Generator<void> {
    const { resource, namespace, options } = this.#request;
    const { table } = resource;
    const { name } = options.selector;
    for (;;) {
      if (this.#position < table.compactedRevision()) return this.#forgotten();
      const missed = table.eventsSince(this.#position);
      if (missed.length === 0) return;
      for (const event of missed) {
        const { current } = event;
        if ((namespace === '' || current.namespace === namespace) && (name === '' || current.name === name)) this.#pass(event);
        else this.#position = event.revision;
        yield;
      }
    }
  }

  #catchUp(): void {
    const { pace } = this.#request.sink;
    while (!this.#ended && this.#backlog !== undefined) {
      if (pace?.hasRoom() === false) return pace.onceRoom(() => this.#catchUp());
      if (this.#backlog.next().done === true) this.#backlog = undefined;
    }
  }

  /** A reader that is behind is not written to: what it misses now stays in the history, and is read from there. */
  #next(event: StoreEvent): void {
    if (event.revision <= this.#position || this.#backlog !== undefined) return;
    this.#pass(event);
    if (this.#request.sink.pace?.hasRoom() === false) this.#readHistory();
  }

  #readHistory(): void {
    this.#backlog = this.#history();
    this.#request.sink.pace?.onceRoom(() => this.#catchUp());
  }

  #pass(event: StoreEvent): void {
    const { resource, options } = this.#request;
    this.#position = event.revision;
    const change = changeOf(resource.table, event, (stored) => selects(options, stored));
    if (change !== undefined) this.#send(change.type, change.stored);
  }

  #send(type: string, stored: StoredObject): void {
    const { sink, presenter } = this.#request;
    sink.write(`{"type":"${type}","object":${presenter.watched(stored, this.#first)}}\n`);
    this.#first = false;
  }

  #bookmark(revision: number, annotations?: Record<string, string>): void {
    const { sink, presenter } = this.#request;
    const metadata = { resourceVersion: String(revision), ...omitUndefined({ annotations }) };
    sink.write(`{"type":"BOOKMARK","object":${presenter.bookmark(metadata, this.#first)}}\n`);
    this.#first = false;
  }

  #forgotten(): void {
    const { resource, sink } = this.#request;
    const error = expired(`too old resource version: ${this.#position} (${resource.table.compactedRevision()})`);
    sink.write(`${JSON.stringify({ type: 'ERROR', object: error.toStatus() })}\n`);
    this.#finish();
  }

  #finish(): void {
    if (this.#ended) return;
    this.#stop();
    this.#request.sink.end();
  }

  #stop(): void {
    this.#ended = true;
    this.#unsubscribe();
    for (const timer of this.#timers) timer.cancel();
  }
}

const selects = ({ selector }: ListOptions, { object }: StoredObject): boolean => selector.matchesEverything || selector.matches(object);

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
