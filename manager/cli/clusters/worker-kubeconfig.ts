import { stringify } from 'yaml';

export type WorkerKubeconfig = {
  readonly server: string;
  readonly caPem: string | undefined;
  readonly tlsServerName: string | undefined;
  readonly token: string;
};

/** A kubeconfig with the few fields that the Secret of a WorkerCluster may have. */
export const workerKubeconfig = ({ server, caPem, tlsServerName, token }: WorkerKubeconfig): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'worker',
    clusters: [
      {
        name: 'worker',
        cluster: {
          server,
          ...(caPem === undefined ? {} : { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }),
          ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
        },
      },
    ],
    users: [{ name: 'manager', user: { token } }],
    contexts: [{ name: 'worker', context: { cluster: 'worker', user: 'manager' } }],
  });
