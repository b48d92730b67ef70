/** An API server of a worker cluster that answers what it likes. Each trick is a cluster of its own, by the first part of the path. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export type HostileServer = {
  url(trick: string): string;
  /** Requests for this trick so far. */
  requests(trick: string): number;
  close(): Promise<void>;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
/** What is not named is done honestly: by a cluster with no node and no Job, where nothing happens. */
export type Trick = {
  readonly namespace?: Handler;
  readonly version?: Handler;
  readonly nodes?: Handler;
  readonly jobs?: Handler;
  readonly leases?: Handler;
  readonly watch?: Handler;
  readonly write?: Handler;
};

const MIB = 1024 * 1024;
const PIECE = 'x'.repeat(64 * 1024);

export async function startHostileServer(
  tricks: Readonly<Record<string, Trick>>,
  tls: { readonly certPem: string; readonly keyPem: string },
): Promise<HostileServer> {
  const counts = new Map<string, number>();
  const server: Server = createServer({ cert: tls.certPem, key: tls.keyPem }, (request, response) => {
    response.on('error', () => response.destroy());
    const [, name = '', path = ''] = /^\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
    counts.set(name, (counts.get(name) ?? 0) + 1);
    (handlerOf(name, tricks[name] ?? {}, request, path) ?? json({ kind: 'Status', code: 404 }, 404))(request, response);
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (trick) => `https://127.0.0.1:${port}/${trick}`,
    requests: (trick) => counts.get(trick) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function handlerOf(name: string, trick: Trick, { method }: IncomingMessage, path: string): Handler | undefined {
  if (/\/leases\/?/.test(path) && !path.includes('labelSelector')) return method === 'GET' ? NO_LEASE : takeLease;
  if (method !== 'GET') return trick.write ?? json({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }, 403);
  if (path.endsWith('/namespaces/kube-system'))
    return trick.namespace ?? json({ metadata: { name: 'kube-system', uid: `uid-of-${name}` } });
  if (path.startsWith('/version')) return trick.version ?? json({ gitVersion: 'v1.36.2' });
  const watch = path.includes('watch=true');
  if (path.includes('/nodes')) return watch ? quiet : (trick.nodes ?? json(listOf([])));
  if (path.includes('/leases')) return watch ? quiet : (trick.leases ?? json(listOf([])));
  if (path.includes('/jobs')) return watch ? (trick.watch ?? quiet) : (trick.jobs ?? json(listOf([])));
  return undefined;
}

const NO_LEASE: Handler = (request, response) =>
  json({ kind: 'Status', code: 404, reason: 'NotFound', message: 'no such Lease' }, 404)(request, response);

/** Whatever a manager claims is granted. */
const takeLease: Handler = (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const lease = JSON.parse(Buffer.concat(pieces).toString()) as { metadata: object };
    json({ ...lease, metadata: { ...lease.metadata, uid: 'uid-of-lease', resourceVersion: '100' } })(request, response);
  });
};

export const json =
  (body: unknown, status = 200): Handler =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const text =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Handler =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

export const listOf = (items: readonly unknown[], token?: string): object => ({
  kind: 'JobList',
  apiVersion: 'batch/v1',
  metadata: { resourceVersion: '100', ...(token === undefined ? {} : { continue: token }) },
  items,
});

const quiet: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(line('BOOKMARK', { metadata: { resourceVersion: '100' } }));
};

export const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

/** Writes what `next` gives as fast as it is taken, until the other side has had enough. */
export const pour =
  (next: (count: number) => string | Buffer, before = '', headers: Record<string, string> = {}): Handler =>
  (_request, response) => {
    response.writeHead(200, headers);
    response.write(before);
    let count = 0;
    const more = (): void => {
      while (!response.destroyed && response.write(next(count++)));
    };
    response.on('drain', more);
    more();
  };

