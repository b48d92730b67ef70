import { readFileSync } from 'node:fs';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { FlagError, text, wordsOf, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import { shaped } from '../../shared/runtime/value-shape.ts';
import type { SignInSettings } from '../sign-in/sign-in.ts';
import { readSecretWord } from './read-secret-file.ts';

const SCOPES = { type: 'array', items: { type: 'string', pattern: '^[!#-+\\--\\[\\]-~]+$' } } as const;
const WEB_URL = {
  type: 'string',
  pattern: '^(https://[^?#]+|http://(127\\.[0-9.]+|\\[::1\\]|localhost)(:[0-9]+)?(/[^?#]*)?)$',
} as const;
const PREFIX = { type: 'string', not: { pattern: '^system:' } } as const;

/** How the dashboard signs users in by OIDC. */
export const SIGN_IN_FLAGS = {
  'dashboard-external-url': {
    value: 'URL',
    about: 'where browsers find the dashboard, such as https://switchyard.example/; the provider sends users back to oidc/callback there',
    parse: shaped(WEB_URL, externalUrl),
  },
  'dashboard-oidc-issuer-url': {
    value: 'URL',
    about: 'issuer of an OpenID provider, exactly as in its tokens; the dashboard signs users in there',
    parse: shaped(WEB_URL, issuerUrl),
  },
  'dashboard-oidc-name': { value: 'NAME', about: 'name of the provider on the button; default: the host of the issuer', parse: text },
  'dashboard-oidc-client-id': { value: 'ID', about: 'id of the dashboard at the provider', parse: text },
  'dashboard-oidc-client-secret-file': {
    value: 'FILE',
    about: 'file with the client secret; without it the dashboard is a public client; read at start',
    parse: text,
  },
  'dashboard-oidc-ca-file': {
    value: 'FILE',
    about: 'authorities of the issuer, PEM; without it the usual ones; read at start',
    parse: text,
  },
  'dashboard-oidc-scopes': {
    value: 'SCOPE,...',
    about:
      'scopes to ask for beside openid; default: email,profile, and groups where there is a groups claim and the provider has that scope',
    parse: shaped(SCOPES, scopes),
  },
  'dashboard-oidc-token-review': {
    about:
      'the API server knows the issuer and the client id: the ID token is the user’s token there, and the claims below are those of the API server',
  },
  'dashboard-oidc-username-claim': { value: 'CLAIM', about: 'claim with the name of the user; default: sub', parse: text },
  'dashboard-oidc-username-prefix': {
    value: 'PREFIX',
    about: 'prefix of user names, such as oidc:, or - for none; default: ISSUER#, and none for the claim email',
    parse: shaped(PREFIX, prefix),
  },
  'dashboard-oidc-groups-claim': { value: 'CLAIM', about: 'claim with the groups of the user; without it users have none', parse: text },
  'dashboard-oidc-groups-prefix': { value: 'PREFIX', about: 'prefix of groups, such as oidc:', parse: shaped(PREFIX, prefix) },
} satisfies FlagTable;

/** Sign-in as configured; files are read by {@link readSignInSettings}. */
export type SignInConfig = Omit<SignInSettings, 'clientSecret' | 'ca'> & {
  readonly clientSecretFile?: string;
  readonly caFile?: string;
};

/** undefined: users do not sign in here. Throws a {@link FlagError} for flags that do not go together. */
export function signInConfigOf(flags: FlagValues<typeof SIGN_IN_FLAGS>): SignInConfig | undefined {
  const issuer = flags['dashboard-oidc-issuer-url'];
  const given = (names: readonly string[]): string | undefined =>
    names.find((name) => ![undefined, false].includes((flags as Readonly<Record<string, unknown>>)[name] as false | undefined));
  if (issuer === undefined) {
    const alone = given(Object.keys(SIGN_IN_FLAGS));
    if (alone === undefined) return undefined;
    throw new FlagError(`--${alone} is for --dashboard-oidc-issuer-url, which is missing`);
  }
  const { 'dashboard-oidc-client-id': clientId, 'dashboard-external-url': external, 'dashboard-oidc-token-review': isReviewed } = flags;
  if (clientId === undefined || external === undefined)
    throw new FlagError('--dashboard-oidc-issuer-url needs --dashboard-oidc-client-id and --dashboard-external-url');
  const claim = given(['username-claim', 'username-prefix', 'groups-claim', 'groups-prefix'].map((each) => `dashboard-oidc-${each}`));
  if (isReviewed && claim !== undefined)
    throw new FlagError(`--${claim} and --dashboard-oidc-token-review exclude one another: the API server has flags of its own for claims`);
  const usernameClaim = flags['dashboard-oidc-username-claim'] ?? 'sub';
  return {
    issuer,
    clientId,
    externalUrl: external,
    name: flags['dashboard-oidc-name'] ?? new URL(issuer).host,
    ...omitUndefined({
      scopes: flags['dashboard-oidc-scopes'],
      clientSecretFile: flags['dashboard-oidc-client-secret-file'],
      caFile: flags['dashboard-oidc-ca-file'],
    }),
    identity: isReviewed
      ? 'TokenReview'
      : {
          usernameClaim,
          usernamePrefix: flags['dashboard-oidc-username-prefix'] ?? (usernameClaim === 'email' ? '' : `${issuer}#`),
          groupsPrefix: flags['dashboard-oidc-groups-prefix'] ?? '',
          ...omitUndefined({ groupsClaim: flags['dashboard-oidc-groups-claim'] }),
        },
  };
}

/** With what stands in the files. Throws a {@link FlagError} for one that cannot be read, which quotes nothing of it. */
export function readSignInSettings({ clientSecretFile, caFile, ...settings }: SignInConfig): SignInSettings {
  return {
    ...settings,
    ...(clientSecretFile !== undefined && {
      clientSecret: readSecretWord('--dashboard-oidc-client-secret-file', clientSecretFile, 'write the client secret into it'),
    }),
    ...(caFile !== undefined && { ca: readCertificates(caFile) }),
  };
}

function readCertificates(file: string): string {
  const problem = `--dashboard-oidc-ca-file: ${JSON.stringify(file)} holds no certificate that can be read; write PEM into it`;
  try {
    const certificates = readFileSync(file, 'utf8');
    if (certificates.includes('-----BEGIN CERTIFICATE-----')) return certificates;
  } catch (error) {
    throw new FlagError(problem, { cause: error });
  }
  throw new FlagError(problem);
}

const LOOPBACK = /^(?:127\.[\d.]+|\[::1\]|localhost)$/;

function webUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.search === '' && url.hash === '' && url.username === '' && !/[?#]/.test(given);
  if (isPlain && (url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname)))) return url;
  throw new FlagError(`${JSON.stringify(given)} cannot be used; write https://HOST/PATH, or http:// of a loopback address`);
}

function externalUrl(given: string): string {
  const { href } = webUrl(given);
  return href.endsWith('/') ? href : `${href}/`;
}

/** As written: tokens name it letter by letter. */
function issuerUrl(given: string): string {
  webUrl(given);
  return given;
}

function scopes(given: string): readonly string[] {
  const all = wordsOf(given);
  if (all.every((each) => new RegExp(SCOPES.items.pattern).test(each))) return [...new Set(['openid', ...all])];
  throw new FlagError(`${JSON.stringify(given)} cannot be used; write scopes such as email,groups`);
}

function prefix(given: string): string {
  if (!given.startsWith('system:')) return given === '-' ? '' : given;
  throw new FlagError(`${JSON.stringify(given)} is for names of the API server; write a prefix such as oidc:`);
}
