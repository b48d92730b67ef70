import type { Container, DeepReadonly, PodSpec } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';

/** What decides where a pod may run, and nothing of what it does there. */
export function essentialsOfPod(pod: DeepReadonly<PodSpec>): PodSpec {
  const { nodeSelector, affinity, tolerations, priorityClassName, runtimeClassName, overhead, resources, resourceClaims } = pod as PodSpec;
  const initContainers = pod.initContainers?.map(essentialsOfContainer);
  return {
    containers: (pod.containers ?? []).map(essentialsOfContainer),
    ...omitUndefined({
      initContainers,
      nodeSelector,
      affinity,
      tolerations,
      priorityClassName,
      runtimeClassName,
      overhead,
      resources,
      resourceClaims,
    }),
  };
}

function essentialsOfContainer(container: DeepReadonly<Container>): Container {
  const { name, resources, restartPolicy } = container as Container;
  return { name, ...omitUndefined({ resources, restartPolicy }) };
}

/** A container without what it runs. */
export const withoutCommands = ({
  command: _command,
  args: _args,
  env: _env,
  envFrom: _envFrom,
  ...container
}: DeepReadonly<Container>): object => container;