/** A piece now and then, for ever. */
export const drip =
  (piece: string, everyMs: number, before = ''): Handler =>
  (_request, response) => {
    response.writeHead(200);
    response.write(before);
    const timer = setInterval(() => response.write(piece), everyMs);
    response.on('close', () => clearInterval(timer));
  };

export type CopyParts = {
  readonly uid?: string;
  readonly originUid?: string;
  readonly status?: unknown;
  readonly resourceVersion?: string;
};

/** A copy as we make them, of a Job of this name. */
export const aCopy = (
  name: string,
  { uid = `uid-${name}`, originUid = 'of-nobody', status = {}, resourceVersion = '7' }: CopyParts = {},
): object => ({
  metadata: {
    name,
    namespace: 'team',
    uid,
    resourceVersion,
    labels: { 'switchyard.dev/origin': 'm1' },
    annotations: { 'switchyard.dev/origin-uid': originUid, 'switchyard.dev/dispatch-epoch': '1' },
  },
  spec: { template: { spec: { containers: [] } } },
  status,
});

const aNode = (allocatable: unknown): object => ({ metadata: { name: 'n', uid: 'n', resourceVersion: '1' }, status: { allocatable } });

/** Pages of new objects without end. */
const endlessList = (): Handler => {
  let page = 0;
  return (request, response) => {
    const items = Array.from({ length: 100 }, (_each, index) => aCopy(`c-${page}-${index}`));
    json(listOf(items, `token-${page++}`))(request, response);
  };
};

/** Each trick alone; `reason` is what the WorkerCluster then says of Ready. */
export const tricks = (): Readonly<Record<string, Trick & { readonly reason: string; readonly message?: RegExp }>> => ({
  'endless-list': { jobs: endlessList(), reason: 'TooManyObjects', message: /jobs take more than the 32 MiB/ },
  'page-repeated': {
    jobs: (request, response) => json(listOf([aCopy('c')], String(Math.random())))(request, response),
    reason: 'NotKubernetes',
  },
  'token-repeated': { jobs: json(listOf([], 'same')), reason: 'NotKubernetes', message: /does not come to an end/ },
  'page-of-512-mb': { jobs: pour(() => PIECE, '{"items":["'), reason: 'AnswerTooLarge' },
  'page-announced': { jobs: pour(() => PIECE, '', { 'content-length': String(512 * MIB) }), reason: 'AnswerTooLarge' },
  'page-of-brackets': { jobs: text('['.repeat(1_000_000)), reason: 'AnswerTooLarge', message: /levels deep/ },
  'page-of-empty-objects': {
    jobs: text(`{"metadata":{},"items":[${'{},'.repeat(1_000_000)}{}]}`),
    reason: 'AnswerTooLarge',
    message: /values/,
  },
  'page-that-drips': { jobs: drip('x', 50, '{"items":["'), reason: 'AnswerTooSlow' },
  'page-that-is-silent': { jobs: () => undefined, reason: 'AnswerTooSlow' },
  'page-in-gzip': {
    jobs: text(gzipSync(`{"items":["${'x'.repeat(64 * MIB)}"]}`), { 'content-encoding': 'gzip' }),
    reason: 'NotKubernetes',
    message: /no JSON/,
  },
  'page-in-html': { jobs: text('<html>secret</html>', { 'content-type': 'text/html' }), reason: 'NotKubernetes', message: /no JSON$/ },
  'page-elsewhere': { jobs: text('', { location: 'https://127.0.0.1:1/' }, 302), reason: 'NotKubernetes', message: /302/ },
  'page-of-something-else': { jobs: json({ kind: 'Greeting' }), reason: 'NotKubernetes', message: /no list/ },
  'page-of-no-objects': { jobs: json(listOf([1, null, 'job'])), reason: 'NotKubernetes' },
  'large-headers': { jobs: text('{}', { 'x-much': 'x'.repeat(64 * 1024) }), reason: 'AnswerTooLarge', message: /headers/ },
  'endless-event': { watch: pour(() => PIECE, '{"type":"ADDED","object":"'), reason: 'AnswerTooLarge', message: /event of the watch/ },
  'event-of-nothing': { watch: text('{"type":"ADDED","object":{}}\n'), reason: 'NotKubernetes' },
  'event-that-is-deep': { watch: text(`{"type":"ADDED","object":${'['.repeat(100)}\n`), reason: 'AnswerTooLarge' },
  'event-in-latin': { watch: text('lorem ipsum\n'), reason: 'NotKubernetes' },
  'nodes-without-end': { nodes: pour(() => PIECE, '{"items":["'), reason: 'AnswerTooLarge', message: /nodes/ },
  'identity-of-garbage': { namespace: json({ metadata: { uid: 'PWNED\n' } }), reason: 'NotKubernetes', message: /no UID/ },
  'identity-without-end': { namespace: pour(() => PIECE), reason: 'AnswerTooLarge' },
  'version-without-end': { version: pour(() => PIECE), reason: 'AnswerTooLarge' },
  'version-of-garbage': { version: text('PWNED'), reason: 'NotKubernetes' },
  'version-elsewhere': { version: text('', { location: 'https://127.0.0.1:1/' }, 307), reason: 'NotKubernetes' },
  'eighty-thousand-digits': {
    nodes: json(listOf([aNode({ cpu: '9'.repeat(80_000), memory: '1Gi' })])),
    reason: 'Connected',
    message: /^connected; allocatable cpu of node "n" does not count: it is no quantity/,
  },
  'ten-thousand-resources': {
    nodes: json(listOf([aNode(Object.fromEntries(Array.from({ length: 10_000 }, (_each, index) => [`a/r${index}`, '1'])))])),
    reason: 'Connected',
    message: /more than 64 resources/,
  },
  'versions-that-are-no-numbers': {
    jobs: json({ ...listOf([aCopy('odd', { resourceVersion: 'abc' })]), metadata: { resourceVersion: 'zzz' } }),
    watch: (_request, response) => {
      response.writeHead(200);
      for (const resourceVersion of ['-1', '0x10', '9'.repeat(100)]) response.write(line('MODIFIED', aCopy('odd', { resourceVersion })));
    },
    reason: 'Connected',
  },
  'events-of-what-was-never-listed': {
    watch: (_request, response) => {
      response.writeHead(200);
      const never = aCopy('never', { resourceVersion: '100' });
      for (const type of ['DELETED', 'MODIFIED', 'DELETED', 'MODIFIED']) response.write(line(type, never));
    },
    reason: 'Connected',
  },
});

