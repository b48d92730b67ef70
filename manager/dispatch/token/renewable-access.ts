import { isDeepStrictEqual } from 'node:util';
import type { ClusterAccess, Credentials } from '../../../shared/kube/cluster-access.ts';
import type { WorkerAccess, WorkerCredentials } from './worker-access.ts';

/** Access to a worker cluster whose credentials can change while its connections and caches stay. */
export interface RenewableAccess extends ClusterAccess {
  renew(credentials: WorkerCredentials): void;
}

/** `onRefused`: the cluster has answered the present credentials with 401. Called once for each credentials. */
export function renewableAccess(cluster: string, { endpoint, credentials }: WorkerAccess, onRefused: () => void): RenewableAccess {
  const { server, caPem, tlsServerName } = endpoint;
  const connectable = ({ token, certificate }: WorkerCredentials): Credentials => ({
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    tls: {
      ...(caPem === undefined ? {} : { ca: caPem }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
      ...(certificate === undefined ? {} : { cert: certificate.certificatePem, key: certificate.keyPem }),
    },
  });
  let known = credentials;
  let current = connectable(credentials);
  let refused: Credentials | undefined;
  return {
    server,
    alias: cluster,
    namespace: 'default',
    credentials: () => Promise.resolve(current),
    invalidate(given) {
      if (given !== current || given === refused) return;
      refused = given;
      onRefused();
    },
    renew(next) {
      // Refused credentials that did not change are not retried.
      if (isDeepStrictEqual(next, known)) return;
      known = next;
      current = connectable(next);
    },
  };
}
