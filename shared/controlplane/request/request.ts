import { parseFieldSelector } from '../../kube/field-selectors.ts';
import { SelectorSyntaxError } from '../../kube/selectors.ts';
import { pathSegmentProblems } from '../../kube/name-formats.ts';
import type { UserInfo } from '../auth/user-info.ts';

/** One request as it arrives, whatever brought it. */
export type ApiRequest = {
  readonly method: string;
  /** Path with encoded query. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Who speaks, when the way in already knows (direct calls); otherwise the headers say. */
  readonly user?: UserInfo;
  /** Common name and organizations of a verified client certificate. */
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[] };
};

/** What a request is about (RequestInfo of apiserver). */
export type RequestInfo = {
  readonly path: string;
  readonly query: Query;
  /** get, list, watch, create, update, patch, delete, deletecollection, or the method in lower case. */
  readonly verb: string;
  /** False for paths such as /healthz or /apis/batch: only `path` and `verb` mean something then. */
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  /** '' for cluster-scoped requests; for a Namespace itself: its own name. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** What follows the subresource (proxy paths). */
  readonly rest: readonly string[];
  /** '' for collections; for a list or watch the name its field selector asks for. */
  readonly name: string;
  /** False when `name` came from a field selector. */
  readonly nameInPath: boolean;
};

/** The query of a URL, read as Go reads it: pairs that cannot be decoded, or hold a semicolon, are left out. */
export class Query {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(text: string) {
    this.#values = text === '' ? NO_VALUES : readPairs(text);
  }
  /** First value; '' when absent. */
  get(name: string): string {
    return this.#values.get(name)?.[0] ?? '';
  }
  getAll(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
  has(name: string): boolean {
    return this.#values.has(name);
  }
  /** As apimachinery reads booleans of a query: present and not "false" or "0". */
  flag(name: string): boolean {
    if (!this.has(name)) return false;
    const value = this.get(name);
    return value.toLowerCase() !== 'false' && value !== '0';
  }
}

const NO_VALUES: ReadonlyMap<string, readonly string[]> = new Map();

function readPairs(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const name = unescape(equals < 0 ? pair : pair.slice(0, equals));
    const value = unescape(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return values;
}

/** Undefined for what is no percent-encoding. */
function unescape(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export const headerOf = (request: ApiRequest, name: string): string => {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
};

const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);

export function parseRequest(method: string, target: string): RequestInfo {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = new Query(mark < 0 ? '' : target.slice(mark + 1));
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  const api = apiOf(parts);
  if (api === undefined) return nonResource(method, path, query);
  let rest = parts.slice(api.length);
  const deprecatedWatch = rest[0] === 'watch';
  if (deprecatedWatch) rest = rest.slice(1);
  if (rest.length === 0) return nonResource(method, path, query);
  let namespace = '';
  if (rest[0] === 'namespaces' && rest[1] !== undefined) {
    namespace = rest[1];
    // `namespaces/x/pods` is about pods; `namespaces/x` and `namespaces/x/status` about the Namespace.
    if (rest[2] !== undefined && !NAMESPACE_SUBRESOURCES.has(rest[2])) rest = rest.slice(2);
  }
  const [resource = '', name = '', subresource = '', ...tail] = rest;
  const verb = deprecatedWatch ? 'watch' : verbOf(method, name !== '', query);
  const selected = name === '' && !deprecatedWatch && (verb === 'list' || verb === 'watch') ? selectedName(query) : '';
  return {
    path,
    query,
    verb,
    isResourceRequest: true,
    group: api.group,
    version: api.version,
    namespace,
    resource,
    subresource,
    rest: tail,
    name: name === '' ? selected : name,
    nameInPath: name !== '',
  };
}

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not percent-encoding: the part stands for itself, and names nothing that exists.
    return part;
  }
};

const apiOf = (parts: readonly string[]): { group: string; version: string; length: number } | undefined => {
  const [prefix, first, second] = parts;
  if (prefix === 'api' && first !== undefined && parts.length > 2) return { group: '', version: first, length: 2 };
  if (prefix === 'apis' && first !== undefined && second !== undefined && parts.length > 3) {
    return { group: first, version: second, length: 3 };
  }
  return undefined;
};

const nonResource = (method: string, path: string, query: Query): RequestInfo => ({
  path,
  query,
  verb: method.toLowerCase(),
  isResourceRequest: false,
  group: '',
  version: '',
  namespace: '',
  resource: '',
  subresource: '',
  rest: [],
  name: '',
  nameInPath: false,
});

function verbOf(method: string, named: boolean, query: Query): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    case 'GET':
    case 'HEAD':
      if (named) return 'get';
      return query.flag('watch') ? 'watch' : 'list';
    default:
      return method.toLowerCase();
  }
}

/** The authorizer sees a list by `metadata.name=x` as one about x. */
function selectedName(query: Query): string {
  const text = query.get('fieldSelector');
  if (text === '') return '';
  try {
    const name = parseFieldSelector(text).find(({ field, equals }) => field === 'metadata.name' && equals)?.value ?? '';
    return pathSegmentProblems(name).length === 0 ? name : '';
  } catch (error) {
    // The handler refuses it; until then it selects nothing.
    if (error instanceof SelectorSyntaxError) return '';
    throw error;
  }
}
