import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import type { JobResult } from '../../../shared/api/submission-outcome.ts';
import type { SubmissionProgress } from '../../../shared/api/submission-progress.ts';
import { connectionFailure } from '../../../shared/kube/connection-failure.ts';
import { systemClock, sleep } from '../../../shared/runtime/clock.ts';
import type { ClusterConnection } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import type { WayChoice } from './flags.ts';
import { createEventReader } from './server-events.ts';
import type { CancelEnding, SubmissionEnding, SubmissionWay } from './way.ts';

export type HttpWay = Extract<WayChoice, { via: 'http' }> & {
  readonly namespace: string;
  /** Who we are in the cluster. */
  readonly credentials: ClusterConnection['credentials'];
};

const HEADERS_TIMEOUT_MS = 30_000;
/** A stream shows every 15 seconds that it lives. */
const SILENCE_MS = 45_000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 10_000;

type Answer = { readonly status: number; readonly body: Record<string, unknown> };
type View = {
  readonly state: 'Delayed' | 'Accepted' | 'Completed' | 'Failed';
  readonly progress?: SubmissionProgress;
  readonly result?: JobResult;
  readonly failure?: { readonly code: string; readonly message: string };
};

/** By the manager's HTTP API, with the token of the kubeconfig. */
export function connectByHttp(way: HttpWay): SubmissionWay {
  const { server, namespace, queue } = way;
  const ca = way.caFile === undefined ? {} : { ca: contentOf('server-ca', way.caFile) };
  const agent = new Agent({ connect: ca, headersTimeout: HEADERS_TIMEOUT_MS, bodyTimeout: SILENCE_MS });
  const collection = `${server}/apis/submissions/v1/namespaces/${encodeURIComponent(namespace)}/queues/${encodeURIComponent(queue)}/submissions`;
  const oneOf = (key: string): string => `${collection}/${encodeURIComponent(key)}`;

  async function authorization(): Promise<string> {
    if (way.tokenFile !== undefined) return `Bearer ${contentOf('token-file', way.tokenFile).trim()}`;
    const { headers } = await way.credentials();
    const given = headers['authorization'];
    if (typeof given === 'string') return given;
    throw new CommandError(
      '--token-file: the kubeconfig has no token, which is what the HTTP API knows people by; `kubectl create token NAME` makes one of a ServiceAccount',
      ExitCode.Usage,
    );
  }

  async function send(method: 'POST' | 'DELETE' | 'GET', url: string, options: SendOptions = {}) {
    const { body, headers = {}, signal } = options;
    try {
      return await request(url, {
        method,
        dispatcher: agent,
        headers: {
          authorization: await authorization(),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (error instanceof CommandError || signal?.aborted === true) throw error;
      throw new CommandError(
        `${server} cannot be reached: ${connectionFailure(error)}; look at --server and --server-ca, and whether it is up`,
        ExitCode.Unreachable,
        { cause: error },
      );
    }
  }

  async function answerTo(method: 'POST' | 'DELETE', url: string, body?: object): Promise<Answer> {
    const response = await send(method, url, body === undefined ? {} : { body: JSON.stringify(body) });
    const answer = { status: response.statusCode, body: objectOf(await response.body.text()) };
    if (answer.status >= 400) throw refusal(server, answer);
    return answer;
  }

  /** One connection's worth of a stream: undefined when it ended before the submission did. */
  async function listen(key: string, seen: { lastId: string }, tell: (progress: SubmissionProgress) => void, signal: AbortSignal) {
    const headers = { accept: 'text/event-stream', ...(seen.lastId === '' ? {} : { 'last-event-id': seen.lastId }) };
    const response = await send('GET', `${oneOf(key)}/events`, { headers, signal });
    if (response.statusCode !== 200) throw refusal(server, { status: response.statusCode, body: objectOf(await response.body.text()) });
    const read = createEventReader();
    const decoder = new TextDecoder();
    for await (const piece of response.body) {
      for (const { id, event, data } of read(decoder.decode(piece as Uint8Array, { stream: true }))) {
        seen.lastId = id;
        const view = objectOf(data) as View;
        if (event === 'ended') return endingOf(view);
        if (view.progress !== undefined) tell(view.progress);
      }
    }
    return undefined;
  }

  return {
    async submit(manifest, key) {
      const { body } = await answerTo('POST', key === undefined ? collection : oneOf(key), { manifest });
      return String(body['key']);
    },
    async follow(key, tell, signal) {
      const seen = { lastId: '' };
      for (let retryMs = RETRY_MIN_MS; ; retryMs = Math.min(RETRY_MAX_MS, 2 * retryMs)) {
        const before = seen.lastId;
        try {
          const ending = await listen(key, seen, tell, signal);
          if (ending !== undefined) return ending;
        } catch (error) {
          // A refusal stands; a connection that is lost, or a server that has no time, comes back.
          if (signal.aborted || (error instanceof CommandError && error.exitCode !== ExitCode.Unreachable)) throw error;
          if (error instanceof UnknownCaller) throw error;
        }
        if (seen.lastId !== before) retryMs = RETRY_MIN_MS;
        await sleep(systemClock, retryMs, signal);
        signal.throwIfAborted();
      }
    },
    async cancel(key): Promise<CancelEnding> {
      const { status, body } = await answerTo('DELETE', oneOf(key));
      if (status === 202) return 'Pending';
      return body['cancelled'] === true ? 'Cancelled' : 'HadEnded';
    },
    close: () => agent.close(),
  };
}

type SendOptions = { readonly body?: string; readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal };

/** No other try makes it better. */
class UnknownCaller extends CommandError {}

function refusal(server: string, { status, body }: Answer): CommandError {
  const message = typeof body['message'] === 'string' ? body['message'] : `it answered ${status}; is that the manager’s HTTP API?`;
  switch (status) {
    case 401:
      return new UnknownCaller(
        `${server} does not know who you are: ${message}; renew the credentials of the kubeconfig, or give --token-file`,
        ExitCode.Unreachable,
      );
    case 429:
    case 503:
      return new CommandError(`${server} has no time: ${message}`, ExitCode.Unreachable);
    default:
      return new CommandError(`${server} refused: ${message}`);
  }
}

function endingOf({ result, failure }: View): SubmissionEnding {
  if (result !== undefined) return { kind: 'Completed', result };
  return { kind: 'Failed', code: failure?.code ?? 'Failed', message: failure?.message ?? 'it does not say why' };
}

/** Empty where it is none: whatever stands in between answers in its own words. */
function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function contentOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`--${flag}: ${JSON.stringify(file)} cannot be read; name a file that you may read`, ExitCode.Usage, {
      cause: error,
    });
  }
}
