import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { createInvertedIndex } from '../../../shared/runtime/inverted-index.ts';
import type { AdmissionRecord, ParsedRecord } from '../../api/records.ts';
import { isHeld, mayBeAnywhere, recordIn } from '../mirror/mirror-group.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/** The clusters that may have a copy of a Job. */
export type Recorded =
  /** The record names the cluster. */
  | { readonly kind: 'At'; readonly record: AdmissionRecord }
  /** The record is lost: any cluster may have a copy. */
  | { readonly kind: 'Anywhere' }
  /** No cluster has a copy, or will have one. */
  | { readonly kind: 'Nowhere' };

/** Keys of the Jobs that clusters may have copies of, by cluster: an event of one cluster needs no scan of all Jobs. */
export interface RecordedJobs {
  set(localKey: string, recorded: Recorded): void;
  /** The time of the newest admission ever set, in epoch milliseconds of the admitting manager's clock; 0: there was none. */
  newestMs(): number;
  /** Jobs whose record names this cluster, by name or UID, and those that may be anywhere. */
  on(cluster: string, uid: string | undefined): Iterable<string>;
  /** All Jobs that any cluster may have a copy of, or those of one namespace. */
  all(namespace?: string): Iterable<string>;
}

const ANYWHERE = 'anywhere';

export function createRecordedJobs(): RecordedJobs {
  const byPlace = createInvertedIndex();
  let newestMs = 0;
  return {
    newestMs: () => newestMs,
    set(localKey, recorded) {
      if (recorded.kind === 'At') newestMs = Math.max(newestMs, Date.parse(recorded.record.since));
      byPlace.set(localKey, placesIn(recorded));
    },
    on(cluster, uid) {
      const places = [ANYWHERE, byName(cluster), ...(uid === undefined ? [] : [byUID(uid)])];
      return new Set(places.flatMap(byPlace.of));
    },
    all: (namespace) =>
      namespace === undefined ? byPlace.keys() : [...byPlace.keys()].filter((key) => parseKey(key).namespace === namespace),
  };
}

/** The places of a Job, by its record or the lack of one. */
export function recordedIn(kind: WorkKind, job: DeepReadonly<WorkObject>, parsed: ParsedRecord): Recorded {
  // A deleted Job without the finalizer has no copy left; only other finalizers keep it.
  if (isFinished(job.status) || (job.metadata.deletionTimestamp !== undefined && !isHeld(job))) return { kind: 'Nowhere' };
  const record = recordIn(parsed);
  if (record !== undefined) return { kind: 'At', record };
  return { kind: mayBeAnywhere(kind, job, parsed) ? 'Anywhere' : 'Nowhere' };
}

const byName = (cluster: string): string => `name ${cluster}`;
const byUID = (uid: string): string => `uid ${uid}`;

function placesIn(recorded: Recorded): readonly string[] {
  switch (recorded.kind) {
    case 'At': {
      const { cluster, clusterUID } = recorded.record;
      return [byName(cluster), ...(clusterUID === undefined ? [] : [byUID(clusterUID)])];
    }
    case 'Anywhere':
      return [ANYWHERE];
    case 'Nowhere':
      return [];
  }
}
