import { KubeconfigError } from './kubeconfig-error.ts';
import type { ExecPluginConfig, SelectedCluster } from './select.ts';

/** What a plugin has answered. */
export type ExecCredential = {
  readonly token: string | undefined;
  readonly clientCertificate: { readonly certificatePem: string; readonly keyPem: string } | undefined;
  /** Undefined: valid until the server refuses it. */
  readonly expiresAtMs: number | undefined;
};

/** The value of KUBERNETES_EXEC_INFO. `cluster` is told only to plugins that ask for it (`provideClusterInfo`). */
export function execInfo(
  { apiVersion, provideClusterInfo }: Pick<ExecPluginConfig, 'apiVersion' | 'provideClusterInfo'>,
  interactive: boolean,
  cluster: Omit<SelectedCluster, 'ca'> & { readonly caPem: string | undefined },
): string {
  const { server, caPem, skipTlsVerify, tlsServerName, proxyUrl, execConfig } = cluster;
  // Absent fields are left out by JSON.
  const told = {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': skipTlsVerify || undefined,
    'certificate-authority-data': caPem === undefined ? undefined : Buffer.from(caPem).toString('base64'),
    'proxy-url': proxyUrl,
    config: execConfig,
  };
  return JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { cluster: provideClusterInfo ? told : undefined, interactive } });
}

/** Reads what a plugin has printed. `plugin` is what messages call it. Throws {@link KubeconfigError}, never with what was printed. */
export function readExecCredential(printed: string, apiVersion: string, plugin: string): ExecCredential {
  const answer = recordOf(jsonOf(printed, plugin));
  if (answer['kind'] !== 'ExecCredential' || answer['apiVersion'] !== apiVersion)
    throw new KubeconfigError(`${plugin} printed no ExecCredential of ${apiVersion}, which exec.apiVersion promises; make the two agree`);
  const status = recordOf(answer['status']);
  const [token, certificatePem, keyPem] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) => textOf(status[name]));
  if (token === undefined && certificatePem === undefined && keyPem === undefined)
    throw new KubeconfigError(`${plugin} printed no credentials: status has neither token nor clientCertificateData`);
  if ((certificatePem === undefined) !== (keyPem === undefined))
    throw new KubeconfigError(`${plugin} printed only one of clientCertificateData and clientKeyData; a client certificate needs both`);
  return {
    token,
    clientCertificate: certificatePem === undefined || keyPem === undefined ? undefined : { certificatePem, keyPem },
    expiresAtMs: instantOf(status['expirationTimestamp'], plugin),
  };
}

function jsonOf(printed: string, plugin: string): unknown {
  try {
    return JSON.parse(printed);
  } catch {
    // Without its cause, which quotes what was printed.
    throw new KubeconfigError(`${plugin} printed no JSON; it must print an ExecCredential and nothing else on standard output`);
  }
}

function instantOf(value: unknown, plugin: string): number | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const instantMs = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(instantMs)) throw new KubeconfigError(`${plugin} printed a status.expirationTimestamp that is no time in RFC 3339`);
  return instantMs;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
