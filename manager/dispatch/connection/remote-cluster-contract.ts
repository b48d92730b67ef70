import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { CopyWriter } from '../writes/copy-writer.ts';
import type { NamespacePolicy } from '../writes/namespace-policy.ts';
import type { UnansweredWrites } from '../mirror/unanswered-writes.ts';
import type { WriteTroubles } from '../writes/write-troubles.ts';
import type { StartInquiries } from './start-inquiries.ts';
import type { Inventory } from '../cluster/cluster-status.ts';
import type { ClusterHealth } from '../cluster/cluster-health.ts';
import type { AbilityNow } from '../cluster/cluster-ability.ts';
import type { NeededObject, ObjectAnswer, ObjectWaiters } from '../../api/needed-objects.ts';
import type { Retention } from '../../api/retention.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import type { WorkerFinding } from '../cluster/worker-finding.ts';
import type { Capacity } from '../cluster/node-capacity.ts';
import type { FencedKind } from '../../../shared/api/fenced-kinds.ts';
import type { LeaseHold } from '../../../shared/kube/lease-hold.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ReconcileResult } from '../../../shared/kube/controller.ts';
import type { AnswerFault } from '../../../shared/kube/unusable-answer.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Random } from '../../../shared/runtime/random.ts';
import type { IdentityProblem } from '../cluster/cluster-identities.ts';
import type { LeaderTerm } from '../lease/leader-term.ts';
import type { ShownFence } from '../lease/worker-watch.ts';
import type { ClusterView, Contact, Copy } from '../mirror/mirror-group.ts';
import type { DispatchMetrics } from '../metrics/dispatch-metrics.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * One worker cluster: a cache of its copies, a queue for the writes to it, and its health. Clusters share nothing, so that one that answers
 * slowly or not at all delays no other.
 */
