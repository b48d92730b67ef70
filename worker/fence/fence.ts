/**
 * The fence at work: it watches the Leases of managers, keeps the worker's own, and tells when what may be done for the copies of an origin
 * has changed. What a fence decides is in origin-fence.ts; what becomes of the pods, in worker/job.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import { originOf } from '../../shared/api/copy-identity.ts';
import { readOriginLease } from '../../shared/api/fence-leases.ts';
import type { DeepReadonly, Job, Lease } from '../../shared/api/kubernetes.ts';
import { FENCING_ANNOTATION, ORIGIN_LABEL, WORKER_LABEL } from '../../shared/api/names.ts';
import { JOBS, LEASES } from '../../shared/api/resources.ts';
import { isForbidden } from '../../shared/kube/api-error.ts';
import type { ReadClient, WatchClient, WriteClient } from '../../shared/kube/client.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { isOlder } from '../../shared/kube/resource-version.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { LeaseWentBack } from '../../shared/kube/lease-history.ts';
import { sleep, type Clock, type Timer } from '../../shared/runtime/clock.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { createWakeUp } from '../../shared/runtime/wake-up.ts';
import { createFences } from './fences.ts';
import { createLeaseRights, type Arming, type LeaseAction, type LeaseRights } from './lease-rights.ts';
import type { FenceState } from './origin-fence.ts';
import { createWorkerLease, type Predecessor, type WorkerLease } from './worker-lease.ts';

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
  /** The worker's own Lease shows that its cluster was restored from an older backup. */
  readonly onWentBack: (error: Error) => void;
};

