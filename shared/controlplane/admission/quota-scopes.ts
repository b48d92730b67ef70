import { matchesLabelSelector } from '../../kube/selectors.ts';
import type { DecodedPodSpec } from '../kinds/decoded.ts';
import { qosClassOf } from '../kinds/pod-qos.ts';
import type { DecodedQuota } from '../kinds/resource-quota.ts';

/** One restriction of the pods that a quota is about. */
export type QuotaScope = { readonly scopeName: string; readonly operator: string; readonly values: readonly string[] };

/** `scopes` and `scopeSelector` of a quota; all of them must hold. */
export const scopesOf = ({ spec = {} }: DecodedQuota): QuotaScope[] => [
  ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
  ...(spec.scopeSelector?.matchExpressions ?? []).map(({ scopeName = '', operator = '', values = [] }) => ({
    scopeName,
    operator,
    values,
  })),
];

/** podMatchesScopeFunc. */
export function isInQuotaScope(scope: QuotaScope, spec: DecodedPodSpec): boolean {
  switch (scope.scopeName) {
    case 'BestEffort':
      return qosClassOf(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(spec) !== 'BestEffort';
    case 'Terminating':
      return spec.activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return spec.activeDeadlineSeconds === undefined;
    case 'PriorityClass':
      return hasPriorityClass(scope, spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return looksIntoOtherNamespaces(spec);
    default:
      return false;
  }
}

function hasPriorityClass({ scopeName: key, operator, values }: QuotaScope, name: string): boolean {
  const labels = name === '' ? {} : { [key]: name };
  switch (operator) {
    case 'In':
    case 'NotIn':
    case 'Exists':
    case 'DoesNotExist':
      return matchesLabelSelector([{ key, operator, values }], labels);
    default:
      return false;
  }
}

/** A pod that is near or far from pods elsewhere may keep others off nodes. */
function looksIntoOtherNamespaces({ affinity }: DecodedPodSpec): boolean {
  const terms = [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((each) => [
    ...(each?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(each?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm ?? {}),
  ]);
  return terms.some(({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined);
}
