/** Who is known to the API server of a simulated cluster: bearers of a token that it knows. */
import type { ClusterAccess } from '../../../shared/kube/cluster-access.ts';
import type { Transport, TransportResponse } from '../../../shared/kube/transport.ts';

export interface Gate {
  /** The token of kubeconfigs that are written now. */
  token(): string;
  /** From now on there is another token. The former ones are worth nothing. */
  rotate(): string;
  /** Requests with the token that the access gives out, and 401 for those whose token is worth nothing. */
  guard(transport: Transport, access: ClusterAccess): Transport;
}

export function createGate(): Gate {
  let generation = 1;
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
  };
}

const UNKNOWN: TransportResponse = {
  status: 401,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 401, reason: 'Unauthorized', message: 'Unauthorized' }),
};

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
