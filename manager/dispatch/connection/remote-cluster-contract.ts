import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import type { CopyWriter, NamespacePolicy } from '../writes/copy-writer.ts';
import type { UnansweredWrites } from '../mirror/unanswered-writes.ts';
import type { WriteTroubles } from '../writes/write-troubles.ts';
import type { StartInquiries } from './start-inquiries.ts';
import type { ClusterHealth } from '../cluster/cluster-health.ts';
import type { AbilityNow } from '../cluster/cluster-ability.ts';
import type { Retention } from '../../api/retention.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import type { WorkerFinding } from '../cluster/worker-finding.ts';
import type { Capacity } from '../cluster/node-capacity.ts';
import type { LeaseHold } from '../../../shared/kube/lease-hold.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ReconcileResult } from '../../../shared/kube/controller.ts';
import type { AnswerFault } from '../../../shared/kube/unusable-answer.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Random } from '../../../shared/runtime/random.ts';
import type { IdentityProblem } from '../cluster/cluster-identities.ts';
import type { LeaderTerm } from '../lease/leader-term.ts';
import type { ClusterView, Contact, Copy } from '../mirror/mirror-group.ts';
import type { DispatchMetrics } from '../metrics/dispatch-metrics.ts';

/**
 * One worker cluster as the manager sees it: a cache of the copies there, a queue of its own for the writes to it, and its health.
 * Nothing here is shared with another cluster, so that one that answers slowly or not at all delays nobody else.
 */
export interface RemoteCluster {
  readonly name: string;
  readonly writer: CopyWriter;
  /** What our own writes have left open. */
  readonly unanswered: UnansweredWrites;
  /** Writes that fail and are tried again. */
  readonly troubles: WriteTroubles;
  /** Why copies here do not start. */
  readonly starts: StartInquiries;
  health(): ClusterHealth;
  /** Ready: it answers, our Lease there is held, and all its copies are known. */
  contact(): Contact;
  /** Whether copies can be made here. */
  ability(): AbilityNow;
  /** A copy was made, or was there. */
  created(localKey: string): void;
  /** One could not be made; what is the Job's own fault says nothing of the cluster. */
  createFailed(localKey: string, error: unknown, problem: DispatchProblem): void;
  /** What is known of the worker there. */
  worker(): WorkerFinding;
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
  /** When its watch of copies last gave a sign of life, on the clock's `monotonic`; undefined while it is not listed. */
  heardMs(): number | undefined;
  /** What its schedulable nodes offer; empty while unknown. */
  capacity(): Capacity;
  /** Names of its PriorityClasses, those of the system excepted; undefined while they are not known, as where they may not be listed. */
  priorityClasses(): readonly string[] | undefined;
  /**
   * Zero, or after how many milliseconds the manager cluster may be asked whether this Job is gone: a cluster can show any number of copies of
   * Jobs that never were.
   */
  mayAskAfterMs(localKey: string): number;
  /** What its WorkerCluster shows of its worker has changed. */
  workerShown(): void;
  wrote(localKey: string, copy: Job): void;
  deleted(copy: DeepReadonly<Job>): void;
  /** The Jobs of which a copy was deleted by us before the last call, and is still there as if it were not: it counts as being there again. */
  readonly undeleted: () => readonly string[];
  /** Remembers why the copy cannot be made, until told otherwise. */
  setProblem(localKey: string, problem: DispatchProblem | undefined): void;
  /** Has the Job looked at in this cluster's queue. One with a problem is being tried again anyway, and waits for that unless `now`. */
  wake(localKey: string, options: { readonly now: boolean }): void;
  /** Connects, asks which cluster it is, and, once it may be used, works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** What a connection to one worker cluster is made with. */
export type RemoteClusterOptions = {
  readonly name: string;
  readonly client: KubeClient;
  readonly metrics: Pick<DispatchMetrics, 'workqueues' | 'watchRestarts'>;
  readonly origin: string;
  /** The newest admission that is known now, in epoch milliseconds: it was before this connection. */
  readonly newestAdmissionMs: number;
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
  readonly term: LeaderTerm;
  /** Of the Lease of the election; absent: there is none. */
  readonly hold?: LeaseHold;
  /** Where the Leases may be by which manager and worker know of each other: the namespace that counts comes first. */
  readonly leaseNamespaces: readonly string[];
  readonly renewIntervalMs: number;
  /** Resolves when all that clusters tell of our home is judged. False: our home did not answer. */
  readonly homeSettled: (signal: AbortSignal) => Promise<boolean>;
  /** Whether its operator has given it up: our Lease is kept there while it answers, and its worker is no longer told that it is in order. */
  readonly givenUp: () => boolean;
  /** The fence that its WorkerCluster shows, in seconds: what whoever leads next counts on. */
  readonly shownFenceSeconds: () => number | undefined;
  /** Whether these copies here of the Job with this key are the one that may run, or none. */
  readonly inPlace: (localKey: string, copies: readonly Copy[]) => boolean;
  /** Writes under way at once. */
  readonly concurrency: number;
  /** Carries out what one Job needs on this cluster. */
  readonly reconcile: (cluster: RemoteCluster, localKey: string) => Promise<ReconcileResult>;
  /** How long copies of Jobs that have ended stay there now; undefined: they go. */
  readonly retention: () => Retention | undefined;
  /** A copy has ended that is to stay. */
  readonly onRetained: (cluster: RemoteCluster, copy: DeepReadonly<Job>) => void;
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
