import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { countedSeconds } from '../../api/lost-clusters.ts';
import type { WorkerClusterStatus } from '../../api/worker-cluster.ts';
import type { Finding, Loss } from './cluster-status.ts';

/**
 * How long clusters have been lost, on monotonic clocks. `lostSince` is for display only, as the clocks of managers differ. Each leader
 * counts by itself and stores its count from time to time, and the next leader continues from it. Time without a leader does not count.
 */
export interface LossCount {
  /** The loss to show after a finding; undefined: the cluster is not lost. */
  after(name: string, previous: DeepReadonly<WorkerClusterStatus> | undefined, finding: Finding): Loss | undefined;
  forget(name: string): void;
}

export function createLossCount(clock: Clock): LossCount {
  /** The start of the loss, or the last renewal that the worker may have seen, on the clock's `monotonic`. */
  const lostAtMs = new Map<string, number>();
  return {
    after(name, previous, finding) {
      const health = finding.kind === 'Running' ? finding.health : undefined;
      const isLost = previous?.lostSince !== undefined || health === undefined || health.contact === 'Lost';
      if (health?.contact === 'Ready' || !isLost) {
        lostAtMs.delete(name);
        return undefined;
      }
      const [nowMs, steadyMs] = [clock.now(), clock.monotonic()];
      const knownAtMs = lostAtMs.get(name) ?? steadyMs - countedSeconds(previous) * 1000;
      const sentMs = health?.renewalSentMs ?? Number.NEGATIVE_INFINITY;
      const atMs = Math.max(knownAtMs, sentMs);
      lostAtMs.set(name, atMs);
      const sentAt = toWireTime(Math.max(health?.failingSinceMs ?? nowMs, nowMs - (steadyMs - sentMs)));
      // Every cause counts alike, from the first failure, over restarts of the manager, but not from before a renewal that the worker may
      // have seen.
      const lostSince = previous?.lostSince === undefined || sentMs > knownAtMs ? sentAt : previous.lostSince;
      return { lostSince, lostCounted: { since: lostSince, seconds: wholeSteps((steadyMs - atMs) / 1000) } };
    },
    forget: (name) => void lostAtMs.delete(name),
  };
}

/**
 * One write for each minute of the first hour, in which Jobs move. Later nothing is written, and the next leader continues a longer timeout
 * from one hour.
 */
const STEP_SECONDS = 60;
const COUNTED_SECONDS_MAX = 3600;

const wholeSteps = (seconds: number): number => Math.min(COUNTED_SECONDS_MAX, Math.floor(seconds / STEP_SECONDS) * STEP_SECONDS);
