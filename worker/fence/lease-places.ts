/** The namespaces in which the worker keeps its Lease and watches those of managers, and what it may do in each. */
import { readOriginLease } from '../../shared/api/fence-leases.ts';
import type { DeepReadonly, Lease } from '../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../shared/api/names.ts';
import { LEASES } from '../../shared/api/resources.ts';
import { isForbidden } from '../../shared/kube/api-error.ts';
import type { ReadClient, WatchClient, WriteClient } from '../../shared/kube/client.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { createLeaseRights, type Arming, type LeaseAction, type LeaseRights } from './lease-rights.ts';
import { createWorkerLease, type Predecessor, type WorkerLease } from './worker-lease.ts';

export type LeasePlacesDeps = {
  readonly client: ReadClient & WriteClient & WatchClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Where the Leases are, and where managers of an earlier release look for them; the same: they look nowhere else. */
  readonly namespaces: readonly [string, string];
  readonly fenceAfterMs: number;
  readonly renewEveryMs: number;
  readonly controllerName: string;
  readonly identity: string;
  /** `lease`: this is there now; undefined: one was deleted. `left`: the origin that has no Lease there any more. */
  readonly onLease: (lease: DeepReadonly<Lease> | undefined, left: string | undefined, namespace: string) => void;
  /** The server has answered a request for Leases, or has refused it. */
  readonly onAnswer: () => void;
};

/** A namespace of Leases. A manager that renews its Lease in any of them is in reach. */
export type LeasePlace = {
  readonly namespace: string;
  /** As {@link WorkerLease}; what the server refuses is noted. */
  renew(...call: Parameters<WorkerLease['renew']>): Promise<string>;
};

export interface LeasePlaces {
  /** One namespace is enough to be in contact; copies run without a fence where none can be used. */
  arming(): Arming;
  /** Where Leases can be kept; all namespaces, where none can. */
  usable(): readonly LeasePlace[];
  /** What workers before this one have announced, asked for until it is known; nothing where Leases may not be read. */
  predecessors(signal: AbortSignal): Promise<readonly Predecessor[]>;
  /** Watches the Leases of managers until the signal aborts. */
  watch(until: AbortSignal): Promise<unknown>;
  /** Resolves when the Leases of managers are known in each namespace, as far as they may be read. */
  listed(signal: AbortSignal): Promise<unknown>;
  /** A connection that is dead without having been closed must not look like a manager that is out of reach. */
  catchUp(quietMs: number, signal: AbortSignal): void;
}

type Place = LeasePlace & {
  readonly rights: LeaseRights;
  readonly ownLease: WorkerLease;
  readonly informer: Informer<Lease>;
  catchingUp: boolean;
};

const RETRY_MS = 2_000;

export function createLeasePlaces(deps: LeasePlacesDeps): LeasePlaces {
  const { clock, log, namespaces } = deps;
  const [leaseNamespace, formerNamespace] = namespaces;
  const first = createPlace(leaseNamespace, deps);
  const places = formerNamespace === leaseNamespace ? [first] : [first, createPlace(formerNamespace, deps)];

  function arming(): Arming {
    const each = places.map(({ rights }) => rights.arming());
    if (each.includes('Armed')) return 'Armed';
    return each.includes('Pending') ? 'Pending' : 'Refused';
  }

  async function readOwn({ rights, ownLease }: Place, signal: AbortSignal): Promise<Predecessor | undefined> {
    try {
      return await noting(rights, 'get', deps.onAnswer, () => ownLease.predecessor(signal));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      return undefined;
    }
  }

  /** Managers count on the fence of a worker also where it comes back with another --lease-namespace. */
  async function readElsewhere(isNew: boolean, signal: AbortSignal): Promise<readonly Predecessor[]> {
    try {
      return await first.ownLease.elsewhere(signal);
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

  return {
    arming,
    usable() {
      const usable = places.filter(({ rights }) => rights.arming() !== 'Refused');
      return usable.length === 0 ? places : usable;
    },
    async predecessors(signal) {
      while (!signal.aborted) {
        try {
          const own = await Promise.all(places.map((place) => readOwn(place, signal)));
          if (arming() === 'Refused') return [];
          return [...own.flatMap((each) => each ?? []), ...(await readElsewhere(own[0] === undefined, signal))];
        } catch (error) {
          if (!signal.aborted) log.warn('the Lease of this worker cannot be read yet', { error });
          await sleep(clock, RETRY_MS, signal);
        }
      }
      return [];
    },
    watch: (until) => Promise.all(places.map(({ informer }) => informer.run(until))),
    listed: (signal) =>
      Promise.all(places.map(({ informer, rights }) => Promise.race([informer.waitForSync(), rights.refusedOnce, aborted(signal)]))),
    catchUp(quietMs, signal) {
      for (const place of places) {
        const { informer } = place;
        if (place.catchingUp || clock.monotonic() - informer.lastHeardMs() < quietMs || !informer.hasSynced()) continue;
        place.catchingUp = true;
        informer.catchUp(signal).then(
          () => (place.catchingUp = false),
          (error: unknown) => log.debug('stopped before the Leases of managers were caught up with', { error }),
        );
      }
    },
  };
}

function createPlace(namespace: string, deps: LeasePlacesDeps): Place {
  const { client, clock, random, log, namespaces, fenceAfterMs, renewEveryMs, controllerName, identity, onLease, onAnswer } = deps;
  const rights = createLeaseRights(log, namespace, fenceAfterMs, namespace !== namespaces[0]);
  const informer = createInformer({
    client: {
      get: (resource, key, options) => client.get(resource, key, options),
      list: (resource, options) => noting(rights, 'list', onAnswer, () => client.list(resource, options)),
      watch: (resource, options) => noting(rights, 'watch', onAnswer, () => client.watch(resource, options)),
    },
    clock,
    random,
    log,
    namespace,
    resource: LEASES,
    labelSelector: ORIGIN_LABEL,
  });
  informer.addHandler({
    added: (lease) => onLease(lease, undefined, namespace),
    updated(lease, previous) {
      const before = readOriginLease(previous)?.origin;
      onLease(lease, before === readOriginLease(lease)?.origin ? undefined : before, namespace);
    },
    deleted: (lease) => onLease(undefined, readOriginLease(lease)?.origin, namespace),
  });
  const ownLease = createWorkerLease({ client, clock, namespace, controllerName, identity, renewEveryMs });
  const renew: LeasePlace['renew'] = (...call) => noting(rights, 'write', onAnswer, () => ownLease.renew(...call));
  return { namespace, rights, ownLease, informer, renew, catchingUp: false };
}

/** Tells whether the server lets us do this. */
async function noting<T>(rights: LeaseRights, action: LeaseAction, onAnswer: () => void, call: () => Promise<T>): Promise<T> {
  try {
    const answer = await call();
    rights.granted(action);
    return answer;
  } catch (error) {
    if (isForbidden(error)) rights.refused(action, error);
    throw error;
  } finally {
    onAnswer();
  }
}
