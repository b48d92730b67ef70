import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { Selection } from './select.ts';

/** The service account of the pod: `directory` is where the kubelet mounts token, authority and namespace, and keeps them up to date. */
export function inClusterSelection(source: { readonly host: string; readonly port: string; readonly directory: string }): Selection {
  const { host, port, directory } = source;
  if (host === '' || port === '')
    throw new KubeconfigError(
      'the pod has a service account, but KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set; set both, or name a kubeconfig',
    );
  const namespaceFile = join(directory, 'namespace');
  return {
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() || undefined : undefined,
    cluster: {
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      ca: { kind: 'File', path: join(directory, 'ca.crt') },
      skipTlsVerify: false,
      tlsServerName: undefined,
      proxyUrl: undefined,
      execConfig: undefined,
    },
    user: {
      who: 'the service account of this pod',
      clientCertificate: undefined,
      authentication: { kind: 'TokenFile', path: join(directory, 'token'), fallback: undefined },
      impersonationHeaders: {},
    },
  };
}
