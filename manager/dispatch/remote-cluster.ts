import type { DeepReadonly, Job, Node, ObjectKey } from '../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../shared/api/names.ts';
import { JOBS, NODES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { runController, type ReconcileResult } from '../../shared/kube/controller.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { createInformerOfNamespaces } from '../../shared/kube/informer-of-namespaces.ts';
import { formatKey, parseKey } from '../../shared/kube/keys.ts';
import { WentBack } from '../../shared/kube/reflector.ts';
import { isOlder } from '../../shared/kube/resource-version.ts';
import { createObjectBudget } from '../../shared/kube/object-budget.ts';
import type { UnusableAnswer, AnswerFault } from '../../shared/kube/unusable-answer.ts';
import { createWorkqueue, type Workqueue } from '../../shared/kube/workqueue.ts';
import { sleep, type Clock, type Timer } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import type { DispatchProblem } from '../api/refusals.ts';
import { servesNamespace } from '../api/served-namespaces.ts';
import { afterProbe, NEVER_PROBED, withFault, type ClusterFault, type ClusterHealth, type ProbeResult } from './cluster-health.ts';
import type { IdentityProblem } from './cluster-identities.ts';
import { ABLE, abilityAt, afterCreate, afterFailedCreate, isFaultOfCluster, type AbilityNow } from './cluster-ability.ts';
import { createClusterProbe, type ClusterProbe } from './cluster-probe.ts';
import { essentialsOfCopy } from './copy-essentials.ts';
import { createCopyWriter, type CopyWriter, type NamespacePolicy } from './copy-writer.ts';
import { createDoubts, type Doubts } from './doubts.ts';
import type { ClusterView, Copy } from './mirror-group.ts';
import { capacityOf, essentialsOfNode, type Capacity } from './node-capacity.ts';
import { createOwnWrites, type OwnWrites } from './own-writes.ts';
import { copyIdentity } from './remote-job.ts';
import { createStartInquiries, type StartInquiries } from './start-inquiries.ts';
import { createTurns } from './turns.ts';
import { createWriteTroubles, type WriteTroubles } from './write-troubles.ts';

export type RemoteClusterOptions = {
  readonly name: string;
  readonly client: KubeClient;
  readonly origin: string;
  readonly jobController: string;
  /** True when it is the manager cluster itself. */
  readonly local: boolean;
  readonly namespaces: NamespacePolicy;
  /** The only namespaces in which it is asked for Jobs; undefined: all. */
  readonly servedNamespaces: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Why the cluster with this identity must not be used; undefined when it may, from then on. */
  readonly identify: (uid: string) => Promise<IdentityProblem | undefined>;
  /** Writes under way at once. */
  readonly concurrency: number;
  /** Carries out what one Job needs on this cluster. */
  readonly reconcile: (cluster: RemoteCluster, localKey: string) => Promise<ReconcileResult>;
  /** A copy of this Job has changed. */
  readonly onCopyChanged: (localKey: string) => void;
  /** Contact was gained or lost. */
  readonly onContactChanged: (cluster: RemoteCluster) => void;
  /** What others should hear of has changed, contact or not. */
  readonly onHealthChanged: (cluster: RemoteCluster) => void;
  /** Memory that what is kept of its Jobs and nodes may take. */
  readonly memoryBytes: number;
  /** It gave an answer that cannot be used. */
  readonly onFault: (reason: AnswerFault) => void;
  /** Told once: it has gone back in time, and is to be connected to anew. What is known of it and of our writes there did not happen. */
  readonly onRestored: (error: Error) => void;
};

/**
 * One worker cluster as the manager sees it: a cache of the copies there, a queue of its own for the writes to it, and its health.
 * Nothing here is shared with another cluster, so that one that answers slowly or not at all delays nobody else.
 */
export interface RemoteCluster {
  readonly name: string;
  readonly writer: CopyWriter;
  /** What our own writes have left open. */
  readonly doubts: Doubts;
  /** Writes that fail and are tried again. */
  readonly troubles: WriteTroubles;
  /** Why copies here do not start. */
  readonly starts: StartInquiries;
  health(): ClusterHealth;
  /** Whether copies can be made here. */
  ability(): AbilityNow;
  /** A copy was made, or was there. */
  created(localKey: string): void;
  /** One could not be made; what is the Job's own fault says nothing of the cluster. */
  createFailed(localKey: string, error: unknown, problem: DispatchProblem): void;
  /** `sinceMs`: when the Job was last admitted, if that is known. */
  view(localKey: string, sinceMs?: number): ClusterView;
  /** The copies here of the Job with this key, our own latest writes included. */
  copiesOf(localKey: string): readonly Copy[];
  /** Whether anything of this Job is here, or may be, or was said to it here. */
  hasTraceOf(localKey: string): boolean;
  /** The Job is gone: what was said to it here, and what was left open, is nothing to another of its name. */
  forget(localKey: string): void;
  /** Keys of all Jobs that have a copy here. */
  localKeys(): ReadonlySet<string>;
  /** What its schedulable nodes offer; empty while unknown. */
  capacity(): Capacity;
  /**
   * Zero, or after how many milliseconds the manager cluster may be asked whether this Job is gone: a cluster can show any number of copies of
   * Jobs that never were.
   */
  mayAskAfterMs(localKey: string): number;
  wrote(localKey: string, copy: Job): void;
  deleted(copy: DeepReadonly<Job>): void;
  /** Remembers why the copy cannot be made, until told otherwise. */
  setProblem(localKey: string, problem: DispatchProblem | undefined): void;
  /** Has the Job looked at in this cluster's queue. One with a problem is being tried again anyway, and waits for that unless `now`. */
  wake(localKey: string, options: { readonly now: boolean }): void;
  /** Connects, asks which cluster it is, and, once it may be used, works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const COPIES_BY_LOCAL_KEY = 'localKey';
const PROBE_INTERVAL_MS = 10_000;
/** Sooner, while it does not answer or its Jobs are not listed yet. */
const PROBE_AGAIN_MS = 1_000;
/** While it refuses us, or we it: that ends when somebody changes something. */
const PROBE_REFUSED_MS = 5_000;
/** Questions to the manager cluster for the sake of one worker cluster. */
const CONFIRMATIONS = { perSecond: 5, burst: 100 };

export function createRemoteCluster(options: RemoteClusterOptions): RemoteCluster {
  return new ConnectedCluster(options);
}

class ConnectedCluster implements RemoteCluster {
  readonly name: string;
  readonly writer: CopyWriter;
  readonly doubts: Doubts;
  readonly troubles = createWriteTroubles();
  readonly starts: StartInquiries;
  readonly #options: RemoteClusterOptions;
  readonly #copies: Informer<Job>;
  readonly #nodes: Informer<Node>;
  readonly #ownWrites: OwnWrites<Job>;
  readonly #queue: Workqueue;
  readonly #problems = new Map<string, DispatchProblem>();
  readonly #stopped = new AbortController();
  readonly #confirmations = createTurns(CONFIRMATIONS);
  readonly #prober: ClusterProbe;
  /** Resolves when it is known to be a cluster that may be used, or when it is too late for that. */
  readonly #identified = Promise.withResolvers<void>();
  /** By the list that they are of. */
  readonly #faults = new Map<string, ClusterFault>();
  readonly #restored = new AbortController();
  #health = NEVER_PROBED;
  #ability = ABLE;
  /** Tells when it may be tried again. */
  #trial: Timer | undefined;

  constructor(options: RemoteClusterOptions) {
    const { name, client, clock, random, log, origin, namespaces, servedNamespaces } = options;
    this.name = name;
    this.#options = options;
    this.#prober = createClusterProbe({ client, origin, servedNamespaces, clock, identify: (uid) => this.#identify(uid) });
    const budget = createObjectBudget(options.memoryBytes);
    const onFault = (source: string, fault: UnusableAnswer | undefined): void => this.#faultChanged(source, fault);
    this.writer = createCopyWriter({ cluster: name, client, namespaces, clock, signal: this.#stopped.signal });
    this.doubts = createDoubts(clock);
    const copyOf = (localKey: string): DeepReadonly<Job> | undefined => this.copiesOf(localKey).find(({ deleting }) => !deleting)?.job;
    this.starts = createStartInquiries({
      cluster: name,
      client,
      clock,
      log,
      copyOf,
      onTold: (localKey) => options.onCopyChanged(localKey),
    });
    const copies = {
      client,
      resource: JOBS,
      clock,
      random,
      log,
      labelSelector: `${ORIGIN_LABEL}=${origin}`,
      transform: (copy: Job) => essentialsOfCopy(copy, options.local),
      budget,
      onFault,
      onWentBack: (error: Error): void => this.#wentBack(error),
      indexers: { [COPIES_BY_LOCAL_KEY]: (copy: DeepReadonly<Job>) => [localKeyOf(copy)] },
    };
    this.#copies =
      servedNamespaces === undefined
        ? createInformer(copies)
        : createInformerOfNamespaces(JOBS, servedNamespaces, (namespace) => createInformer({ ...copies, namespace }));
    this.#nodes = createInformer({ client, resource: NODES, clock, random, log, transform: essentialsOfNode, budget, onFault });
    this.#ownWrites = createOwnWrites(this.#copies);
    const changed = (copy: DeepReadonly<Job>): void => options.onCopyChanged(localKeyOf(copy));
    this.#copies.addHandler({ added: changed, updated: changed, deleted: changed });
    const rateLimit = { baseDelayMs: 200, maxDelayMs: 60_000 };
    this.#queue = createWorkqueue({ name: `cluster-${name}`, clock, rateLimit });
  }

  health(): ClusterHealth {
    return this.#health;
  }

  ability(): AbilityNow {
    return abilityAt(this.#ability, this.#options.clock.monotonic());
  }

  created(localKey: string): void {
    const before = this.ability().kind;
    this.#ability = afterCreate(this.#ability, parseKey(localKey).namespace, this.#options.clock.monotonic());
    if (before === 'Able') return;
    this.#options.onHealthChanged(this);
    // Those that fail wait for up to a minute.
    for (const key of this.troubles.keys()) this.#queue.add(key);
  }

  createFailed(key: string, error: unknown, problem: DispatchProblem): void {
    const { clock, onHealthChanged } = this.#options;
    if (!isFaultOfCluster(error)) return;
    const before = this.ability().kind;
    this.#ability = afterFailedCreate(this.#ability, { key, namespace: parseKey(key).namespace }, problem, clock.monotonic());
    const { trouble } = this.#ability;
    if (trouble === undefined) return;
    this.#trial?.cancel();
    this.#trial = clock.schedule(() => onHealthChanged(this), trouble.untilMs - clock.monotonic());
    if (before !== 'NotAble') onHealthChanged(this);
  }

  view(localKey: string, sinceMs?: number): ClusterView {
    const { jobController, local, servedNamespaces } = this.#options;
    const served = servesNamespace(servedNamespaces, parseKey(localKey).namespace);
    const contact = served ? this.#health.contact : 'NotServed';
    return {
      contact,
      jobController,
      local,
      problem: this.#problems.get(localKey),
      trouble: this.troubles.told(localKey),
      waiting: this.starts.told(localKey),
      doubt: this.doubts.of(localKey, sinceMs),
      untouchedSinceMs: this.doubts.untouchedSinceMs(localKey),
    };
  }

  copiesOf(localKey: string): readonly Copy[] {
    return this.#ownWrites.overlay(localKey, this.#copies.byIndex(COPIES_BY_LOCAL_KEY, localKey)).map((job) => ({
      cluster: this.name,
      job,
      deleting: job.metadata.deletionTimestamp !== undefined || this.#ownWrites.isDeleted(job.metadata.uid),
    }));
  }

  hasTraceOf(localKey: string): boolean {
    return this.#problems.has(localKey) || this.doubts.has(localKey) || this.copiesOf(localKey).length > 0;
  }

  forget(localKey: string): void {
    this.#problems.delete(localKey);
    this.doubts.forget(localKey);
    this.troubles.over(localKey);
    this.starts.saw(localKey, undefined);
  }

  localKeys(): ReadonlySet<string> {
    return new Set(this.#copies.list().map(localKeyOf));
  }

  capacity(): Capacity {
    return { ...capacityOf(this.#nodes.list()), isAll: this.#nodes.hasSynced() };
  }

  mayAskAfterMs(localKey: string): number {
    return this.#confirmations.waitMs(localKey, this.#options.clock.now());
  }

  wrote(localKey: string, copy: Job): void {
    this.#ownWrites.wrote(localKey, essentialsOfCopy(copy, this.#options.local));
  }

  deleted(copy: DeepReadonly<Job>): void {
    this.#ownWrites.deleted(localKeyOf(copy), copy);
  }

  setProblem(localKey: string, problem: DispatchProblem | undefined): void {
    if (problem === undefined) this.#problems.delete(localKey);
    else this.#problems.set(localKey, problem);
  }

  wake(localKey: string, { now }: { readonly now: boolean }): void {
    if (now || !this.#problems.has(localKey)) this.#queue.add(localKey);
  }

  async run(signal: AbortSignal): Promise<void> {
    onAbort(signal, () => {
      this.#stopped.abort(signal.reason);
      this.#queue.shutDown();
      this.#identified.resolve();
      this.#trial?.cancel();
    });
    if (signal.aborted) return;
    await Promise.all([this.#probe(signal), this.#work(signal)]);
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { log, concurrency, reconcile } = this.#options;
    await this.#identified.promise;
    if (signal.aborted) return;
    const name = `cluster-${this.name}`;
    const watching = AbortSignal.any([signal, this.#restored.signal]);
    await Promise.all([
      this.#copies.run(watching),
      this.#nodes.run(watching),
      this.starts.run(signal),
      runController({ name, queue: this.#queue, concurrency, reconcile: (key) => reconcile(this, key), log }),
    ]);
  }

  async #identify(uid: string): Promise<IdentityProblem | undefined> {
    const problem = await this.#options.identify(uid);
    if (problem === undefined) this.#identified.resolve();
    return problem;
  }

  async #probe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#restored.signal.aborted) {
      const probe = await this.#ask(signal);
      if (signal.aborted) return;
      this.#becomes(afterProbe(this.#health, probe, this.#options.clock.now()));
      await (probe.kind === 'Refused' ? sleep(this.#options.clock, PROBE_REFUSED_MS, signal) : this.#untilNextProbe(signal));
    }
  }

  #faultChanged(source: string, error: UnusableAnswer | undefined): void {
    if (error === undefined) {
      // The next probe says what else there may be.
      this.#faults.delete(source);
      return;
    }
    const fault = { reason: error.fault, message: `its ${source.split('/')[0]} cannot be known: ${error.message}` };
    this.#faults.set(source, fault);
    this.#options.onFault(error.fault);
    this.#becomes(withFault(this.#health, fault, this.#options.clock.now()));
  }

  /** The probe after the next connection is the next that counts. */
  #wentBack(error: Error): void {
    if (this.#restored.signal.aborted) return;
    this.#becomes({ ...this.#health, contact: 'Connecting', reason: 'Restored', message: `${error.message}: it is listed anew` });
    this.#restored.abort(error);
    this.#options.onRestored(error);
  }

  #becomes(next: ClusterHealth): void {
    if (this.#restored.signal.aborted) return;
    const before = this.#health;
    this.#health = next;
    // What failed on the way out says nothing of what it can now.
    if (before.contact === 'Lost' && next.contact !== 'Lost') this.#ability = ABLE;
    if (describe(before) === describe(next)) return;
    this.#options.onHealthChanged(this);
    if (before.contact !== next.contact) this.#options.onContactChanged(this);
  }

  async #untilNextProbe(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { contact, connected, failures } = this.#health;
    if ((contact === 'Ready' || this.#faults.size > 0) && failures === 0) return sleep(clock, PROBE_INTERVAL_MS, signal);
    const done = new AbortController();
    const until = AbortSignal.any([signal, done.signal]);
    // Once it answers, only the arrival of the first list is missing.
    const listed =
      connected && contact === 'Connecting' ? [this.#copies.waitForSync(until).catch(() => sleep(clock, PROBE_AGAIN_MS, signal))] : [];
    await Promise.race([sleep(clock, PROBE_AGAIN_MS, until), ...listed]);
    done.abort();
  }

  async #ask(signal: AbortSignal): Promise<ProbeResult> {
    const seen = this.#copies.lastResourceVersion(this.#options.servedNamespaces?.[0]);
    const answer = await this.#prober.ask(this.#faults.size > 0, signal);
    if (answer.kind !== 'Answered') return answer;
    const { resourceVersion = '' } = answer;
    if (isOlder(resourceVersion, seen)) this.#wentBack(new WentBack('jobs', seen, resourceVersion));
    const [fault] = this.#faults.values();
    return { ...answer, synced: this.#copies.hasSynced(), fault };
  }
}

/** A damaged copy, which does not say whose it is, is found under its own name. */
function localKeyOf(copy: DeepReadonly<Job>): string {
  const key: ObjectKey = copyIdentity(copy)?.localKey ?? { namespace: copy.metadata.namespace, name: copy.metadata.name };
  return formatKey(key);
}

/** What others should hear of when it changes. */
const describe = ({ contact, connected, reason, version, failingSinceMs }: ClusterHealth): string =>
  JSON.stringify([contact, connected, reason, version ?? '', failingSinceMs ?? 0]);
