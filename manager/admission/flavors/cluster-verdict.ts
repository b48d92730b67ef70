import { matchesLabelSelector } from '../../../shared/kube/selectors.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { formatAmount, minus, ZERO, type Amount } from '../../api/amount.ts';
import { missingData } from '../../api/data-names.ts';
import { servesNamespace } from '../../api/served-namespaces.ts';
import { parseQualifiedName } from '../../work-kind/qualified-name.ts';
import { capacityOf, type ClusterState } from '../quota/cluster-state.ts';
import { freeOn, type Usage } from '../quota/usage.ts';
import { avoidance } from '../workload/avoidance.ts';
import type { ShapesOfCycle } from '../workload/shape-avoidance.ts';
import type { Workload } from '../workload/workload.ts';
import type { FlavorOption, OptionGroups } from './flavor-assigner.ts';
import { podsOnEmptyNodes } from './node-fit.ts';

/** The verdict on one cluster for one Workload; `problem` is absent if the Workload fits. */
export type ClusterVerdict = {
  readonly cluster: string;
  readonly problem?: string;
  /** The resources of which too little is free there; absent if the problem is another. */
  readonly shortOf?: readonly string[];
  /** When the problem ends by itself, in epoch milliseconds. */
  readonly untilMs?: number;
};

/** `flavors`: those that the cluster offers; undefined if it offers none for some group of `groups`. */
export function verdictOn(
  cluster: ClusterState,
  workload: Workload,
  { groups, flavors }: { readonly groups: OptionGroups; readonly flavors: readonly FlavorOption[] | undefined },
  { usage, shapes }: { readonly usage: Usage; readonly shapes: Pick<ShapesOfCycle, 'of'> },
  nowMs: number,
): ClusterVerdict {
  const avoided = avoidance(workload.record, cluster.name, nowMs) ?? shapes.of(workload.shape, cluster.name, nowMs);
  const obstacle = obstacleOn(cluster, workload, groups, flavors);
  const shortage = obstacle === undefined ? shortageOn(cluster, workload, usage) : undefined;
  const problem = obstacle ?? shortage?.problem ?? avoided?.problem;
  return { cluster: cluster.name, ...omitUndefined({ problem, shortOf: shortage?.resources, untilMs: avoided?.untilMs }) };
}

/** `eu-1: short of 4 cpu; us-2: cordoned` */
export const formatVerdicts = (verdicts: readonly ClusterVerdict[]): string =>
  verdicts.map(({ cluster, problem }) => `${cluster}: ${problem ?? 'fits'}`).join('; ');

/** Why the cluster does not take the Workload, besides a lack of room. */
function obstacleOn(
  cluster: ClusterState,
  workload: Workload,
  groups: OptionGroups,
  flavors: readonly FlavorOption[] | undefined,
): string | undefined {
  if (!isWished(workload, cluster)) return 'not selected by the Job';
  const { servedNamespaces, unreadableNamespaces } = cluster;
  if (unreadableNamespaces?.includes(workload.namespace) === true)
    return `does not let the manager list Jobs in namespace ${workload.namespace}`;
  if (!servesNamespace(servedNamespaces, workload.namespace)) return `does not serve namespace ${workload.namespace}`;
  const kind = missingKind(workload, cluster);
  if (kind !== undefined) return `does not serve ${kind}`;
  const missing = missingClass(workload, cluster);
  if (missing !== undefined) return missing;
  const lack = workload.lacks?.[cluster.name];
  // A cluster without contact cannot answer: its own problem says more.
  if (lack !== undefined && (lack.isMissing === true || cluster.closed === undefined)) return lack.problem;
  const data = missingData(workload.data, cluster.data);
  if (data !== undefined) return `no data ${data}`;
  const nodes = missingNodes(workload, cluster);
  if (nodes !== undefined) return nodes;
  if (flavors === undefined)
    return groups.length > 1 ? 'offers no flavors that have quota and go together' : 'offers no flavor that has quota';
  return cluster.closed;
}

