import { POD_FENCE_CONTAINER } from '../../../shared/api/pod-fence.ts';
import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import { POD_FENCE_PORT, POD_FENCE_VOLUMES } from '../../api/pod-fence.ts';
import { isJsonObject } from '../../api/json-value.ts';

/** The most rules that an API server accepts; the pod fence adds one. */
const RULES_MAX = 20;

/**
 * Why the pods of this Job cannot have a pod fence; undefined: they can. The kubelet ends a container whose liveness probe fails, and the
 * container must not start again. A field that keeps the kubelet from probing a container, or has it restart one, thus conflicts with the
 * fence.
 */
export function podFenceProblem({ spec }: DeepReadonly<Pick<Job, 'spec'>>): FieldProblem | undefined {
  const pod = spec.template.spec;
  if (pod === undefined) return undefined;
  if (pod.restartPolicy !== 'Never')
    return { field: at('restartPolicy'), problem: 'must be Never: a container that the pod fence has ended may not start again' };
  if (pod.hostNetwork === true)
    return { field: at('hostNetwork'), problem: 'must not be set: the pod fence listens on the address of the pod alone' };
  if (pod.os?.name === 'windows') return { field: at('os'), problem: 'is windows, where there is no pod fence' };
  // Go clients write an empty list as null.
  const rules: readonly unknown[] | null | undefined = spec.podFailurePolicy?.rules;
  if ((rules?.length ?? 0) >= RULES_MAX)
    return { field: 'spec.podFailurePolicy', problem: `has ${RULES_MAX} rules, and the pod fence adds one of its own; leave one out` };
  const [containers, initContainers, volumes] = [pod.containers ?? [], pod.initContainers ?? [], pod.volumes ?? []];
  const names: readonly string[] = Object.values(POD_FENCE_VOLUMES);
  const taken = volumes.find(({ name }) => names.includes(name));
  if (taken !== undefined) return { field: at('volumes'), problem: `has ${taken.name}, a name of the pod fence; choose another one` };
  for (const [field, list] of [
    ['initContainers', initContainers],
    ['containers', containers],
  ] as const) {
    for (const container of list) {
      const problem = containerProblem(container, field === 'initContainers');
      if (problem !== undefined) return { field: at(`${field}[${container.name}]`), problem };
    }
  }
  return undefined;
}

const at = (field: string): string => `spec.template.spec.${field}`;

type Container = NonNullable<NonNullable<DeepReadonly<Job>['spec']['template']['spec']>['containers']>[number];

function containerProblem(container: Container, isInit: boolean): string | undefined {
  if (container.name === POD_FENCE_CONTAINER) return 'has the name of the sidecar of the pod fence; choose another one';
  if (isInit && container.restartPolicy !== 'Always')
    return 'is an init container, which kubelets do not probe, so that no pod fence can end it; do its work in a container, or in a sidecar (restartPolicy: Always)';
  if (!isInit && (isSet(container.restartPolicy) || isSet(container.restartPolicyRules)))
    return 'has a restart policy of its own: a container that the pod fence has ended may not start again; leave it out';
  if (isSet(container.livenessProbe)) return 'has a livenessProbe, of which a container can have only one; leave it out';
  if (isSet(container.startupProbe)) return 'has a startupProbe, before whose success kubelets ask no liveness probe; leave it out';
  const ports: unknown = container.ports;
  if (Array.isArray(ports) && ports.some((each) => isJsonObject(each) && each['containerPort'] === POD_FENCE_PORT))
    return `listens on port ${POD_FENCE_PORT}, which the pod fence takes; choose another one`;
  return undefined;
}

/** Fields that clients send may be null. */
const isSet = (value: unknown): boolean => value !== undefined && value !== null;