export interface Fence {
  /** Keeps the Leases until `signal` aborts. Failures are logged and tried again. Call once. */
  run(signal: AbortSignal): Promise<void>;
  /** What may be done for this Job. One that is nobody's copy, or asks for no fence, is always open. */
  stateOf(job: DeepReadonly<Job>): FenceState;
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

const RENEW_EVERY_MS = 10_000;
/** So often at least the worker's Lease is renewed within the time after which a fence trips. */
const RENEWALS_WITHIN_FENCE = 6;
/** A watch that has said nothing for this share of the time after which a fence trips is opened anew. */
const QUIET_SHARE = 1 / 3;
/** Where only the fence of an earlier worker binds, and no trip but its own is near. */
const QUIET_WITHOUT_FENCE_MS = 20_000;
const RETRY_MS = 2_000;
/**
 * A renewal of the worker's own Lease counts from when it was sent, so that waiting longer for its answer gives no extra time: an API
 * server that is overloaded has this share of the time after which a fence trips.
 */
const ANSWER_SHARE = 1 / 2;
const ANSWER_MS_MIN = 5_000;

/** A namespace of Leases. A manager that renews its Lease in any of them is in reach. */
type Place = {
  readonly namespace: string;
  readonly rights: LeaseRights;
  readonly ownLease: WorkerLease;
  readonly informer: Informer<Lease>;
  catchingUp: boolean;
};

export function createFence(deps: FenceDeps): Fence {
  const { client, clock, random, controllerName, jobsNamespaces, identity, version, onChange, onWentBack } = deps;
  const { fenceAfterMs, leaseNamespace, formerLeaseNamespace = leaseNamespace } = deps.settings;
  const log = deps.log.with({ leases: leaseNamespace });
  const metrics = createFenceMetrics(deps.registry);
  const renewEveryMs = fenceAfterMs === 0 ? RENEW_EVERY_MS : Math.min(RENEW_EVERY_MS, fenceAfterMs / RENEWALS_WITHIN_FENCE);
  const answerLimitMs = Math.max(renewEveryMs, ANSWER_MS_MIN, fenceAfterMs * ANSWER_SHARE);
  const fences = createFences(fenceAfterMs, newToken);
  const renewal = createWakeUp(clock);
  const firstPlace = createPlace(leaseNamespace);
  const places = formerLeaseNamespace === leaseNamespace ? [firstPlace] : [firstPlace, createPlace(formerLeaseNamespace)];
  const shown = new Map<string, FenceState>();
  /** By origin, while its fence is open: how far the Jobs of this cluster were after it had opened; undefined until that is known. */
  const openings = new Map<string, { jobsVersion?: string }>();
  const confirmations = new WeakMap<DeepReadonly<Job>, object>();
  let stopping: AbortSignal | undefined;
  /** Aborts once no origin is held to a fence, and none will be: `--fence-after 0`, and every manager has answered that. */
  const unneeded = new AbortController();
  let isPredecessorKnown = false;
  let shownArming = arming();
  let shownToken = fences.token();
  let wasRefused = false;
  let nextLook: Timer | undefined;

  return {
    async run(signal) {
      stopping = signal;
      await readPredecessors(signal);
      isPredecessorKnown = true;
      if (fenceAfterMs === 0) onChange(undefined);
      const until = AbortSignal.any([signal, unneeded.signal]);
      const informing = fences.binds() ? places.map(({ informer }) => informer.run(until)) : [];
      if (informing.length > 0) {
        await Promise.all(
          places.map(({ informer, rights }) => Promise.race([informer.waitForSync(), rights.refusedOnce, aborted(signal)])),
        );
        fences.listed(clock.monotonic());
        settle();
      }
      await keepRenewing(signal);
      await Promise.all(informing);
      nextLook?.cancel();
    },

    stateOf(job) {
      const origin = originOf(job);
      if (origin === undefined || job.metadata.annotations?.[FENCING_ANNOTATION] === 'off') return 'Open';
      return stateOfOrigin(origin);
    },

    isInReach: (origin) => arming() !== 'Refused' && (fences.has(origin) || !fences.binds()) && stateOfOrigin(origin) === 'Open',

    isUnsure(job) {
      const { annotations, resourceVersion } = job.metadata;
      const opening = annotations?.[FENCING_ANNOTATION] === 'off' ? undefined : openings.get(originOf(job) ?? '');
      return opening?.jobsVersion !== undefined && confirmations.get(job) !== opening && isOlder(resourceVersion, opening.jobsVersion);
    },

    confirmed(job) {
      const opening = openings.get(originOf(job) ?? '');
      if (opening !== undefined) confirmations.set(job, opening);
    },
  };

  function createPlace(namespace: string): Place {
    const isFormer = namespace !== leaseNamespace;
    const rights = createLeaseRights(log, namespace, fenceAfterMs, isFormer);
    const informer = createInformer({
      client: {
        get: (resource, key, options) => client.get(resource, key, options),
        list: (resource, options) => noting(rights, 'list', () => client.list(resource, options)),
        watch: (resource, options) => noting(rights, 'watch', () => client.watch(resource, options)),
      },
      clock,
      random,
      log,
      namespace,
      resource: LEASES,
      labelSelector: ORIGIN_LABEL,
    });
    informer.addHandler({
      added: (lease) => see(lease, namespace),
      updated(lease, previous) {
        const before = readOriginLease(previous)?.origin;
        if (before !== undefined && before !== readOriginLease(lease)?.origin) fences.leaseGone(before, namespace);
        see(lease, namespace);
      },
      deleted(lease) {
        const origin = readOriginLease(lease)?.origin;
        if (origin !== undefined) fences.leaseGone(origin, namespace);
        settle();
      },
    });
    const ownLease = createWorkerLease({ client, clock, namespace, controllerName, identity, renewEveryMs });
    return { namespace, rights, ownLease, informer, catchingUp: false };
  }

  /** One namespace is enough to be in contact; copies run without a fence where none can be used. */
  function arming(): Arming {
    const each = places.map(({ rights }) => rights.arming());
    if (each.includes('Armed')) return 'Armed';
    return each.includes('Pending') ? 'Pending' : 'Refused';
  }

  /** Where Leases can be kept; all namespaces, where none can. */
  function usablePlaces(): readonly Place[] {
    const usable = places.filter(({ rights }) => rights.arming() !== 'Refused');
    return usable.length === 0 ? places : usable;
  }

  function stateOfOrigin(origin: string): FenceState {
    const armed = arming();
    if (armed === 'Refused') return 'Open';
    if (!isPredecessorKnown) return 'Hold';
    if (!fences.binds() && !fences.has(origin)) return 'Open';
    const state = fences.stateOf(origin, clock.monotonic());
    const isReady = armed !== 'Pending' && (!fences.has(origin) || openings.get(origin)?.jobsVersion !== undefined);
    return state === 'Open' && !isReady ? 'Hold' : state;
  }

  /** A fence that opens is open once it is known how far the Jobs are. */
  function noteOpenings(nowMs: number): void {
    for (const origin of fences.origins()) {
      if (fences.stateOf(origin, nowMs) !== 'Open') openings.delete(origin);
      else if (!openings.has(origin)) void learnHowFar(origin);
    }
  }

  function isStopping(): boolean {
    return stopping?.aborted === true;
  }

  async function learnHowFar(origin: string): Promise<void> {
    const opening: { jobsVersion?: string } = {};
    openings.set(origin, opening);
    for (let turn = 0; openings.get(origin) === opening && opening.jobsVersion === undefined && !isStopping(); turn++) {
      // Versions are those of all Jobs, so one namespace tells them. Where one refuses, as after its Role was deleted, the next is asked.
      const namespace = jobsNamespaces[turn % jobsNamespaces.length];
      try {
        opening.jobsVersion = (await client.list(JOBS, omitUndefined({ namespace, limit: 1, signal: stopping }))).resourceVersion;
        settle();
      } catch (error) {
        if (isStopping()) return;
        log.warn('how far the Jobs are cannot be asked yet; until then no pod is created for this origin', { origin, error });
        await sleep(clock, RETRY_MS, stopping);
      }
    }
  }

  function see(lease: DeepReadonly<Lease>, place: string): void {
    const read = readOriginLease(lease);
    if (read === undefined) return;
    const { uid, resourceVersion } = lease.metadata;
    const { origin, holder, renewedMs, reconciled } = read;
    fences.leaseSeen(origin, { uid, resourceVersion, renewedMs, held: holder !== undefined, reconciled }, clock.monotonic(), place);
    settle();
  }

  /** Trips what is due, tells what has changed, and says when to look again. */
  function settle(): void {
    const nowMs = clock.monotonic();
    const armed = arming();
    if (armed === 'Refused') wasRefused = true;
    if (armed === 'Armed' && wasRefused) {
      wasRefused = false;
      fences.startAnew(nowMs);
    }
    for (const { origin, why } of fences.look(nowMs)) {
      if (armed === 'Refused') continue;
      metrics.trips.inc({ origin });
      log.warn(
        why === 'OutOfReach'
          ? 'the manager has been out of reach for too long: its copies are stopped'
          : 'the Lease of the manager has gone back in time, so this cluster was restored: copies are stopped until the manager has looked at them',
        { origin, fenceAfterMs },
      );
    }
    let changed = fences.token() !== shownToken;
    shownToken = fences.token();
    if (armed !== shownArming) {
      shownArming = armed;
      changed = true;
      onChange(undefined);
    }
    noteOpenings(nowMs);
    for (const origin of fences.origins()) {
      const state = stateOfOrigin(origin);
      const before = shown.get(origin);
      if (before === state) continue;
      shown.set(origin, state);
      metrics.fenced.set({ origin }, state === 'Fenced' ? 1 : 0);
      log.info('what may be done for the copies of an origin has changed', { origin, state, before });
      changed = true;
      onChange(origin);
    }
    if (changed) renewal.wake();
    if (!fences.binds()) unneeded.abort();
    nextLook?.cancel();
    const nextLookMs = fences.nextLookMs();
    nextLook = nextLookMs === undefined ? undefined : clock.schedule(settle, Math.max(0, nextLookMs - nowMs));
  }

  async function readPredecessors(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const own = await Promise.all(places.map((place) => readOwn(place, signal)));
        if (arming() === 'Refused') return;
        const before = [...own.flatMap((each) => each ?? []), ...(await readElsewhere(own[0] === undefined, signal))];
        for (const { announcement, downMs } of before) fences.remember(announcement, downMs);
        return;
      } catch (error) {
        if (!signal.aborted) log.warn('the Lease of this worker cannot be read yet', { error });
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }

  async function readOwn({ rights, ownLease }: Place, signal: AbortSignal): Promise<Predecessor | undefined> {
    try {
      return await noting(rights, 'get', () => ownLease.predecessor(signal));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      return undefined;
    }
  }

  /** Managers count on the fence of a worker also where it comes back with another --lease-namespace. */
  async function readElsewhere(isNew: boolean, signal: AbortSignal): Promise<readonly Predecessor[]> {
    try {
      return await firstPlace.ownLease.elsewhere(signal);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (isNew)
        log.warn(
          'Leases in other namespaces may not be listed: where --lease-namespace was changed, copies may run that their manager counts as stopped; ' +
            'grant it (chart switchyard-worker: rbac.create), or change it only while managers are in contact',
          { error },
        );
      return [];
    }
  }

  async function keepRenewing(signal: AbortSignal): Promise<void> {
    let next: Timer | undefined;
    await renewal.run(async () => {
      next?.cancel();
      // The timer that waits for the fence to be due is late by the time in which the machine slept.
      settle();
      const sentMs = clock.monotonic();
      const renewed = await renew(sentMs, signal);
      listenAnew(signal);
      // The next one counts from when it is sent as well, so that it does not wait for longer because this one was answered late.
      const leftMs = Math.max(0, sentMs + renewEveryMs - clock.monotonic());
      next = clock.schedule(renewal.wake, renewed ? leftMs : Math.min(renewEveryMs, RETRY_MS));
    }, signal);
    next?.cancel();
  }

  async function renew(sentMs: number, signal: AbortSignal): Promise<boolean> {
    const fenceToken = fences.tell(sentMs);
    const answer = awaitAnswer(fenceToken, sentMs, signal);
    const fenceAfterSeconds = arming() === 'Refused' ? 0 : Math.ceil(fenceAfterMs / 1000);
    const renewalsSeen = fences.renewalsSeen(sentMs);
    const announcement = { controllerName, version, fenceAfterSeconds, fenceToken, renewalsSeen };
    const renewIn = async ({ namespace, rights, ownLease }: Place): Promise<boolean> => {
      try {
        fences.mark(await noting(rights, 'write', () => ownLease.renew(announcement, answer.signal)), sentMs);
        return true;
      } catch (error) {
        if (error instanceof LeaseWentBack) onWentBack(error);
        if (!signal.aborted) log.warn('the Lease of this worker could not be renewed, trying again', { namespace, error });
        return false;
      }
    };
    try {
      const renewed = await Promise.all(usablePlaces().map(renewIn));
      // Without a mark the renewals of managers would count for less and less.
      if (!renewed.includes(true) && !answer.signal.aborted) await markByReading(answer.signal);
      return !renewed.includes(false);
    } finally {
      answer.over();
    }
  }

  /** Aborts when an answer is waited for no longer: after its share of the fence, and sooner when there is a new token to announce. */
  function awaitAnswer(fenceToken: string, sentMs: number, signal: AbortSignal): { readonly signal: AbortSignal; over(): void } {
    const limit = new AbortController();
    const either = AbortSignal.any([signal, limit.signal]);
    const lookAgainMs = Math.max(renewEveryMs, ANSWER_MS_MIN);
    const look = (): Timer =>
      clock.schedule(
        () => {
          const waitedMs = clock.monotonic() - sentMs;
          if (fences.token() !== fenceToken || waitedMs >= answerLimitMs) limit.abort(new Error(`no answer within ${waitedMs} ms`));
          else {
            // Another connection may be answered where this one is dead.
            listenAnew(signal);
            void markByReading(either);
            timer = look();
          }
        },
        Math.min(lookAgainMs, Math.max(0, sentMs + answerLimitMs - clock.monotonic())),
      );
    let timer = look();
    return { signal: either, over: () => timer.cancel() };
  }

  /** A connection that is dead without having been closed must not look like a manager that is out of reach. */
  function listenAnew(signal: AbortSignal): void {
    if (signal.aborted || unneeded.signal.aborted || fences.origins().length === 0) return;
    const quietMs = fenceAfterMs === 0 ? QUIET_WITHOUT_FENCE_MS : fenceAfterMs * QUIET_SHARE;
    for (const place of places) {
      const { informer } = place;
      if (place.catchingUp || clock.monotonic() - informer.lastHeardMs() < quietMs || !informer.hasSynced()) continue;
      place.catchingUp = true;
      informer.catchUp(signal).then(
        () => (place.catchingUp = false),
        (error: unknown) => log.debug('stopped before the Leases of managers were caught up with', { error }),
      );
    }
  }

  async function markByReading(signal: AbortSignal): Promise<void> {
    const sentMs = clock.monotonic();
    const [{ namespace } = firstPlace] = usablePlaces();
    try {
      const read = await withDeadline(clock, answerLimitMs, signal, (each) =>
        client.list(LEASES, { namespace, labelSelector: WORKER_LABEL, limit: 1, signal: each }),
      );
      fences.mark(read.resourceVersion, sentMs);
    } catch (error) {
      log.debug('the Leases could not be read either', { error });
    }
  }

  /** Tells whether the server lets us do this. */
  async function noting<T>(rights: LeaseRights, action: LeaseAction, call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      rights.granted(action);
      return answer;
    } catch (error) {
      if (isForbidden(error)) rights.refused(action, error);
      throw error;
    } finally {
      if (arming() !== shownArming) settle();
    }
  }

  /** The time makes it new also where chance starts anew with every start. */
  function newToken(): string {
    return `${clock.now().toString(36)}-${Math.floor(random() * 2 ** 48).toString(36)}${Math.floor(random() * 2 ** 48).toString(36)}`;
  }
}

function createFenceMetrics(registry: Registry) {
  const labelNames = ['origin'];
  const registers = [registry];
  return {
    fenced: new Gauge({
      name: 'switchyard_worker_fenced',
      help: 'Whether the copies of this origin are stopped because its manager is out of reach',
      labelNames,
      registers,
    }),
    trips: new Counter({
      name: 'switchyard_worker_fence_trips_total',
      help: 'How often the copies of this origin were stopped because its manager was out of reach or the cluster was restored',
      labelNames,
      registers,
    }),
  };
}
