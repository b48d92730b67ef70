import type { JobPage, JobView, Viewer } from '../views.ts';

/** An answer that is none: `status` 0 where nobody answered. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What the page asks its server for. Rejects with {@link ApiProblem}. */
export interface Api {
  viewer(): Promise<Viewer>;
  jobs(query: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<JobPage>;
  job(namespace: string, name: string): Promise<JobView>;
  explanation(namespace: string, name: string): Promise<object>;
  yaml(namespace: string, name: string): Promise<string>;
  log(namespace: string, name: string, pod: string): Promise<{ readonly log: string }>;
  /** The body of the stream. */
  stream(lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/** Asks with this token, which goes nowhere but to the server that the page came from. Without one a proxy in between may know who it is. */
export function createApi(token: string | undefined, send: typeof fetch): Api {
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<Response> => {
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    let response: Response;
    try {
      response = await send(`./api/v1/${path}`, {
        headers: { ...headers, ...authorization },
        cache: 'no-store',
        redirect: 'error',
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw new ApiProblem(0, error instanceof Error ? error.message : String(error));
    }
    if (response.ok) return response;
    throw new ApiProblem(response.status, messageOf(await response.text()) ?? `the manager answered ${response.status}`);
  };
  const json = async <T>(path: string, signal?: AbortSignal): Promise<T> => (await (await ask(path, {}, signal)).json()) as T;
  const job = (namespace: string, name: string): string => `namespaces/${encodeURIComponent(namespace)}/jobs/${encodeURIComponent(name)}`;
  return {
    viewer: () => json('viewer'),
    jobs: (query, signal) => json(`jobs?${new URLSearchParams({ ...query }).toString()}`, signal),
    job: (namespace, name) => json(job(namespace, name)),
    explanation: (namespace, name) => json(`${job(namespace, name)}/explanation`),
    yaml: async (namespace, name) => (await ask(`${job(namespace, name)}/yaml`)).text(),
    log: (namespace, name, pod) => json(`${job(namespace, name)}/pods/${encodeURIComponent(pod)}/log`),
    async stream(lastEventId, signal) {
      const { body } = await ask('stream', lastEventId === undefined ? {} : { 'last-event-id': lastEventId }, signal);
      if (body === null) throw new ApiProblem(0, 'the stream has no body');
      return body;
    },
  };
}

/** The message of a Kubernetes Status. */
function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined; // a proxy in between has its own words
  }
}
