/**
 * The objects of a control plane outside of it, in memory: what was on its disk at some moment can be kept, and another one started from
 * it.
 */
import type { PersistedObject, Persistence, PersistenceRecord } from '../../shared/controlplane/storage/persistence.ts';

/** What was stored at one moment. */
export type Backup = { readonly revision: number; readonly objects: ReadonlyMap<string, PersistedObject> };

export type MemoryPersistence = Persistence & { backUp(): Backup };

/** `onStored` hears of each write in the moment in which it is carried out. */
export function createMemoryPersistence(
  backup: Backup = { revision: 0, objects: new Map() },
  onStored?: (record: PersistenceRecord) => void,
): MemoryPersistence {
  const objects = new Map(backup.objects);
  let revision = backup.revision;
  return {
    load: () => ({ revision, objects: [...objects.values()] }),
    append({ text, ...record }, durable) {
      const key = JSON.stringify([record.table, record.namespace, record.name]);
      revision = record.revision;
      onStored?.({ ...record, text });
      if (text === undefined) objects.delete(key);
      else objects.set(key, { ...record, text });
      durable();
    },
    settled: () => undefined,
    close: () => undefined,
    backUp: () => ({ revision, objects: new Map(objects) }),
  };
}
