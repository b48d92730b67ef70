import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { KeyValueStore, StoreUse } from './key-value-store.ts';

const FILE = 'history.db';

/**
 * A file `history.db` in a directory, which is created, by the SQLite of Node; `:memory:` has no file. One manager writes it at a time,
 * besides the command that purges it.
 */
export function openSqliteStore(directory: string, { create = true, write = create }: StoreUse = {}): KeyValueStore {
  const file = directory === ':memory:' ? directory : join(directory, FILE);
  if (create && file !== directory) mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (!create && !existsSync(file)) throw new Error(`there is no ${FILE} in ${directory}`);
  const database = new DatabaseSync(file, { readOnly: !write });
  if (write) prepare(database);
  const insert = database.prepare('INSERT INTO entries (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value');
  const select = database.prepare('SELECT value FROM entries WHERE key = ?');
  const range = database.prepare(
    'SELECT key, length(value) AS bytes FROM entries WHERE key > ? AND key >= ? AND key < ? ORDER BY key LIMIT ?',
  );
  const remove = database.prepare('DELETE FROM entries WHERE key = ?');
  const together = (work: () => void): void => {
    database.exec('BEGIN IMMEDIATE');
    try {
      work();
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  };
  return {
    async put(entries) {
      together(() => {
        for (const { key, value } of entries) insert.run(key, value);
      });
    },
    async get(key) {
      const value = select.get(key)?.['value'];
      return value instanceof Uint8Array ? Buffer.from(value) : undefined;
    },
    list: async ({ prefix, after = '', limit }) =>
      range.all(after, prefix, `${prefix}\u007f`, limit).map(({ key, bytes }) => ({ key: String(key), bytes: Number(bytes) })),
    async delete(keys) {
      together(() => {
        for (const key of keys) remove.run(key);
      });
    },
    close: async () => database.close(),
  };
}

function prepare(database: DatabaseSync): void {
  // WAL: readers and the writer do not block each other, and a batch is one disk write. Deleted entries are overwritten, and free their
  // space at once.
  database.exec(`PRAGMA secure_delete = ON; PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 2000;
    CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID`);
}
