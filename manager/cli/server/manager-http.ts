import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { connectionFailure } from '../../../shared/kube/connection-failure.ts';
import type { ClusterConnection } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';

/** The manager's HTTP API at one address, with the token of a user. Errors are CommandErrors. */
export interface ManagerHttp {
  readonly server: string;
  /** Any answer. The caller reads the body. */
  send(method: Method, path: string, options?: SendOptions): ReturnType<typeof request>;
  /** An answer in JSON. Refusals are thrown. */
  answerTo(method: Method, path: string, options?: Pick<SendOptions, 'body' | 'query'>): Promise<Answer>;
  close(): Promise<void>;
}

export type ManagerHttpOptions = {
  /** An https URL, or an http URL of this machine. */
  readonly server: string;
  /** Authorities, PEM; undefined: those of the system. */
  readonly ca: string | undefined;
  readonly tokenFile: string | undefined;
  /** The user's credentials in the cluster. */
  readonly credentials: ClusterConnection['credentials'];
};

export type Answer = { readonly status: number; readonly body: Record<string, unknown> };
type Method = 'POST' | 'DELETE' | 'GET';
type SendOptions = {
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

const HEADERS_TIMEOUT_MS = 90_000;
/** A stream shows every 15 seconds that it lives. */
const SILENCE_MS = 45_000;

export function createManagerHttp({ server, ca, tokenFile, credentials }: ManagerHttpOptions): ManagerHttp {
  const agent = new Agent({ connect: ca === undefined ? {} : { ca }, headersTimeout: HEADERS_TIMEOUT_MS, bodyTimeout: SILENCE_MS });

  async function authorization(): Promise<string> {
    if (tokenFile !== undefined) return `Bearer ${contentOf('token-file', tokenFile).trim()}`;
    const { headers } = await credentials();
    const given = headers['authorization'];
    if (typeof given === 'string' && /^bearer /i.test(given)) return given;
    throw new NoToken();
  }

  const send: ManagerHttp['send'] = async (method, path, { body, query, headers = {}, signal } = {}) => {
    const search = query === undefined || Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`;
    try {
      return await request(`${server}${path}${search}`, {
        method,
        dispatcher: agent,
        headers: {
          authorization: await authorization(),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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
  };

  return {
    server,
    send,
    async answerTo(method, path, options) {
      const response = await send(method, path, options);
      const answer = { status: response.statusCode, body: objectOf(await response.body.text()) };
      if (answer.status >= 400) throw refusal(server, answer);
      return answer;
    },
    close: () => agent.close(),
  };
}

/** The kubeconfig has no token, as with a client certificate. */
export class NoToken extends CommandError {
  constructor() {
    super(
      '--token-file: the kubeconfig has no token, which is what the HTTP API knows users by; `kubectl create token NAME` makes one of a ServiceAccount',
      ExitCode.Usage,
    );
  }
}

/** The manager does not know the user: no other try helps. */
export class UnknownCaller extends CommandError {}

/** The manager has no such object, or shows none to this user. */
export class NotThere extends CommandError {}

/** Why the manager refused, as a CommandError with the remedy. */
export function refusal(server: string, { status, body }: Answer): CommandError {
  const message = typeof body['message'] === 'string' ? body['message'] : `it answered ${status}; is that the manager’s HTTP API?`;
  switch (status) {
    case 401:
      return new UnknownCaller(
        `${server} does not know who you are: ${message}; renew the credentials of the kubeconfig, or give --token-file`,
        ExitCode.Unreachable,
      );
    case 404:
      return new NotThere(`${server}: ${message}`);
    case 429:
    case 503:
      return new CommandError(`${server} has no time: ${message}`, ExitCode.Unreachable);
    default:
      return new CommandError(`${server} refused: ${message}`);
  }
}

/** Empty for a text that is not a JSON object: proxies between answer in their own words. */
export function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** The text of a file that a flag names. Throws CommandError. */
export function contentOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`--${flag}: ${JSON.stringify(file)} cannot be read; name a file that you may read`, ExitCode.Usage, {
      cause: error,
    });
  }
}
