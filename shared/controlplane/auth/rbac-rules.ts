import type { AccessQuestion } from './authorizer.ts';

/** A PolicyRule of rbac.authorization.k8s.io/v1 as decoding leaves it. */
export type PolicyRule = {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
};

/** Whether a rule allows what is asked. */
export function ruleAllows(rule: PolicyRule, question: AccessQuestion): boolean {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (!matches(verbs, question.verb)) return false;
  if (question.kind === 'path') return nonResourceURLs.some((pattern) => pathMatches(pattern, question.path));
  return (
    matches(apiGroups, question.group) &&
    resources.some((pattern) => resourceMatches(pattern, question.resource, question.subresource)) &&
    (resourceNames.length === 0 || resourceNames.includes(question.name))
  );
}

const matches = (allowed: readonly string[], value: string): boolean => allowed.includes('*') || allowed.includes(value);

const pathMatches = (pattern: string, path: string): boolean =>
  pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));

function resourceMatches(pattern: string, resource: string, subresource: string): boolean {
  if (pattern === '*') return true;
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`;
  return pattern === wanted || (subresource !== '' && pattern === `*/${subresource}`);
}
