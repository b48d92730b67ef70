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

export function createHomeHistory(deps: HomeHistoryDeps): HomeHistory {
  return new ManagerClusterHistory(deps);
}

class ManagerClusterHistory implements HomeHistory {
  readonly #deps: HomeHistoryDeps;
  /** The highest stored version that the caches have not reached. */
  #highest = '';
  #judged = '';
  #asking: Promise<boolean> | undefined;
  /** 'Settled': all clusters were seen since the restore. Versions that clusters stored before are no longer evaluated. */
  #state: 'Unknown' | 'Restored' | 'Settled' = 'Unknown';
  readonly #shown = new Set<string>();
  /** Until then a create of the leader of before the restore may still arrive at any cluster, for a placement that no record names. */
  readonly #lateUntilMs: number;
  #missing: readonly string[] = [];

  constructor(deps: HomeHistoryDeps) {
    this.#deps = deps;
    this.#lateUntilMs = deps.clock.monotonic() + LATE_WRITE_MS;
  }

  takeStoredVersion(version: string): void {
    if (this.#state === 'Settled' || !isOlder(this.#deps.known(), version)) return;
    this.#highest = laterVersion(this.#highest, version);
  }

  versionToStore(): string {
    const known = this.#deps.known();
    if (this.#state === 'Settled') return known;
    const version = laterVersion(known, this.#highest);
    return this.#state === 'Restored' ? String(BigInt(version) + MARGIN) : version;
  }

  async settle(signal: AbortSignal): Promise<boolean> {
    while (this.#state === 'Unknown' && this.#highest !== this.#judged) {
      this.#asking ??= this.#judge(signal);
      if (!(await this.#asking)) return false;
    }
    return true;
  }

  async #judge(signal: AbortSignal): Promise<boolean> {
    const { ask, clock, onUnanswered, onProblemChanged } = this.#deps;
    const version = this.#highest;
    let now: string;
    try {
      now = await ask(signal);
    } catch (error) {
      if (!signal.aborted) onUnanswered(error);
      return false;
    } finally {
      this.#asking = undefined;
    }
    this.#judged = version;
    if (this.#state !== 'Unknown' || !homeWasRestored([version], now)) return true;
    this.#state = 'Restored';
    const lateMs = this.#lateUntilMs - clock.monotonic();
    if (lateMs > 0) clock.schedule(() => this.#lateWritesOver(), lateMs);
    this.#update();
    onProblemChanged();
    return true;
  }

  #update(): void {
    const { clusters, clock, onMissing } = this.#deps;
    const all = clusters();
    if (clock.monotonic() >= this.#lateUntilMs) for (const cluster of all) if (cluster.shown) this.#shown.add(cluster.name);
    this.#missing = all.filter(({ name, givenUp }) => !givenUp && !this.#shown.has(name)).map(({ name }) => name);
    if (this.#missing.length === 0) this.#state = 'Settled';
    onMissing(this.#missing);
  }

  /** Late writes can no longer arrive, so that the problem may name fewer clusters, or be over. */
  #lateWritesOver(): void {
    if (this.#state !== 'Restored') return;
    this.#update();
    this.#deps.onProblemChanged();
  }

  clustersChanged(): void {
    if (this.#state !== 'Restored') return;
    this.#update();
    if (this.problem() === undefined) this.#deps.onProblemChanged();
  }

  problem(): DispatchProblem | undefined {
    if (this.#state !== 'Restored') return undefined;
    const missing = this.#missing;
    const named = missing.slice(0, LISTED_MAX).map((name) => `"${name}"`);
    const more = missing.length > LISTED_MAX ? ` and ${missing.length - LISTED_MAX} more` : '';
    const message =
      'the manager cluster was restored from an older backup: nothing is set going until each worker cluster has shown what runs there; ' +
      `not seen yet: ${named.join(', ')}${more} (one that does not come back: spec.state: Lost)`;
    return { reason: DispatchedReason.HomeRestored, message };
  }
}
