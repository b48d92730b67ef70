/**
 * Tells on copies of kinds beside Jobs how their pods have ended, and has the ends of their logs kept, as the Job controller does for its
 * own. Their operators hold no pod for that: one that is gone before its log is read is told without it.
 */
import { formatEndedPods, parseEndedPods } from '../../shared/api/ended-pods.ts';
import type { DeepReadonly, Job, Pod } from '../../shared/api/kubernetes.ts';
import { ENDED_PODS_ANNOTATION, ORIGIN_LABEL } from '../../shared/api/names.ts';
import { apiVersionOf } from '../../shared/api/resources.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import type { ControllerOptions, ReconcileResult } from '../../shared/kube/controller.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import { objectKey } from '../../shared/kube/keys.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { isDeleting, type PodView } from '../job/pod-view.ts';
import { endedPodOf } from '../logs/ended-pod.ts';
import type { KeptCopy } from '../logs/keep-rule.ts';
import type { TailKeeper } from '../logs/tail-keeper.ts';
import { copiesOfPod, endedPodsOfCopy } from './copy-pods.ts';
import { hasEnded, isReported, viewEnd } from './reported-ends.ts';
import type { WatchedCopy, WatchedKinds } from './watched-kinds.ts';

export type CopyEndsDeps = {
  readonly client: Pick<WriteClient, 'patch'>;
  readonly kinds: WatchedKinds;
  readonly pods: Lister<Pod>;
  readonly jobs: Lister<Job>;
  /** Keeps the ends of logs; absent: nobody does. */
  readonly tails: TailKeeper | undefined;
  readonly queue: Workqueue;
  /** Ends are gathered over this time: of one copy no more than one write. */
  readonly batchPeriodMs: number;
  readonly clock: Clock;
  readonly log: Logger;
};

export interface CopyEnds {
  /** Of the pods of all kinds. */
  readonly handler: EventHandler<Pod>;
  readonly controller: ControllerOptions;
  /** The copies of another kind are cached: pods of theirs may have ended before. */
  lookAgain(): void;
}

/** What is known of the ends of one copy. */
type Ends = {
  /** UIDs of pods that are there, and are told. */
  readonly told: Set<string>;
  /** Pods that are gone and not told, by UID. */
  readonly gone: Map<string, DeepReadonly<Pod>>;
  /** The annotation, until the cache shows it. */
  written: string | undefined;
  /** On the clock's `monotonic`. */
  writtenMs: number;
};

/** More of one copy are not told, between two writes. */
const GONE_MAX = 60;
/** Pods that end together are looked at together. */
const GATHER_MS = 100;
const CONCURRENCY = 4;

export function createCopyEnds(deps: CopyEndsDeps): CopyEnds {
  return new Reporter(deps);
}

class Reporter implements CopyEnds {
  readonly #deps: CopyEndsDeps;
  /** By UID of the copy; of those of which a pod has ended. */
  readonly #known = new Map<string, Ends>();
  readonly handler: EventHandler<Pod>;
  readonly controller: ControllerOptions;

  constructor(deps: CopyEndsDeps) {
    this.#deps = deps;
    deps.kinds.addHandler({
      changed: ({ copy: { metadata } }) => {
        const ends = this.#known.get(metadata.uid);
        if (ends?.written !== undefined && metadata.annotations?.[ENDED_PODS_ANNOTATION] === ends.written) ends.written = undefined;
      },
      deleted: ({ copy: { metadata } }) => void this.#known.delete(metadata.uid),
    });
    this.handler = {
      added: (pod) => this.#podChanged(pod),
      updated: (pod) => this.#podChanged(pod),
      deleted: (pod) => this.#podDeleted(pod),
    };
    this.controller = {
      name: 'copy-ends',
      queue: deps.queue,
      concurrency: CONCURRENCY,
      reconcile: (key) => this.#reconcile(key),
      log: deps.log,
    };
  }

  lookAgain(): void {
    const { kinds, queue } = this.#deps;
    for (const { key, copy } of kinds.ofOrigin(undefined)) if (originOf(copy) !== undefined) queue.add(key);
  }

