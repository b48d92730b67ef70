import { badRequest, forbidden, type StatusError } from '../apimachinery/status-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from './authenticator.ts';
import { type AccessQuestion, type Authorizer, forbiddenSentence, type ResourceAccess } from './authorizer.ts';
import type { UserInfo } from './user-info.ts';

/** Request headers with names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Whom the request acts as: the user itself, or the one that its Impersonate-* headers name, if the user may do that.
 * The narrow permissions of constrained impersonation (`impersonate-on:user-info:get` and `impersonate:user-info`) are
 * tried before the old one (`impersonate`). Throws a StatusError with the first refusal when none is enough.
 */
export function impersonate(user: UserInfo, headers: Headers, question: AccessQuestion, authorizer: Authorizer): UserInfo {
  const wanted = wantedUser(headers);
  if (wanted === undefined) return user;
  let refusal: StatusError | undefined;
  for (const mode of MODES) {
    if (!mode.isFor(wanted)) continue;
    const outcome = tryMode(mode, user, wanted, question, authorizer);
    if (outcome.kind === 'granted') return outcome.user;
    refusal ??= outcome.refusal;
  }
  throw refusal ?? badRequest(`nobody may impersonate ${wanted.name}`);
}

type WantedUser = {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
};

/** Undefined: the request acts as itself. Throws 400 for headers that name anything but a user. */
function wantedUser(headers: Headers): WantedUser | undefined {
  const name = first(headers['impersonate-user']);
  const uid = first(headers['impersonate-uid']);
  const groups = all(headers['impersonate-group']);
  const extra = extraOf(headers);
  if (name !== '') return { name, uid, groups, extra };
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  const shown =
    `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${goStrings(groups.length === 0 ? undefined : groups)}, ` +
    `Extra:${goExtra(extra)}}`;
  throw badRequest(`requested ${shown} without impersonating a user name`);
}

/** As `%#v` prints them. */
const goStrings = (values: readonly string[] | undefined): string =>
  values === undefined ? '[]string(nil)' : `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`;
function goExtra(extra: WantedUser['extra']): string {
  const keys = Object.keys(extra).sort();
  if (keys.length === 0) return 'map[string][]string(nil)';
  return `map[string][]string{${keys.map((key) => `${JSON.stringify(key)}:${goStrings(extra[key])}`).join(', ')}}`;
}

type Mode = {
  /** Suffix of its verbs; '' for the old permission, which does not look at what is asked. */
  readonly name: string;
  isFor(wanted: WantedUser): boolean;
};

const MODES: readonly Mode[] = [
  { name: 'arbitrary-node', isFor: (wanted) => isOnlyName(wanted) && nodeOf(wanted.name) !== undefined },
  { name: 'serviceaccount', isFor: (wanted) => isOnlyName(wanted) && accountOf(wanted.name) !== undefined },
  { name: 'user-info', isFor: ({ name }) => nodeOf(name) === undefined && accountOf(name) === undefined },
  { name: '', isFor: () => true },
];

const isOnlyName = ({ uid, groups, extra }: WantedUser): boolean => uid === '' && groups.length === 0 && Object.keys(extra).length === 0;

const NODE_PREFIX = 'system:node:';
const NODES = 'system:nodes';

function nodeOf(name: string): string | undefined {
  const node = name.startsWith(NODE_PREFIX) ? name.slice(NODE_PREFIX.length) : '';
  return node !== '' && dns1123SubdomainProblems(node).length === 0 ? node : undefined;
}

function accountOf(name: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace = '', account = ''] = /^system:serviceaccount:([^:]*):([^:]*)$/.exec(name) ?? [];
  const isValid = dns1123LabelProblems(namespace).length === 0 && dns1123SubdomainProblems(account).length === 0;
  return isValid ? { namespace, name: account } : undefined;
}

type Outcome = { readonly kind: 'granted'; readonly user: UserInfo } | { readonly kind: 'refused'; readonly refusal: StatusError };

