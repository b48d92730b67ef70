import { FlagError, type FlagTable, type FlagValues, type Program, text } from '../../shared/runtime/flags.ts';
import type { LogLevel } from '../../shared/runtime/logger.ts';
import { LOG_FLAGS, METRICS_FLAGS } from '../../shared/runtime/program-flags.ts';
import { shaped } from '../../shared/runtime/value-shape.ts';
import { CERTIFICATE_FLAGS, type CertificateSecretConfig, secretName } from './certificate-flags.ts';

/** Settings of switchyard-certificates. */
export type CertificatesConfig = {
  /** Absent: where kubectl would look, then the service account of the pod. */
  readonly kubeconfig: string | undefined;
  /** Without a namespace: that of the kubeconfig's context or of the pod. */
  readonly certificateSecret: CertificateSecretConfig;
  /** DNS names by which API servers call the webhook. */
  readonly names: readonly string[];
  /** Address of /healthz and /readyz; undefined: not served. */
  readonly healthAddress: string | undefined;
  readonly logLevel: LogLevel;
};

const DNS_NAME = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$';

const FLAGS = {
  kubeconfig: {
    value: 'FILE',
    about: 'kubeconfig of the manager cluster; default: KUBECONFIG, ~/.kube/config, the pod’s service account',
    parse: text,
  },
  'webhook-cert-secret': {
    value: '[NAMESPACE/]NAME',
    fallback: 'switchyard-manager-webhook-tls',
    about: 'Secret of the certificate, as the managers have it; created where it is absent',
    parse: secretName,
  },
  'webhook-cert-names': {
    value: 'NAME,...',
    fallback: 'switchyard-manager.switchyard.svc',
    about: 'DNS names of the certificate: those by which API servers call the webhook',
    parse: shaped({ type: 'array', minItems: 1, items: { type: 'string', pattern: DNS_NAME } }, dnsNames),
  },
  'webhook-configuration': {
    ...CERTIFICATE_FLAGS['webhook-configuration'],
    about: 'name of the Mutating- and of the ValidatingWebhookConfiguration whose caBundle is written',
  },
  'health-bind-address': {
    ...METRICS_FLAGS['metrics-bind-address'],
    about: '/healthz and /readyz; port 0 takes a free one, 0 alone serves nothing',
  },
  ...LOG_FLAGS,
} satisfies FlagTable;

export const CERTIFICATES_PROGRAM: Program<typeof FLAGS, CertificatesConfig> = {
  name: 'switchyard-certificates',
  usage: 'npm run certificates --',
  about:
    'Makes and renews the serving certificate of the webhook in a Secret, and writes its CA into the webhook configurations. Runs under an account of its own.',
  flags: FLAGS,
  configOf: (flags: FlagValues<typeof FLAGS>) => ({
    kubeconfig: flags.kubeconfig,
    certificateSecret: { secret: flags['webhook-cert-secret'], configuration: flags['webhook-configuration'] },
    names: flags['webhook-cert-names'],
    healthAddress: flags['health-bind-address'],
    logLevel: flags['log-level'],
  }),
};

function dnsNames(given: string): readonly string[] {
  const names = given.split(',').map((each) => each.trim());
  const wrong = names.find((each) => each.length > 253 || !new RegExp(DNS_NAME).test(each));
  if (wrong === undefined) return [...new Set(names)];
  throw new FlagError(`${JSON.stringify(wrong)} is no DNS name; write names such as switchyard-manager.switchyard.svc`);
}
