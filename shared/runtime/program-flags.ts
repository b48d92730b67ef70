/** Flags that several programs have: each means the same everywhere. */
import { DENIED_NAMESPACE_PATTERN, SYSTEM_NAMESPACES } from '../api/denied-namespaces.ts';
import {
  bindAddress,
  durationMs,
  FlagError,
  CONFIG_FLAG,
  oneOf,
  rate,
  text,
  wholeNumber,
  type FlagTable,
  type FlagValues,
} from './flags.ts';
import type { CertificateFiles } from './serving-certificate.ts';
import { LOG_LEVELS } from './logger.ts';
import { durationShape, shaped } from './value-shape.ts';

export const LOG_FLAGS = {
  'log-level': {
    value: 'LEVEL',
    fallback: 'info',
    about: `what is logged: ${LOG_LEVELS.join(', ')}, of which each has those after it`,
    parse: oneOf(LOG_LEVELS),
  },
} satisfies FlagTable;

/** Of programs with `readsConfigFile`. */
export const CONFIG_FILE_FLAGS = {
  [CONFIG_FLAG]: {
    value: 'FILE',
    about:
      'YAML with settings: keys are the names of these flags in camelCase, such as kubeApiQps; a flag or variable that is given counts more',
    parse: text,
  },
} satisfies FlagTable;

export const METRICS_FLAGS = {
  'metrics-bind-address': {
    value: 'HOST:PORT',
    fallback: '127.0.0.1:0',
    about: '/metrics, /healthz and /readyz; port 0 takes a free one, 0 alone serves nothing',
    parse: (given: string) => (given === '0' ? undefined : bindAddress(given)),
  },
  'metrics-cert-file': {
    value: 'FILE',
    about: 'certificate of that address, PEM; read again when it changes. Without it plain HTTP',
    parse: text,
  },
  'metrics-key-file': { value: 'FILE', about: 'private key of that certificate, PEM', parse: text },
  'metrics-authentication': {
    about: 'show /metrics only to bearer tokens that the API server knows (TokenReview) and lets get /metrics (SubjectAccessReview)',
  },
} satisfies FlagTable;

/** A deny list of namespaces, which manager and worker have each; `what` is what it means for them. */
export const deniedNamespacesFlag = (what: string) => ({
  value: 'NAMESPACE,...',
  fallback: SYSTEM_NAMESPACES.join(),
  about: `${what}. Names, or beginnings of names and *; empty: none is denied`,
  parse: shaped({ type: 'array', items: { type: 'string', pattern: DENIED_NAMESPACE_PATTERN } }, deniedNamespaces),
});

function deniedNamespaces(given: string): readonly string[] {
  const entries = given.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  const wrong = entries.find((each) => !new RegExp(DENIED_NAMESPACE_PATTERN).test(each));
  if (wrong === undefined) return entries;
  throw new FlagError(`${JSON.stringify(wrong)} is neither a namespace nor the beginning of names and *; write such as kube-*,vault`);
}

/** Undefined: plain HTTP, unless there is a certificate from elsewhere. */
export function metricsFilesOf(flags: FlagValues<typeof METRICS_FLAGS>): CertificateFiles | undefined {
  const [certFile, keyFile] = [flags['metrics-cert-file'], flags['metrics-key-file']];
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile === undefined && keyFile === undefined) return undefined;
  throw new FlagError('--metrics-cert-file and --metrics-key-file go together');
}

const LEASE_DURATION_MS_MIN = 2_000;
const LEASE_DURATION_MS_MAX = 60_000;

/** `programs` is what runs more than once, `lease` the default name of the Lease. */
export const leaderElectionFlags = (programs: string, lease: string) =>
  ({
    'leader-elect': { about: `run several ${programs}, of which one leads` },
    'leader-elect-resource-namespace': {
      value: 'NAME',
      about: 'namespace of the election’s Lease; default: that of the kubeconfig’s context, or the pod’s',
      parse: text,
    },
    'leader-elect-resource-name': { value: 'NAME', fallback: lease, about: 'name of the election’s Lease', parse: text },
    'leader-elect-lease-duration': {
      value: 'DURATION',
      fallback: '3s',
      about:
        'how long the others wait for a leader that does not renew the Lease, up to five times as long while the API server or the machine are slow; at least 2s',
      parse: shaped(durationShape(LEASE_DURATION_MS_MIN, LEASE_DURATION_MS_MAX), leaseDuration),
    },
  }) satisfies FlagTable;

/** Without a namespace: the kubeconfig context's. */
export type LeaderElectionConfig = { readonly namespace: string | undefined; readonly name: string; readonly leaseDurationMs: number };

/** undefined: this program is the only one of its kind. */
export function leaderElectionOf(flags: FlagValues<ReturnType<typeof leaderElectionFlags>>): LeaderElectionConfig | undefined {
  if (!flags['leader-elect']) return undefined;
  return {
    namespace: flags['leader-elect-resource-namespace'],
    name: flags['leader-elect-resource-name'],
    leaseDurationMs: flags['leader-elect-lease-duration'],
  };
}

function leaseDuration(given: string): number {
  const ms = durationMs(given);
  if (ms >= LEASE_DURATION_MS_MIN && ms <= LEASE_DURATION_MS_MAX) return ms;
  throw new FlagError(`${JSON.stringify(given)} is no time for a Lease; write one from 2s to 60s`);
}

/** Requests a second to `server`; 0 means no limit. */
export const qpsFlag = (server: string, fallback: number) => ({
  value: 'N',
  fallback: String(fallback),
  about: `requests per second to ${server}; 0: no limit`,
  parse: rate,
});

/** Requests to `server` that may be made at once, before the rate counts. */
export const burstFlag = (server: string, fallback: number) => ({
  value: 'N',
  fallback: String(fallback),
  about: `requests to ${server} at once`,
  parse: wholeNumber(1),
});
