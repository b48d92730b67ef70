import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import { foreignRequest } from './foreign-request.ts';
import { workOf } from './work-of.ts';
import { RequestRefused, type ApiAnswer, type ApiRequest, type Caller, type Route, type ServerEvent } from './route.ts';

/** The session of one viewer, as far as it is served. */
export type DashboardSession = {
  readonly user: KubeUser;
  readonly viewer: object;
  follow(lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<ServerEvent>;
  jobs(parameters: URLSearchParams): Promise<FoundHere<object> | { readonly problem: string }>;
  job(namespace: string, name: string): Promise<FoundHere<object>>;
  explain(namespace: string, name: string): Promise<FoundHere<object>>;
  yaml(namespace: string, name: string): Promise<FoundHere<string>>;
  events(namespace: string, name: string): Promise<FoundHere<object>>;
  pods(namespace: string, name: string): Promise<FoundHere<object>>;
  log(namespace: string, name: string, pod: string): Promise<FoundHere<object>>;
  followLog(
    namespace: string,
    name: string,
    pod: string,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<FoundHere<AsyncIterable<ServerEvent>>>;
  queues(): object;
  queue(name: string): Promise<FoundHere<object>>;
  whatIf(name: string, wishes: URLSearchParams): Promise<FoundHere<object> | { readonly problem: string }>;
  whatIfChanged(body: unknown): Promise<FoundHere<object> | { readonly problem: string }>;
  clusters(): object;
  cluster(name: string): Promise<FoundHere<object>>;
  submissions(): Promise<FoundHere<object>>;
  timeLine(parameters: URLSearchParams): Promise<FoundHere<object> | { readonly problem: string }>;
  yardAt(parameters: URLSearchParams): Promise<FoundHere<object> | { readonly problem: string }>;
  queueTimeLine(name: string, parameters: URLSearchParams): Promise<FoundHere<object> | { readonly problem: string }>;
  clusterTimeLine(name: string, parameters: URLSearchParams): Promise<FoundHere<object> | { readonly problem: string }>;
  usage(parameters: URLSearchParams): Promise<FoundHere<object> | { readonly problem: string }>;
  act(body: unknown): Promise<FoundHere<object> | { readonly problem: string }>;
};

export type RefusedHere = { readonly kind: 'Refused'; readonly status: 401 | 403 | 503; readonly why: string };
export type FoundHere<T> =
  | { readonly kind: 'Found'; readonly value: T }
  | { readonly kind: 'Missing'; readonly what: string; readonly reason?: 'NotManaged' }
  | RefusedHere;

/** Authenticates the caller; no viewer is served without. */
export type OpenDashboard = (caller: Caller) => Promise<DashboardSession | RefusedHere>;

const BASE = '/api/v1';
/** `{resource}` is `jobs`, or the resource and group of another kind of work. */
const JOB = `${BASE}/namespaces/{namespace}/{resource}/{name}`;

/** The session of the caller, whose requests it counts. Throws {@link RequestRefused}. */
type Opened = (request: Pick<ApiRequest, 'caller' | 'countFor'>) => Promise<DashboardSession>;

const openedBy =
  (open: OpenDashboard): Opened =>
  async ({ caller, countFor }) => {
    const session = await open(caller);
    if ('kind' in session) throw refusedAs(session);
    countFor(session.user);
    return session;
  };

/** The routes of the page: what viewers may read, and what they may do. */
export const dashboardRoutes = (open: OpenDashboard): readonly Route[] => [...viewRoutes(open), actionRoute(open)];

/** What viewers may read. Every route checks rights by itself, as its answer depends on the viewer. */
export function viewRoutes(open: OpenDashboard): readonly Route[] {
  const opened = openedBy(open);
  const view: MakeView = (path, summary, answer) => ({
    method: 'GET',
    path,
    summary,
    access: 'Own',
    answers: { 200: { about: summary } },
    handle: async (request) => answer(await opened(request), request),
  });
  return [...jobsViews(view), ...jobViews(view), ...placeViews(view), ...pastViews(view), whatIfRoute(opened)];
}

type MakeView = (path: string, summary: string, answer: Answer) => Route;
type Answer = (session: DashboardSession, request: ApiRequest) => Promise<ApiAnswer>;

const jobsViews = (view: MakeView): readonly Route[] => [
  view(`${BASE}/viewer`, 'Who is asking, and what he may see', async ({ viewer }) => json(viewer)),
  view(`${BASE}/stream`, 'The yard, and then what changes', async (session, { lastEventId, signal }) => ({
    kind: 'Events',
    events: session.follow(lastEventId, signal),
  })),
  view(`${BASE}/jobs`, 'Jobs, filtered, ordered and in part', async (session, { query }) => understood(await session.jobs(query))),
];

const jobViews = (view: MakeView): readonly Route[] => [
  view(
    JOB,
    'All about one Job',
    named((session, namespace, name) => session.job(namespace, name)),
  ),
  view(
    `${JOB}/explanation`,
    'Why it waits, and what would make it run',
    named((session, namespace, name) => session.explain(namespace, name)),
  ),
  view(
    `${JOB}/events`,
    'What Events say of it',
    named((session, namespace, name) => session.events(namespace, name)),
  ),
  view(`${JOB}/yaml`, 'As it is stored', async (session, { parameters }) => {
    const { namespace, name } = workOf(parameters);
    return {
      kind: 'Bytes',
      status: 200,
      headers: { 'content-type': 'application/yaml; charset=utf-8' },
      body: Buffer.from(found(await session.yaml(namespace, name))),
    };
  }),
  view(
    `${JOB}/pods`,
    'Its pods that are there now',
    named((session, namespace, name) => session.pods(namespace, name)),
  ),
  view(
    `${JOB}/pods/{pod}/log`,
    'What is kept of the log of one of its pods; with `follow` the log of one that is there, as it is written',
    async (session, { parameters, query, lastEventId, signal }) => {
      const { namespace, name } = workOf(parameters);
      const { pod = '' } = parameters;
      return query.get('follow') === null
        ? json(found(await session.log(namespace, name, pod)))
        : { kind: 'Events', events: found(await session.followLog(namespace, name, pod, lastEventId, signal)) };
    },
  ),
];

/** Queues and clusters. */
const placeViews = (view: MakeView): readonly Route[] => [
  view(
    `${BASE}/queues`,
    'ClusterQueues of the viewer, with all that is used of them and what the viewer’s LocalQueues use',
    async (session) => json(session.queues()),
  ),
  view(
    `${BASE}/queues/{name}`,
    'All about one ClusterQueue',
    named((session, _namespace, name) => session.queue(name)),
  ),
  view(
    `${BASE}/queues/{name}/what-if`,
    'What would become of Jobs if its quota or weight were otherwise, or a cluster drained',
    async (session, { parameters: { name = '' }, query }) => understood(await session.whatIf(name, query)),
  ),
  view(`${BASE}/clusters`, 'WorkerClusters: names and states', async (session) => json(session.clusters())),
  view(
    `${BASE}/clusters/{name}`,
    'All about one WorkerCluster',
    named((session, _namespace, name) => session.cluster(name)),
  ),
  view(
    `${BASE}/submissions`,
    'Queues of submissions',
    named((session) => session.submissions()),
  ),
];

const pastViews = (view: MakeView): readonly Route[] => [
  view(
    `${BASE}/queues/{name}/timeline`,
    'What a ClusterQueue had in the last hours',
    async (session, { parameters: { name = '' }, query }) => understood(await session.queueTimeLine(name, query)),
  ),
  view(
    `${BASE}/clusters/{name}/timeline`,
    'How full a WorkerCluster was in the last hours',
    async (session, { parameters: { name = '' }, query }) => understood(await session.clusterTimeLine(name, query)),
  ),
  view(`${BASE}/yard`, 'The yard at one moment', async (session, { query }) => understood(await session.yardAt(query))),
  view(`${BASE}/usage`, 'What ended Jobs of the viewer’s namespaces used', async (session, { query }) =>
    understood(await session.usage(query)),
  ),
  view(`${BASE}/timeline`, 'What happened in the last hours', async (session, { query }) => understood(await session.timeLine(query))),
];

const whatIfRoute = (opened: Opened): Route => ({
  method: 'POST',
  path: `${BASE}/what-if`,
  summary: 'What would become of Jobs if objects were changed, or more Jobs were submitted; changes nothing',
  access: 'Own',
  body: 'WhatIfRequest',
  answers: {
    200: { about: 'the effects on Jobs and queues of the viewer' },
    422: { about: 'a change cannot be made', schema: 'Status' },
  },
  admit: async (request) => void (await opened(request)),
  async handle(request) {
    const session = await opened(request);
    return understood(await session.whatIfChanged(request.body));
  },
});

function actionRoute(open: OpenDashboard): Route {
  const opened = openedBy(open);
  return {
    method: 'POST',
    path: `${BASE}/actions`,
    summary: 'Does something to Jobs or a cluster',
    access: 'Own',
    body: 'ActionRequest',
    answers: {},
    audited: { what: 'act', on: () => ({ kind: 'Unknown' }), lines: 'Refusals' },
    async admit(request) {
      const foreign = foreignRequest(request.caller.header);
      if (foreign !== undefined) throw new RequestRefused(403, 'Forbidden', foreign);
      await opened(request);
    },
    async handle(request) {
      const session = await opened(request);
      return understood(await session.act(request.body));
    },
  };
}

/** Schemas of the OpenAPI document. */
export const VIEW_SCHEMAS: Readonly<Record<string, object>> = {
  WhatIfRequest: {
    type: 'object',
    required: ['changes'],
    description: 'Changes to try, as the flags of `switchyard what-if` make them; `namespace` is that of manifests without one.',
    properties: { namespace: { type: 'string' }, changes: { type: 'array', items: { type: 'object' } } },
  },
};

const named =
  (read: (session: DashboardSession, namespace: string, name: string) => Promise<FoundHere<object>>): Answer =>
  async (session, { parameters }) => {
    const { namespace, name } = workOf(parameters);
    return json(found(await read(session, namespace, name)));
  };

/** Throws {@link RequestRefused} for a request with a problem. */
function understood(answer: FoundHere<object> | { readonly problem: string }): ApiAnswer {
  if ('problem' in answer) throw new RequestRefused(422, 'Invalid', answer.problem);
  return json(found(answer));
}

const json = (body: object): ApiAnswer => ({ kind: 'Json', status: 200, body });

const REASONS = { 401: 'Unauthorized', 403: 'Forbidden', 503: 'ServiceUnavailable' } as const;
const refusedAs = ({ status, why }: RefusedHere): RequestRefused =>
  new RequestRefused(status, REASONS[status], why, status === 401 ? { connection: 'close' } : {});

function found<T>(answer: FoundHere<T>): T {
  switch (answer.kind) {
    case 'Found':
      return answer.value;
    case 'Missing':
      throw new RequestRefused(404, answer.reason ?? 'NotFound', answer.what);
    case 'Refused':
      throw refusedAs(answer);
  }
}
