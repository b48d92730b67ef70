/** A small OpenID provider with knobs by which it, or somebody between, misbehaves. */
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const CLIENT = { id: 'switchyard', secret: 'a secret: 100% & more' } as const;

/** What the next answers are like. */
export type ProviderKnobs = {
  /** Claims that an ID token gets besides, or in place of, those that are right. */
  claims: Record<string, unknown>;
  algorithm: 'RS256' | 'none' | 'HS256' | 'ES256';
  /** In discovery. */
  algorithms: readonly string[];
  scopes: readonly string[];
  /** For how long ID tokens are valid. */
  seconds: number;
  /** The error at the page of the provider, and what it says of it. */
  refusal: { readonly error: string; readonly error_description?: string } | undefined;
  /** The `iss` in the answer to the browser (RFC 9207). */
  answersAs: string | undefined;
  /** Of a signature, a byte is changed. */
  isForged: boolean;
  /** Refresh tokens come with ID tokens. */
  refreshes: boolean;
  refreshTokenLength: number;
  /** Of the client. */
  secret: string;
  /** The status of every answer. */
  status: number | undefined;
};

export type TestProvider = {
  readonly issuer: string;
  readonly knobs: ProviderKnobs;
  /** Paths that were asked for; what browsers asked for of the authorization endpoint; bodies at the token endpoint. */
  readonly asked: string[];
  readonly authorizations: URLSearchParams[];
  readonly redeemed: URLSearchParams[];
  /** Every secret that the provider gave or got, which must be in no log. */
  readonly secrets: string[];
  /** Signs with another key from now on. */
  rotate(): void;
  close(): Promise<void>;
};

type Granted = { readonly parameters: URLSearchParams };

/** `tls`: over HTTPS. */
export async function createOidcProvider(
  claims: Record<string, unknown>,
  tls?: { readonly key: string; readonly cert: string },
): Promise<TestProvider> {
  const knobs: ProviderKnobs = {
    claims,
    algorithm: 'RS256',
    algorithms: ['RS256'],
    scopes: ['openid', 'email', 'profile', 'groups'],
    seconds: 3_600,
    refusal: undefined,
    answersAs: undefined,
    isForged: false,
    refreshes: false,
    refreshTokenLength: 32,
    secret: CLIENT.secret,
    status: undefined,
  };
  let keys = makeKeys();
  const codes = new Map<string, Granted>();
  const refreshTokens = new Map<string, Granted>();
  const [asked, authorizations, redeemed, secrets]: [string[], URLSearchParams[], URLSearchParams[], string[]] = [[], [], [], []];
  const secret = (length = 32): string => {
    const made = randomBytes(length).toString('base64url').slice(0, length);
    secrets.push(made);
    return made;
  };

  const tokens = ({ parameters }: Granted): object => {
    const now = Math.floor(Date.now() / 1000);
    const nonce = parameters.get('nonce');
    const idToken = signed(
      { iss: issuer, aud: CLIENT.id, sub: 'u1', iat: now, exp: now + knobs.seconds, ...(nonce !== null && { nonce }), ...knobs.claims },
      knobs,
      keys,
    );
    secrets.push(idToken);
    const refreshToken = knobs.refreshes ? secret(knobs.refreshTokenLength) : undefined;
    if (refreshToken !== undefined) refreshTokens.set(refreshToken, { parameters: new URLSearchParams() });
    return { token_type: 'Bearer', access_token: secret(), expires_in: 60, id_token: idToken, refresh_token: refreshToken };
  };

  const metadata = (): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    id_token_signing_alg_values_supported: knobs.algorithms,
    scopes_supported: knobs.scopes,
    response_types_supported: ['code'],
    ...(knobs.answersAs !== undefined && { authorization_response_iss_parameter_supported: true }),
  });

  /** The user is signed in there, and agrees. */
  const authorize = (parameters: URLSearchParams): string => {
    authorizations.push(parameters);
    const back = new URL(parameters.get('redirect_uri') ?? '');
    back.searchParams.set('state', parameters.get('state') ?? '');
    if (knobs.answersAs !== undefined) back.searchParams.set('iss', knobs.answersAs);
    if (knobs.refusal !== undefined) for (const [name, value] of Object.entries(knobs.refusal)) back.searchParams.set(name, value);
    else {
      const code = secret();
      codes.set(code, { parameters });
      back.searchParams.set('code', code);
    }
    return back.href;
  };

  const redeem = async (request: IncomingMessage): Promise<[number, object]> => {
    const body = new URLSearchParams(await text(request));
    redeemed.push(body);
    const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    const [id, password] = basic.split(':').map((each) => decodeURIComponent(each.replaceAll('+', ' ')));
    if (id !== CLIENT.id || password !== knobs.secret) return [401, { error: 'invalid_client' }];
    const isRefresh = body.get('grant_type') === 'refresh_token';
    const [from, given] = isRefresh ? [refreshTokens, body.get('refresh_token') ?? ''] : [codes, body.get('code') ?? ''];
    const granted = from.get(given);
    // Each counts once.
    from.delete(given);
    if (granted === undefined) return [400, { error: 'invalid_grant', error_description: 'not known, or used before' }];
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (
      !isRefresh &&
      (challenge !== granted.parameters.get('code_challenge') || body.get('redirect_uri') !== granted.parameters.get('redirect_uri'))
    )
      return [400, { error: 'invalid_grant', error_description: 'the verifier or the redirect URI is another' }];
    return [200, tokens(granted)];
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', issuer);
    asked.push(url.pathname);
    const send = (status: number, body: object): void => {
      response.writeHead(knobs.status ?? status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (url.pathname === '/.well-known/openid-configuration') return send(200, metadata());
    if (url.pathname === '/keys') return send(200, { keys: [keys.jwk, keys.elliptic] });
    if (url.pathname === '/authorize') return void response.writeHead(302, { location: authorize(url.searchParams) }).end();
    void redeem(request).then(([status, body]) => send(status, body));
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    knobs,
    asked,
    authorizations,
    redeemed,
    secrets,
    rotate: () => (keys = makeKeys()),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Keys = {
  readonly rsa: KeyObject;
  readonly ec: KeyObject;
  readonly jwk: object;
  readonly elliptic: object;
  readonly kid: string;
  readonly publicPem: string;
};

function makeKeys(): Keys {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomBytes(6).toString('hex');
  return {
    rsa: rsa.privateKey,
    ec: ec.privateKey,
    kid,
    jwk: { ...rsa.publicKey.export({ format: 'jwk' }), kid, use: 'sig' },
    elliptic: { ...ec.publicKey.export({ format: 'jwk' }), kid, use: 'sig' },
    publicPem: rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
  };
}

function signed(claims: object, { algorithm, isForged }: ProviderKnobs, { rsa, ec, kid, publicPem }: Keys): string {
  const encoded = [{ alg: algorithm, kid }, claims].map((each) => Buffer.from(JSON.stringify(each)).toString('base64url')).join('.');
  const signature = {
    none: () => Buffer.alloc(0),
    // The public key as if it were a secret, which everybody knows.
    HS256: () => createHmac('sha256', publicPem).update(encoded).digest(),
    RS256: () => sign('sha256', Buffer.from(encoded), rsa),
    ES256: () => sign('sha256', Buffer.from(encoded), { key: ec, dsaEncoding: 'ieee-p1363' }),
  }[algorithm]();
  if (isForged) signature[10] = (signature[10] ?? 0) ^ 1;
  return `${encoded}.${signature.toString('base64url')}`;
}
