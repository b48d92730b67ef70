import type { UserInfo } from './user-info.ts';

/** What somebody wants to do. */
export type AccessQuestion = ResourceAccess | PathAccess;

export type ResourceAccess = {
  readonly kind: 'resource';
  /** get, list, watch, create, update, patch, delete, deletecollection, impersonate, ... */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** '' for cluster-scoped resources and for all namespaces at once. */
  readonly namespace: string;
  /** '' where no single object is meant. */
  readonly name: string;
};

export type PathAccess = { readonly kind: 'path' /** The HTTP method in lower case. */; readonly verb: string; readonly path: string };

export type AccessDecision = { readonly allowed: boolean; readonly reason: string };

/** Decides who may do what. */
export interface Authorizer {
  authorize(user: UserInfo, question: AccessQuestion): AccessDecision;
}

/** The sentence of a 403 after its `... is forbidden: `, as upstream's responsewriters word it. */
export function forbiddenSentence(user: UserInfo, question: AccessQuestion, reason: string): string {
  const who = `User ${JSON.stringify(user.name)} cannot`;
  const why = reason === '' ? '' : `: ${reason}`;
  if (question.kind === 'path') return `${who} ${question.verb} path ${JSON.stringify(question.path)}${why}`;
  const { verb, group, resource, subresource, namespace } = question;
  const what = `${who} ${verb} resource ${JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`)} in API group ${JSON.stringify(group)}`;
  return `${what} ${namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`}${why}`;
}
