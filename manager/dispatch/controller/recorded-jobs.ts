import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import type { AdmissionRecord, ParsedRecord } from '../../api/records.ts';
import { isHeld, mayBeAnywhere, recordIn } from '../mirror/mirror-group.ts';

/** What a Job has to do with clusters. */
export type Recorded =
  /** This record says where it is. */
  | { readonly kind: 'At'; readonly record: AdmissionRecord }
  /** Nobody knows where it was: it may be on any. */
  | { readonly kind: 'Anywhere' }
  /** Nothing, or nothing any more. */
  | { readonly kind: 'Nowhere' };

/** Keys of the Jobs that have to do with clusters, by cluster: what happens to one cluster is looked up here, and not sought among all Jobs. */
export interface RecordedJobs {
  set(localKey: string, recorded: Recorded): void;
  /** When the newest admission that was ever set was made, by the clock of who made it; 0: there was none. Epoch milliseconds. */
  newestMs(): number;
  /** Those whose record names this cluster, by its name or by its UID, and those that may be anywhere. */
  on(cluster: string, uid: string | undefined): Iterable<string>;
  /** All that have to do with any cluster, or those of one namespace. */
  all(namespace?: string): Iterable<string>;
}

const ANYWHERE = 'anywhere';

export function createRecordedJobs(): RecordedJobs {
  /** The places of each Job, and the other way round. */
  const placesOf = new Map<string, readonly string[]>();
  const jobsAt = new Map<string, Set<string>>();
  let newestMs = 0;
  return {
    newestMs: () => newestMs,
    set(localKey, recorded) {
      if (recorded.kind === 'At') newestMs = Math.max(newestMs, Date.parse(recorded.record.since));
      const places = placesIn(recorded);
      const before = placesOf.get(localKey) ?? [];
      if (before.length === places.length && before.every((place, index) => place === places[index])) return;
      for (const place of before) {
        const jobs = jobsAt.get(place);
        jobs?.delete(localKey);
        if (jobs?.size === 0) jobsAt.delete(place);
      }
      for (const place of places) {
        const jobs = jobsAt.get(place);
        if (jobs === undefined) jobsAt.set(place, new Set([localKey]));
        else jobs.add(localKey);
      }
      if (places.length === 0) placesOf.delete(localKey);
      else placesOf.set(localKey, places);
    },
    on(cluster, uid) {
      const places = [ANYWHERE, byName(cluster), ...(uid === undefined ? [] : [byUID(uid)])];
      return new Set(places.flatMap((place) => [...(jobsAt.get(place) ?? [])]));
    },
    all: (namespace) =>
      namespace === undefined ? placesOf.keys() : [...placesOf.keys()].filter((key) => parseKey(key).namespace === namespace),
  };
}

/** What the record of a Job says of clusters, or what follows from its absence. */
export function recordedIn(job: DeepReadonly<Job>, parsed: ParsedRecord): Recorded {
  // One that is deleted is kept by others when nothing of it is left.
  if (isFinished(job.status) || (job.metadata.deletionTimestamp !== undefined && !isHeld(job))) return { kind: 'Nowhere' };
  const record = recordIn(parsed);
  if (record !== undefined) return { kind: 'At', record };
  return { kind: mayBeAnywhere(job, parsed) ? 'Anywhere' : 'Nowhere' };
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
