import type { Clock } from '../../runtime/clock.ts';
import type { Persistence, PersistedObject } from './persistence.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { createTable, type StoreEvent, type Table } from './store-table.ts';

/**
 * All objects of one control plane, with one revision counter for all of them, as etcd has.
 *
 * Writes are synchronous: what was read in the same turn is still true when it is written. With a persistence, a
 * write is announced to watchers only when it is on disk, and `settled` says when that is; without one, at once.
 */
export interface Store {
  /** The revision of the newest write, 0 before the first. */
  revision(): number;
  /** The revision up to which watchers have been told everything. */
  publishedRevision(): number;
  /** The objects of one resource, `group/plural`; made on first use. */
  table(name: string): Table;
  tables(): readonly string[];
  /** Forgets the history up to now: watches and snapshots of older revisions are refused. */
  compact(): void;
  /** Resolves when every write so far is durable; undefined when it already is. Rejects when the disk refused. */
  settled(): Promise<void> | undefined;
  close(): Promise<void>;
}

export type StoreOptions = {
  readonly clock: Clock;
  readonly persistence?: Persistence;
  /** Events that each table remembers for watches and snapshots, at most. */
  readonly eventWindow?: number;
  /** How long an event is remembered at most. */
  readonly eventWindowMs?: number;
};

const DEFAULT_EVENT_WINDOW = 10_000;
/** etcd's compaction interval in kube-apiserver. */
const DEFAULT_EVENT_WINDOW_MS = 5 * 60_000;

export function createStore(options: StoreOptions): Store {
  const { clock, persistence } = options;
  const tables = new Map<string, Table>();
  const loaded = persistence?.load();
  let revision = loaded?.revision ?? 0;
  let published = revision;
  // What happened before the store was in memory is not remembered.
  let compacted = revision;
  const window = { events: options.eventWindow ?? DEFAULT_EVENT_WINDOW, ageMs: options.eventWindowMs ?? DEFAULT_EVENT_WINDOW_MS };

  const publish = (table: Table, event: StoreEvent): void => {
    published = event.revision;
    table.publish(event);
  };
  const makeTable = (name: string): Table => {
    const table: Table = createTable({
      name,
      compactedRevision: compacted,
      window,
      now: () => clock.now(),
      nextRevision: () => ++revision,
      written: (event) => {
        if (persistence === undefined) return publish(table, event);
        persistence.append(toRecord(name, event), () => publish(table, event));
      },
    });
    tables.set(name, table);
    return table;
  };
  const tableNamed = (name: string): Table => tables.get(name) ?? makeTable(name);

  for (const record of loaded?.objects ?? []) tableNamed(record.table).restore(parseObject(record), record.text, record.revision);

  return {
    revision: () => revision,
    publishedRevision: () => published,
    table: tableNamed,
    tables: () => [...tables.keys()],
    compact: () => {
      compacted = published;
      for (const table of tables.values()) table.compact(compacted);
    },
    settled: () => persistence?.settled(),
    close: async () => persistence?.close(),
  };
}

const parseObject = (record: PersistedObject): AnyObject => JSON.parse(record.text) as AnyObject;

const toRecord = (table: string, { deleted, current, revision }: StoreEvent): Parameters<Persistence['append']>[0] => ({
  table,
  namespace: current.namespace,
  name: current.name,
  revision,
  text: deleted ? undefined : current.text,
});