export interface RemoteCluster {
  readonly name: string;
  readonly writer: CopyWriter;
  /** Writes of this manager whose result is unknown. */
  readonly unanswered: UnansweredWrites;
  /** Writes that fail and are retried. */
  readonly troubles: WriteTroubles;
  /** Why copies do not start. */
  readonly starts: StartInquiries;
  health(): ClusterHealth;
  /** Ready: the cluster answers, the Lease there is held, and all its copies are known. */
  contact(): Contact;
  /**
   * Whether all that runs there of this manager's Jobs is known, since the manager cluster was restored: copies, those without their label,
   * and pods without their copy.
   */
  hasShownAll(): boolean;
  /** Whether copies can be created on the cluster. */
  ability(): AbilityNow;
  /** A copy was created, or existed. */
  created(localKey: string): void;
  /** A create failed. A failure through the Job's own fault does not count against the cluster. */
  createFailed(localKey: string, error: unknown, problem: DispatchProblem): void;
  /** The last finding about the worker. */
  worker(): WorkerFinding;
  /** `sinceMs`: the last admission of the Job, if known, in epoch milliseconds. */
  view(localKey: string, sinceMs?: number): ClusterView;
  /** The copies of the Job with this key, with the latest writes of this manager. */
  copiesOf(localKey: string): readonly Copy[];
  /** Whether the cluster has, or may have, a copy of this Job, or keeps a problem for it. */
  hasTraceOf(localKey: string): boolean;
  /** The Job is gone: drops its problems and open writes, which do not concern a later Job of the same name. */
  forget(localKey: string): void;
  /** Keys of all Jobs that have a copy on the cluster. */
  localKeys(): ReadonlySet<string>;
  /** When the watch of copies last received an event or bookmark, on the clock's `monotonic`; undefined while the copies are not listed. */
  heardMs(): number | undefined;
  /** The capacity of schedulable nodes; empty while unknown. */
  capacity(): Capacity;
  /** What it has of what Jobs need there. */
  inventory(): Inventory;
  /** Whether it has an object that a Job of a namespace that it serves needs. */
  answerAbout(namespace: string, object: NeededObject): ObjectAnswer;
  /**
   * Zero, or the milliseconds until the manager cluster may be asked whether this Job is gone. The rate is bounded, because a cluster can
   * show any number of copies of Jobs that never existed.
   */
  mayAskAfterMs(localKey: string): number;
  /** The worker that the WorkerCluster shows has changed. */
  workerShown(): void;
  wrote(localKey: string, copy: WorkObject): void;
  deleted(copy: DeepReadonly<WorkObject>): void;
  /**
   * Keys of Jobs whose copy this manager deleted before the last call, and that the cache still shows without a deletion: the copy counts
   * as present again.
   */
  readonly undeleted: () => readonly string[];
  /** Sets why the copy cannot be created; undefined clears it. */
  setProblem(localKey: string, problem: DispatchProblem | undefined): void;
  /**
   * Enqueues the Job in the queue of this cluster. A Job with a problem is already waiting for its retry, and is enqueued only with `now`.
   */
  wake(localKey: string, options: { readonly now: boolean }): void;
  /** Connects, identifies the cluster, and, once the cluster may be used, works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** The options of a connection to one worker cluster. */
export type RemoteClusterOptions = {
  readonly kind: WorkKind;
  readonly name: string;
  readonly client: KubeClient;
  readonly metrics: Pick<DispatchMetrics, 'workqueues' | 'watchRestarts'>;
  readonly origin: string;
  /** The newest admission known now, in epoch milliseconds: it precedes this connection. */
  readonly newestAdmissionMs: number;
  /** Its WorkerCluster is new: it may have left before, with copies that rest there. */
  readonly hasJoined: boolean;
  readonly jobController: string;
  /** True for the manager cluster itself. */
  readonly local: boolean;
  readonly namespaces: NamespacePolicy;
  /** The only namespaces whose Jobs are listed; undefined: all. */
  readonly servedNamespaces: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Why the cluster with this identity must not be used; undefined records the identity and allows its use. */
  readonly identify: (uid: string) => Promise<IdentityProblem | undefined>;
  readonly term: LeaderTerm;
  /** The Lease of the leader election; absent: there is none. */
  readonly hold?: LeaseHold;
  /** Namespaces that may have the Leases of manager and worker; the first is the configured one. */
  readonly leaseNamespaces: readonly string[];
  readonly renewIntervalMs: number;
  /** The manager cluster was restored, and some cluster has not shown all that runs there. */
  readonly homeRestored: () => boolean;
  /** Resolves when the versions stored on worker clusters are judged. False: the manager cluster did not answer. */
  readonly homeJudged: (signal: AbortSignal) => Promise<boolean>;
  /** Whether the operator has given the cluster up: the Lease is kept while it answers, but confirms no fence token any more. */
  readonly givenUp: () => boolean;
  /** The fence that the WorkerCluster shows; the next leader counts on it. */
  readonly shownFence: () => ShownFence | undefined;
  /** The kinds beside Jobs of which copies are made. */
  readonly fencedKinds: readonly FencedKind[];
  /** Whether each of these copies is the one that may run, or rests. */
  readonly inPlace: (localKey: string, copies: readonly Copy[]) => boolean;
  /** Concurrent writes. */
  readonly concurrency: number;
  /** Reconciles one Job on this cluster. */
  readonly reconcile: (cluster: RemoteCluster, localKey: string) => Promise<ReconcileResult>;
  /** How long copies of finished Jobs stay; undefined: they are deleted. */
  readonly retention: () => Retention | undefined;
  /** A copy that is to stay has finished. */
  readonly onRetained: (cluster: RemoteCluster, copy: DeepReadonly<WorkObject>) => void;
  /** Those who wait for objects of the cluster. */
  readonly objectWaiters: ObjectWaiters;
  /** A copy of this Job has changed. */
  readonly onCopyChanged: (localKey: string) => void;
  /** Contact was gained or lost. */
  readonly onContactChanged: () => void;
  /** Kinds or namespaces can be read now, or no longer, or {@link RemoteCluster.hasShownAll} has changed. */
  readonly onViewChanged: () => void;
  /** The health has changed, in contact or otherwise. */
  readonly onHealthChanged: (cluster: RemoteCluster) => void;
  /** Memory for the cached Jobs and nodes. */
  readonly memoryBytes: number;
  /** The cluster gave an unusable answer. */
  readonly onFault: (reason: AnswerFault) => void;
  /** Called once: the cluster was restored and is to be reconnected. Everything known of it, and writes to it, may not have happened. */
  readonly onRestored: (error: Error) => void;
};
