/** The pod that a Job wants created: upstream's content, to the letter (job_controller.go, indexed_job_utils.go). */
import {
  JOB_COMPLETION_INDEX,
  JOB_COMPLETION_INDEX_ENV,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_TRACKING_FINALIZER,
} from '../../shared/api/names.ts';
import type { Container, DeepReadonly, Job, OwnerReference, Pod, PodSpec, Unsaved } from '../../shared/api/kubernetes.ts';
import type { PodSlot } from './scale.ts';

/** Longest generated name without its random end. */
const MAX_GENERATE_NAME_LENGTH = 58;
const MAX_NAME_LENGTH = 253;

/** Makes the pods of one Job; the parts they share are worked out once. */
export function createPodTemplate(job: DeepReadonly<Job>): (slot: PodSlot) => Unsaved<Pod> {
  const { metadata, spec } = job.spec.template;
  const labels = { ...metadata?.labels };
  const annotations = { ...metadata?.annotations };
  const finalizers = [...(metadata?.finalizers ?? [])];
  if (!finalizers.includes(JOB_TRACKING_FINALIZER)) finalizers.push(JOB_TRACKING_FINALIZER);
  const ownerReferences = [ownerReferenceTo(job)];
  const podSpec = structuredClone(spec ?? { containers: [] }) as PodSpec;
  const indexedSpec: PodSpec = job.spec.completionMode === 'Indexed' ? withIndexEnvironment(podSpec) : podSpec;

  return function podFor({ index, failures }: PodSlot): Unsaved<Pod> {
    const podLabels = index === undefined ? labels : { ...labels, [JOB_COMPLETION_INDEX]: `${index}` };
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: job.metadata.namespace,
        generateName: generateNameOf(job.metadata.name, index),
        labels: podLabels,
        annotations: { ...annotations, ...indexAnnotations(index, failures) },
        finalizers,
        ownerReferences,
      },
      spec: index === undefined ? indexedSpec : { ...indexedSpec, hostname: `${job.metadata.name}-${index}` },
    };
  };
}

/** Jobs of a cache have no `apiVersion` and `kind`. */
export const ownerReferenceTo = ({
  apiVersion = 'batch/v1',
  kind = 'Job',
  metadata: { name, uid },
}: DeepReadonly<Pick<Job, 'apiVersion' | 'kind' | 'metadata'>>): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

function indexAnnotations(index: number | undefined, failures: PodSlot['failures']): Record<string, string> {
  if (index === undefined) return {};
  return {
    [JOB_COMPLETION_INDEX]: `${index}`,
    ...(failures === undefined ? {} : { [JOB_INDEX_FAILURE_COUNT_ANNOTATION]: `${failures.counted}` }),
    ...(failures === undefined || failures.ignored === 0 ? {} : { [JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION]: `${failures.ignored}` }),
  };
}

/** `<job>-`, or `<job>-<index>-` with the Job's name cut so that the index always survives the server's own cut. */
export function generateNameOf(jobName: string, index: number | undefined): string {
  if (index === undefined) return jobName.length < MAX_NAME_LENGTH ? `${jobName}-` : jobName;
  const end = `-${index}-`;
  return `${jobName.slice(0, MAX_GENERATE_NAME_LENGTH - end.length)}${end}`;
}

/** The variable reads the index from the label, while the controller reads it from the annotation: upstream does so. */
function withIndexEnvironment(spec: PodSpec): PodSpec {
  const variable = {
    name: JOB_COMPLETION_INDEX_ENV,
    valueFrom: { fieldRef: { fieldPath: `metadata.labels['${JOB_COMPLETION_INDEX}']` } },
  };
  const withVariable = (container: Container): Container =>
    container.env?.some(({ name }) => name === JOB_COMPLETION_INDEX_ENV)
      ? container
      : { ...container, env: [...(container.env ?? []), variable] };
  return {
    ...spec,
    containers: spec.containers.map(withVariable),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withVariable) }),
  };
}