  #podChanged(pod: DeepReadonly<Pod>): void {
    const { jobs, kinds, queue } = this.#deps;
    if (hasEnded(pod)) for (const { key } of copiesOfPod(pod, jobs, kinds)) queue.addAfter(key, GATHER_MS);
  }

  #podDeleted(pod: DeepReadonly<Pod>): void {
    const { jobs, kinds, queue } = this.#deps;
    for (const watched of copiesOfPod(pod, jobs, kinds)) {
      if (isDeleting(watched.copy)) continue;
      const { told, gone } = this.#endsOf(watched);
      if (!told.has(pod.metadata.uid) && gone.size < GONE_MAX) gone.set(pod.metadata.uid, pod);
      queue.add(watched.key);
    }
  }

  #endsOf({ copy }: WatchedCopy): Ends {
    const ends = this.#known.get(copy.metadata.uid) ?? {
      told: new Set(),
      gone: new Map(),
      written: undefined,
      writtenMs: Number.NEGATIVE_INFINITY,
    };
    this.#known.set(copy.metadata.uid, ends);
    return ends;
  }

  async #reconcile(key: string): Promise<ReconcileResult> {
    const { kinds, pods, jobs, tails, queue, batchPeriodMs, clock } = this.#deps;
    const watched = kinds.get(key);
    // Nobody asks for the ends of a copy that is being deleted.
    if (watched === undefined || isDeleting(watched.copy)) return undefined;
    const { uid, annotations } = watched.copy.metadata;
    const ends = this.#endsOf(watched);
    const { told, gone } = ends;
    const present = endedPodsOfCopy(pods, jobs, watched.copy);
    forgetAllBut(told, present);
    const before = parseEndedPods(ends.written ?? annotations?.[ENDED_PODS_ANNOTATION]);
    const untold = [...present, ...gone.values()].filter(({ metadata }) => !told.has(metadata.uid)).map(viewEnd);
    for (const view of untold) if (isReported(before, view)) markTold(ends, view);
    const news = untold.filter((view) => !isReported(before, view));
    const readable = news.filter((view) => !gone.has(view.uid));
    tails?.begin(keptCopy(watched), readable, false, () => queue.add(key));
    const ready = news.filter((view) => tails?.isUnderWay(uid, view.uid) !== true);
    if (ready.length === 0) return undefined;
    const waitMs = ends.writtenMs + batchPeriodMs - clock.monotonic();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const text = formatEndedPods(
      before,
      ready.map((view) => endedPodOf(view, tails?.tailOf(uid, view.uid))),
    );
    ends.writtenMs = clock.monotonic();
    if (!(await this.#write(watched, text))) return undefined;
    ends.written = text;
    for (const view of ready) markTold(ends, view);
    return undefined;
  }

  /** False where the copy is gone. */
  async #write({ kind, copy }: WatchedCopy, text: string): Promise<boolean> {
    const metadata = { uid: copy.metadata.uid, annotations: { [ENDED_PODS_ANNOTATION]: text } };
    try {
      await this.#deps.client.patch(kind.resource, objectKey(copy), { type: 'merge', body: { metadata } });
      return true;
    } catch (error) {
      if (isNotFound(error) || isConflict(error)) return false;
      throw error;
    }
  }
}

function markTold({ told, gone }: Ends, { uid }: PodView): void {
  if (!gone.delete(uid)) told.add(uid);
}

function forgetAllBut(told: Set<string>, present: readonly DeepReadonly<Pod>[]): void {
  const uids = new Set(present.map(({ metadata }) => metadata.uid));
  for (const uid of told) if (!uids.has(uid)) told.delete(uid);
}

const originOf = ({ metadata }: WatchedCopy['copy']): string | undefined => metadata.labels?.[ORIGIN_LABEL];

/** The copy as those know it who keep ends of logs. */
const keptCopy = ({ kind, copy }: WatchedCopy): KeptCopy => ({
  apiVersion: apiVersionOf(kind.resource),
  kind: kind.resource.kind,
  metadata: { ...copy.metadata, namespace: copy.metadata.namespace ?? '' },
});
