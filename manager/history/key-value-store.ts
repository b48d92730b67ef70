/**
 * The store of history: texts and bytes by key, listed in the order of keys. The interface is small enough for a database, Redis and object
 * storage.
 */
export interface KeyValueStore {
  /** Resolves when all entries are stored; writing one again is harmless. */
  put(entries: readonly Entry[]): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  /** Keys with this prefix after `after`, in the order of their bytes. */
  list(options: { readonly prefix: string; readonly after?: string; readonly limit: number }): Promise<readonly Listed[]>;
  delete(keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** How a store is opened. `create`: create it where it is absent. `write`: open it for writing, the default where it may be created. */
export type StoreUse = { readonly create?: boolean; readonly write?: boolean };

/** A key consists of printable ASCII characters. */
export type Entry = { readonly key: string; readonly value: Buffer };
export type Listed = { readonly key: string; readonly bytes: number };
