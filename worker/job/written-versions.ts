/**
 * A guard against acting on a cache that has not yet seen our own writes (KEP-5647, StaleControllerConsistencyJob).
 * It remembers, per Job, the newest resourceVersion we wrote of each resource; until the caches have reached it, the Job rests.
 */
import type { Pod } from '../../shared/api/kubernetes.ts';
import { isOlder, isResourceVersion } from '../../shared/kube/resource-version.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';

export type WrittenResource = 'jobs' | 'pods';

/** A Job, and where it and its pods are: each namespace may be watched from a place of its own. */
export type JobIdentity = { readonly uid: string; readonly namespace: string };

/** How far the cache of a resource is in a namespace. */
export type CachedVersion = (resource: WrittenResource, namespace: string) => string;

export interface WrittenVersions {
  /** A server whose versions cannot be compared is not guarded against. */
  record(jobUid: string, resource: WrittenResource, resourceVersion: string | undefined): void;
  /** The resources whose cache is behind our writes; none left: the record is dropped. */
  behind(job: JobIdentity): readonly WrittenResource[];
  forget(jobUid: string): void;
}

/** A pod as the server returned it: the sync of the Job that owns it waits until the cache has seen this version. */
export function recordPodWrite(written: Pick<WrittenVersions, 'record'>, pod: Pick<Pod, 'metadata'>): void {
  const owner = controllerOf(pod);
  if (owner !== undefined) written.record(owner.uid, 'pods', pod.metadata.resourceVersion);
}

/** A server whose versions started anew (restored, or in memory) would stop a Job for ever without this. Upstream waits. */
const GIVE_UP_AFTER_MS = 5 * 60_000;

export function createWrittenVersions(clock: Clock, cached: CachedVersion): WrittenVersions {
  const written = new Map<string, { readonly versions: Map<WrittenResource, string>; sinceMs: number }>();
  return {
    record(jobUid, resource, resourceVersion) {
      if (resourceVersion === undefined || !isResourceVersion(resourceVersion)) return;
      const record = written.get(jobUid) ?? { versions: new Map<WrittenResource, string>(), sinceMs: clock.now() };
      const known = record.versions.get(resource);
      if (known === undefined || isOlder(known, resourceVersion)) record.versions.set(resource, resourceVersion);
      record.sinceMs = clock.now();
      written.set(jobUid, record);
    },
    behind({ uid, namespace }) {
      const record = written.get(uid);
      if (record === undefined) return [];
      const behind = [...record.versions].flatMap(([resource, version]) =>
        isOlder(cached(resource, namespace), version) ? [resource] : [],
      );
      if (behind.length > 0 && clock.now() - record.sinceMs <= GIVE_UP_AFTER_MS) return behind;
      written.delete(uid);
      return [];
    },
    forget: (jobUid) => void written.delete(jobUid),
  };
}
