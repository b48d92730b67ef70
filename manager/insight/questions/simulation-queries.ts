import type { DeepReadonly, KubeObject, WorkObject } from '../../../shared/api/kubernetes.ts';
import { edited, EditError, type Edit } from '../world/edited-object.ts';
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
  /** The final outcome for all Jobs if these objects were edited, and these Jobs submitted. */
  | { readonly kind: 'WhatIf'; readonly edits: readonly ObjectEdit[]; readonly submitted: readonly DeepReadonly<WorkObject>[] };

/** `namespace`: of a LocalQueue or a Job. */
export type ObjectEdit = { readonly object: keyof typeof LISTS; readonly namespace?: string; readonly name: string; readonly edit: Edit };

/** The list of each kind that can be edited. */
const LISTS = {
  ClusterQueue: 'clusterQueues',
  Cohort: 'cohorts',
  LocalQueue: 'localQueues',
  WorkerCluster: 'workerClusters',
  Job: 'jobs',
} as const;

export type SimulationResult =
  | { readonly kind: 'Explained'; readonly explanation: Explanation }
  | { readonly kind: 'Ordered'; readonly waiting: number; readonly first: readonly OrderedJob[] }
  | { readonly kind: 'Compared'; readonly outcome: WhatIf }
  /** An edit cannot be made. */
  | { readonly kind: 'Refused'; readonly problem: string }
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
        if (changed === undefined || 'kind' in changed) return changed ?? { kind: 'Nothing' };
        const after = { ...changed, jobs: [...changed.jobs, ...question.submitted] };
        return { kind: 'Compared', outcome: whatIf(world(), expecting(after), end()) };
      }
    }
  };
}

/** The objects with the edits; undefined if an object does not exist. */
function withEdits(
  objects: WorldObjects,
  edits: readonly ObjectEdit[],
  nowMs: number,
): WorldObjects | Extract<SimulationResult, { kind: 'Refused' }> | undefined {
  let now = objects;
  for (const { object, namespace, name, edit } of edits) {
    const list = LISTS[object];
    const all: readonly DeepReadonly<KubeObject>[] = now[list];
    const at = all.findIndex(({ metadata }) => metadata.name === name && (namespace === undefined || metadata.namespace === namespace));
    const present = all[at];
    if (present === undefined) return undefined;
    try {
      now = { ...now, [list]: all.with(at, edited(present as object as Readonly<Record<string, unknown>>, edit, name, nowMs) as never) };
    } catch (error) {
      if (!(error instanceof EditError)) throw error;
      return { kind: 'Refused', problem: error.message };
    }
  }
  return now;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