/** Every demand of a mode in upstream's order; the first that is not met refuses. */
function tryMode(mode: Mode, user: UserInfo, wanted: WantedUser, question: AccessQuestion, authorizer: Authorizer): Outcome {
  const demands = [
    ...(mode.name === '' ? [] : [{ ...question, verb: `impersonate-on:${mode.name}:${question.verb}` }]),
    ...identityDemands(mode, wanted),
  ];
  for (const demand of demands) {
    const { allowed, reason } = authorizer.authorize(user, demand);
    if (!allowed) return { kind: 'refused', refusal: refused(user, demand, reason) };
    const why = mode.name === '' || demand.kind === 'path' ? '' : unfitFor(demand);
    if (why !== '') return { kind: 'refused', refusal: refused(user, demand, why) };
  }
  return { kind: 'granted', user: completed(mode, wanted) };
}

/** What the narrow permissions never give, whoever asks. */
function unfitFor({ resource, name, verb }: ResourceAccess): string {
  if (!verb.startsWith('impersonate:') || resource !== 'groups') return '';
  if (name === '') return 'impersonating the empty string group is not allowed';
  return name === 'system:masters' ? 'impersonating the system:masters group is not allowed' : '';
}

const refused = (user: UserInfo, question: AccessQuestion, reason: string): StatusError => {
  const of = question.kind === 'resource' ? question : { group: '', resource: '' };
  return forbidden(of, question.kind === 'resource' ? question.name : '', forbiddenSentence(user, question, reason));
};

const AUTHENTICATION = { group: 'authentication.k8s.io', version: 'v1' };

/** One question for each part of the user that is wanted. */
function identityDemands(mode: Mode, { name, uid, groups, extra }: WantedUser): ResourceAccess[] {
  const basic: ResourceAccess = {
    kind: 'resource',
    verb: mode.name === '' ? 'impersonate' : `impersonate:${mode.name}`,
    ...(mode.name === '' ? { group: '', version: 'v1' } : AUTHENTICATION),
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
  };
  const account = accountOf(name);
  const node = mode.name === '' ? undefined : nodeOf(name);
  const who =
    account === undefined
      ? { resource: node === undefined ? 'users' : 'nodes', name: node ?? name }
      : { resource: 'serviceaccounts', namespace: account.namespace, name: account.name };
  return [
    { ...basic, ...who },
    ...(uid === '' ? [] : [{ ...basic, ...AUTHENTICATION, resource: 'uids', name: uid }]),
    ...groups.map((group) => ({ ...basic, resource: 'groups', name: group })),
    ...Object.keys(extra).flatMap((key) =>
      (extra[key] ?? []).map((value) => ({ ...basic, ...AUTHENTICATION, resource: 'userextras', subresource: key, name: value })),
    ),
  ];
}

/** Service accounts get their groups when none are named, nodes theirs, and everybody is authenticated but the anonymous. */
function completed(mode: Mode, { name, uid, groups, extra }: WantedUser): UserInfo {
  const account = accountOf(name);
  let named = [...groups];
  if (account !== undefined && groups.length === 0) named = ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`];
  else if (mode.name !== '' && nodeOf(name) !== undefined) named = [NODES];
  const last = name === ANONYMOUS.name ? UNAUTHENTICATED : AUTHENTICATED;
  if (!named.includes(UNAUTHENTICATED) && !named.includes(last)) named.push(last);
  return { name, ...(uid === '' ? {} : { uid }), groups: named, ...(Object.keys(extra).length === 0 ? {} : { extra }) };
}

const EXTRA_PREFIX = 'impersonate-extra-';

function extraOf(headers: Headers): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const [header, value] of Object.entries(headers)) {
    if (header.startsWith(EXTRA_PREFIX)) extra[unescapeKey(header.slice(EXTRA_PREFIX.length))] = all(value);
  }
  return extra;
}

/** What is no percent-encoding stands for itself. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

const first = (value: string | readonly string[] | undefined): string => all(value)[0] ?? '';
/** Node joins repeated headers with a comma. */
const all = (value: string | readonly string[] | undefined): string[] => {
  if (value === undefined) return [];
  return typeof value === 'string' ? value.split(', ').filter((each) => each !== '') : [...value];
};
