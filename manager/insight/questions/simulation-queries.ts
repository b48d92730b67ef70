import { edited, type Edit } from '../world/edited-object.ts';
import { explain, type Explanation } from '../explain/explain.ts';
import { withExpectedTimes } from '../estimate/expected-run-times.ts';
import { pastOf } from '../estimate/past.ts';
import { runToFixpoint } from '../world/simulate-evictions.ts';
import { whatIf, type WhatIf } from '../what-if/what-if.ts';
import { queueingOf, waitingByQueue, type World } from '../world/world.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { worldOf, type ManagerFlags, type WorldObjects } from '../world/world-objects.ts';

/** Queries about all pending and admitted Jobs: the whole world affects each answer. */
export type SimulationQuery =
  | { readonly kind: 'Explain'; readonly uid: string }
  /** The order of the pending Workloads in a ClusterQueue. */
  | { readonly kind: 'Order'; readonly clusterQueue: string }
  /** The final outcome for all Jobs if these objects were edited. */
  | { readonly kind: 'WhatIf'; readonly edits: readonly ObjectEdit[] };

export type ObjectEdit = { readonly object: 'ClusterQueue' | 'WorkerCluster'; readonly name: string; readonly edit: Edit };

export type SimulationResult =
  | { readonly kind: 'Explained'; readonly explanation: Explanation }
  | { readonly kind: 'Ordered'; readonly waiting: number; readonly first: readonly OrderedJob[] }
  | { readonly kind: 'Compared'; readonly outcome: WhatIf }
  /** The Job does not exist or is not managed, or the object to edit does not exist. */
  | { readonly kind: 'Nothing' };

export type OrderedJob = { readonly key: string; readonly priority: number };

export type AnswerQuery = (question: SimulationQuery) => SimulationResult;

const ORDERED_MAX = 5_000;

/** Answers queries about the world that these objects describe. Each part is computed once, by the first query that needs it. */
export function answering(kind: WorkKind, objects: WorldObjects, flags: ManagerFlags, nowMs: number): AnswerQuery {
  const { jobs } = objects;
  const past = once(() => pastOf(kind, jobs));
  const expecting = (each: WorldObjects): World => withExpectedTimes(worldOf(kind, each, flags, nowMs), past());
  const world = once(() => expecting(objects));
  const orders = once(() => waitingByQueue(world(), queueingOf(world())));
  const end = once(() => runToFixpoint(world()));
  return (question) => {
    switch (question.kind) {
      case 'Explain': {
        const job = jobs.find(({ metadata }) => metadata.uid === question.uid);
        const workload = job && world().workloads.find(({ uid }) => uid === question.uid);
        if (job === undefined || workload === undefined) return { kind: 'Nothing' };
        return { kind: 'Explained', explanation: explain(world(), job, workload, past()) };
      }
      case 'Order': {
        const order = orders().get(question.clusterQueue) ?? [];
        const first = order.slice(0, ORDERED_MAX).map(({ queued }) => ({ key: queued.workload.key, priority: queued.priority }));
        return { kind: 'Ordered', waiting: order.length, first };
      }
      case 'WhatIf': {
        const changed = withEdits(objects, question.edits, nowMs);
        if (changed === undefined) return { kind: 'Nothing' };
        return { kind: 'Compared', outcome: whatIf(world(), expecting(changed), end()) };
      }
    }
  };
}

function withEdits(objects: WorldObjects, edits: readonly ObjectEdit[], nowMs: number): WorldObjects | undefined {
  let { clusterQueues, workerClusters } = objects;
  /** The objects with the named one edited; undefined if it does not exist. */
  const replaced = <T extends { readonly metadata: { readonly name: string } }>(all: readonly T[], name: string, edit: Edit) =>
    all.some(({ metadata }) => metadata.name === name)
      ? all.map((each) => (each.metadata.name === name ? (edited(each, edit, name, nowMs) as T) : each))
      : undefined;
  for (const { object, name, edit } of edits) {
    const queues = object === 'ClusterQueue' ? replaced(clusterQueues, name, edit) : clusterQueues;
    const clusters = object === 'WorkerCluster' ? replaced(workerClusters, name, edit) : workerClusters;
    if (queues === undefined || clusters === undefined) return undefined;
    [clusterQueues, workerClusters] = [queues, clusters];
  }
  return { ...objects, clusterQueues, workerClusters };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
