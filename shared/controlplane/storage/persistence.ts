import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The newest state of one object; `text` undefined: it is gone. */
export type PersistenceRecord = {
  readonly table: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly text: string | undefined;
};
export type PersistedObject = PersistenceRecord & { readonly text: string };

/** Where objects outlive the process. Writes are collected and committed together. */
export interface Persistence {
  /** Everything on disk, and the revision of the newest write ever made. */
  load(): { readonly revision: number; readonly objects: readonly PersistedObject[] };
  /** Adds a write to the next commit; `durable` is called, in order of the writes, once it is on disk. */
  append(record: PersistenceRecord, durable: () => void): void;
  /** Resolves with the commit of everything appended so far; undefined when nothing waits. Rejects when the disk refused. */
  settled(): Promise<void> | undefined;
  close(): void;
}

type Batch = { readonly records: PersistenceRecord[]; readonly durable: (() => void)[]; readonly done: PromiseWithResolvers<void> };

/**
 * Objects in one SQLite file below `directory`. All writes of one turn of the event loop share one transaction and one
 * fsync (group commit). Once a commit has failed, nothing more is accepted: memory is ahead of the disk.
 */
export function openSqlitePersistence(directory: string): Persistence {
  mkdirSync(directory, { recursive: true });
  const database = new DatabaseSync(path.join(directory, 'objects.sqlite'));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS objects (
      resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, body TEXT NOT NULL,
      PRIMARY KEY (resource, namespace, name)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS newest (id INTEGER PRIMARY KEY CHECK (id = 0), revision INTEGER NOT NULL);
  `);
  const put = database.prepare('INSERT OR REPLACE INTO objects (resource, namespace, name, revision, body) VALUES (?, ?, ?, ?, ?)');
  const remove = database.prepare('DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?');
  const setNewest = database.prepare('INSERT OR REPLACE INTO newest (id, revision) VALUES (0, ?)');
  let batch: Batch | undefined;
  let failure: Error | undefined;
  let closed = false;

  const write = (records: readonly PersistenceRecord[]): void => {
    database.exec('BEGIN IMMEDIATE');
    for (const { table, namespace, name, revision, text } of records) {
      if (text === undefined) remove.run(table, namespace, name);
      else put.run(table, namespace, name, revision, text);
    }
    setNewest.run(records.at(-1)?.revision ?? 0);
    database.exec('COMMIT');
  };
  const commit = (): void => {
    if (batch === undefined) return;
    const { records, durable, done } = batch;
    batch = undefined;
    try {
      write(records);
    } catch (error) {
      failure = new Error(`commit of ${records.length} writes`, { cause: error });
      done.reject(failure);
      return;
    }
    for (const tell of durable) tell();
    done.resolve();
  };
  const openBatch = (): Batch => {
    const opened: Batch = { records: [], durable: [], done: Promise.withResolvers<void>() };
    // Whoever wrote waits on `settled`; a batch nobody waits for must not end the process.
    opened.done.promise.catch((error: unknown) => error);
    setImmediate(commit);
    return opened;
  };

  return {
    load: () => {
      const newest = database.prepare('SELECT revision FROM newest').get();
      const objects = database.prepare('SELECT resource, namespace, name, revision, body FROM objects').all();
      return {
        revision: Number(newest?.['revision'] ?? 0),
        objects: objects.map((row) => ({
          table: String(row['resource']),
          namespace: String(row['namespace']),
          name: String(row['name']),
          revision: Number(row['revision']),
          text: String(row['body']),
        })),
      };
    },
    append: (record, durable) => {
      if (failure !== undefined) throw failure;
      batch ??= openBatch();
      batch.records.push(record);
      batch.durable.push(durable);
    },
    settled: () => (failure === undefined ? batch?.done.promise : Promise.reject(failure)),
    close: () => {
      if (closed) return;
      closed = true;
      commit();
      database.close();
    },
  };
}
