import fc from 'fast-check';
import { loadApiCases } from '../conformance/support/api-case.ts';
import type { TransportRequest } from '../../shared/kube/transport.ts';

/** A request as someone who means no good, or knows no better, might send it. */
export type HostileRequest = Pick<TransportRequest, 'method' | 'path' | 'headers'> & { readonly body?: string };

/** Recorded requests with something changed in them, patches of every type, and what is no request at all. */
export const hostileRequest = (): fc.Arbitrary<HostileRequest> =>
  fc
    .oneof({ weight: 5, arbitrary: changedRecording() }, { weight: 4, arbitrary: patch() }, { weight: 2, arbitrary: strayRequest() })
    .map(harmless);

const METHODS: Record<string, TransportRequest['method']> = { GET: 'GET', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' };
const CONTENT_TYPES: Record<string, string> = {
  json: 'application/json',
  yaml: 'application/yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  'json-patch': 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** Requests that a real client has sent; the fuzzer begins where they are. */
export const RECORDED: readonly HostileRequest[] = recorded();

function recorded(): HostileRequest[] {
  const requests: HostileRequest[] = [];
  for (const { exchanges } of loadApiCases()) {
    for (const exchange of exchanges) {
      if (!('method' in exchange)) continue;
      const method = METHODS[exchange.method];
      if (method === undefined) continue;
      const { path, type = 'json', body, text } = exchange;
      const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
      requests.push({
        method,
        path: inOurNamespace(path),
        headers: { 'content-type': CONTENT_TYPES[type] ?? type },
        ...(sent === undefined ? {} : { body: inOurNamespace(sent) }),
      });
    }
  }
  return requests.map(harmless);
}

function inOurNamespace(text: string): string {
  return text.replaceAll('{ns}', 'default').replaceAll('{id}', 'fuzz');
}

/** Nothing may get in the way of the requests that follow: no webhooks for all of them, no end of their namespace. */
function harmless(request: HostileRequest): HostileRequest {
  const { method, path } = request;
  const dangerous =
    path.includes('webhookconfigurations') || (path.includes('/namespaces') && method !== 'GET' && !/namespaces\/[^/?]+\/./.test(path));
  return dangerous && !path.includes('dryRun') ? { ...request, path: `${path}${path.includes('?') ? '&' : '?'}dryRun=All` } : request;
}

const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'metadata',
  'name',
  '$patch',
  '$retainKeys',
  '',
  'a/b',
  '\u0000',
  'é',
];
const LEAVES = [
  null,
  true,
  '',
  'x',
  ' ',
  '\u0000',
  '-1',
  '__proto__',
  'x'.repeat(300),
  '\ud800',
  '2026-01-01T00:00:00Z',
  '1e9999',
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
];

/** Any JSON value, built of what breaks things. */
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...LEAVES),
    fc.array(tie('value'), { maxLength: 3 }),
    // Entries, so that __proto__ is a key like any other.
    fc.array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

type Change = { readonly at: number; readonly how: 'replace' | 'delete' | 'add' | 'repeat'; readonly key: string; readonly value: unknown };
const change = (): fc.Arbitrary<Change> =>
  fc.record({
    at: fc.nat(10_000),
    how: fc.constantFrom('replace', 'delete', 'add', 'repeat'),
    key: fc.constantFrom(...KEYS),
    value: anyValue,
  });

const changedRecording = (): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(fc.constantFrom(...RECORDED), fc.array(change(), { maxLength: 3 }), headers(), garble())
    .map(([request, changes, more, garbled]) => ({
      ...request,
      headers: { ...request.headers, ...more },
      ...(request.body === undefined ? {} : { body: garbled(changedText(request.body, changes)) }),
    }));

/** What is no JSON stays as it is. */
function changedText(text: string, changes: readonly Change[]): string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
  const holder = { document };
  for (const each of changes) apply(each, places(holder));
  return JSON.stringify(holder.document) ?? 'null';
}

