import { formatNeededObject, type NeededObject, type ObjectAnswer, type ObjectWaiters } from '../../api/needed-objects.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { InadmissibleReason } from '../snapshot/snapshot.ts';
import type { Lack, Workload } from '../workload/workload.ts';

/** Answers of clusters about an object, by name of the cluster; a cluster that is not listed has it. */
export type FindObjects = (namespace: string, object: NeededObject) => ReadonlyMap<string, ObjectAnswer>;

/** The objects of worker clusters that waiting Jobs need, by existence alone. */
export type ClusterObjects = ObjectWaiters & {
  /** The question makes the manager ask the clusters that have not been asked yet. */
  readonly find: FindObjects;
  /** Takes those who need objects. */
  serve(waiters: ObjectWaiters): void;
};

/** Brings those who need objects and those who ask clusters together. */
export function createClusterObjects(find: FindObjects): ClusterObjects {
  let waiters: ObjectWaiters | undefined;
  return {
    find,
    serve: (next) => (waiters = next),
    isNeeded: (namespace, key) => waiters?.isNeeded(namespace, key) === true,
    changed: (namespace, key) => waiters?.changed(namespace, key),
  };
}

/** The Workload with what clusters lack. Clusters that it does not wish for are not asked. */
export function withLacks(workload: Workload, find: FindObjects | undefined): Workload {
  const { namespace, needs, wish } = workload;
  if (needs.length === 0 || find === undefined) return workload;
  const lacks: Record<string, Lack> = {};
  for (const object of needs)
    for (const [cluster, answer] of find(namespace, object)) {
      if (wish.kind === 'Names' && !wish.names.includes(cluster)) continue;
      const lack = lackOf(answer, formatNeededObject(namespace, object));
      // The first object that is missing is named before any that is not known.
      if (lack !== undefined && (lacks[cluster] === undefined || (answer === 'Missing' && lacks[cluster].isMissing !== true)))
        lacks[cluster] = lack;
    }
  const { lacks: _before, ...rest } = workload;
  return Object.keys(lacks).length === 0 ? rest : { ...rest, lacks };
}

function lackOf(answer: ObjectAnswer, name: string): Lack | undefined {
  switch (answer) {
    case 'Missing':
      return { problem: `no ${name}`, isMissing: true };
    case 'Asked':
      return { problem: `has not answered yet whether it has ${name}`, isAsked: true };
    case 'Unanswered':
      return { problem: `does not answer whether it has ${name}` };
    case 'Present':
    case 'Unknown':
      return undefined;
  }
}

/** Why a Workload waits for the first answers of clusters; undefined if it does not. */
export function awaitedAnswer({ lacks = {} }: Workload): InadmissibleReason | undefined {
  const awaited = Object.entries(lacks).filter(([, { isAsked }]) => isAsked === true);
  if (awaited.length === 0) return undefined;
  const message = awaited.map(([cluster, { problem }]) => `${cluster} ${problem}`).join('; ');
  return { reason: QuotaReservedReason.ClustersAsked, message };
}
