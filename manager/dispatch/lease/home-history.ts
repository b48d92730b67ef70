import { DispatchedReason } from '../../api/reasons.ts';
import { homeWasRestored, laterVersion } from '../../api/home-version.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { LATE_WRITE_MS } from '../mirror/unanswered-writes.ts';
import { isOlder } from '../../../shared/kube/resource-version.ts';

/**
 * Whether the manager cluster was restored from an older backup before this manager began to lead. Worker clusters store for this manager
 * the highest resourceVersion of the manager cluster. When the manager cluster is older than that, its records may name other clusters than
 * those where copies run. No copy is then started until every cluster has shown its copies, or is given up.
 */
export interface HomeHistory {
  /** Takes the resourceVersion of the manager cluster that a worker cluster has stored; '' where the cluster has none. */
  takeStoredVersion(version: string): void;
  /** The resourceVersion that worker clusters are to store from now on. */
  versionToStore(): string;
  /**
   * Asks the manager cluster for its resourceVersion when a worker cluster has stored a higher one than the caches know; else makes no
   * call. False: the manager cluster did not answer.
   */
  settle(signal: AbortSignal): Promise<boolean>;
  /** Call when a cluster was added, removed or given up, or its contact has changed. */
  clustersChanged(): void;
  /** Why no copy may be started; undefined while copies may be started. */
  problem(): DispatchProblem | undefined;
}

export type HomeHistoryDeps = {
  /** The highest resourceVersion of the manager cluster that the caches have seen. */
  readonly known: () => string;
  /** The resourceVersion of the manager cluster, by a consistent read. */
  readonly ask: (signal: AbortSignal) => Promise<string>;
  readonly clusters: () => readonly ClusterShown[];
  readonly clock: Clock;
  readonly onUnanswered: (error: unknown) => void;
  /** The manager cluster was restored, and the copies of these clusters are not known yet. An empty list: all clusters are known. */
  readonly onMissing: (missing: readonly string[]) => void;
  /** Called when {@link HomeHistory.problem} begins to return a problem, or ends to. */
  readonly onProblemChanged: () => void;
};
/** `shown`: all copies of the cluster are known. */
export type ClusterShown = { readonly name: string; readonly shown: boolean; readonly givenUp: boolean };

/**
 * While some clusters are missing, the clusters store a version this far above that of the manager cluster, so that the next leader finds
 * it restored, too. The margin is bounded because a cluster may return a stored version later.
 */
const MARGIN = 100_000n;
const LISTED_MAX = 5;

export function createHomeHistory({
  known,
  ask,
  clusters,
  clock,
  onUnanswered,
  onMissing,
  onProblemChanged,
}: HomeHistoryDeps): HomeHistory {
  /** The highest stored version that the caches have not reached. */
  let highest = '';
  let judged = '';
  let asking: Promise<boolean> | undefined;
  /** 'Settled': all clusters were seen since the restore. Versions that clusters stored before are no longer evaluated. */
  let state: 'Unknown' | 'Restored' | 'Settled' = 'Unknown';
  const shown = new Set<string>();
  /** Until then a create of the leader of before the restore may still arrive at any cluster, for a placement that no record names. */
  const lateUntilMs = clock.monotonic() + LATE_WRITE_MS;
  let missing: readonly string[] = [];

  async function judge(signal: AbortSignal): Promise<boolean> {
    const version = highest;
    let now: string;
    try {
      now = await ask(signal);
    } catch (error) {
      if (!signal.aborted) onUnanswered(error);
      return false;
    } finally {
      asking = undefined;
    }
    judged = version;
    if (state !== 'Unknown' || !homeWasRestored([version], now)) return true;
    state = 'Restored';
    const lateMs = lateUntilMs - clock.monotonic();
    if (lateMs > 0) clock.schedule(lateWritesOver, lateMs);
    update();
    onProblemChanged();
    return true;
  }

  function update(): void {
    const all = clusters();
    if (clock.monotonic() >= lateUntilMs) for (const cluster of all) if (cluster.shown) shown.add(cluster.name);
    missing = all.filter(({ name, givenUp }) => !givenUp && !shown.has(name)).map(({ name }) => name);
    if (missing.length === 0) state = 'Settled';
    onMissing(missing);
  }

  /** Late writes can no longer arrive, so that the problem may name fewer clusters, or be over. */
  function lateWritesOver(): void {
    if (state !== 'Restored') return;
    update();
    onProblemChanged();
  }

  function clustersChanged(): void {
    if (state !== 'Restored') return;
    update();
    if (problem() === undefined) onProblemChanged();
  }

  function problem(): DispatchProblem | undefined {
    if (state !== 'Restored') return undefined;
    const named = missing.slice(0, LISTED_MAX).map((name) => `"${name}"`);
    const more = missing.length > LISTED_MAX ? ` and ${missing.length - LISTED_MAX} more` : '';
    const message =
      'the manager cluster was restored from an older backup: nothing is set going until each worker cluster has shown what runs there; ' +
      `not seen yet: ${named.join(', ')}${more} (one that does not come back: spec.state: Lost)`;
    return { reason: DispatchedReason.HomeRestored, message };
  }

  return {
    takeStoredVersion(version) {
      if (state === 'Settled' || !isOlder(known(), version)) return;
      highest = laterVersion(highest, version);
    },
    versionToStore() {
      if (state === 'Settled') return known();
      const version = laterVersion(known(), highest);
      return state === 'Restored' ? String(BigInt(version) + MARGIN) : version;
    },
    async settle(signal) {
      while (state === 'Unknown' && highest !== judged) {
        asking ??= judge(signal);
        if (!(await asking)) return false;
      }
      return true;
    },
    clustersChanged,
    problem,
  };
}
