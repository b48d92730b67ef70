import { IDENTITY_VARIABLES } from '../../../shared/api/copy-identity.ts';
import type { Container, DeepReadonly, PodSpec } from '../../../shared/api/kubernetes.ts';
import { sameJson } from '../../api/json-diff.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';

type Variable = { readonly name: string; readonly value: string };

/** The pod of a copy: on the nodes of its flavors, with these variables in the environment of every container. */
export const copiedPod = (spec: PodSpec, flavors: readonly DeepReadonly<ResourceFlavor>[], variables: readonly Variable[]): PodSpec =>
  withVariables(withFlavors(spec, flavors), variables);

const withVariables = (spec: PodSpec, variables: readonly Variable[]): PodSpec => ({
  ...spec,
  containers: (spec.containers ?? []).map((container) => containerWith(container, variables)),
  ...(spec.initContainers === undefined
    ? {}
    : { initContainers: spec.initContainers.map((container) => containerWith(container, variables)) }),
});

/**
 * The variables come first, so that variables of the user can refer to them. Those of the identity replace the user's own of the same
 * names.
 */
function containerWith(container: Container, variables: readonly Variable[]): Container {
  const own = (container.env ?? []).filter(({ name }) => !isIdentity(name));
  const taken = new Set(own.map(({ name }) => name));
  return { ...container, env: [...variables.filter(({ name }) => !taken.has(name)), ...own] };
}
const isIdentity = (name: string): boolean => IDENTITY_VARIABLES.some((each) => each === name);

function withFlavors(spec: PodSpec, flavors: readonly DeepReadonly<ResourceFlavor>[]): PodSpec {
  const nodeSelector: Record<string, string> = { ...spec.nodeSelector };
  const tolerations = [...(spec.tolerations ?? [])];
  for (const flavor of flavors) {
    Object.assign(nodeSelector, flavor.spec?.nodeLabels);
    for (const toleration of flavor.spec?.tolerations ?? []) {
      if (!tolerations.some((present) => sameJson(present, toleration))) tolerations.push({ ...toleration });
    }
  }
  return {
    ...spec,
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  };
}
