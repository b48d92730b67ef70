import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Table } from './store-table.ts';

/** kube-apiserver's --event-ttl. */
const EVENT_LIFE_MS = 60 * 60_000;

type Expiry = { readonly namespace: string; readonly name: string; readonly revision: number; readonly atMs: number };

/** Removes Events an hour after their last change, so that they do not fill the store. Returns what stops it. */
export function expireEvents(events: Table, clock: Clock): () => void {
  const queue: Expiry[] = [];
  let timer: Timer | undefined;

  const enqueue = (namespace: string, name: string, revision: number): void => {
    queue.push({ namespace, name, revision, atMs: clock.now() + EVENT_LIFE_MS });
    timer ??= clock.schedule(expire, EVENT_LIFE_MS);
  };
  const expire = (): void => {
    timer = undefined;
    const due = queue.findIndex(({ atMs }) => atMs > clock.now());
    for (const { namespace, name, revision } of queue.splice(0, due < 0 ? queue.length : due)) {
      const stored = events.get(namespace, name);
      // One that has changed since lives on; its change stands further back in the queue.
      if (stored?.revision === revision) events.remove(stored);
    }
    const next = queue[0];
    if (next !== undefined) timer = clock.schedule(expire, next.atMs - clock.now());
  };

  for (const { namespace, name, revision } of events.list('')) enqueue(namespace, name, revision);
  const unsubscribe = events.subscribe({
    namespace: '',
    name: '',
    next: ({ deleted, current }) => {
      if (!deleted) enqueue(current.namespace, current.name, current.revision);
    },
  });
  return () => {
    unsubscribe();
    timer?.cancel();
  };
}