function shortageOn(
  cluster: ClusterState,
  { requests }: Workload,
  usage: Usage,
): { readonly problem: string; readonly resources: readonly string[] } | undefined {
  const missing = [...requests].flatMap(([resource, amount]) => {
    const lack = minus(amount, freeOn(cluster, usage, resource));
    return amount > ZERO && lack > ZERO ? [{ resource, lack }] : [];
  });
  if (missing.length === 0) return undefined;
  const amounts = missing.map(({ resource, lack }) => `${formatAmount(resource, lack)} ${resource}`);
  return { problem: `short of ${amounts.join(' and ')}`, resources: missing.map(({ resource }) => resource) };
}

/** Whether every cluster accepts the Workload but for its nodes, on which not all pods fit even when they are empty. */
export const exceedsNodes = (workload: Workload, clusters: readonly ClusterState[]): boolean =>
  clusters.length > 0 && clusters.every((cluster) => isEligible(workload, cluster) && missingNodes(workload, cluster) !== undefined);

/** Whether the empty cluster would accept the Workload, whatever happened there before. */
export const couldRunOn = (workload: Workload, cluster: ClusterState): boolean =>
  mayGo(workload, cluster) && couldHold(askedOf(workload), cluster);

/** Whether the cluster may be chosen for the Workload, apart from its room and flavors. */
export const mayGo = (workload: Workload, cluster: ClusterState): boolean =>
  isEligible(workload, cluster) && missingNodes(workload, cluster) === undefined;

const isEligible = (workload: Workload, cluster: ClusterState): boolean =>
  isWished(workload, cluster) &&
  servesNamespace(cluster.servedNamespaces, workload.namespace) &&
  missingKind(workload, cluster) === undefined &&
  missingClass(workload, cluster) === undefined &&
  workload.lacks?.[cluster.name] === undefined &&
  missingData(workload.data, cluster.data) === undefined;

/** The requests greater than 0. */
export type Asked = readonly (readonly [string, Amount])[];
export const askedOf = ({ requests }: Workload): Asked => [...requests].filter(([, amount]) => amount > ZERO);

/** Whether the capacity of the cluster suffices when nothing else is there. */
export function couldHold(asked: Asked, cluster: ClusterState): boolean {
  for (const [resource, amount] of asked) if (amount > capacityOf(cluster, resource)) return false;
  return true;
}

function isWished({ wish }: Workload, cluster: ClusterState): boolean {
  switch (wish.kind) {
    case 'Any':
      return true;
    case 'Names':
      return wish.names.includes(cluster.name);
    case 'Selector':
      return matchesLabelSelector(wish.requirements, cluster.labels);
    case 'Invalid':
      return false;
  }
}

/** The kind of work that the cluster does not serve. Jobs are served everywhere. */
function missingKind({ name }: Workload, { workKinds }: ClusterState): string | undefined {
  const { qualifier } = parseQualifiedName(name);
  return qualifier === undefined || workKinds.includes(qualifier) ? undefined : qualifier;
}

/** The class that the cluster lacks, so that its API server would refuse every pod. System PriorityClasses exist everywhere. */
function missingClass(
  { priorityWish: { podClass }, runtimeClass }: Workload,
  { priorityClasses, runtimeClasses }: ClusterState,
): string | undefined {
  if (podClass !== undefined && !podClass.startsWith('system-') && priorityClasses?.includes(podClass) === false)
    return `no PriorityClass ${podClass}`;
  return runtimeClass !== undefined && runtimeClasses?.includes(runtimeClass) === false ? `no RuntimeClass ${runtimeClass}` : undefined;
}

/** How many pods fit on the nodes of the empty cluster, if not all. */
function missingNodes({ requests, podSets }: Workload, { nodeShapes }: ClusterState): string | undefined {
  if (nodeShapes === undefined) return undefined;
  for (const each of podSets ?? [{ requests }]) {
    const pods = each.requests.get('pods') ?? 0;
    const fitting = podsOnEmptyNodes(each.requests, nodeShapes);
    if (fitting < pods) return `${fitting} of ${pods} pods fit on its nodes, even when these are empty`;
  }
  return undefined;
}
