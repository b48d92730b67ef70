/** Admitted Workloads and those who would displace them, for the tests of preemption. */
import type { ClusterQueue, ClusterQueueSpec } from '../../../../../manager/api/cluster-queue.ts';
import type { Cohort } from '../../../../../manager/api/cohort.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { createAdmittedIndex, type Admitted } from '../../../../../manager/admission/workload/admitted-index.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import type { Charge } from '../../../../../manager/admission/flavors/flavor-assigner.ts';
import { charge } from '../../../../../manager/admission/flavors/holding.ts';
import { findVictims, type PreemptionWorld, type Victim } from '../../../../../manager/admission/preemption/preemption.ts';
import type { Preemptor } from '../../../../../manager/admission/preemption/preemption-rules.ts';
import { flavorResource } from '../../../../../manager/admission/quota/quota-tree.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { createUsage } from '../../../../../manager/admission/quota/usage.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { aFlavor, aWorkload, objects } from '../setup.ts';

/** Nominal quota by resource: `6`, `6+2` where two more may be borrowed, `6-4` where four of them may be lent. */
export type Quotas = Readonly<Record<string, string>>;
/** Flavors in the order of preference, each with its quotas. */
export type Flavors = Readonly<Record<string, Quotas>>;

export type QueueOf = Pick<ClusterQueueSpec, 'preemption' | 'flavorFungibility' | 'queueingStrategy' | 'fairSharing'> & {
  readonly cohort?: string;
  /** Of the flavor `default`. */
  readonly quota?: Quotas;
  /** Of more flavors, a group each. */
  readonly groups?: readonly Flavors[];
};

const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });

const groupOf = (flavors: Flavors) => ({
  coveredResources: [...new Set(Object.values(flavors).flatMap((quotas) => Object.keys(quotas)))],
  flavors: Object.entries(flavors).map(([name, quotas]) => ({
    name,
    resources: Object.entries(quotas).map(([resource, text]) => {
      const [, nominalQuota = '', sign, limit] = /^([^+-]+)(?:([+-])(.+))?$/.exec(text) ?? [];
      return {
        name: resource,
        nominalQuota,
        ...omitUndefined({ borrowingLimit: sign === '+' ? limit : undefined, lendingLimit: sign === '-' ? limit : undefined }),
      };
    }),
  })),
});

export const aQueue = (name: string, { cohort, quota, groups = [], ...spec }: QueueOf): ClusterQueue => ({
  metadata: meta(name),
  spec: {
    namespaceSelector: {},
    ...omitUndefined({ cohortName: cohort }),
    resourceGroups: [...(quota === undefined ? [] : [{ default: quota }]), ...groups].map(groupOf),
    ...spec,
  },
});

export const aCohort = (name: string, parent?: string, quota?: Quotas): Cohort => ({
  metadata: meta(name),
  spec: { ...omitUndefined({ parentName: parent }), ...(quota === undefined ? {} : { resourceGroups: [groupOf({ default: quota })] }) },
});

/** All resources of flavor `default`, on the only cluster, unless it is said otherwise. */
export type Holding = {
  readonly name: string;
  readonly queue: string;
  readonly priority?: number;
  readonly requests: Readonly<Record<string, string>>;
  readonly flavor?: string;
  readonly cluster?: string;
  /** Seconds since the beginning. */
  readonly since?: number;
  readonly created?: number;
  readonly leaving?: boolean;
  readonly localQueue?: string;
};

export function admittedOf({
  name,
  queue,
  priority = 0,
  requests,
  flavor = 'default',
  cluster = 'only',
  since = 0,
  created = 0,
  leaving = false,
  localQueue = 'main',
}: Holding): Admitted {
  const held = parseRequests({ ...requests, pods: '1' });
  const flavors = Object.fromEntries(Object.keys(requests).map((resource) => [resource, flavor]));
  const record: AdmissionRecord = {
    clusterQueue: queue,
    flavors,
    cluster,
    epoch: 1,
    since: new Date(since * 1000).toISOString(),
    requests: { ...requests, pods: '1' },
  };
  const workload = aWorkload(name, requests, {
    createdMs: created * 1000,
    phase: leaving ? 'Evicting' : 'Admitted',
    queue: localQueue,
    record,
  });
  const charges = [...held].flatMap(([resource, amount]): Charge[] =>
    flavors[resource] === undefined ? [] : [[flavorResource(flavor, resource), amount]],
  );
  return { reservation: { workload, record, held, assumed: false }, priority, charges, leaving, sinceMs: since * 1000 };
}

export type Setting = {
  readonly queues: Readonly<Record<string, QueueOf>>;
  readonly cohorts?: readonly Cohort[];
  readonly admitted: readonly Holding[];
};

export function worldOf({ queues, cohorts = [], admitted }: Setting) {
  const clusterQueues = Object.entries(queues).map(([name, spec]) => aQueue(name, spec));
  const flavorNames = new Set(
    clusterQueues.flatMap(({ spec }) => (spec.resourceGroups ?? []).flatMap(({ flavors }) => flavors.map(({ name }) => name))),
  );
  const setup = buildQueueingSetup(objects({ clusterQueues, cohorts, resourceFlavors: [...flavorNames].map((name) => aFlavor(name)) }));
  const usage = createUsage();
  const index = createAdmittedIndex();
  const all = admitted.map(admittedOf);
  for (const each of all) {
    index.set(each);
    const { record, held } = each.reservation;
    const node = setup.tree.clusterQueues.get(record.clusterQueue);
    if (node === undefined) throw new Error(`no queue ${record.clusterQueue}`);
    charge(usage, { node, charges: each.charges, cluster: record.cluster, amounts: held });
  }
  return { setup, all, world: { usage, admitted: index, nodes: setup.tree.clusterQueues, mayStop: () => true } satisfies PreemptionWorld };
}

/** Who comes, and what it asks for. */
export type Incoming = Pick<Holding, 'queue' | 'priority' | 'requests' | 'created'> & {
  /** By resource, where it is not `default`. */
  readonly flavors?: Readonly<Record<string, string>>;
  readonly cluster?: ClusterState;
  readonly record?: AdmissionRecord;
};

export function incoming(setting: Setting, { queue: name, priority = 0, requests, created = 0, flavors = {}, cluster, record }: Incoming) {
  const made = worldOf(setting);
  const queue = made.setup.queues.get(name);
  if (queue === undefined) throw new Error(`no queue ${name}`);
  const workload = aWorkload('in', requests, { createdMs: created * 1000, ...omitUndefined({ record }) });
  const preemptor: Preemptor = { workload, priority, queue };
  const charges = [...workload.requests].flatMap(([resource, amount]): Charge[] =>
    resource in requests ? [[flavorResource(flavors[resource] ?? 'default', resource), amount]] : [],
  );
  return { ...made, preemptor, charges, victims: findVictims({ preemptor, charges, cluster }, made.world) };
}

/** `low InClusterQueue`, by name. */
export const told = (victims: readonly Victim[] | undefined): readonly string[] =>
  (victims ?? []).map(({ admitted, rule }) => `${admitted.reservation.workload.name} ${rule}`).toSorted();
