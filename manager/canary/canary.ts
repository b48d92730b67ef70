import type { DeepReadonly, Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import { CANARY_FIELD_MANAGER, CANARY_LABEL, CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import { hasTrueCondition, isFinished } from '../../shared/kube/conditions.ts';
import type { EventHandler, Informer } from '../../shared/kube/informer.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { continued, lifecycleLine, type JobProgress } from '../api/job-progress.ts';
import { servesNamespace } from '../api/served-namespaces.ts';
import { ClusterCondition, type WorkerCluster } from '../api/worker-cluster.ts';
import { canaryJob, canaryName } from './canary-job.ts';
import type { CanaryMetrics } from './canary-metrics.ts';
import { stageSeconds } from './canary-stages.ts';
import { CANARY_OUTCOMES, decideCanary, type CanaryOutcome, type CanarySeen } from './decide-canary.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type CanaryConfig = {
  readonly namespace: string;
  readonly queue: string;
  readonly image: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
};

/**
 * Sends a tiny Job through every cluster in turn, end to end, and measures its stages. Its state is in the Jobs themselves, one for each
 * cluster, so that a restart or another leader adds none.
 */
export interface Canary {
  readonly handler: EventHandler<Job>;
  /** Waits until the informers are synced, then works until `signal` aborts. Call it on the leader only. */
  run(signal: AbortSignal): Promise<void>;
}

export type CanaryDeps = {
  readonly kind: WorkKind<Job>;
  readonly config: CanaryConfig;
  readonly client: Pick<WriteClient, 'create' | 'delete'>;
  readonly jobs: Lister<Job> & Synced;
  readonly workerClusters: Lister<WorkerCluster> & Synced;
  readonly metrics: CanaryMetrics;
  readonly clock: Clock;
  readonly log: Logger;
};

type Synced = Pick<Informer<Job>, 'waitForSync'>;

const LOOK_MS = 2_000;
/** Time for connecting to the clusters first. */
const FIRST_MS = 60_000;
/** For a Job that no manager deletes, as after canaries are switched off. */
const TTL_INTERVALS = 2;
const TTL_MS = 600_000;

/** The state of a cluster that has, or had, a canary. */
type CanaryState = {
  dueMs: number;
  /** UID of its Job; absent where there is none, or where the answer was lost. */
  uid?: string;
  story?: JobProgress;
  /** Another process created the canary: its times were not all observed. */
  isTakenOver?: true;
};

/** Add its handler before the informers run. */
export function createCanary(deps: CanaryDeps): Canary {
  return new CanaryOfClusters(deps);
}

class CanaryOfClusters implements Canary {
  readonly handler: EventHandler<Job> = {
    added: (job) => this.#saw(job),
    updated: (job) => this.#saw(job),
    deleted: (job) => this.#gone(job),
  };
  readonly #deps: CanaryDeps;
  readonly #states = new Map<string, CanaryState>();
  readonly #clustersByName = new Map<string, string>();
  #leading = false;

  constructor(deps: CanaryDeps) {
    this.#deps = deps;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { jobs, workerClusters, clock } = this.#deps;
    // Rejects when `signal` aborts first.
    await Promise.allSettled([jobs, workerClusters].map((informer) => informer.waitForSync(signal)));
    this.#leading = true;
    this.#takeOver();
    while (!signal.aborted) {
      await this.#look();
      await sleep(clock, LOOK_MS, signal);
    }
    this.#leading = false;
  }

  /**
   * Takes over the canaries of the last leader: the end of a running one counts, without its times; one whose cluster is gone is deleted.
   */
  #takeOver(): void {
    const { config, jobs, workerClusters } = this.#deps;
    for (const { metadata } of workerClusters.list()) this.#stateOf(metadata.name);
    for (const job of jobs.list(config.namespace)) {
      const { labels, annotations, name, uid } = job.metadata;
      const cluster = annotations?.[CLUSTERS_ANNOTATION];
      if (labels?.[CANARY_LABEL] === undefined || cluster === undefined || name !== canaryName(cluster)) continue;
      const state = this.#stateOf(cluster);
      if (!isFinished(job.status)) Object.assign(state, { uid, story: { submittedMs: createdMs(job.metadata) }, isTakenOver: true });
    }
  }

  async #look(): Promise<void> {
    const { config, jobs, workerClusters, clock } = this.#deps;
    for (const { metadata } of workerClusters.list()) this.#stateOf(metadata.name);
    for (const [cluster, state] of this.#states) {
      const plan = decideCanary(this.#seen(cluster, state), config, clock.now());
      if (plan.kind === 'Start') await this.#start(cluster, state);
      if (plan.kind === 'Remove') await this.#remove(cluster, state, plan.outcome);
      if (this.#clusterState(cluster) === 'Gone' && jobs.get(this.#keyOf(cluster)) === undefined) {
        this.#states.delete(cluster);
        this.#clustersByName.delete(canaryName(cluster));
      }
    }
  }

  #stateOf(cluster: string): CanaryState {
    const { config, metrics, clock } = this.#deps;
    const known = this.#states.get(cluster);
    if (known !== undefined) return known;
    const state = { dueMs: clock.now() + Math.min(FIRST_MS, config.intervalMs) };
    this.#states.set(cluster, state);
    this.#clustersByName.set(canaryName(cluster), cluster);
    // Creates the series, so that rates of zero can be queried.
    for (const outcome of CANARY_OUTCOMES) metrics.runs.inc({ cluster, outcome }, 0);
    return state;
  }

  #seen(cluster: string, state: CanaryState): CanarySeen {
    const job = this.#deps.jobs.get(this.#keyOf(cluster));
    return {
      cluster: this.#clusterState(cluster),
      job:
        job === undefined
          ? undefined
          : job.metadata.labels?.[CANARY_LABEL] === undefined
            ? 'Foreign'
            : {
                createdMs: createdMs(job.metadata),
                admitted: hasTrueCondition(job.status?.conditions, 'QuotaReserved'),
                ended: isFinished(job.status),
                deleting: job.metadata.deletionTimestamp !== undefined,
              },
      dueMs: state.dueMs,
    };
  }

  #clusterState(name: string): CanarySeen['cluster'] {
    const { config, workerClusters } = this.#deps;
    const cluster = workerClusters.get({ namespace: '', name });
    if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return 'Gone';
    const { state = 'Active', servedNamespaces } = cluster.spec;
    const isReady = state === 'Active' && hasTrueCondition(cluster.status?.conditions, ClusterCondition.Ready);
    return isReady && servesNamespace(servedNamespaces, config.namespace) ? 'Ready' : 'NotReady';
  }

  #keyOf(cluster: string): ObjectKey {
    return { namespace: this.#deps.config.namespace, name: canaryName(cluster) };
  }

  async #start(cluster: string, state: CanaryState): Promise<void> {
    const { kind, config, client, jobs, metrics, clock, log } = this.#deps;
    const submittedMs = clock.now();
    state.dueMs = submittedMs + config.intervalMs;
    const options = { ...config, ttlSeconds: Math.ceil((TTL_INTERVALS * config.intervalMs + TTL_MS) / 1_000) };
    try {
      const made = await client.create(kind.resource, canaryJob(kind, cluster, canaryName(cluster), options), {
        fieldManager: CANARY_FIELD_MANAGER,
      });
      state.uid = made.metadata.uid;
      state.story = { submittedMs };
      // The cache may be ahead of the answer.
      const cached = jobs.get(this.#keyOf(cluster));
      if (cached?.metadata.uid === made.metadata.uid) this.#saw(cached);
    } catch (error) {
      // The canary is handled when the cache shows it.
      if (isAlreadyExists(error)) return;
      log.warn('a canary could not be made', { cluster, error });
      if (error instanceof ApiError) metrics.runs.inc({ cluster, outcome: 'refused' });
      // The canary may have been created all the same.
      else state.story = { submittedMs };
    }
  }

  async #remove(cluster: string, state: CanaryState, outcome: CanaryOutcome | undefined): Promise<void> {
    const { kind, client, jobs, log } = this.#deps;
    const job = jobs.get(this.#keyOf(cluster));
    if (job === undefined) return;
    const before = { ...state };
    // The deletion may be observed before its answer.
    forget(state);
    try {
      await client.delete(kind.resource, this.#keyOf(cluster), { propagationPolicy: 'Background', uid: job.metadata.uid });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) {
        log.warn('a canary could not be deleted', { cluster, error });
        Object.assign(state, before);
        return;
      }
    }
    if (outcome !== undefined) this.#ended(cluster, outcome, before);
  }

  /** Follows canaries that this process has created or taken over; those that another process counted are skipped. */
  #saw(job: DeepReadonly<Job>): void {
    const { cluster, state } = this.#canaryOf(job) ?? {};
    if (!this.#leading || cluster === undefined || state?.story === undefined || !isOf(state, job)) return;
    state.uid = job.metadata.uid;
    const story = continued(state.story, job, this.#deps.clock.now());
    state.story = story;
    if (story.outcome === undefined) return;
    const isFit = this.#clusterState(cluster) === 'Ready';
    this.#ended(cluster, story.outcome === 'Complete' ? 'complete' : isFit ? 'failed' : 'withdrawn', state);
    forget(state);
  }

  #gone(job: DeepReadonly<Job>): void {
    const { cluster, state } = this.#canaryOf(job) ?? {};
    if (!this.#leading || cluster === undefined || state?.uid !== job.metadata.uid) return;
    if (state.story !== undefined) this.#ended(cluster, 'withdrawn');
    forget(state);
  }

  #canaryOf({ metadata }: DeepReadonly<Job>): { readonly cluster: string; readonly state: CanaryState | undefined } | undefined {
    const cluster = metadata.namespace === this.#deps.config.namespace ? this.#clustersByName.get(metadata.name) : undefined;
    return cluster === undefined ? undefined : { cluster, state: this.#states.get(cluster) };
  }

  #ended(cluster: string, outcome: CanaryOutcome, { story, isTakenOver }: Pick<CanaryState, 'story' | 'isTakenOver'> = {}): void {
    const { metrics, log } = this.#deps;
    metrics.runs.inc({ cluster, outcome });
    if (outcome === 'complete' && story !== undefined && isTakenOver !== true)
      for (const [stage, seconds] of stageSeconds(story)) metrics.stages.observe({ cluster, stage }, seconds);
    const fields = { cluster, outcome, ...(story && { story: lifecycleLine(story) }) };
    if (outcome === 'complete') log.debug('a canary has come through', fields);
    else log.warn('a canary has not come through', fields);
  }
}

function forget(state: CanaryState): void {
  delete state.uid;
  delete state.story;
  delete state.isTakenOver;
}

/** The answer to the creation may have been lost. */
const isOf = ({ uid, story }: CanaryState, { metadata }: DeepReadonly<Job>): boolean =>
  uid === undefined
    ? metadata.labels?.[CANARY_LABEL] !== undefined && createdMs(metadata) >= Math.floor((story?.submittedMs ?? 0) / 1_000) * 1_000
    : uid === metadata.uid;

const createdMs = ({ creationTimestamp }: DeepReadonly<Job['metadata']>): number => parseWireTime(creationTimestamp) ?? 0;
