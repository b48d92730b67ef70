import { IndexedHeap } from '../../../shared/kube/indexed-heap.ts';
import type { Amount, Requests } from '../../api/amount.ts';
import type { FlavorResource } from '../quota/quota-tree.ts';

/** The expected release of an admitted Workload: amounts, and their time. */
export type Release = {
  /** `namespace/name` of the Workload. */
  readonly key: string;
  readonly clusterQueue: string;
  readonly cluster: string;
  /** Since when the Workload holds its place, and how long it is expected to, in (epoch) milliseconds. */
  readonly sinceMs: number;
  readonly expectedMs: number;
  /** Room on the cluster, and quota of the ClusterQueue. */
  readonly amounts: Requests;
  readonly charges: readonly (readonly [FlavorResource, Amount])[];
};

/** An expected release at a time in epoch milliseconds. */
export type DueRelease = Release & { readonly endMs: number };

/** Expected releases, in the order of their times: kept as Workloads come and go, so that a decision looks at no others. */
export interface ReleaseProfile {
  /** Releases on a cluster, and of a ClusterQueue, the earliest first. Live views: do not keep them. */
  on(cluster: string): readonly DueRelease[];
  of(clusterQueue: string): readonly DueRelease[];
}

export interface MutableReleaseProfile extends ReleaseProfile {
  set(release: Release): void;
  delete(key: string): void;
  get(key: string): DueRelease | undefined;
  /**
   * Moves the releases whose time has passed although their Workloads still run, and returns them as they were: each is now expected after
   * twice as long as before, and so on.
   */
  overrun(nowMs: number): readonly DueRelease[];
  /** The time of the next release, in epoch milliseconds; undefined without any. */
  nextMs(): number | undefined;
}

/**
 * When a Workload ends that was expected to run for `expectedMs`, seen at `nowMs`: one that has outlived its estimate is expected to run
 * for twice as long, and so on. That depends on the three times alone, however often it is asked.
 */
export function expectedEndMs({ sinceMs, expectedMs }: Pick<Release, 'sinceMs' | 'expectedMs'>, nowMs: number): number {
  let forMs = Math.max(1, expectedMs);
  while (sinceMs + forMs <= nowMs) forMs *= 2;
  return sinceMs + forMs;
}

export function createReleaseProfile(): MutableReleaseProfile {
  const all = new IndexedHeap<DueRelease>(({ key }) => key, compareReleases);
  const byCluster = new Map<string, DueRelease[]>();
  const byQueue = new Map<string, DueRelease[]>();
  const remove = (key: string): DueRelease | undefined => {
    const release = all.get(key);
    if (release === undefined) return undefined;
    all.delete(key);
    removeFrom(byCluster, release.cluster, release);
    removeFrom(byQueue, release.clusterQueue, release);
    return release;
  };
  const put = (release: Release, endMs: number): void => {
    remove(release.key);
    const due = { ...release, endMs };
    all.set(due);
    insertInto(byCluster, due.cluster, due);
    insertInto(byQueue, due.clusterQueue, due);
  };
  return {
    on: (cluster) => byCluster.get(cluster) ?? NONE,
    of: (clusterQueue) => byQueue.get(clusterQueue) ?? NONE,
    set: (release) => put(release, release.sinceMs + release.expectedMs),
    delete: (key) => void remove(key),
    get: (key) => all.get(key),
    overrun: (nowMs) => {
      const found: DueRelease[] = [];
      for (let first = all.peek(); first !== undefined && first.endMs <= nowMs; first = all.peek()) {
        found.push(first);
        put(first, expectedEndMs(first, nowMs));
      }
      return found;
    },
    nextMs: () => all.peek()?.endMs,
  };
}

const NONE: readonly DueRelease[] = [];

const compareReleases = (a: DueRelease, b: DueRelease): number => a.endMs - b.endMs || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

/** The place of a release in a sorted list: the first that does not go before it. */
function placeOf(list: readonly DueRelease[], release: DueRelease): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = list[middle];
    if (other !== undefined && compareReleases(other, release) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insertInto(lists: Map<string, DueRelease[]>, name: string, release: DueRelease): void {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  list.splice(placeOf(list, release), 0, release);
}

function removeFrom(lists: Map<string, DueRelease[]>, name: string, release: DueRelease): void {
  const list = lists.get(name);
  if (list === undefined) return;
  const place = placeOf(list, release);
  if (list[place]?.key === release.key) list.splice(place, 1);
  if (list.length === 0) lists.delete(name);
}
