import type { AdmissionRecord } from '../api/records.ts';
import { formatAdmissionRecord } from '../api/records.ts';
import { minus, parseRequests, plus, type Amount, type Requests } from '../api/amount.ts';
import { excess } from '../api/job-requests.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Charge } from './flavor-assigner.ts';
import { addUsage, flavorResource, removeUsage, type QuotaNode } from './quota-tree.ts';
import type { QueueingSetup, Snapshot } from './snapshot.ts';
import { clusterHolder, createUsage, type Usage } from './usage.ts';
import type { Workload } from './workload.ts';

/**
 * Who holds quota: the reservations. A Workload is *assumed* when the scheduler has decided and the record is being written, and *admitted* once the
 * informer has shown the record. Both count. Usage is the sum of what their records say and nothing else, so a restart rebuilds it from them.
 */
export interface AdmissionCache {
  /** Replaces the queues and counts all usage anew. */
  setQueueing(setup: QueueingSetup): void;
  setClusters(clusters: readonly ClusterState[]): void;
  queueing(): QueueingSetup;
  clusters(): readonly ClusterState[];
  /** What the scheduler decides on; what it charges there is not seen here. */
  snapshot(): Snapshot;
  /** Counts a Workload whose record is about to be written. */
  assume(workload: Workload, record: AdmissionRecord): Reservation;
  /** Counts a Workload by the record that it carries. */
  admit(workload: Workload, record: AdmissionRecord): void;
  /** Stops counting a Workload. Returns what it held. */
  forget(key: string): Reservation | undefined;
  get(key: string): Reservation | undefined;
  reservations(): IterableIterator<Reservation>;
  /** The reservations of Workloads that ask for something else now than they hold. */
  mismatched(): Iterable<Reservation>;
  /** The reservations of Workloads that their cluster has refused. */
  refused(): Iterable<Reservation>;
  /** The reservations of Workloads that are to rest. */
  held(): Iterable<Reservation>;
  /** ClusterQueues that share quota with this one, itself included. */
  sharingWith(clusterQueue: string): readonly string[];
  usage(): Usage;
}

export type Reservation = {
  readonly workload: Workload;
  readonly record: AdmissionRecord;
  /** What it holds: the requests of the record, whatever the Workload asks for now. */
  readonly held: Requests;
  /** The record is not seen on the Job yet. */
  readonly assumed: boolean;
};

type Counted = Reservation & { readonly charges: readonly Charge[] };

export function createAdmissionCache(empty: QueueingSetup): AdmissionCache {
  let setup = empty;
  let clusterStates: readonly ClusterState[] = [];
  let usage = createUsage();
  const counted = new Map<string, Counted>();
  const mismatched = new Map<string, Counted>();
  const refused = new Map<string, Counted>();
  const held = new Map<string, Counted>();

  const charge = (entry: Counted): void => apply(entry, plus, addUsage);
  const discharge = (entry: Counted): void => apply(entry, minus, removeUsage);
  const apply = (
    { record, held, charges }: Counted,
    onCluster: (a: Amount, b: Amount) => Amount,
    onNode: (node: QuotaNode, usage: Usage, key: Charge[0], amount: Amount) => void,
  ): void => {
    // A ClusterQueue that is gone or unusable has no usage; the cluster is used all the same.
    const node = setup.tree.clusterQueues.get(record.clusterQueue);
    if (node !== undefined) for (const [key, amount] of charges) onNode(node, usage, key, amount);
    const holder = clusterHolder(record.cluster);
    for (const [resource, amount] of held) usage.set(holder, resource, onCluster(usage.get(holder, resource), amount));
  };

  const remove = (key: string): Counted | undefined => {
    const entry = counted.get(key);
    if (entry === undefined) return undefined;
    counted.delete(key);
    mismatched.delete(key);
    refused.delete(key);
    held.delete(key);
    discharge(entry);
    return entry;
  };
  const put = (workload: Workload, record: AdmissionRecord, assumed: boolean): Reservation => {
    remove(workload.key);
    const requests = parseRequests(record.requests);
    const entry = { workload, record, held: requests, assumed, charges: chargesOf(requests, record) };
    counted.set(workload.key, entry);
    if (excess(workload.requests, requests) !== undefined || excess(requests, workload.requests) !== undefined)
      mismatched.set(workload.key, entry);
    if (!assumed && workload.refusal !== undefined) refused.set(workload.key, entry);
    if (!assumed && workload.hold === true) held.set(workload.key, entry);
    charge(entry);
    return entry;
  };

  return {
    setQueueing: (next) => {
      setup = next;
      usage = createUsage();
      for (const entry of counted.values()) charge(entry);
    },
    setClusters: (next) => {
      clusterStates = next;
    },
    queueing: () => setup,
    clusters: () => clusterStates,
    snapshot: () => ({ queues: setup.queues, clusters: clusterStates, usage: usage.fork() }),
    assume: (workload, record) => put(workload, record, true),
    admit: (workload, record) => void put(workload, record, false),
    forget: remove,
    get: (key) => counted.get(key),
    reservations: () => counted.values(),
    mismatched: () => mismatched.values(),
    refused: () => refused.values(),
    held: () => held.values(),
    sharingWith: (clusterQueue) => {
      const rootId = setup.tree.clusterQueues.get(clusterQueue)?.rootId;
      if (rootId === undefined) return [];
      return [...setup.tree.clusterQueues].filter(([, node]) => node.rootId === rootId).map(([name]) => name);
    },
    usage: () => usage,
  };
}

/** Whether two records are the same admission. */
export const isSameAdmission = (a: AdmissionRecord, b: AdmissionRecord): boolean => formatAdmissionRecord(a) === formatAdmissionRecord(b);

/** What is taken from the ClusterQueue. */
function chargesOf(held: Requests, record: AdmissionRecord): Charge[] {
  return [...held].flatMap(([resource, amount]): Charge[] => {
    const flavor = record.flavors[resource];
    return flavor === undefined ? [] : [[flavorResource(flavor, resource), amount]];
  });
}
