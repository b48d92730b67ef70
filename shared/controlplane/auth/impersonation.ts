import type { UserInfo } from './user-info.ts';
import { forbidden, StatusError } from '../apimachinery/status-error.ts';
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from './authenticator.ts';
import { type Authorizer, forbiddenSentence, type ResourceAccess } from './authorizer.ts';

/** Request headers with names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Whom the request acts as: the user itself, or the one that its Impersonate-* headers name, if the user may do that.
 * Throws a StatusError otherwise.
 */
export function impersonate(user: UserInfo, headers: Headers, authorizer: Authorizer): UserInfo {
  const name = first(headers['impersonate-user']);
  const uid = first(headers['impersonate-uid']);
  const groups = all(headers['impersonate-group']);
  const extra = extraOf(headers);
  if (name === '') {
    if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return user;
    throw new StatusError(500, 'InternalError', 'Internal error occurred: requested impersonation without impersonating a user');
  }
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const demand = (access: Partial<ResourceAccess>): void => requireAccess(user, access, authorizer);
  if (account) demand({ resource: 'serviceaccounts', namespace: account[1] ?? '', name: account[2] ?? '' });
  else demand({ resource: 'users', name });
  if (uid !== '') demand({ group: 'authentication.k8s.io', version: 'v1', resource: 'uids', name: uid });
  for (const group of groups) demand({ resource: 'groups', name: group });
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values)
      demand({ group: 'authentication.k8s.io', version: 'v1', resource: 'userextras', subresource: key, name: value });
  }
  return {
    name,
    ...(uid === '' ? {} : { uid }),
    groups: completeGroups(name, groups, account?.[1]),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function requireAccess(user: UserInfo, access: Partial<ResourceAccess>, authorizer: Authorizer): void {
  const question: ResourceAccess = {
    kind: 'resource',
    verb: 'impersonate',
    group: '',
    version: 'v1',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    ...access,
  };
  const { allowed, reason } = authorizer.authorize(user, question);
  if (!allowed) throw forbidden(question, question.name, forbiddenSentence(user, question, reason));
}

/** Service accounts get their groups when none are named, and everybody is authenticated but the anonymous. */
function completeGroups(name: string, groups: readonly string[], accountNamespace: string | undefined): string[] {
  const named =
    groups.length === 0 && accountNamespace !== undefined
      ? ['system:serviceaccounts', `system:serviceaccounts:${accountNamespace}`]
      : [...groups];
  const last = name === ANONYMOUS.name ? UNAUTHENTICATED : AUTHENTICATED;
  return named.includes(AUTHENTICATED) || named.includes(UNAUTHENTICATED) ? named : [...named, last];
}

const EXTRA_PREFIX = 'impersonate-extra-';

function extraOf(headers: Headers): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (header.startsWith(EXTRA_PREFIX)) extra[decodeURIComponent(header.slice(EXTRA_PREFIX.length))] = all(value);
  }
  return extra;
}

const first = (value: string | readonly string[] | undefined): string => all(value)[0] ?? '';
/** Node joins repeated headers with a comma. */
const all = (value: string | readonly string[] | undefined): string[] => {
  if (value === undefined) return [];
  return typeof value === 'string' ? value.split(', ').filter((each) => each !== '') : [...value];
};
