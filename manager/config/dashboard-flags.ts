import type { CERTIFICATE_FLAGS, CertificateChoice } from './certificate-flags.ts';
import { isAddressRange } from '../../shared/kube/address-ranges.ts';
import { shaped } from '../../shared/runtime/value-shape.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { SIGN_IN_FLAGS, signInConfigOf, type SignInConfig } from './sign-in-flags.ts';
import { bindAddress, FlagError, text, type FlagTable, type FlagValues, wordsOf } from '../../shared/runtime/flags.ts';

const HEADER_NAME = '^[A-Za-z][A-Za-z0-9-]{0,63}$';

/** Where the dashboard is served, and whose word is taken for who looks at it. */
export const DASHBOARD_FLAGS = {
  'dashboard-bind-address': {
    value: 'HOST:PORT',
    about: 'the dashboard (docs/dashboard.md), for those with a token of this cluster; without it none is served',
    parse: bindAddress,
  },
  'dashboard-cert-file': {
    value: 'FILE',
    about: 'certificate of that, PEM; without it that of --webhook-cert-secret, or plain HTTP on a loopback address',
    parse: text,
  },
  'dashboard-key-file': { value: 'FILE', about: 'private key of that certificate, PEM', parse: text },
  'dashboard-actions': {
    about:
      'viewers of the dashboard may cancel, hold and release Jobs and cordon and drain clusters there, where the API server lets them do so themselves',
  },
  'dashboard-live-logs': {
    about:
      'the dashboard shows pods that run on worker clusters, and follows their logs, for those who may read them on this cluster; the manager needs the right to do so there (docs/dashboard.md)',
  },
  'dashboard-trace-url': {
    value: 'URL',
    about:
      'where the trace of a Job is to be seen (--otlp-endpoint), such as https://jaeger.example/trace/{traceId}; without it the page tells the id alone',
    parse: shaped({ type: 'string', pattern: '^https?://[^{}]*\\{traceId\\}[^{}]*$' }, traceUrl),
  },
  'dashboard-user-header': {
    value: 'NAME',
    about: 'header by which a proxy of --dashboard-proxies tells who looks, such as X-Forwarded-User; without it only tokens count',
    parse: shaped({ type: 'string', pattern: HEADER_NAME }, headerName),
  },
  'dashboard-groups-header': {
    value: 'NAME',
    about: 'header beside it with the groups of that user, separated by commas',
    parse: shaped({ type: 'string', pattern: HEADER_NAME }, headerName),
  },
  'dashboard-proxies': {
    value: 'CIDR,...',
    fallback: '',
    about: 'addresses of the proxies whose word is taken for who looks, such as 127.0.0.1/32',
    parse: shaped({ type: 'array', items: { type: 'string', pattern: '^[0-9A-Fa-f.:]+/[0-9]{1,3}$' } }, ranges),
  },
  ...SIGN_IN_FLAGS,
} satisfies FlagTable;

export type DashboardConfig = {
  readonly address: string;
  /** Without a certificate: plain HTTP. */
  readonly tls?: CertificateChoice;
  /** Absent: no header counts. */
  readonly proxy?: ProxyTrust;
  /** Absent: users sign in nowhere but with a token. */
  readonly signIn?: SignInConfig;
  /** Whether viewers may do something. */
  readonly actions: boolean;
  /** Whether pods and logs of worker clusters are read for them. */
  readonly liveLogs: boolean;
  /** With `{traceId}` in it. Absent: traces are shown nowhere. */
  readonly traceUrl?: string;
};
export type ProxyTrust = { readonly userHeader: string; readonly groupsHeader?: string; readonly from: readonly string[] };

/** undefined: none is served. */
export function dashboardConfigOf(flags: FlagValues<typeof DASHBOARD_FLAGS & typeof CERTIFICATE_FLAGS>): DashboardConfig | undefined {
  const address = flags['dashboard-bind-address'];
  if (address === undefined) return undefined;
  const proxy = proxyOf(flags);
  const signIn = signInConfigOf(flags);
  const [certFile, keyFile] = [flags['dashboard-cert-file'], flags['dashboard-key-file']];
  const common = {
    address,
    actions: flags['dashboard-actions'],
    liveLogs: flags['dashboard-live-logs'],
    ...omitUndefined({ proxy, signIn, traceUrl: flags['dashboard-trace-url'] }),
  };
  if (certFile !== undefined && keyFile !== undefined) return { ...common, tls: { certFile, keyFile } };
  if (certFile !== undefined || keyFile !== undefined) throw new FlagError('--dashboard-cert-file and --dashboard-key-file go together');
  if (flags['webhook-cert-secret'] !== undefined) return { ...common, tls: 'Own' };
  if (/^(?:127\.[\d.]+|\[::1\]|localhost):/.test(address)) return common;
  throw new FlagError(
    '--dashboard-bind-address needs --dashboard-cert-file and --dashboard-key-file where others can reach it: tokens must not be read on the way',
  );
}

function proxyOf(flags: FlagValues<typeof DASHBOARD_FLAGS>): ProxyTrust | undefined {
  const userHeader = flags['dashboard-user-header'];
  const groupsHeader = flags['dashboard-groups-header'];
  const from = flags['dashboard-proxies'];
  if (userHeader === undefined) {
    if (groupsHeader === undefined && from.length === 0) return undefined;
    throw new FlagError('--dashboard-proxies and --dashboard-groups-header are for --dashboard-user-header, which is missing');
  }
  if (from.length === 0)
    throw new FlagError('--dashboard-user-header needs --dashboard-proxies: anybody may send a header, so say whose word is taken');
  return { userHeader, from, ...(groupsHeader === undefined ? {} : { groupsHeader }) };
}

function traceUrl(wanted: string): string {
  const [before, after, ...more] = wanted.split('{traceId}');
  const url = after === undefined || more.length > 0 || !URL.canParse(`${before}0${after}`) ? undefined : new URL(`${before}0${after}`);
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && !/[{}\s]/.test(`${before}${after}`)) return wanted;
  throw new FlagError(`${JSON.stringify(wanted)} leads to no trace; write an address such as https://jaeger.example/trace/{traceId}`);
}

function headerName(given: string): string {
  if (new RegExp(HEADER_NAME).test(given) && given.toLowerCase() !== 'authorization') return given.toLowerCase();
  throw new FlagError(`${JSON.stringify(given)} names no header for this; write one such as X-Forwarded-User`);
}

function ranges(given: string): readonly string[] {
  const all = wordsOf(given);
  const wrong = all.find((each) => !isAddressRange(each));
  if (wrong === undefined) return all;
  throw new FlagError(`${JSON.stringify(wrong)} is no range of addresses; write ranges such as 127.0.0.1/32,10.1.0.0/16`);
}
