import { bindAddress, durationMs, FlagError, text, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import { metricsFilesOf, type METRICS_FLAGS } from '../../shared/runtime/program-flags.ts';
import type { CertificateFiles } from '../../shared/runtime/serving-certificate.ts';

/** A certificate that switchyard-certificates makes and renews, in a Secret that all replicas share. */
export type CertificateSecretConfig = {
  /** Without a namespace: that of the election's Lease, else that of the kubeconfig's context or of the pod. */
  readonly secret: { readonly namespace: string | undefined; readonly name: string };
  /** Name of the webhook configurations that are to trust it. */
  readonly configuration: string;
};
/** `Own`: the one of the Secret. */
export type CertificateChoice = 'Own' | CertificateFiles;

export type WebhookConfig = {
  readonly address: string;
  readonly tls: CertificateChoice;
  /** How long it is served after the manager was asked to stop. */
  readonly shutdownDelayMs: number;
};
/** Without a certificate: plain HTTP. */
export type ApiConfig = { readonly address: string; readonly tls?: CertificateChoice };

export const CERTIFICATE_FLAGS = {
  'webhook-bind-address': {
    value: 'HOST:PORT',
    about: 'admission webhook for Jobs, over TLS; without it no webhook is served',
    parse: bindAddress,
  },
  'webhook-shutdown-delay': {
    value: 'DURATION',
    fallback: '10s',
    about: 'how long the webhook is served after the manager was asked to stop, at most 5m: until API servers have heard that its pod ends',
    parse: shutdownDelay,
  },
  'webhook-tls-cert-file': { value: 'FILE', about: 'certificate of the webhook, PEM; read again when it changes', parse: text },
  'webhook-tls-key-file': { value: 'FILE', about: 'private key of the webhook, PEM', parse: text },
  'webhook-cert-secret': {
    value: '[NAMESPACE/]NAME',
    about:
      'instead of these files: Secret with a certificate that switchyard-certificates makes, renews and has the webhook configurations trust',
    parse: secretName,
  },
  'webhook-configuration': {
    value: 'NAME',
    fallback: 'switchyard-manager',
    about: 'name of the Mutating- and of the ValidatingWebhookConfiguration that are to trust the certificate of --webhook-cert-secret',
    parse: text,
  },
  'api-bind-address': {
    value: 'HOST:PORT',
    about:
      'the HTTP API (docs/http-api.md): submissions, history and views of Jobs, queues and clusters, for users with a token of this cluster; without it none is served',
    parse: bindAddress,
  },
  'api-cert-file': {
    value: 'FILE',
    about: 'certificate of that, PEM; without it that of --webhook-cert-secret, or plain HTTP on a loopback address',
    parse: text,
  },
  'metrics-own-certificate': { about: 'serve /metrics, too, over TLS with the certificate of --webhook-cert-secret' },
  'api-key-file': { value: 'FILE', about: 'private key of that certificate, PEM', parse: text },
} satisfies FlagTable;

type Flags = FlagValues<typeof CERTIFICATE_FLAGS & typeof METRICS_FLAGS>;

export type CertificateConfig = {
  readonly webhook: WebhookConfig | undefined;
  /** Submissions over HTTP; undefined: none are taken that way. */
  readonly api: ApiConfig | undefined;
  /** Undefined: plain HTTP. */
  readonly metricsTls: CertificateChoice | undefined;
  /** Undefined: none is made. */
  readonly certificateSecret: CertificateSecretConfig | undefined;
};

export function certificateConfigOf(flags: Flags): CertificateConfig {
  const secret = flags['webhook-cert-secret'];
  return {
    webhook: webhook(flags),
    api: api(flags),
    metricsTls: metricsTls(flags),
    certificateSecret: secret && { secret, configuration: flags['webhook-configuration'] },
  };
}

function webhook(flags: Flags): WebhookConfig | undefined {
  const [address, shutdownDelayMs] = [flags['webhook-bind-address'], flags['webhook-shutdown-delay']];
  const [certFile, keyFile, secret] = [flags['webhook-tls-cert-file'], flags['webhook-tls-key-file'], flags['webhook-cert-secret']];
  if (secret !== undefined && (certFile !== undefined || keyFile !== undefined))
    throw new FlagError('--webhook-cert-secret and --webhook-tls-cert-file are two certificates for one server; give one of them');
  if (address === undefined) return undefined;
  if (secret !== undefined) return { address, tls: 'Own', shutdownDelayMs };
  if (certFile === undefined || keyFile === undefined) {
    throw new FlagError(
      '--webhook-bind-address needs --webhook-tls-cert-file and --webhook-tls-key-file, or --webhook-cert-secret: API servers speak TLS to webhooks',
    );
  }
  return { address, tls: { certFile, keyFile }, shutdownDelayMs };
}

function shutdownDelay(given: string): number {
  const delayMs = given === '0' ? 0 : durationMs(given);
  if (delayMs <= 300_000) return delayMs;
  throw new FlagError(`${JSON.stringify(given)} is longer than 5m; write such as 10s, or 0 to end at once`);
}

function api(flags: Flags): ApiConfig | undefined {
  const address = flags['api-bind-address'];
  const [certFile, keyFile] = [flags['api-cert-file'], flags['api-key-file']];
  if (address === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { address, tls: { certFile, keyFile } };
  if (certFile !== undefined || keyFile !== undefined) throw new FlagError('--api-cert-file and --api-key-file go together');
  if (flags['webhook-cert-secret'] !== undefined) return { address, tls: 'Own' };
  if (/^(?:127\.[\d.]+|\[::1\]|localhost):/.test(address)) return { address };
  throw new FlagError(
    '--api-bind-address needs --api-cert-file and --api-key-file where others can reach it: tokens must not be read on the way',
  );
}

function metricsTls(flags: Flags): CertificateChoice | undefined {
  const files = metricsFilesOf(flags);
  if (!flags['metrics-own-certificate']) return files;
  if (files !== undefined)
    throw new FlagError('--metrics-own-certificate and --metrics-cert-file are two certificates for one server; give one');
  if (flags['webhook-cert-secret'] === undefined) throw new FlagError('--metrics-own-certificate needs --webhook-cert-secret');
  return 'Own';
}

export function secretName(given: string): CertificateSecretConfig['secret'] {
  const match = /^(?:([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)\/)?([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)$/.exec(given);
  if (match?.[2] === undefined) throw new FlagError(`${JSON.stringify(given)} names no Secret; write one such as switchyard/record-key`);
  return { namespace: match[1], name: match[2] };
}
