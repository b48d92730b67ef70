import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { DEFAULT_LEASE_NAMESPACE } from '../../shared/api/names.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { clusterItem } from './cluster-row.ts';
import { conditionViews } from './condition-view.ts';
import type { JobIndex } from './job-index.ts';
import type { Rights } from './rights.ts';
import type { ClusterView } from './views.ts';

const RUNNING_SHOWN = 100;
const AVOIDED_SHOWN = 100;

/** All about a worker cluster, for a viewer who may see it. */
export function clusterView(index: JobIndex, cluster: DeepReadonly<WorkerCluster>, rights: Rights): ClusterView {
  const { metadata, spec, status } = cluster;
  const { name } = metadata;
  const { count, first } = index.runningOn(name, rights.namespaces, RUNNING_SHOWN);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['State', spec.state ?? 'Active'],
    ['Kind', spec.local === true ? 'the manager cluster itself' : 'a cluster of its own'],
    ['Version', status?.version],
    ['Cluster UID', status?.clusterUID],
    ['Lost since', status?.lostSince],
    ['Round trip', status?.roundTripMs === undefined ? undefined : `${status.roundTripMs} ms`],
    ['Job controller', spec.jobController],
    ['Worker', status?.worker?.name],
    ['Version of the worker', status?.worker?.version],
    ['Missing namespaces', spec.namespaces === 'Create' ? 'are made' : 'refuse the Job'],
    ['Namespaces served', spec.servedNamespaces?.join(', ')],
  ];
  return {
    track: clusterItem(cluster, index.heldOn(name), count, first),
    conditions: conditionViews(status?.conditions),
    facts: facts.flatMap(([about, value]) => (value === undefined || value === '' ? [] : [{ name: about, value }])),
    labels: metadata.labels ?? {},
    avoidedBy: index.avoiding(name, rights.namespaces, AVOIDED_SHOWN),
    fence: fenceOf(cluster),
    commands: [
      ...(spec.state === 'Cordoned' || spec.state === 'Draining'
        ? [{ does: 'uncordon', line: `switchyard clusters uncordon ${name}` }]
        : [{ does: 'cordon', line: `switchyard clusters cordon ${name}` }]),
      { does: 'drain', line: `switchyard clusters drain ${name} --wait` },
      { does: 'doctor', line: 'switchyard doctor' },
    ],
  };
}

function fenceOf({ spec, status }: DeepReadonly<WorkerCluster>): ClusterView['fence'] {
  const seconds = status?.worker?.fenceAfterSeconds;
  const about =
    spec.local === true
      ? 'it is the manager cluster: there is no contact to lose'
      : seconds === undefined
        ? 'its worker has not said whether it stops copies that the manager cannot reach: Jobs stay with it while it is lost'
        : seconds === 0
          ? 'its worker does not stop copies that the manager cannot reach: Jobs stay with it while it is lost'
          : `its worker stops copies when it has not heard of the manager for ${seconds} s: then they may run elsewhere`;
  return { about, leaseNamespace: spec.leaseNamespace ?? DEFAULT_LEASE_NAMESPACE, ...omitUndefined({ afterSeconds: seconds }) };
}
