import { isJsonObject } from '../../api/json-value.ts';
import { KUEUE_QUEUE_NAME_LABEL, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import type { Manifest } from './documents.ts';
import type { Finding } from './findings.ts';

const MULTIKUEUE = 'kueue.x-k8s.io/multikueue';

/** Whether it is an AdmissionCheck by which Kueue dispatches: every Job is dispatched here. */
export const isDispatchCheck = ({ apiVersion, kind, fields }: Manifest): boolean =>
  apiVersion.startsWith('kueue.x-k8s.io/') &&
  kind === 'AdmissionCheck' &&
  isJsonObject(fields['spec']) &&
  fields['spec']['controllerName'] === MULTIKUEUE;

/** What is told of an object that is not translated. */
export function skipped({ apiVersion, kind, name, fields }: Manifest, object: string): Finding {
  if (apiVersion.startsWith('kueue.x-k8s.io/')) return { object, ...ofKueue(kind, name, fields) };
  const label = labelsOf(fields)[KUEUE_QUEUE_NAME_LABEL];
  if (typeof label === 'string') {
    const says = `it stays as it is, but for its queue: write the label ${QUEUE_NAME_LABEL}: ${label} in place of ${KUEUE_QUEUE_NAME_LABEL}`;
    return { kind: 'Skipped', object, says };
  }
  return { kind: 'Skipped', object, says: `${apiVersion} is not Kueue’s` };
}

function ofKueue(kind: string, name: string, fields: Manifest['fields']): Pick<Finding, 'kind' | 'says'> {
  const spec = isJsonObject(fields['spec']) ? fields['spec'] : {};
  switch (kind) {
    case 'Workload':
      return { kind: 'Skipped', says: 'Switchyard has no Workloads: the Job itself waits and is admitted' };
    case 'MultiKueueCluster':
      return { kind: 'Note', says: workerClusterHint(name, spec) };
    case 'MultiKueueConfig': {
      const clusters = Array.isArray(spec['clusters']) ? spec['clusters'].join(', ') : '';
      return {
        kind: 'Note',
        says: `every Job is dispatched, without a check; to keep Jobs to ${clusters}, label these WorkerClusters and choose them in spec.clusterSelector of the ResourceFlavors`,
      };
    }
    case 'AdmissionCheck':
      return spec['controllerName'] === MULTIKUEUE
        ? { kind: 'Note', says: 'is not needed: every Job is dispatched to a WorkerCluster' }
        : { kind: 'Lost', says: 'its controller tells Workloads; here one has to tell Jobs (docs/admission-checks.md)' };
    case 'Topology':
      return { kind: 'Lost', says: 'the pods of a Job are not placed near one another' };
    case 'ProvisioningRequestConfig':
      return { kind: 'Lost', says: 'no capacity is provisioned before a Job is admitted' };
    default:
      return { kind: 'Lost', says: 'Switchyard has nothing like it' };
  }
}

/** v1beta1 has the kubeconfig in the spec, v1beta2 in its clusterSource. */
function workerClusterHint(name: string, spec: Readonly<Record<string, unknown>>): string {
  const source = isJsonObject(spec['clusterSource']) ? spec['clusterSource'] : spec;
  const kubeconfig = isJsonObject(source['kubeConfig']) ? source['kubeConfig'] : {};
  const { location, locationType = 'Secret' } = kubeconfig;
  const inSecret = typeof location === 'string' && locationType === 'Secret';
  const secret = inSecret ? `the Secret ${location}` : 'a Secret';
  return `make a WorkerCluster ${name} whose spec.kubeconfigSecretRef names ${secret}, with a kubeconfig of a user that the chart switchyard-worker gives its rights to`;
}

function labelsOf(fields: Manifest['fields']): Readonly<Record<string, unknown>> {
  const labels = isJsonObject(fields['metadata']) ? fields['metadata']['labels'] : undefined;
  return isJsonObject(labels) ? labels : {};
}
