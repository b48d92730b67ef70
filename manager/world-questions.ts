import { explain, type Explanation } from './admission/explain.ts';
import { pastOf } from './admission/past.ts';
import { queueingOf, waitingByQueue } from './admission/world.ts';
import { worldOf, type ManagerFlags, type WorldObjects } from './admission/world-objects.ts';

/** What is asked of all that waits and runs: everything plays a part in the answer. */
export type WorldQuestion =
  | { readonly kind: 'Explain'; readonly uid: string }
  /** Who goes first in a ClusterQueue. */
  | { readonly kind: 'Order'; readonly clusterQueue: string };

export type WorldAnswer =
  | { readonly kind: 'Explained'; readonly explanation: Explanation }
  | { readonly kind: 'Ordered'; readonly waiting: number; readonly first: readonly OrderedJob[] }
  /** There is no such Job, or it is not the manager's. */
  | { readonly kind: 'Nothing' };

export type OrderedJob = { readonly key: string; readonly priority: number };

export type AnswerWorld = (question: WorldQuestion) => WorldAnswer;

const ORDERED_MAX = 5_000;

/** Answers about the world that these objects describe, of which each part is made once, by the first question that needs it. */
export function answering(objects: WorldObjects, flags: ManagerFlags, nowMs: number): AnswerWorld {
  const { jobs } = objects;
  const world = once(() => worldOf(objects, flags, nowMs));
  const past = once(() => pastOf(jobs));
  const orders = once(() => waitingByQueue(world(), queueingOf(world())));
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
    }
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
