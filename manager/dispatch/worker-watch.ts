import { readWorkerAnnouncement, workerLeaseName, type WorkerAnnouncement } from '../../shared/api/fence-leases.ts';
import type { DeepReadonly, Lease } from '../../shared/api/kubernetes.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  CONTROLLER_NAME_ANNOTATION,
  FENCE_AFTER_ANNOTATION,
  FENCE_TOKEN_ANNOTATION,
  VERSION_ANNOTATION,
  WORKER_LABEL,
} from '../../shared/api/names.ts';
import { LEASES } from '../../shared/api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../../shared/kube/informer.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { toldText } from '../api/told-text.ts';
import type { WorkerClusterStatus } from '../api/worker-cluster.ts';
import { essentialsOfLease } from './lease-essentials.ts';

/** What is known of the worker on a cluster. */
export type WorkerFinding =
  /** The built-in Job controller runs the copies there. */
  | { readonly kind: 'BuiltIn' }
  /** The cluster is out of reach, or not looked at yet: what was known stays. */
  | { readonly kind: 'OutOfSight' }
  /** No worker has a Lease there. */
  | { readonly kind: 'None'; readonly where: string }
  | { readonly kind: 'Announced'; readonly pulse: Pulse; readonly worker: NonNullable<WorkerClusterStatus['worker']> };
/** Unproven: its Lease has not been renewed before our eyes yet, and its time is not over. Silent: it is over. Stopped: it was let go of. */
export type Pulse = 'Beating' | 'Unproven' | 'Silent' | 'Stopped';

export type WorkerWatchOptions = Pick<
  InformerOptions<Lease>,
  'client' | 'clock' | 'random' | 'log' | 'budget' | 'onFault' | 'onWentBack'
> & {
  readonly namespace: string;
  readonly jobController: string;
  /** Its Lease has changed. */
  readonly onChanged: () => void;
};

/** The worker of one cluster, as it tells of itself in its Lease. */
export interface WorkerWatch {
  /** `inReach`: the cluster answers, so that silence is the worker's. */
  finding(inReach: boolean): WorkerFinding;
  /** What it asks its manager to answer before copies go on; undefined while it asks nothing. */
  fenceToken(): string | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const ANNOTATIONS = [CONTROLLER_NAME_ANNOTATION, VERSION_ANNOTATION, FENCE_AFTER_ANNOTATION, FENCE_TOKEN_ANNOTATION];

export const createWorkerWatch = (options: WorkerWatchOptions): WorkerWatch =>
  options.jobController === BUILT_IN_JOB_CONTROLLER_NAME ? NO_WORKER : new LeaseWatch(options);

const NO_WORKER: WorkerWatch = { finding: () => ({ kind: 'BuiltIn' }), fenceToken: () => undefined, run: async () => undefined };

class LeaseWatch implements WorkerWatch {
  readonly #clock: Clock;
  readonly #key: { readonly namespace: string; readonly name: string };
  readonly #leases: Informer<Lease>;
  /** Since when it has been silent before our eyes, by a clock that does not step. */
  #silentSinceMs: number | undefined;
  #renewed = false;

  constructor(options: WorkerWatchOptions) {
    const { namespace, jobController, clock, onChanged } = options;
    this.#clock = clock;
    this.#key = { namespace, name: workerLeaseName(jobController) };
    this.#leases = createInformer({
      ...options,
      resource: LEASES,
      labelSelector: `${WORKER_LABEL}=true`,
      transform: (lease: Lease) => essentialsOfLease(lease, ANNOTATIONS),
    });
    const seen = (lease: DeepReadonly<Lease>, renewed: boolean): void => {
      if (lease.metadata.name !== this.#key.name) return;
      this.#silentSinceMs = clock.monotonic();
      this.#renewed = renewed;
      onChanged();
    };
    this.#leases.addHandler({
      added: (lease, isInInitialList) => seen(lease, !isInInitialList),
      updated: (lease) => seen(lease, true),
      deleted: (lease) => seen(lease, false),
    });
  }

  finding(inReach: boolean): WorkerFinding {
    if (!inReach || !this.#leases.hasSynced()) {
      // Nobody hears a worker that is out of reach.
      this.#silentSinceMs = undefined;
      this.#renewed = false;
      return { kind: 'OutOfSight' };
    }
    const lease = this.#leases.get(this.#key);
    const announcement = lease && readWorkerAnnouncement(lease);
    if (lease === undefined || announcement === undefined) return { kind: 'None', where: `${this.#key.namespace}/${this.#key.name}` };
    return { kind: 'Announced', pulse: this.#pulse(lease), worker: workerOf(lease, announcement) };
  }

  fenceToken(): string | undefined {
    const lease = this.#leases.get(this.#key);
    return lease && readWorkerAnnouncement(lease)?.fenceToken;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#leases.run(signal);
  }

  #pulse({ spec }: DeepReadonly<Lease>): Pulse {
    if ((spec?.holderIdentity ?? '') === '') return 'Stopped';
    const nowMs = this.#clock.monotonic();
    this.#silentSinceMs ??= nowMs;
    if (nowMs - this.#silentSinceMs >= (spec?.leaseDurationSeconds ?? 0) * 1000) return 'Silent';
    return this.#renewed ? 'Beating' : 'Unproven';
  }
}

function workerOf(
  { spec }: DeepReadonly<Lease>,
  { controllerName, version, fenceAfterSeconds }: WorkerAnnouncement,
): NonNullable<WorkerClusterStatus['worker']> {
  return {
    name: toldText(spec?.holderIdentity ?? '', 253),
    version: toldText(version, 64),
    controllerName: toldText(controllerName, 63),
    fenceAfterSeconds,
  };
}