type Place = { readonly parent: Record<string, unknown>; readonly key: string };

/** Every value of a document, by what holds it. */
const places = (parent: object): Place[] =>
  Object.entries(parent).flatMap(([key, value]) => [
    { parent: parent as Record<string, unknown>, key },
    ...(typeof value === 'object' && value !== null ? places(value) : []),
  ]);

function apply({ at, how, key, value }: Change, all: readonly Place[]): void {
  const place = all[at % all.length];
  if (place === undefined) return;
  const { parent } = place;
  const target = parent[place.key];
  const define = (holder: object, name: string): unknown =>
    Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
  switch (how) {
    case 'delete':
      if (place.key !== 'document') delete parent[place.key];
      return;
    case 'repeat':
      if (Array.isArray(target)) target.push(...target);
      return;
    case 'add':
      if (Array.isArray(target)) target.push(value);
      else if (typeof target === 'object' && target !== null) define(target, key);
      return;
    case 'replace':
      define(parent, place.key);
  }
}

/** Mostly leaves a text as it is; sometimes cuts it, or puts something into it. */
const garble = (): fc.Arbitrary<(text: string) => string> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.constant((text: string) => text) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(10_000), fc.constantFrom('', '"', '{', ']', '\\', '\u0000', ':', '1e999', '{"__proto__":'), fc.boolean())
        .map(([at, insert, cut]) => (text: string) => {
          const position = at % (text.length + 1);
          return text.slice(0, position) + insert + (cut ? '' : text.slice(position));
        }),
    },
  );

const headers = (): fc.Arbitrary<Record<string, string>> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    fc.constantFrom<Record<string, string>>(
      { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
      { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
      { accept: 'application/yaml' },
      { accept: 'application/vnd.kubernetes.protobuf' },
      { accept: ';;;,,=as' },
      { 'content-type': 'application/yaml' },
      { 'content-type': 'application/apply-patch+yaml' },
      { 'content-type': 'text/plain; charset="' },
      { 'content-type': '' },
      { 'user-agent': '\u0001\ud800/' },
      { 'impersonate-user': 'nobody' },
      { 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'a', 'impersonate-extra-__proto__': 'x' },
    ),
  );

const TARGETS = [
  ...new Set(RECORDED.filter(({ method }) => method === 'PATCH' || method === 'PUT').map(({ path }) => path.split('?')[0] ?? '')),
];
const POINTERS = [
  '',
  '/',
  '/metadata',
  '/metadata/labels',
  '/metadata/labels/a',
  '/metadata/annotations/x~1y',
  '/metadata/finalizers/0',
  '/metadata/managedFields',
  '/spec',
  '/spec/template/spec/containers/0',
  '/spec/template/spec/containers/-',
  '/spec/template/spec/containers/99999999999',
  '/status',
  '/status/conditions/-1',
  '/data/a',
  '/__proto__/polluted',
  '/constructor/prototype/polluted',
  '/~2',
  'spec',
  '/metadata/name',
];
const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test', 'nothing', '__proto__'];

const jsonPatch = (): fc.Arbitrary<unknown> =>
  fc.array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record(
          { op: fc.constantFrom(...OPERATIONS), path: fc.constantFrom(...POINTERS), from: fc.constantFrom(...POINTERS), value: anyValue },
          { requiredKeys: ['op', 'path'] },
        ),
      },
      { weight: 1, arbitrary: anyValue },
    ),
    { maxLength: 4 },
  );

