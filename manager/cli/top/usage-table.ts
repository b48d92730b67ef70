import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { QuantityError } from '../../../shared/kube/quantity.ts';
import { addRequests, formatAmount, parseRequests, ZERO, type Requests } from '../../api/amount.ts';
import { userOf } from '../../api/creator.ts';
import { queueNameOf } from '../../api/job-annotations.ts';
import { writtenRecordOf, type AdmissionRecord } from '../../api/records.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import type { Table } from '../text-table.ts';

export type Grouping = { readonly kind: 'queue' | 'cluster' | 'namespace' | 'user' } | { readonly kind: 'label'; readonly key: string };

/** Usage of the objects of a group together. */
export type GroupUsage = { readonly name: string; readonly admitted: number; readonly waiting: number; readonly holds: Requests };

/** Of Jobs and objects of other kinds. The most first: by the first resource that differs, in the order of {@link resourcesOf}. */
export function usageBy(
  grouping: Grouping,
  kind: Pick<WorkKind, 'controllerOf'>,
  objects: readonly DeepReadonly<WorkObject>[],
  clusterQueueOf: (localQueue: string) => string | undefined = () => undefined,
): GroupUsage[] {
  const groups = new Map<string, GroupUsage>();
  for (const object of objects) {
    if (kind.controllerOf(object) !== MANAGER_CONTROLLER_NAME || isFinished(object.status)) continue;
    const written = writtenRecordOf(object);
    const record = written.kind === 'Record' && written.record.evicted !== true ? written.record : undefined;
    const name = groupOf(grouping, object, record, clusterQueueOf);
    const before = groups.get(name) ?? { name, admitted: 0, waiting: 0, holds: new Map() };
    groups.set(name, {
      name,
      admitted: before.admitted + (record === undefined ? 0 : 1),
      waiting: before.waiting + (record === undefined ? 1 : 0),
      holds: record === undefined ? before.holds : addRequests(before.holds, readable(record)),
    });
  }
  const all = [...groups.values()];
  const resources = resourcesOf(all);
  return all.toSorted((a, b) => {
    for (const resource of resources) {
      const difference = (b.holds.get(resource) ?? ZERO) - (a.holds.get(resource) ?? ZERO);
      if (difference !== 0) return difference;
    }
    return b.waiting - a.waiting || (a.name < b.name ? -1 : 1);
  });
}

function groupOf(
  grouping: Grouping,
  object: DeepReadonly<WorkObject>,
  record: AdmissionRecord | undefined,
  clusterQueueOf: (localQueue: string) => string | undefined,
): string {
  const { namespace, labels } = object.metadata;
  switch (grouping.kind) {
    case 'queue': {
      // An object of a LocalQueue that does not exist is in no ClusterQueue.
      const localQueue = `${namespace}/${queueNameOf(object) ?? '-'}`;
      return record?.clusterQueue ?? clusterQueueOf(localQueue) ?? localQueue;
    }
    case 'user':
      return userOf(object) ?? '(not known)';
    case 'cluster':
      return record?.cluster ?? '(none yet)';
    case 'namespace':
      return namespace;
    case 'label':
      return labels?.[grouping.key] ?? '(none)';
  }
}

/** The requests of a record, into which whoever may write the object may write nonsense. */
function readable({ requests }: AdmissionRecord): Requests {
  try {
    return parseRequests(requests);
  } catch (error) {
    if (error instanceof QuantityError) return new Map();
    throw error;
  }
}

/** What anybody holds: cpu and memory first, others by name, the number of pods last. */
export function resourcesOf(groups: readonly GroupUsage[]): string[] {
  const rank = (resource: string): number => ({ cpu: 0, memory: 1, pods: 3 })[resource] ?? 2;
  const names = new Set(groups.flatMap(({ holds }) => [...holds.keys()]));
  return [...names].toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

export function usageTable(grouping: Grouping, groups: readonly GroupUsage[]): Table {
  const resources = resourcesOf(groups);
  return {
    heads: [grouping.kind.toUpperCase(), 'ADMITTED', 'WAITING', ...resources.map((resource) => resource.toUpperCase())],
    spare: resources.slice(2).map((resource) => resource.toUpperCase()),
    rows: groups.map(({ name, admitted, waiting, holds }) => ({
      cells: [name, String(admitted), String(waiting), ...resources.map((resource) => formatAmount(resource, holds.get(resource) ?? ZERO))],
      note: '',
    })),
  };
}

/** For programs: quantities as Kubernetes writes them. */
export const usageValue = (groups: readonly GroupUsage[]): object[] =>
  groups.map(({ name, admitted, waiting, holds }) => ({
    name,
    admitted,
    waiting,
    holds: Object.fromEntries([...holds].map(([resource, amount]) => [resource, formatAmount(resource, amount)])),
  }));