/** Everything at once: each connection plays another trick, and lists that can be read are followed by a flood of events. */
export function allTricksAtOnce(): Trick {
  const each = Object.values(tricks());
  let turn = 0;
  const inTurn =
    (kind: 'jobs' | 'nodes' | 'version'): Handler =>
    (request, response) => {
      const handlers = each.flatMap((trick) => trick[kind] ?? []);
      (handlers[turn++ % handlers.length] ?? json(listOf([])))(request, response);
    };
  const flood = pour((count) => line('MODIFIED', aCopy(`flood-${count % 500}`, { resourceVersion: String(count + 1) })));
  const floodOfBlanks = pour(() => '\n'.repeat(64 * 1024));
  const floodOfTinyPieces = pour(() => 'x');
  const watches = [flood, floodOfBlanks, floodOfTinyPieces, ...each.flatMap(({ watch }) => watch ?? [])];
  return {
    // The one that is honest now and then gets further.
    version: (request, response) => (turn++ % 3 === 0 ? inTurn('version') : json({ gitVersion: `v1.${turn}.0` }))(request, response),
    nodes: (request, response) => (turn++ % 2 === 0 ? inTurn('nodes') : json(listOf([])))(request, response),
    jobs: (request, response) => (turn++ % 2 === 0 ? inTurn('jobs') : json(listOf([])))(request, response),
    watch: (request, response) => (watches[turn++ % watches.length] ?? flood)(request, response),
    write: pour(() => PIECE),
  };
}