const DIRECTIVES: readonly unknown[] = [
  { $patch: 'delete' },
  { $patch: 'replace', metadata: {} },
  { $patch: 'nonsense' },
  { metadata: { $retainKeys: ['labels'], labels: { a: 'b' } } },
  { metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } },
  { metadata: { '$setElementOrder/finalizers': ['b', 'a'], finalizers: ['a'] } },
  { metadata: { '$setElementOrder/ownerReferences': [{ uid: 'x' }], ownerReferences: [{ $patch: 'delete', uid: 'x' }] } },
  { spec: { template: { spec: { containers: [{ $patch: 'delete' }] } } } },
  { spec: { template: { spec: { containers: [{ $patch: 'merge', name: 'c', env: [{ $patch: 'replace' }] }] } } } },
  { spec: { template: { spec: { '$setElementOrder/containers': [{ name: 'c' }, 3, null], containers: [null] } } } },
];

const patch = (): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(
      fc.constantFrom(...TARGETS),
      fc.constantFrom('', '', '/status', '/scale'),
      fc.constantFrom(
        '?fieldManager=fuzz',
        '?fieldManager=fuzz&force=true',
        '?fieldValidation=Strict',
        '?dryRun=All',
        '?dryRun=some',
        '?force=maybe',
        '',
      ),
      fc.constantFrom(...Object.values(CONTENT_TYPES)),
      fc.oneof(jsonPatch(), fc.constantFrom(...DIRECTIVES), anyValue, fc.tuple(fc.constantFrom(...DIRECTIVES), anyValue).map(merged)),
      garble(),
    )
    .map(([target, subresource, query, type, body, garbled]) => ({
      method: 'PATCH',
      path: `${target}${subresource}${query}`,
      headers: { 'content-type': type },
      body: garbled(JSON.stringify(body)),
    }));

const merged = ([directive, value]: [unknown, unknown]): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...(directive as object), ...value } : directive;

const SEGMENTS = [
  'api',
  'apis',
  'v1',
  'batch',
  'namespaces',
  'default',
  'pods',
  'jobs',
  'nodes',
  'status',
  'log',
  'eviction',
  'binding',
  'scale',
  'watch',
  'proxy',
  '..',
  '%2e%2e',
  '%',
  '%00',
  '%ff',
  '__proto__',
  'constructor',
  'openapi',
  'v2',
  'v3',
  'healthz',
  'é',
  '',
  ' ',
];
const QUERIES = [
  'watch=1',
  'watch=true&resourceVersion=99999999999999999999',
  'limit=-1',
  'limit=1&continue=AAAA',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoieFx1MDAwMCJ9',
  'labelSelector=a in (',
  'labelSelector=__proto__=x',
  'fieldSelector=metadata.name%3D%3D',
  'fieldSelector=__proto__=x',
  'resourceVersion=abc',
  'resourceVersion=999999',
  'resourceVersionMatch=Exact&resourceVersion=3',
  'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&watch=1&allowWatchBookmarks=1',
  'timeoutSeconds=-5&watch=1',
  'dryRun=None',
  'pretty=1',
  '%',
  '&&&==',
  'fieldManager=%00',
  'propagationPolicy=Sideways',
  'gracePeriodSeconds=-99',
  'tailLines=-1&follow=x',
];

const strayRequest = (): fc.Arbitrary<HostileRequest> =>
  fc
    .tuple(
      fc.constantFrom(...Object.values(METHODS)),
      fc.oneof(
        fc.array(fc.constantFrom(...SEGMENTS), { maxLength: 8 }).map((parts) => `/${parts.join('/')}`),
        fc.constantFrom(...RECORDED.map(({ path }) => path.split('?')[0] ?? '')),
        fc.string().map((text) => `/${encodeURI(text.toWellFormed())}`),
      ),
      fc.array(fc.constantFrom(...QUERIES), { maxLength: 2 }),
      headers(),
      fc.option(anyValue, { nil: undefined }),
    )
    .map(([method, path, query, more, body]) => ({
      method,
      path: query.length === 0 ? path : `${path}?${query.join('&')}`,
      headers: { 'content-type': 'application/json', ...more },
      ...(body === undefined || method === 'GET' ? {} : { body: JSON.stringify(body) }),
    }));
