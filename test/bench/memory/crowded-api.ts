/** An API server as far as a manager needs one, on which so many Jobs wait that they are made up when they are asked for. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';

export type CrowdedApi = {
  readonly url: string;
  /** Jobs that have been told why they wait. */
  told(): number;
  close(): Promise<void>;
};

export async function startCrowdedApi({ jobs, jobBytes }: { readonly jobs: number; readonly jobBytes: number }): Promise<CrowdedApi> {
  const watchers = new Set<ServerResponse>();
  const told = new Set<number>();
  /** By path: what the manager has made is there when it looks. */
  const secrets = new Map<string, string>();
  let version = jobs + 1;
  const filler = 'x'.repeat(Math.max(0, jobBytes - JSON.stringify(aJob(jobs, '', 1)).length));

  const patched = (index: number, status: object, response: ServerResponse): void => {
    told.add(index);
    const job = { ...aJob(index, filler, ++version), status };
    const text = JSON.stringify(job);
    for (const watcher of watchers) watcher.write(`{"type":"MODIFIED","object":${text}}\n`);
    send(response, 200, text);
  };

  const page = (url: URL): string => {
    const start = Number(url.searchParams.get('continue') ?? '0');
    const end = Math.min(jobs, start + Number(url.searchParams.get('limit') ?? jobs));
    const items = Array.from({ length: end - start }, (_, offset) => aJob(start + offset, filler, start + offset + 1));
    const metadata = { resourceVersion: String(version), ...(end < jobs ? { continue: String(end) } : {}) };
    return JSON.stringify({ apiVersion: 'batch/v1', kind: 'JobList', metadata, items });
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://api');
    const body = await bodyOf(request);
    const [plural = '', name] = url.pathname.split('/').slice(url.pathname.startsWith('/api/') ? 3 : 4);
    if (url.searchParams.get('watch') === 'true') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      if (plural === 'jobs') watchers.add(response);
      response.once('close', () => watchers.delete(response));
      return;
    }
    const jobPatched = /\/jobs\/waiting-(\d+)\/status$/.exec(url.pathname)?.[1];
    if (request.method === 'PATCH' && jobPatched !== undefined) {
      const { status } = JSON.parse(body) as { status: object };
      return patched(Number(jobPatched), status, response);
    }
    if (request.method === 'POST' && plural.endsWith('reviews')) {
      const status = { authenticated: true, user: { username: 'somebody' }, allowed: true };
      return send(response, 201, JSON.stringify({ ...(JSON.parse(body) as object), status }));
    }
    if (request.method === 'POST') {
      const made = stored(body);
      if (url.pathname.endsWith('/secrets')) secrets.set(`${url.pathname}/${nameIn(made)}`, made);
      return send(response, 201, made);
    }
    const secret = secrets.get(url.pathname);
    if (secret !== undefined) return send(response, 200, secret);
    if (request.method === 'PATCH') return send(response, 200, stored(body));
    if (plural === 'jobs' && name === undefined) return send(response, 200, page(url));
    const list = LISTS[plural];
    if (url.pathname.endsWith(`/${plural}`) && plural !== '') {
      return send(response, 200, JSON.stringify({ metadata: { resourceVersion: String(version) }, items: list ?? [] }));
    }
    send(
      response,
      404,
      JSON.stringify({ kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message: `${url.pathname} is not there` }),
    );
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    told: () => told.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const meta = (name: string, namespace?: string): object => ({
  name,
  namespace,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

/** Quota for all of them, and no cluster to run them on. */
const LISTS: Readonly<Record<string, readonly object[]>> = {
  namespaces: [{ metadata: meta('team') }],
  resourceflavors: [{ metadata: meta('default'), spec: {} }],
  clusterqueues: [
    {
      metadata: meta('main'),
      spec: {
        namespaceSelector: {},
        resourceGroups: [
          {
            coveredResources: ['cpu', 'memory'],
            flavors: [{ name: 'default', resources: [quota('cpu', '1M'), quota('memory', '1000Ti')] }],
          },
        ],
      },
    },
  ],
  localqueues: [{ metadata: meta('main', 'team'), spec: { clusterQueue: 'main' } }],
};

function quota(name: string, nominalQuota: string): object {
  return { name, nominalQuota };
}

/** As an API server stores what kubectl has sent. */
function aJob(index: number, filler: string, version: number): object {
  const name = `waiting-${index}`;
  const uid = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const generated = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const container = {
    name: 'main',
    image: 'registry.example.com/team/step:1.2.3',
    command: ['/bin/sh', '-c', filler],
    resources: { requests: { cpu: `${100 + (index % 50)}m`, memory: '64Mi' }, limits: { memory: '128Mi' } },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  };
  return {
    metadata: {
      ...meta(name, 'team'),
      uid,
      resourceVersion: String(version),
      generation: 1,
      labels: { [QUEUE_NAME_LABEL]: 'main', app: 'etl', ...generated },
      annotations: { 'acme.io/owner': 'team', 'acme.io/commit': uid },
      managedFields: [
        {
          manager: 'kubectl',
          operation: 'Update',
          apiVersion: 'batch/v1',
          time: '2026-01-01T00:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: {},
        },
      ],
    },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: true,
      podReplacementPolicy: 'TerminatingOrFailed',
      managedBy: MANAGER_CONTROLLER_NAME,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: {
        metadata: { labels: generated },
        spec: {
          containers: [container],
          restartPolicy: 'Never',
          dnsPolicy: 'ClusterFirst',
          schedulerName: 'default-scheduler',
          securityContext: {},
        },
      },
    },
    status: {},
  };
}

/** Whatever else is written is taken. */
function stored(body: string): string {
  const object = JSON.parse(body) as { metadata?: object };
  return JSON.stringify({ ...object, metadata: { ...meta('stored'), ...object.metadata, resourceVersion: '2' } });
}

const nameIn = (object: string): string => (JSON.parse(object) as { metadata: { name: string } }).metadata.name;

function send(response: ServerResponse, code: number, body: string): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(body);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
