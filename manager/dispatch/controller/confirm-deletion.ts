import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { formatKey } from '../../../shared/kube/keys.ts';
import type { ParsedRecord } from '../../api/records.ts';
import { copyIdentity, type CopyIdentity } from '../../work-kind/copy-marks.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * Asks the API server for the original of a copy that is to be deleted: a stale cache must not cost a running Job its copy. Gone: there is
 * no original. Older: its record precedes the placement of the copy.
 */
export async function confirmDeletion(
  what: 'Gone' | 'Older',
  copy: DeepReadonly<WorkObject>,
  deps: {
    readonly kind: WorkKind;
    readonly home: Pick<ReadClient, 'get'>;
    readonly readRecord: (job: DeepReadonly<WorkObject>) => ParsedRecord;
    /** Called with the original, where it exists. */
    readonly onRead: (original: WorkObject) => void;
  },
): Promise<boolean> {
  const identity = copyIdentity(copy);
  if (identity === undefined) return false;
  const original = await originalOf(identity, deps);
  if (what === 'Gone') return original === undefined;
  if (original === undefined) return false;
  deps.onRead(original);
  const parsed = deps.readRecord(original);
  return parsed.kind === 'Record' && parsed.record.epoch < identity.epoch;
}

async function originalOf(
  { localKey, originUid }: CopyIdentity,
  { kind, home }: { readonly kind: WorkKind; readonly home: Pick<ReadClient, 'get'> },
): Promise<WorkObject | undefined> {
  try {
    const job = await home.get(kind.resource, localKey);
    return job.metadata.uid === originUid ? job : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw new Error(`look at Job ${formatKey(localKey)} before a copy of it is deleted`, { cause: error });
  }
}
