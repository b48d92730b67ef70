/**
 * The fence at work: it watches the Leases of managers, keeps the worker's own, and tells when what may be done for the copies of an origin
 * has changed. Its parts: what a fence decides (origin-fence.ts, fences.ts), where Leases are (lease-places.ts), the worker's own
 * (own-renewals.ts), what its copies may do (copies-state.ts). What becomes of the pods is in worker/job.
 */
import type { Registry } from 'prom-client';
import { originOf } from '../../shared/api/copy-identity.ts';
import type { FencedKind } from '../../shared/api/fenced-kinds.ts';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { FENCING_ANNOTATION } from '../../shared/api/names.ts';
import type { ReadClient, WatchClient, WriteClient } from '../../shared/kube/client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { createCopiesState, createFenceMetrics } from './copies-state.ts';
import { createFences } from './fences.ts';
import { createLeasePlaces, type LeasePlacesDeps } from './lease-places.ts';
import { createOpenings } from './openings.ts';
import type { FenceState } from './origin-fence.ts';
import { createOwnRenewals, renewEveryMsOf } from './own-renewals.ts';

export type FenceSettings = {
  /** How long copies run without a sign of their manager, in milliseconds; 0: for ever. */
  readonly fenceAfterMs: number;
  /** Where the Leases are. */
  readonly leaseNamespace: string;
  /** Where managers of an earlier release look for them: they are kept, and listened to, there as well. */
  readonly formerLeaseNamespace?: string | undefined;
};

export type FenceDeps = {
  /** Without a rate limit, or with one of its own: renewals must not wait behind the work. */
  readonly client: ReadClient & WriteClient & WatchClient;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: FenceSettings;
  readonly controllerName: string;
  /** Where the worker's Jobs are; empty: anywhere. */
  readonly jobsNamespaces: readonly string[];
  /** Host or pod, as the worker's Lease shows it. */
  readonly identity: string;
  readonly version: string;
  /** Something else may be done for the copies of this origin now; without one, for all copies. */
  readonly onChange: (origin: string | undefined) => void;
  /** The Lease of a manager names these kinds beside Jobs. */
  readonly onKinds: (kinds: readonly FencedKind[]) => void;
  /** The state of a Job that an operator may have made for a copy, where that of its manager's copies is `fence`. */
  readonly ofChildJob: (job: DeepReadonly<Job>, fence: FenceState) => FenceState;
  /** The kinds beside Jobs whose copies are stopped, by `fencedKindName`. */
  readonly fencedKinds: () => readonly string[];
  /** The worker's own Lease shows that its cluster was restored from an older backup. */
  readonly onWentBack: (error: Error) => void;
};

export interface Fence {
  /** Keeps the Leases until `signal` aborts. Failures are logged and tried again. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /** What may be done for this Job. One that is nobody's copy, or asks for no fence, is always open. */
  stateOf(job: DeepReadonly<Job>): FenceState;
  /** The state of the fence for copies of this origin that ask for one. */
  stateOfOrigin(origin: string): FenceState;
  /** The announcement has changed: managers are to hear of it soon. */
  wake(): void;
  /**
   * What is known of this Job is from before its fence opened, and may be over: its manager has put things in order before it answered, and
   * of that the watch of Jobs may tell later than the watch of Leases tells of the answer.
   */
  isUnsure(job: DeepReadonly<Job>): boolean;
  /**
   * Whether this origin's manager is in reach, as far as its Lease tells; false also where the worker may not see that. Without any fence
   * all are.
   */
  isInReach(origin: string): boolean;
  /** The server was asked, and this is what it has. */
  confirmed(job: DeepReadonly<Job>): void;
}

/** The fence as the Job controller asks it. */
export type FenceOfJobs = Pick<Fence, 'stateOf' | 'isUnsure' | 'isInReach' | 'confirmed'>;

/** A watch that has said nothing for this share of the time after which a fence trips is opened anew. */
const QUIET_SHARE = 1 / 3;
/** Where only the fence of an earlier worker binds, and no trip but its own is near. */
const QUIET_WITHOUT_FENCE_MS = 20_000;

export function createFence(deps: FenceDeps): Fence {
  const { client, clock, random, controllerName, jobsNamespaces, identity, version, onChange, onKinds, fencedKinds, onWentBack, settings } =
    deps;
  const { fenceAfterMs, leaseNamespace, formerLeaseNamespace = leaseNamespace } = settings;
  const log = deps.log.with({ leases: leaseNamespace });
  const renewEveryMs = renewEveryMsOf(fenceAfterMs);
  const fences = createFences(fenceAfterMs, () => newToken(clock, random));
  const namespaces = [leaseNamespace, formerLeaseNamespace] as const;
  const onLease = (...seen: Parameters<LeasePlacesDeps['onLease']>): void => state.see(...seen);
  const onAnswer = (): void => state.noteRights();
  const leases = { client, clock, random, log, namespaces, fenceAfterMs, renewEveryMs, controllerName, identity };
  const places = createLeasePlaces({ ...leases, onLease, onAnswer });
  const openings = createOpenings({ client, clock, log, jobsNamespaces, onKnown: () => state.settle() });
  const metrics = createFenceMetrics(deps.registry);
  const onNews = (): void => renewals.wake();
  const state = createCopiesState({ clock, log, metrics, fences, places, openings, fenceAfterMs, onChange, onKinds, onNews });
  const quietMs = fenceAfterMs === 0 ? QUIET_WITHOUT_FENCE_MS : fenceAfterMs * QUIET_SHARE;
  const renewals = createOwnRenewals({
    client,
    clock,
    log,
    fences,
    places,
    fenceAfterMs,
    renewEveryMs,
    onWentBack,
    announced: { controllerName, version },
    fencedKinds,
    // The timer that waits for the fence to be due is late by the time in which the machine slept.
    onDue: () => state.settle(),
    onDoubt(signal) {
      if (!signal.aborted && !state.unneeded.aborted && fences.origins().length > 0) places.catchUp(quietMs, signal);
    },
  });

  return {
    async run(signal) {
      state.start(signal);
      for (const { announcement, downMs } of await places.predecessors(signal)) fences.remember(announcement, downMs);
      state.predecessorsKnown();
      if (fenceAfterMs === 0) onChange(undefined);
      const watching = fences.binds() ? places.watch(AbortSignal.any([signal, state.unneeded])) : undefined;
      if (watching !== undefined) {
        await places.listed(signal);
        fences.listed(clock.monotonic());
        state.settle();
      }
      await renewals.run(signal);
      await watching;
      state.stop();
    },
    stateOf(job) {
      const origin = originOf(job);
      if (origin === undefined || job.metadata.annotations?.[FENCING_ANNOTATION] === 'off') return 'Open';
      return deps.ofChildJob(job, state.ofOrigin(origin));
    },
    stateOfOrigin: (origin) => state.ofOrigin(origin),
    wake: () => renewals.wake(),
    isInReach: (origin) => places.arming() !== 'Refused' && (fences.has(origin) || !fences.binds()) && state.ofOrigin(origin) === 'Open',
    isUnsure: (job) => openings.isUnsure(job),
    confirmed: (job) => openings.confirmed(job),
  };
}

/** The time makes it new also where chance starts anew with every start. */
const newToken = (clock: Clock, random: Random): string =>
  `${clock.now().toString(36)}-${Math.floor(random() * 2 ** 48).toString(36)}${Math.floor(random() * 2 ** 48).toString(36)}`;
