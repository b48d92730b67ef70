import type { AdmissionRequest } from '../admission-request.ts';

/** A RuleWithOperations after defaulting. */
export type WebhookRule = {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  /** `pods`, `pods/status`, `pods/*`, `*`, `*` with any subresource. */
  readonly resources?: readonly string[];
  readonly scope?: string;
};

/** Whether a rule of a webhook covers a request (webhook/predicates/rules of apiserver). */
export function ruleCovers(rule: WebhookRule, request: AdmissionRequest): boolean {
  return (
    scopeCovers(rule.scope, request) &&
    wildcardOrEqual(rule.operations, request.operation) &&
    wildcardOrEqual(rule.apiGroups, request.resource.group) &&
    wildcardOrEqual(rule.apiVersions, request.resource.version) &&
    resourcesCover(rule.resources ?? [], request)
  );
}

/** A Namespace is a cluster-scoped object, although its requests carry its name as their namespace. */
export const isNamespaceObject = ({ resource }: AdmissionRequest): boolean => resource.group === '' && resource.resource === 'namespaces';

function scopeCovers(scope: string | undefined, request: AdmissionRequest): boolean {
  const namespaced = !isNamespaceObject(request) && request.namespace !== '';
  switch (scope) {
    case undefined:
    case '*':
      return true;
    case 'Namespaced':
      return namespaced;
    case 'Cluster':
      return !namespaced;
    default:
      return false;
  }
}

const wildcardOrEqual = (allowed: readonly string[] | undefined, value: string): boolean =>
  allowed?.some((each) => each === '*' || each === value) ?? false;

function resourcesCover(patterns: readonly string[], { resource, subresource }: AdmissionRequest): boolean {
  return patterns.some((pattern) => {
    const slash = pattern.indexOf('/');
    const main = slash < 0 ? pattern : pattern.slice(0, slash);
    const sub = slash < 0 ? '' : pattern.slice(slash + 1);
    return (main === '*' || main === resource.resource) && (sub === '*' || sub === subresource);
  });
}

const ADMISSION_KINDS: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

/** Configuration of admission itself never goes to webhooks: a broken one could not be mended otherwise. */
export const isExemptFromWebhooks = ({ resource }: AdmissionRequest): boolean =>
  resource.group === 'admissionregistration.k8s.io' && ADMISSION_KINDS.has(resource.resource);
