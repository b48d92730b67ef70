import type { DeepReadonly, Node, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { runController } from '../../../shared/kube/controller.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { createObjectBudget } from '../../../shared/kube/object-budget.ts';
import type { UnusableAnswer } from '../../../shared/kube/unusable-answer.ts';
import { createWorkqueue, type Workqueue } from '../../../shared/kube/workqueue.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import type { NeededObject, ObjectAnswer } from '../../api/needed-objects.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { RETAINED_MAX } from '../../api/retention.ts';
import { servesNamespace } from '../../api/served-namespaces.ts';
import { type AbilityNow, isFaultOfCluster } from '../cluster/cluster-ability.ts';
import { type ClusterHealth, reportedState } from '../cluster/cluster-health.ts';
import { createTrips, type Trips } from '../cluster/cluster-trust.ts';
import { type Capacity, capacityOf } from '../cluster/node-capacity.ts';
import type { Inventory } from '../cluster/cluster-status.ts';
import type { WorkerFinding } from '../cluster/worker-finding.ts';
import { isListed, localKeyOfCopy } from '../../work-kind/copy-marks.ts';
import { createCompleteListing, type CompleteListing } from '../listing/complete-listing.ts';
import { createReconciliation, type Reconciliation } from '../listing/reconciliation.ts';
import { createLeasePlaces, type LeasePlaces } from '../lease/lease-places.ts';
import { leasedWrites } from '../lease/leased-writes.ts';
import { createWorkerAbsence, type WorkerAbsence } from '../lease/worker-absence.ts';
import type { ClusterView, Contact, Copy } from '../mirror/mirror-group.ts';
import { createUnansweredWrites, type UnansweredWrites } from '../mirror/unanswered-writes.ts';
import { type CopyWriter, createCopyWriter } from '../writes/copy-writer.ts';
import { createCreateOutcomes, type CreateOutcomes } from '../writes/create-outcomes.ts';
import { createOwnWrites, type OwnWrites } from '../writes/own-writes.ts';
import { createWriteTroubles } from '../writes/write-troubles.ts';
import { COPIES_BY_LOCAL_KEY, createClusterInformers } from './cluster-informers.ts';
import { type ClusterContact, createClusterContact } from './cluster-contact.ts';
import { createClusterInventory, type ClusterInventory } from './cluster-inventory.ts';
import { createFinishedCopies, type FinishedCopies } from './finished-copies.ts';
import { contactIn, type Served } from './informer-of-served.ts';
import { createRateSlots } from './rate-slots.ts';
import type { RemoteCluster, RemoteClusterOptions } from './remote-cluster-contract.ts';
import { createStartInquiries, type StartInquiries } from './start-inquiries.ts';

const RATE_LIMIT = { baseDelayMs: 200, maxDelayMs: 60_000 };

export function createRemoteCluster(options: RemoteClusterOptions): RemoteCluster {
  return new ConnectedCluster(options);
}

class ConnectedCluster implements RemoteCluster {
  readonly name: string;
  readonly writer: CopyWriter;
  readonly unanswered: UnansweredWrites;
  readonly undeleted: () => readonly string[];
  readonly inventory = (): Inventory => ({ ...this.#inventory.found(), workKinds: this.#served.kinds.names() });
  readonly troubles = createWriteTroubles();
  readonly starts: StartInquiries;
  readonly #options: RemoteClusterOptions;
  readonly #copies: Informer<WorkObject>;
  readonly #served: Served;
  readonly #nodes: Informer<Node>;
  readonly #inventory: ClusterInventory;
  readonly #ownWrites: OwnWrites<WorkObject>;
  readonly #finished: FinishedCopies;
  readonly #queue: Workqueue;
  readonly #problems = new Map<string, DispatchProblem>();
  readonly #stopped = new AbortController();
  /** Rate of reads on the manager cluster for the sake of this cluster. */
  readonly #confirmations = createRateSlots({ perSecond: 5, burst: 100 });
  readonly #leases: LeasePlaces;
  readonly #absence: WorkerAbsence;
  readonly #listing: CompleteListing;
  readonly #reconciliation: Reconciliation;
  readonly #contact: ClusterContact;
  readonly #creates: CreateOutcomes;
  /** Trips of the cluster's fence, as its copies report them. */
  readonly #trips: Trips;
  /** The state that `onHealthChanged` was last called with. */
  #reported = '';

  constructor(options: RemoteClusterOptions) {
    const { name, client, clock, random, log } = options;
    const { workqueues, watchRestarts } = options.metrics;
    const onRestart = (resource: string, times: number): void => watchRestarts.inc({ cluster: name, resource }, times);
    this.name = name;
    this.#options = options;
    const budget = createObjectBudget(options.memoryBytes);
    const onFault = (source: string, fault: UnusableAnswer | undefined): void => this.#contact.faultChanged(source, fault);
    // Any informer may detect this first: other resources may have been written more often since the restore than were lost.
    const onWentBack = (error: Error): void => this.#contact.wentBack(error);
    const watching = { client, clock, random, log, budget, onFault, onWentBack, onRestart };
    const onDue = (): void => this.#contact.wake();
    this.#leases = createLeasePlaces({ ...options, watching: { ...options, ...watching }, onChanged: () => this.#workerChanged(), onDue });
    const leased = leasedWrites(client, this.#leases, options.hold);
    const leaseNamespace = (): string => this.#leases.namespace();
    this.writer = createCopyWriter({ ...options, cluster: name, client: leased, leaseNamespace, signal: this.#stopped.signal });
    this.unanswered = createUnansweredWrites(clock, options.newestAdmissionMs);
    this.starts = this.#createStarts();
    const onReadable = (): void => (this.#contact.judgeAgain(), options.onViewChanged());
    const onKindsChanged = (): void => (this.#report(), options.onViewChanged());
    const informers = createClusterInformers(options, { ...watching, onReadable, onKindsChanged });
    ({ copies: this.#copies, served: this.#served, nodes: this.#nodes } = informers);
    const onFound = (): void => this.#report();
    this.#inventory = createClusterInventory(options, watching, () => this.contact() === 'Ready', onFound);
    // Registered before the handler of `createOwnWrites`, which forgets deletions of this manager.
    this.#copies.addHandler({ deleted: (copy) => this.#left(copy) });
    this.#creates = createCreateOutcomes(clock, () => options.onHealthChanged(this));
    this.#trips = createTrips(clock, () => options.onHealthChanged(this));
    this.#ownWrites = createOwnWrites(this.#copies);
    this.undeleted = this.#ownWrites.forgetUnseen;
    this.#finished = createFinishedCopies(RETAINED_MAX, (key) => options.onCopyChanged(key));
    const changed = (copy: DeepReadonly<WorkObject>): void => this.#changed(copy);
    this.#copies.addHandler({ updated: (copy, before) => this.#trips.seen(copy, before) });
    this.#copies.addHandler({ added: changed, updated: changed, deleted: (copy) => this.#gone(copy) });
    this.#absence = createWorkerAbsence(clock, () => {
      for (const key of this.localKeys()) options.onCopyChanged(key);
    });
    this.#listing = createCompleteListing({
      ...options,
      cluster: this,
      onPods: (key, copy) => (this.unanswered.unlisted(key, copy), options.onCopyChanged(key)),
      allJobs: informers.allJobs,
      unlisted: () => this.#served.unlisted(),
      inPlace: (key, job) => options.inPlace(key, [{ cluster: name, job, deleting: false }]),
      onComplete: options.onViewChanged,
    });
    this.#reconciliation = this.#createReconciliation();
    this.#contact = this.#createContact();
    this.#queue = createWorkqueue({ name: 'copies', clock, rateLimit: RATE_LIMIT, metrics: workqueues.of('copies', name) });
  }

  #createStarts(): StartInquiries {
    const { metrics, onCopyChanged } = this.#options;
    return createStartInquiries({
      ...this.#options,
      cluster: this.name,
      copyOf: (localKey) => this.copiesOf(localKey).find(({ deleting }) => !deleting)?.job,
      metrics: metrics.workqueues.of('start-inquiries', this.name),
      onAnswer: (localKey) => onCopyChanged(localKey),
    });
  }

  #createReconciliation(): Reconciliation {
    const { inPlace, shownFence, clock } = this.#options;
    return createReconciliation({
      asked: () => this.#tokenAsked(),
      inPlace: (key) => inPlace(key, this.copiesOf(key)),
      outOfPlace: this.#listing.outOfPlace,
      isListDue: () => this.contact() === 'Ready' && this.#listing.isDue(),
      confirm: (token) => {
        this.#leases.confirm(token, shownFence());
        this.#contact.wake();
      },
      clock,
    });
  }

  #createContact(): ClusterContact {
    return createClusterContact({
      ...this.#options,
      copies: this.#copies,
      served: this.#served,
      leases: this.#leases,
      onLost: () => this.#leases.confirm(undefined),
      // Failures on the way to the loss do not show what the cluster can do now.
      onFound: () => this.#creates.forget(),
      onProbed: () => this.#reconciliation.wake(),
      onHealth: () => this.#report(),
    });
  }

  health(): ClusterHealth {
    return this.#contact.health();
  }

  ability(): AbilityNow {
    const trust = this.#trips.trust();
    return trust.kind === 'Able' ? this.#creates.ability() : trust;
  }

  created(localKey: string): void {
    const before = this.ability().kind;
    this.#creates.succeeded(localKey);
    if (before === 'Able') return;
    this.#options.onHealthChanged(this);
    // Jobs with failed creates wait for up to a minute.
    for (const key of this.troubles.keys()) this.#queue.add(key);
  }

  createFailed(key: string, error: unknown, problem: DispatchProblem): void {
    if (!isFaultOfCluster(error)) return;
    const before = this.ability().kind;
    const isInTrouble = this.#creates.failed(key, problem);
    if (isInTrouble && before !== 'NotAble') this.#options.onHealthChanged(this);
  }

  worker(): WorkerFinding {
    const { contact, failures } = this.health();
    return this.#absence.found(this.#leases.finding(contact === 'Ready' && failures === 0));
  }

  view(localKey: string, sinceMs?: number): ClusterView {
    const { jobController, local, servedNamespaces } = this.#options;
    const key = parseKey(localKey);
    return {
      contact: servesNamespace(servedNamespaces, key.namespace) ? contactIn(this.#served, key, this.contact()) : 'NotServed',
      jobController,
      builtIn: this.#leases.isBuiltIn(),
      withoutWorker: this.#absence.reason(),
      local,
      problem: this.#problems.get(localKey),
      trouble: this.troubles.reported(localKey),
      waiting: this.starts.answer(localKey),
      doubt: this.unanswered.of(localKey, sinceMs),
      untouchedSinceMs: this.unanswered.untouchedSinceMs(localKey),
      absence: this.unanswered.absence(localKey, sinceMs, this.copiesOf(localKey).length > 0),
      ...omitUndefined({ retains: this.#finished.isBeyond(localKey) ? undefined : this.#options.retention() }),
    };
  }

  copiesOf(localKey: string): readonly Copy[] {
    return this.#ownWrites.overlay(localKey, this.#copies.byIndex(COPIES_BY_LOCAL_KEY, localKey)).map((job) => ({
      cluster: this.name,
      job,
      deleting: job.metadata.deletionTimestamp !== undefined || this.#ownWrites.isDeleted(job.metadata.uid),
    }));
  }

  #changed(copy: DeepReadonly<WorkObject>): void {
    const { retention, onRetained } = this.#options;
    const key = localKeyOfCopy(copy);
    this.unanswered.listed(key, copy);
    if (this.#finished.saw(key, copy) && retention() !== undefined) onRetained(this, copy);
    this.#notify(key);
  }

  #gone(copy: DeepReadonly<WorkObject>): void {
    this.#finished.gone(localKeyOfCopy(copy));
    this.#notify(localKeyOfCopy(copy));
  }

  #notify(key: string): void {
    this.#options.onCopyChanged(key);
    this.#reconciliation.copyChanged(key);
  }

  /** A copy that rests or has finished ends with this manager's deletion; any other copy may only be out of the list. */
  #left(copy: DeepReadonly<WorkObject>): void {
    const key = localKeyOfCopy(copy);
    if ((this.#options.kind.copies.isAtRest(copy) || isFinished(copy.status)) && this.#ownWrites.isDeleted(copy.metadata.uid))
      this.unanswered.absent(key);
    else this.unanswered.unlisted(key, copy);
  }

  hasTraceOf(localKey: string): boolean {
    return this.#problems.has(localKey) || this.unanswered.has(localKey) || this.copiesOf(localKey).length > 0;
  }

  forget(localKey: string): void {
    this.#problems.delete(localKey);
    this.unanswered.forget(localKey);
    this.troubles.over(localKey);
    this.starts.saw(localKey, undefined);
  }

  localKeys(): ReadonlySet<string> {
    return new Set(this.#copies.list().map(localKeyOfCopy));
  }

  capacity(): Capacity {
    return { ...capacityOf(this.#nodes.list()), isAll: this.#nodes.hasSynced() };
  }

  answerAbout(namespace: string, object: NeededObject): ObjectAnswer {
    return servesNamespace(this.#options.servedNamespaces, namespace) ? this.#inventory.answer(namespace, object) : 'Unknown';
  }

  mayAskAfterMs(localKey: string): number {
    return this.#confirmations.waitMs(localKey, this.#options.clock.now());
  }

  wrote(localKey: string, copy: WorkObject): void {
    const essentials = this.#options.kind.copies.essentials(copy, this.#options.local);
    // The cache never contains a version of an object outside its list.
    if (!isListed(copy.metadata, this.#options.origin)) return this.unanswered.unlisted(localKey, essentials);
    this.unanswered.listed(localKey, essentials);
    this.#ownWrites.wrote(localKey, essentials);
  }

  deleted(copy: DeepReadonly<WorkObject>): void {
    const key = localKeyOfCopy(copy);
    this.#ownWrites.deleted(key, copy);
    if (!this.#options.kind.copies.isAtRest(copy) || this.unanswered.unlistedCopy(key)?.metadata.uid !== copy.metadata.uid) return;
    this.unanswered.absent(key); // The watch event came before the answer of the deletion.
    this.#options.onCopyChanged(key);
  }

  setProblem(localKey: string, problem: DispatchProblem | undefined): void {
    if (problem === undefined) this.#problems.delete(localKey);
    else this.#problems.set(localKey, problem);
  }

  workerShown(): void {
    this.#reconciliation.wake();
  }

  wake(localKey: string, { now }: { readonly now: boolean }): void {
    if (now || !this.#problems.has(localKey)) this.#queue.add(localKey);
  }

  async run(signal: AbortSignal): Promise<void> {
    onAbort(signal, () => {
      this.#stopped.abort(signal.reason);
      this.#queue.shutDown();
      this.#creates.stop();
      this.#trips.stop();
    });
    if (signal.aborted) return;
    await Promise.all([this.#contact.run(signal), this.#work(signal)]);
    // After a restore of the cluster the next connection still holds the Lease.
    if (!this.#contact.restored.aborted) await this.#leases.release();
  }

  contact(): Contact {
    return this.#contact.contact();
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { log, concurrency, reconcile } = this.#options;
    await this.#contact.usable;
    if (signal.aborted) return;
    const watching = AbortSignal.any([signal, this.#contact.restored]);
    await Promise.all([
      this.#copies.run(watching),
      this.#nodes.run(watching),
      this.#inventory.run(watching),
      this.starts.run(signal),
      this.#leases.run(watching),
      this.#reconciliation.run(watching),
      runController({ name: `cluster-${this.name}`, queue: this.#queue, concurrency, reconcile: (key) => reconcile(this, key), log }),
    ]);
  }

  heardMs(): number | undefined {
    return this.#copies.hasSynced() ? this.#copies.lastHeardMs() : undefined;
  }

  #workerChanged(): void {
    this.#report();
    this.workerShown();
  }

  #report(): void {
    const now = reportedState(this.health(), this.worker(), this.inventory());
    if (this.#reported === now) return;
    this.#reported = now;
    this.#options.onHealthChanged(this);
  }

  #tokenAsked(): string | undefined {
    const isToBeTold = this.health().failures === 0 && this.contact() === 'Ready' && !this.#options.givenUp();
    return isToBeTold ? this.#leases.tokenAsked(this.#options.shownFence()) : undefined;
  }

  hasShownAll(): boolean {
    return this.contact() === 'Ready' && this.#listing.isComplete();
  }
}
