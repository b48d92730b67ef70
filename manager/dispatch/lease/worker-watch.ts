import { readWorkerAnnouncement, workerLeaseName, type WorkerAnnouncement } from '../../../shared/api/fence-leases.ts';
import type { DeepReadonly, Lease, ObjectKey } from '../../../shared/api/kubernetes.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  CONTROLLER_NAME_ANNOTATION,
  FENCE_AFTER_ANNOTATION,
  FENCE_TOKEN_ANNOTATION,
  FENCED_KINDS_ANNOTATION,
  VERSION_ANNOTATION,
  WORKER_LABEL,
} from '../../../shared/api/names.ts';
import { LEASES } from '../../../shared/api/resources.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../shared/kube/informer.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import { essentialsOfLease } from './lease-essentials.ts';
import { FENCED_KINDS_MAX } from '../../../shared/api/fenced-kinds.ts';
import { isGone, type AnnouncedWorker, type Pulse, type WorkerFinding } from '../cluster/worker-finding.ts';

export type WorkerWatchOptions = Pick<
  InformerOptions<Lease>,
  'client' | 'clock' | 'random' | 'log' | 'budget' | 'onFault' | 'onWentBack'
> & {
  readonly namespace: string;
  readonly jobController: string;
  /** Called when the Lease of a worker has changed. */
  readonly onChanged: () => void;
};

/** The worker of one cluster, as it announces itself in its Lease. */
export interface WorkerWatch {
  /** `inReach`: the cluster answers, so that a Lease without renewals is a silent worker. */
  finding(inReach: boolean): WorkerFinding;
  /** As far as known, the built-in Job controller runs the copies, and no worker there has a fence. */
  isBuiltIn(): boolean;
  /**
   * The fence token that the worker asks its manager to confirm before copies go on. undefined: the worker asks for none, or its
   * WorkerCluster still shows (`shown`) a shorter fence than the worker announces, or one of more kinds. After the confirmation the worker
   * goes by its own fence, and the next leader counts on the fence that the WorkerCluster shows.
   */
  fenceToken(shown: ShownFence | undefined): string | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** The fence of a worker, as its WorkerCluster shows it. */
export type ShownFence = DeepReadonly<Pick<AnnouncedWorker, 'fenceAfterSeconds' | 'fencedKinds'>>;

const ANNOTATIONS = [
  CONTROLLER_NAME_ANNOTATION,
  VERSION_ANNOTATION,
  FENCE_AFTER_ANNOTATION,
  FENCE_TOKEN_ANNOTATION,
  FENCED_KINDS_ANNOTATION,
];

export const createWorkerWatch = (options: WorkerWatchOptions): WorkerWatch => new LeaseWatch(options);

/**
 * The renewals of one Lease that this watch has seen: since when there was none, on the monotonic clock, and whether there was one before.
 */
type Heard = { readonly silentSinceMs: number; readonly renewed: boolean };

class LeaseWatch implements WorkerWatch {
  readonly #clock: Clock;
  readonly #jobController: string;
  readonly #key: ObjectKey;
  readonly #leases: Informer<Lease>;
  /** By the name of the Lease. */
  readonly #heard = new Map<string, Heard>();

