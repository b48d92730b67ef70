import { DispatchedReason } from '../../api/reasons.ts';
import { homeWasRestored, laterVersion } from '../../api/home-version.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { LATE_WRITE_MS } from '../mirror/unanswered-writes.ts';
import { isOlder } from '../../../shared/kube/resource-version.ts';

/**
 * Whether the manager cluster was restored from an older backup before we began to lead. Worker clusters keep for us how far it had come.
 * Where it knows less now, its records may name other clusters than those where copies run, so that nothing may be set going until every
 * cluster has shown what it has, or was given up.
 */
export interface HomeHistory {
  /** A cluster tells how far our home had come; '' where it does not know. */
  told(version: string): void;
  /** What clusters are to keep for us from now on. */
  toTell(): string;
  /** Has it found out what is not known yet. False: our home did not answer. Asks nothing while no cluster tells of more than we know. */
  settle(signal: AbortSignal): Promise<boolean>;
  /** A cluster came, went, was given up, or is in another contact. */
  clustersChanged(): void;
  /** Why nothing may be set going; undefined while it may. */
  problem(): DispatchProblem | undefined;
}

export type HomeHistoryDeps = {
  /** The highest resourceVersion of our home that our caches have seen. */
  readonly known: () => string;
  /** How far our home is, by a consistent read. */
  readonly ask: (signal: AbortSignal) => Promise<string>;
  readonly clusters: () => readonly ClusterShown[];
  readonly clock: Clock;
  readonly onUnanswered: (error: unknown) => void;
  /** It was restored, and so many clusters have not shown yet what they have; none: that is over. */
  readonly onMissing: (missing: readonly string[]) => void;
  /** What {@link HomeHistory.problem} says has begun to hold, or is over. */
  readonly onTurn: () => void;
};
/** `shown`: all its copies are known now. */
export type ClusterShown = { readonly name: string; readonly shown: boolean; readonly givenUp: boolean };

/**
 * While not all clusters have shown what they have, they keep more than our home comes to before somebody leads next, who thus finds it
 * restored, too. It is not more than that, because a cluster may show later what it was told once.
 */
const AHEAD = 100_000n;
const NAMED_MAX = 5;

export function createHomeHistory({ known, ask, clusters, clock, onUnanswered, onMissing, onTurn }: HomeHistoryDeps): HomeHistory {
  /** The highest version told that our caches have not come to. */
  let highest = '';
  let judged = '';
  let asking: Promise<boolean> | undefined;
  /** 'Settled': all was seen since. What a cluster tells from before then says nothing new. */
  let state: 'Unknown' | 'Restored' | 'Settled' = 'Unknown';
  const shown = new Set<string>();
  /** Until then the leader of before the restore may still have something made anywhere, of a placement that no record names. */
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
    look();
    onTurn();
    return true;
  }

  function look(): void {
    const all = clusters();
    if (clock.monotonic() >= lateUntilMs) for (const cluster of all) if (cluster.shown) shown.add(cluster.name);
    missing = all.filter(({ name, givenUp }) => !givenUp && !shown.has(name)).map(({ name }) => name);
    if (missing.length === 0) state = 'Settled';
    onMissing(missing);
  }

  /** What Jobs wait for has become less, though some may still wait. */
  function lateWritesOver(): void {
    if (state !== 'Restored') return;
    look();
    onTurn();
  }

  function clustersChanged(): void {
    if (state !== 'Restored') return;
    look();
    if (problem() === undefined) onTurn();
  }

  function problem(): DispatchProblem | undefined {
    if (state !== 'Restored') return undefined;
    const named = missing.slice(0, NAMED_MAX).map((name) => `"${name}"`);
    const more = missing.length > NAMED_MAX ? ` and ${missing.length - NAMED_MAX} more` : '';
    const message =
      'the manager cluster was restored from an older backup: nothing is set going until each worker cluster has shown what runs there; ' +
      `not seen yet: ${named.join(', ')}${more} (one that does not come back: spec.state: Lost)`;
    return { reason: DispatchedReason.HomeRestored, message };
  }

  return {
    told(version) {
      if (state === 'Settled' || !isOlder(known(), version)) return;
      highest = laterVersion(highest, version);
    },
    toTell() {
      if (state === 'Settled') return known();
      const version = laterVersion(known(), highest);
      return state === 'Restored' ? String(BigInt(version) + AHEAD) : version;
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
