/** Where history is kept: texts and bytes by key, listed in the order of keys. Small enough that a database, Redis and object storage can be one. */
export interface KeyValueStore {
  /** All of them are there when it resolves; writing one again is no harm. */
  put(entries: readonly Entry[]): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  /** In the order of their bytes: those that begin with `prefix` and come after `after`. */
  list(options: { readonly prefix: string; readonly after?: string; readonly limit: number }): Promise<readonly Listed[]>;
  delete(keys: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** How a store is opened. `create`: made where it is absent. `write`: written, as it is where it is made. */
export type StoreUse = { readonly create?: boolean; readonly write?: boolean };

/** A key is of printable ASCII characters. */
export type Entry = { readonly key: string; readonly value: Buffer };
export type Listed = { readonly key: string; readonly bytes: number };