  constructor(options: WorkerWatchOptions) {
    const { namespace, jobController, clock, onChanged } = options;
    this.#clock = clock;
    this.#jobController = jobController;
    this.#key = { namespace, name: workerLeaseName(jobController) };
    this.#leases = createInformer({
      ...options,
      resource: LEASES,
      labelSelector: `${WORKER_LABEL}=true`,
      transform: (lease: Lease) => essentialsOfLease(lease, ANNOTATIONS),
    });
    const seen = ({ metadata }: DeepReadonly<Lease>, renewed: boolean): void => {
      this.#heard.set(metadata.name, { silentSinceMs: clock.monotonic(), renewed });
      onChanged();
    };
    this.#leases.addHandler({
      added: (lease, isInInitialList) => seen(lease, !isInInitialList),
      updated: (lease) => seen(lease, true),
      deleted: ({ metadata }) => {
        this.#heard.delete(metadata.name);
        onChanged();
      },
    });
  }

  finding(inReach: boolean): WorkerFinding {
    if (!inReach || !this.#leases.hasSynced()) {
      // Renewals of a worker out of reach are not seen.
      this.#heard.clear();
      return { kind: 'OutOfSight' };
    }
    const where = `${this.#key.namespace}/${this.#key.name}`;
    const own = this.#announced(this.#leases.get(this.#key));
    if (own !== undefined) return { kind: 'Announced', where, ...own };
    if (this.#isForBuiltIn) return { kind: 'BuiltIn' };
    return this.#other() ?? { kind: 'None', where, mayStart: true };
  }

  isBuiltIn(): boolean {
    return this.#isForBuiltIn && this.#announced(this.#leases.get(this.#key)) === undefined;
  }

  fenceToken(shown: ShownFence | undefined): string | undefined {
    const lease = this.#leases.get(this.#key);
    const announcement = lease && readWorkerAnnouncement(lease);
    if (announcement === undefined || lengthOf(shown?.fenceAfterSeconds ?? 0) < lengthOf(announcement.fenceAfterSeconds)) return undefined;
    if (shown?.fencedKinds?.some((kind) => !announcement.fencedKinds.includes(kind)) === true) return undefined;
    return announcement.fenceToken;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#leases.run(signal);
  }

  get #isForBuiltIn(): boolean {
    return this.#jobController === BUILT_IN_JOB_CONTROLLER_NAME;
  }

  #announced(lease: DeepReadonly<Lease> | undefined): { readonly pulse: Pulse; readonly worker: AnnouncedWorker } | undefined {
    const announcement = lease && readWorkerAnnouncement(lease);
    return announcement && { pulse: this.#pulse(lease), worker: workerOf(lease, announcement) };
  }

  /** A Lease that its worker has abandoned counts for nothing. */
  #other(): WorkerFinding | undefined {
    for (const lease of this.#leases.list()) {
      const other = this.#announced(lease);
      if (other !== undefined && !isGone(other.pulse)) return { kind: 'Other', jobController: this.#jobController, worker: other.worker };
    }
    return undefined;
  }

  #pulse({ metadata, spec }: DeepReadonly<Lease>): Pulse {
    if ((spec?.holderIdentity ?? '') === '') return 'Stopped';
    const nowMs = this.#clock.monotonic();
    const heard = this.#heard.get(metadata.name) ?? { silentSinceMs: nowMs, renewed: false };
    this.#heard.set(metadata.name, heard);
    if (nowMs - heard.silentSinceMs >= (spec?.leaseDurationSeconds ?? 0) * 1000) return 'Silent';
    return heard.renewed ? 'Beating' : 'Unproven';
  }
}

/** In seconds; 0: the fence never stops copies. */
export const longestFence = (fences: readonly number[]): number => (fences.includes(0) ? 0 : Math.max(...fences));

/** In seconds; a fence of 0 never stops its copies and is the longest. */
const lengthOf = (fenceAfterSeconds: number): number => (fenceAfterSeconds === 0 ? Number.POSITIVE_INFINITY : fenceAfterSeconds);

function workerOf(
  { spec }: DeepReadonly<Lease>,
  { controllerName, version, fenceAfterSeconds, fencedKinds }: WorkerAnnouncement,
): AnnouncedWorker {
  const kinds = fencedKinds.slice(0, FENCED_KINDS_MAX).map((kind) => sanitizeText(kind, 340));
  return {
    name: sanitizeText(spec?.holderIdentity ?? '', 253),
    version: sanitizeText(version, 64),
    controllerName: sanitizeText(controllerName, 63),
    fenceAfterSeconds,
    ...(kinds.length === 0 ? {} : { fencedKinds: [...new Set(kinds)].toSorted() }),
  };
}
