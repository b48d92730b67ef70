import { createHash } from 'node:crypto';
import type { DeepReadonly, Deployment, DeploymentStatus, PodTemplateSpec, ReplicaSet } from '../../api/kubernetes.ts';
import { apiVersionOf, DEPLOYMENTS, REPLICA_SETS } from '../../api/resources.ts';
import { isAlreadyExists, isNotFound } from '../../kube/api-error.ts';
import { controllerOf } from '../../kube/controller-of.ts';
import { type ReconcileResult, runController } from '../../kube/controller.ts';
import { createEventRecorder, type EventRecorder } from '../../kube/event-recorder.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { keyOf, keyOfObject, objectKey, parseKey } from '../../kube/keys.ts';
import { createWorkqueue } from '../../kube/workqueue.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { statusOf } from './deployment/deployment-status.ts';
import { DESIRED_REPLICAS, limitsOf, planRollout, type Scaling } from './deployment/plan-rollout.ts';

const WORKERS = 4;
const RATE_LIMIT = { baseDelayMs: 5, maxDelayMs: 1_000_000 };
const BY_CONTROLLER = 'controller';

const HASH_LABEL = 'pod-template-hash';
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
const REVISION = 'deployment.kubernetes.io/revision';
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
/** Annotations that a Deployment does not pass on to its ReplicaSets. */
const NOT_PASSED_ON = ['kubectl.kubernetes.io/last-applied-configuration', REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS];

/** Rolls Deployments out: a ReplicaSet for each template, scaled within the limits of the strategy. */
export const createDeploymentController = (deps: ControllerDeps): Controller => ({
  run: (signal) => new Deployments(deps, signal).run(signal),
});

class Deployments {
  readonly #deps: ControllerDeps;
  readonly #deployments: Informer<Deployment>;
  readonly #replicaSets: Informer<ReplicaSet>;
  readonly #recorder: EventRecorder;

  constructor(deps: ControllerDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#deployments = createInformer({ ...deps, resource: DEPLOYMENTS });
    const indexers = { [BY_CONTROLLER]: (set: DeepReadonly<ReplicaSet>) => [controllerOf(set)?.uid ?? ''] };
    this.#replicaSets = createInformer({ ...deps, resource: REPLICA_SETS, indexers });
    this.#recorder = createEventRecorder({ ...deps, component: 'deployment-controller', signal });
  }

