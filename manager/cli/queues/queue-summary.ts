import { findCondition } from '../../../shared/kube/conditions.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { formatAmount, parseAmount, plus, ZERO, type Amount } from '../../api/amount.ts';
import type { ClusterQueue } from '../../api/cluster-queue.ts';
import { plain } from '../plain-text.ts';
import type { Table } from '../text-table.ts';

/** A ClusterQueue as far as people ask first. */
export type QueueSummary = {
  readonly name: string;
  readonly cohort?: string;
  readonly waiting: number;
  readonly admitted: number;
  /** Why it admits nothing; absent where it does. */
  readonly problem?: string;
  readonly quota: readonly FlavorQuota[];
};
export type FlavorQuota = { readonly flavor: string; readonly resource: string; readonly used: string; readonly nominal: string };

export function queueSummary({ metadata, spec, status }: ClusterQueue): QueueSummary {
  const active = findCondition(status?.conditions, 'Active');
  const stopped = spec.stopPolicy === undefined || spec.stopPolicy === 'None' ? undefined : `stopped (stopPolicy: ${spec.stopPolicy})`;
  return {
    name: metadata.name,
    waiting: status?.pendingWorkloads ?? 0,
    admitted: status?.admittedWorkloads ?? 0,
    ...omitUndefined({ cohort: spec.cohortName, problem: stopped ?? (active?.status === 'False' ? active.message : undefined) }),
    quota: (spec.resourceGroups ?? []).flatMap(({ flavors }) =>
      flavors.flatMap(({ name: flavor, resources }) =>
        resources.map(({ name: resource, nominalQuota }) => ({
          flavor,
          resource,
          used: String(
            status?.flavorsUsage?.find(({ name }) => name === flavor)?.resources.find(({ name }) => name === resource)?.total ?? '0',
          ),
          nominal: String(nominalQuota),
        })),
      ),
    ),
  };
}

/** One line for each queue, with what is used of each resource over all flavors. */
export function queueTable(summaries: readonly QueueSummary[]): Table {
  const resources = [...new Set(summaries.flatMap(({ quota }) => quota.map(({ resource }) => resource)))];
  return {
    heads: ['NAME', 'COHORT', 'WAITING', 'ADMITTED', ...resources.map((resource) => plain(resource).toUpperCase())],
    spare: ['COHORT'],
    rows: summaries.map(({ name, cohort, waiting, admitted, problem, quota }) => ({
      cells: [name, cohort ?? '-', String(waiting), String(admitted), ...resources.map((resource) => usedOf(resource, quota))],
      note: problem === undefined ? '' : plain(problem),
    })),
  };
}

function usedOf(resource: string, quota: readonly FlavorQuota[]): string {
  const own = quota.filter((each) => each.resource === resource);
  if (own.length === 0) return '-';
  const sum = (amounts: readonly string[]): string =>
    formatAmount(
      resource,
      amounts.reduce<Amount>((all, amount) => plus(all, parseAmount(resource, amount)), ZERO),
    );
  return `${sum(own.map(({ used }) => used))}/${sum(own.map(({ nominal }) => nominal))}`;
}
