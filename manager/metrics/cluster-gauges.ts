import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AdmissionState } from '../admission/controllers/admission-state.ts';
import { clusterStateOf } from '../admission/quota/cluster-state.ts';
import { inBaseUnit } from '../api/amount.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { ObservedCluster } from '../admission/controllers/state-metrics.ts';

/** How worker clusters stand: by what they tell of themselves, what admission charges on them, and when they were last heard of. */
export function* clusterGauges(
  clusters: Iterable<DeepReadonly<WorkerCluster>>,
  { usedOn, heardMs, clock }: Pick<AdmissionState, 'usedOn'> & Pick<Dispatch, 'heardMs'> & { readonly clock: Clock },
): Generator<ObservedCluster, void> {
  const startMs = clock.now() - clock.monotonic();
  for (const cluster of clusters) {
    const { name } = cluster.metadata;
    const heard = heardMs(name);
    const { capacity } = clusterStateOf(cluster);
    yield {
      name,
      conditions: cluster.status?.conditions ?? [],
      allocatable: new Map([...capacity].map(([resource, amount]) => [resource, inBaseUnit(resource, amount)])),
      used: new Map([...capacity.keys()].map((resource) => [resource, usedOn(name, resource)])),
      heardSeconds: heard === undefined ? undefined : (startMs + heard) / 1000,
    };
  }
}
