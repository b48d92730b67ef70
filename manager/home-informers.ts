import type { Job, KubeObject } from '../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../shared/api/resources.ts';
import { createInformer, type Informer } from '../shared/kube/informer.ts';
import type { ReflectorOptions } from '../shared/kube/reflector.ts';
import { given } from '../shared/runtime/given.ts';
import type { AdmissionInformers } from './admission/admission.ts';
import { CLUSTER_QUEUES } from './api/cluster-queue.ts';
import { COHORTS } from './api/cohort.ts';
import { LOCAL_QUEUES } from './api/local-queue.ts';
import { RESOURCE_FLAVORS } from './api/resource-flavor.ts';
import { WORKER_CLUSTERS } from './api/worker-cluster.ts';

/** Caches of all that the manager reads on its own cluster. Nothing starts before they run. */
export function createHomeInformers(options: Pick<ReflectorOptions<Job>, 'client' | 'clock' | 'random' | 'log'>): AdmissionInformers {
  const { client, clock, random, log } = options;
  const of = <T extends KubeObject>(resource: Resource<T>): Informer<T> => createInformer({ client, resource, clock, random, log });
  return {
    jobs: createInformer({ client, resource: JOBS, clock, random, log, transform: essentialsOfJob }),
    namespaces: of(NAMESPACES),
    workerClusters: of(WORKER_CLUSTERS),
    resourceFlavors: of(RESOURCE_FLAVORS),
    clusterQueues: of(CLUSTER_QUEUES),
    localQueues: of(LOCAL_QUEUES),
    cohorts: of(COHORTS),
  };
}

/** Of a Job that is not the manager's it is enough to know that it is not. */
export function essentialsOfJob(job: Job): Job {
  const { managedFields: _managedFields, ...metadata } = job.metadata;
  if (job.spec.managedBy === MANAGER_CONTROLLER_NAME) return { ...job, metadata };
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { ...given({ managedBy: job.spec.managedBy }), template: {} },
  };
}
