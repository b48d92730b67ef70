/** Who is known to the API server of a simulated cluster: bearers of a token that it knows. */
import type { ClusterAccess } from '../../../shared/kube/cluster-access.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../shared/kube/transport.ts';

export interface Gate {
  /** The token of kubeconfigs that are written now. */
  token(): string;
  /** From now on there is another token. The former ones are worth nothing. */
  rotate(): string;
  /** Requests with the token that the access gives out, and 401 for those whose token is worth nothing. */
  guard(transport: Transport, access: ClusterAccess): Transport;
  /** From now on these requests of these processes are answered so, and not carried out. The last word counts; undefined: none is. */
  refuse(refusal: Refusal | undefined): void;
  /** From now on a webhook makes this of what is written; undefined: there is none. */
  mutate(webhook: ((request: TransportRequest) => TransportRequest) | undefined): void;
  /** The requests of a process that are not refused, as a webhook has made them. */
  screen(transport: Transport, process: string): Transport;
}

export type Refusal = {
  readonly strikes: (process: string, request: TransportRequest) => boolean;
  readonly code: number;
  readonly reason: string;
  readonly message: string;
};

export function createGate(): Gate {
  let generation = 1;
  let refusal: Refusal | undefined;
  let mutated = (request: TransportRequest): TransportRequest => request;
  const token = (): string => `token-${generation}`;

  async function isKnown(access: ClusterAccess): Promise<boolean> {
    const credentials = await access.credentials();
    if (credentials.headers['authorization'] === `Bearer ${token()}`) return true;
    access.invalidate(credentials);
    return false;
  }

  return {
    token,
    rotate() {
      generation++;
      return token();
    },
    guard: (transport, access) => ({
      send: async (request) => ((await isKnown(access)) ? transport.send(request) : UNKNOWN),
      stream: async (request) => ((await isKnown(access)) ? transport.stream(request) : { ...UNKNOWN, chunks: once(UNKNOWN.body) }),
      close: () => transport.close(),
    }),
    refuse: (next) => (refusal = next),
    mutate: (webhook) => (mutated = webhook ?? ((request) => request)),
    screen: (transport, process) => ({
      send: async (request) => (refusal?.strikes(process, request) === true ? answerOf(refusal) : transport.send(mutated(request))),
      stream: (request) => transport.stream(request),
      close: () => transport.close(),
    }),
  };
}

const answerOf = ({ code, reason, message }: Omit<Refusal, 'strikes'>): TransportResponse => ({
  status: code,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }),
});
const UNKNOWN = answerOf({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