  async run(signal: AbortSignal): Promise<void> {
    const queue = createWorkqueue({ name: 'deployment', clock: this.#deps.clock, rateLimit: RATE_LIMIT });
    const changed = (deployment: DeepReadonly<Deployment>): void => queue.add(keyOfObject(deployment));
    this.#deployments.addHandler({ added: changed, updated: changed, deleted: () => undefined });
    const setChanged = (set: DeepReadonly<ReplicaSet>): void => {
      const owner = controllerOf(set);
      if (owner?.kind === DEPLOYMENTS.kind) queue.add(keyOf(set.metadata.namespace, owner.name));
    };
    this.#replicaSets.addHandler({ added: setChanged, updated: setChanged, deleted: setChanged });
    const informing = Promise.all([this.#deployments.run(signal), this.#replicaSets.run(signal)]);
    const synced = await Promise.allSettled([this.#deployments.waitForSync(signal), this.#replicaSets.waitForSync(signal)]);
    const reconcile = (key: string): Promise<ReconcileResult> => this.#reconcile(key);
    // A controller that stops before it has seen all ReplicaSets has nothing to work on.
    const working = synced.every(({ status }) => status === 'fulfilled')
      ? runController({ ...this.#deps, name: 'deployment', queue, concurrency: WORKERS, reconcile })
      : undefined;
    await informing;
    queue.shutDown();
    await working;
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const known = this.#deployments.get(parseKey(key));
    if (known === undefined || known.metadata.deletionTimestamp !== undefined) return undefined;
    const sets = this.#replicaSets
      .byIndex(BY_CONTROLLER, known.metadata.uid)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .toSorted((left, right) => (left.metadata.creationTimestamp < right.metadata.creationTimestamp ? -1 : 1));
    const found = sets.find(({ spec }) => isSameTemplate(spec.template, known.spec.template));
    const { deployment, current, began } = await this.#currentSet(known, sets, found);
    // A cache that lags behind refuses the write, and this controller comes back.
    const old = sets.filter(({ metadata }) => metadata.uid !== current?.metadata.uid);
    const oldPods = old.reduce((sum, { status }) => sum + (status?.replicas ?? 0) + (status?.terminatingReplicas ?? 0), 0);
    for (const scaling of planRollout({ deployment, current, old, oldPods })) await this.#scale(deployment, scaling);
    await this.#forgetSurplus(deployment, current, old);
    const all = current === undefined ? old : [...old, current];
    const { status, deadlineMs } = statusOf({ deployment, current, all, began }, this.#deps.clock.now());
    if (!semanticEqual(status, deployment.status)) await this.#writeStatus(deployment, status);
    return deadlineMs === undefined ? undefined : { requeueAfterMs: Math.max(0, deadlineMs - this.#deps.clock.now()) };
  }

  /** The ReplicaSet of the present template: made where there is none, and of the latest revision. A paused Deployment makes none. */
  async #currentSet(
    deployment: DeepReadonly<Deployment>,
    sets: readonly DeepReadonly<ReplicaSet>[],
    found: DeepReadonly<ReplicaSet> | undefined,
  ) {
    if (found === undefined && deployment.spec.paused === true) return { deployment, current: undefined, began: undefined };
    const newest = Math.max(0, ...sets.filter((set) => set !== found).map(revisionOf));
    const revision = String(Math.max(newest + 1, found === undefined ? 0 : revisionOf(found)));
    const current = found === undefined ? await this.#createSet(deployment, revision) : await this.#revise(deployment, found, revision);
    const wasRevised = found !== undefined && revisionOf(found) !== Number(revision);
    const body = { metadata: { annotations: { [REVISION]: revision } } };
    // A write of the status is no new generation.
    const isNoted = deployment.metadata.annotations?.[REVISION] === revision;
    const noted = isNoted ? deployment : await this.#deps.client.patchStatus(DEPLOYMENTS, objectKey(deployment), { type: 'merge', body });
    const began = found === undefined ? ('NewReplicaSetCreated' as const) : wasRevised ? ('FoundNewReplicaSet' as const) : undefined;
    return { deployment: noted, current, began };
  }

  async #createSet(deployment: DeepReadonly<Deployment>, revision: string): Promise<ReplicaSet> {
    const { name, namespace, uid } = deployment.metadata;
    const template = structuredClone(deployment.spec.template) as PodTemplateSpec;
    const hash = templateHash(template);
    const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
    const selector = structuredClone(deployment.spec.selector) as ReplicaSet['spec']['selector'];
    const owner = { apiVersion: apiVersionOf(DEPLOYMENTS), kind: DEPLOYMENTS.kind, name, uid, controller: true, blockOwnerDeletion: true };
    const { minReadySeconds } = deployment.spec;
    const metadata = {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: { ...passedOn(deployment), ...scaleAnnotations(deployment), [REVISION]: revision },
      ownerReferences: [owner],
    };
    const spec = {
      replicas: 0,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    };
    try {
      return await this.#deps.client.create(REPLICA_SETS, { metadata, spec });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await this.#deps.client.get(REPLICA_SETS, { namespace, name: metadata.name });
      if (controllerOf(existing)?.uid !== uid) throw error;
      return existing;
    }
  }

  /** Gives a ReplicaSet that is current again the next revision, and what its Deployment passes on. */
  async #revise(deployment: DeepReadonly<Deployment>, set: DeepReadonly<ReplicaSet>, revision: string): Promise<DeepReadonly<ReplicaSet>> {
    const own = set.metadata.annotations ?? {};
    const before = own[REVISION];
    const history =
      before === undefined || before === revision ? own[REVISION_HISTORY] : [own[REVISION_HISTORY], before].filter(Boolean).join(',');
    const wanted = { ...passedOn(deployment), [REVISION]: revision, ...(history === undefined ? {} : { [REVISION_HISTORY]: history }) };
    const { minReadySeconds = 0 } = deployment.spec;
    const isSame =
      Object.entries(wanted).every(([key, value]) => own[key] === value) && (set.spec.minReadySeconds ?? 0) === minReadySeconds;
    if (isSame) return set;
    return this.#deps.client.patch(REPLICA_SETS, objectKey(set), {
      type: 'merge',
      body: { metadata: { resourceVersion: set.metadata.resourceVersion, annotations: wanted }, spec: { minReadySeconds } },
    });
  }

  async #scale(deployment: DeepReadonly<Deployment>, { replicaSet, replicas }: Scaling): Promise<void> {
    const { name, resourceVersion } = replicaSet.metadata;
    const before = replicaSet.spec.replicas ?? 0;
    await this.#deps.client.patch(REPLICA_SETS, objectKey(replicaSet), {
      type: 'merge',
      body: { metadata: { resourceVersion, annotations: scaleAnnotations(deployment) }, spec: { replicas } },
    });
    if (before === replicas) return;
    const direction = replicas > before ? 'up' : 'down';
    const message = `Scaled ${direction} replica set ${name} from ${before} to ${replicas}`;
    this.#recorder.event(DEPLOYMENTS, deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  /** Once a rollout is over, old ReplicaSets beyond the history go. */
  async #forgetSurplus(
    { spec }: DeepReadonly<Deployment>,
    current: DeepReadonly<ReplicaSet> | undefined,
    old: readonly DeepReadonly<ReplicaSet>[],
  ): Promise<void> {
    const { replicas = 1, revisionHistoryLimit = 10 } = spec;
    const idle = old.filter(({ spec: { replicas: wanted = 0 }, status }) => wanted === 0 && (status?.replicas ?? 0) === 0);
    if (current?.status?.availableReplicas !== replicas && replicas > 0) return;
    const byRevision = idle.toSorted((left, right) => revisionOf(left) - revisionOf(right));
    for (const set of byRevision.slice(0, Math.max(0, old.length - revisionHistoryLimit))) {
      try {
        await this.#deps.client.delete(REPLICA_SETS, objectKey(set), { propagationPolicy: 'Background', uid: set.metadata.uid });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }

  /** On the resourceVersion that was decided on: a conflict brings this controller back. */
  async #writeStatus(deployment: DeepReadonly<Deployment>, status: DeploymentStatus): Promise<void> {
    try {
      await this.#deps.client.replaceStatus(DEPLOYMENTS, { ...deployment, status } as Deployment);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

const revisionOf = ({ metadata }: DeepReadonly<ReplicaSet>): number => Number(metadata.annotations?.[REVISION] ?? 0);

const passedOn = ({ metadata }: DeepReadonly<Deployment>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !NOT_PASSED_ON.includes(key)));

const scaleAnnotations = (deployment: DeepReadonly<Deployment>): Record<string, string> => {
  const { replicas = 1 } = deployment.spec;
  return { [DESIRED_REPLICAS]: String(replicas), [MAX_REPLICAS]: String(replicas + limitsOf(deployment).surge) };
};

/** Whether two templates differ in nothing but the label that a ReplicaSet adds. */
function isSameTemplate(left: DeepReadonly<PodTemplateSpec> | undefined, right: DeepReadonly<PodTemplateSpec>): boolean {
  const bare = (template: DeepReadonly<PodTemplateSpec> | undefined) => {
    const { [HASH_LABEL]: _hash, ...labels } = template?.metadata?.labels ?? {};
    return { ...template, metadata: { ...template?.metadata, labels } };
  };
  return semanticEqual(bare(left), bare(right));
}

const SAFE_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** Ten letters by which ReplicaSets of one Deployment are told apart; not those that upstream computes of Go's values. */
const templateHash = (template: PodTemplateSpec): string =>
  [...createHash('sha256').update(JSON.stringify(template)).digest().subarray(0, 10)]
    .map((byte) => SAFE_LETTERS[byte % SAFE_LETTERS.length] ?? '')
    .join('');
