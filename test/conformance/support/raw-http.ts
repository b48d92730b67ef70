import { Agent, type Dispatcher } from 'undici';
import type { ClusterAccess } from '../../../shared/kube/cluster-access.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';

export type RawRequest = {
  readonly method: string;
  readonly path: string;
  /** Lower-case names. They come before those of the credentials; null leaves a header out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly text?: string;
};

export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body, where it is JSON. */
  readonly json: unknown;
};

/** Requests exactly as a case words them: no retries, no interpretation, and the case may change every header. */
export interface RawHttp {
  send(request: RawRequest): Promise<RawAnswer>;
  watch(path: string, headers?: RawRequest['headers']): Promise<RawWatch>;
  close(): Promise<void>;
}

const ANSWER_LIMIT_MS = 30_000;

export async function createRawHttp(access: ClusterAccess): Promise<RawHttp> {
  const credentials = await access.credentials();
  const agent = new Agent({ connect: { ...credentials.tls } });
  const { origin, pathname } = new URL(access.server);

  const start = ({ method, path, headers = {}, text }: RawRequest, bodyTimeout: number): Promise<Dispatcher.ResponseData> => {
    const all: Record<string, string | null> = {
      accept: 'application/json',
      'user-agent': 'api-cases',
      ...credentials.headers,
      ...headers,
    };
    return agent.request({
      origin,
      path: pathname.replace(/\/$/, '') + path,
      method: method as Dispatcher.HttpMethod,
      headers: Object.fromEntries(Object.entries(all).filter((header): header is [string, string] => header[1] !== null)),
      headersTimeout: ANSWER_LIMIT_MS,
      bodyTimeout,
      ...omitUndefined({ body: text }),
    });
  };
  const read = async (response: Dispatcher.ResponseData): Promise<RawAnswer> => {
    const text = await response.body.text();
    return { status: response.statusCode, headers: joined(response.headers), text, json: parsed(text) };
  };
  return {
    send: async (request) => read(await start(request, ANSWER_LIMIT_MS)),
    watch: async (path, headers = {}) => {
      const response = await start({ method: 'GET', path, headers }, 0);
      return response.statusCode === 200 ? new RawWatch(response.body) : new RawWatch(undefined, await read(response));
    },
    close: () => agent.destroy(),
  };
}

/** A watch that collects its events until it is closed or ended by the server. */
export class RawWatch {
  readonly events: unknown[] = [];
  /** Set when the server did not open the watch. */
  readonly refusal: RawAnswer | undefined;
  readonly #body: Dispatcher.ResponseData['body'] | undefined;
  #ended = false;
  #closed = false;

  constructor(body: Dispatcher.ResponseData['body'] | undefined, refusal?: RawAnswer) {
    this.#body = body;
    this.refusal = refusal;
    this.#ended = body === undefined;
    let rest = '';
    body
      ?.setEncoding('utf8')
      .on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        this.events.push(...lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown));
      })
      .on('end', () => {
        this.#ended = true;
      })
      .on('error', (error) => {
        this.#ended = true;
        if (!this.#closed) this.events.push({ type: 'BROKEN', object: { message: error.message } });
      });
  }

  /** The server has ended it. */
  get ended(): boolean {
    return this.#ended;
  }

  close(): void {
    this.#closed = true;
    this.#body?.destroy();
  }
}

const joined = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // plain text, YAML, protobuf: then the text is all there is
  }
}
