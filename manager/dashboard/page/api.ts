import type { ClusterTimeLine, PastOverview, QueueTimeLine, TimeLine } from '../past-views.ts';
import type { SubmissionsView } from '../submission-views.ts';
import type {
  ActionRequest,
  ActionResult,
  ClusterAction,
  ClusterView,
  EventsView,
  JobAction,
  JobPage,
  JobView,
  LivePods,
  QueueView,
  UsageView,
  Viewer,
  WhatIfView,
  WithActions,
} from '../views.ts';

/** An answer that is none: `status` 0 where nobody answered. `reason`: for programs, as in Kubernetes; absent where none was told. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly reason: string | undefined;

  constructor(status: number, message: string, reason?: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** Whatever was thrown, as a problem that can be told. */
export const problemOf = (error: unknown): ApiProblem =>
  error instanceof ApiProblem ? error : new ApiProblem(0, error instanceof Error ? error.message : String(error));

/** What the page asks its server for. Rejects with {@link ApiProblem}. */
export interface Api {
  viewer(): Promise<Viewer>;
  jobs(query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<JobPage>;
  job(namespace: string, name: string): Promise<WithActions<JobView, JobAction>>;
  explanation(namespace: string, name: string): Promise<object>;
  yaml(namespace: string, name: string): Promise<string>;
  events(namespace: string, name: string): Promise<EventsView>;
  log(namespace: string, name: string, pod: string): Promise<{ readonly log: string }>;
  queue(name: string): Promise<QueueView>;
  /** What would become of Jobs with these wishes, a query. */
  whatIf(queue: string, wishes: URLSearchParams): Promise<WhatIfView>;
  timeLine(hours: number): Promise<TimeLine>;
  queueTimeLine(queue: string, hours: number): Promise<QueueTimeLine>;
  yardAt(atMs: number): Promise<PastOverview>;
  cluster(name: string): Promise<WithActions<ClusterView, ClusterAction>>;
  clusterTimeLine(cluster: string, hours: number): Promise<ClusterTimeLine>;
  submissions(): Promise<SubmissionsView>;
  usage(by: string, days: number): Promise<UsageView>;
  /** Pods of it that are there now. */
  pods(namespace: string, name: string): Promise<LivePods>;
  /** The log of such a pod as it is written. */
  logStream(
    namespace: string,
    name: string,
    pod: string,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>>;
  act(request: ActionRequest): Promise<ActionResult>;
  /** The body of the stream. */
  stream(lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/**
 * Asks with this token, which goes nowhere but to the server that the page came from. Without one a session, or a
 * proxy in between, may say who it is.
 */
export function createApi(token: string | undefined, send: typeof fetch): Api {
  const ask = async (
    path: string,
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
    sent?: object,
  ): Promise<Response> => {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    let response: Response;
    try {
      response = await send(`./api/v1/${path}`, {
        headers: { ...headers, ...authorization },
        cache: 'no-store',
        redirect: 'error',
        ...(signal === undefined ? {} : { signal }),
        ...(sent === undefined ? {} : { method: 'POST', body: JSON.stringify(sent) }),
      });
    } catch (error) {
      throw problemOf(error);
    }
    if (response.ok) return response;
    const { message = `the manager answered ${response.status}`, reason } = statusIn(await response.text());
    throw new ApiProblem(response.status, message, reason);
  };
  const json = async <T>(path: string, signal?: AbortSignal): Promise<T> => (await (await ask(path, {}, signal)).json()) as T;
  // The name of an object of another kind than Job begins with its resource.
  const job = (namespace: string, name: string): string =>
    ['namespaces', namespace, ...(name.includes('/') ? [] : ['jobs']), ...name.split('/')].map(encodeURIComponent).join('/');
  const streamOf = async (path: string, lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> => {
    const { body } = await ask(path, lastEventId === undefined ? {} : { 'last-event-id': lastEventId }, signal);
    if (body === null) throw new ApiProblem(0, 'the stream has no body');
    return body;
  };
  return {
    viewer: () => json('viewer'),
    jobs: (query, signal) => json(`jobs?${new URLSearchParams({ ...query }).toString()}`, signal),
    job: (namespace, name) => json(job(namespace, name)),
    explanation: (namespace, name) => json(`${job(namespace, name)}/explanation`),
    events: (namespace, name) => json(`${job(namespace, name)}/events`),
    yaml: async (namespace, name) => (await ask(`${job(namespace, name)}/yaml`)).text(),
    log: (namespace, name, pod) => json(`${job(namespace, name)}/pods/${encodeURIComponent(pod)}/log`),
    queue: (name) => json(`queues/${encodeURIComponent(name)}`),
    whatIf: (queue, wishes) => json(`queues/${encodeURIComponent(queue)}/what-if?${wishes.toString()}`),
    timeLine: (hours) => json(`timeline?hours=${hours}`),
    queueTimeLine: (queue, hours) => json(`queues/${encodeURIComponent(queue)}/timeline?hours=${hours}`),
    yardAt: (atMs) => json(`yard?at=${atMs}`),
    cluster: (name) => json(`clusters/${encodeURIComponent(name)}`),
    clusterTimeLine: (cluster, hours) => json(`clusters/${encodeURIComponent(cluster)}/timeline?hours=${hours}`),
    submissions: () => json('submissions'),
    usage: (by, days) => json(`usage?by=${encodeURIComponent(by)}&days=${days}`),
    pods: (namespace, name) => json(`${job(namespace, name)}/pods`),
    logStream: (namespace, name, pod, lastEventId, signal) =>
      streamOf(`${job(namespace, name)}/pods/${encodeURIComponent(pod)}/log?follow=1`, lastEventId, signal),
    act: async (request) =>
      (await (await ask('actions', { 'content-type': 'application/json', ...PAGE_HEADER }, undefined, request)).json()) as ActionResult,
    stream: (lastEventId, signal) => streamOf('stream', lastEventId, signal),
  };
}

/** The provider at which users sign in, and why the last sign-in of this browser failed; without a name there is none. */
export type Provider = { readonly name?: string; readonly problem?: string };

/** Sign-in by OIDC: the session is a cookie, which the page cannot read. */
export type SignInApi = {
  provider(): Promise<Provider>;
  /** For how long the session goes on now; undefined: it cannot be prolonged. */
  prolong(): Promise<number | 'NoAnswer' | undefined>;
  /** False: the manager did not answer, and the session goes on. */
  signOut(): Promise<boolean>;
};

/** The address at which a sign-in begins that leads back to this place of the page. */
export const signInAt = (hash: string): string => `./oidc/sign-in?place=${encodeURIComponent(hash)}`;

export function createSignInApi(send: typeof fetch): SignInApi {
  /** Undefined: the manager does not answer. */
  const ask = async (path: string, method: 'GET' | 'POST'): Promise<Response | undefined> => {
    try {
      return await send(`./oidc/${path}`, { method, headers: PAGE_HEADER, cache: 'no-store', redirect: 'error' });
    } catch (error) {
      if (error instanceof TypeError) return undefined; // as fetch rejects
      throw error;
    }
  };
  return {
    async provider() {
      const response = await ask('provider', 'GET');
      return response?.ok === true ? ((await response.json()) as Provider) : {};
    },
    async prolong() {
      const response = await ask('refresh', 'POST');
      if (response === undefined || response.status >= 500) return 'NoAnswer';
      return response.ok ? ((await response.json()) as { readonly sessionMs: number }).sessionMs : undefined;
    },
    signOut: async () => (await ask('sign-out', 'POST'))?.ok === true,
  };
}

/** No form of another site can send this header. */
const PAGE_HEADER = { 'x-switchyard-dashboard': '1' } as const;

/** What a Kubernetes Status says. */
function statusIn(text: string): { readonly message?: string; readonly reason?: string } {
  try {
    const { message, reason } = JSON.parse(text) as { message?: unknown; reason?: unknown };
    return { ...(typeof message === 'string' && { message }), ...(typeof reason === 'string' && { reason }) };
  } catch {
    return {}; // a proxy in between has its own words
  }
}
