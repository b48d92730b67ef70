import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { notFound } from '../apimachinery/status-error.ts';
import type { TokenVerdict } from './authenticator.ts';
import type { UserInfo } from './user-info.ts';

export type TokenRef = { readonly name: string; readonly uid: string };

/** What a ServiceAccount's token says; the names are those of Kubernetes' bound tokens. */
export type TokenClaims = {
  readonly iss: string;
  readonly aud: readonly string[];
  /** Seconds since the epoch. */
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly sub: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: TokenRef;
    /**
     * The object that the token is bound to; a pod's token also names the node that the pod is on, without its UID when the node is gone.
     */
    readonly pod?: TokenRef;
    readonly secret?: TokenRef;
    readonly node?: { readonly name: string; readonly uid?: string };
    readonly warnafter?: number;
  };
};

export interface ServiceAccountTokens {
  issue(claims: TokenClaims): string;
  /** Whose token it is, for one of these audiences. A token that was not issued here is unknown. */
  verify(token: string, audiences: readonly string[]): TokenVerdict;
}

/** Objects that tokens are bound to: a token dies with each of them. */
export type BoundObjects = (
  plural: 'serviceaccounts' | 'pods' | 'secrets' | 'nodes',
  namespace: string,
  name: string,
) => AnyObject | undefined;

export const TOKEN_ISSUER = 'https://kubernetes.default.svc.cluster.local';
/** An object that is being deleted keeps its tokens valid for this long (DefaultLeeway). */
const DELETION_LEEWAY_MS = 60_000;

/** JSON Web Tokens, signed with a key that only this server knows (HS256: nobody else has to verify them). */
export function createServiceAccountTokens(key: string, clock: Clock, objects: BoundObjects): ServiceAccountTokens {
  const signatureOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    issue(claims) {
      const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
      return `${text}.${signatureOf(text).toString('base64url')}`;
    },
    verify(token, audiences) {
      const [header, body, signature, ...rest] = token.split('.');
      if (header === undefined || body === undefined || signature === undefined || rest.length > 0) return { kind: 'unknown' };
      const given = Buffer.from(signature, 'base64url');
      const wanted = signatureOf(`${header}.${body}`);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return { kind: 'unknown' };
      // Signed by this server, so the shape is known.
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as TokenClaims;
      const common = claims.aud.filter((audience) => audiences.includes(audience));
      if (common.length === 0) {
        const why = `token audiences ${quoted(claims.aud)} is invalid for the target audiences ${quoted(audiences)}`;
        return { kind: 'refused', why };
      }
      const why = whyDead(claims, clock.now(), objects);
      return why === undefined ? { kind: 'known', user: userOf(claims), audiences: common } : { kind: 'refused', why };
    },
  };
}

/** Why a token is no longer valid (Validate of upstream's claims); undefined while it is. */
function whyDead(claims: TokenClaims, nowMs: number, objects: BoundObjects): string | undefined {
  if (claims.exp * 1000 <= nowMs) return 'service account token has expired';
  const { namespace, serviceaccount, secret, pod, node } = claims['kubernetes.io'];
  const isDeleted = ({ metadata: { deletionTimestamp } }: AnyObject): boolean =>
    deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < nowMs - DELETION_LEEWAY_MS;
  const account = objects('serviceaccounts', namespace, serviceaccount.name);
  if (account === undefined) return notFound({ group: '', resource: 'serviceaccounts' }, serviceaccount.name).message;
  if (account.metadata.uid !== serviceaccount.uid) {
    return `service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})`;
  }
  if (isDeleted(account)) return `service account ${namespace}/${serviceaccount.name} has been deleted`;
  const whyUnbound = (kind: string, found: AnyObject | undefined, uid: string | undefined): string | undefined => {
    if (found === undefined || isDeleted(found)) return 'service account token has been invalidated';
    if (found.metadata.uid === uid) return undefined;
    return `${kind} UID (${found.metadata.uid}) does not match service account ${kind.toLowerCase()} ref claim (${uid ?? ''})`;
  };
  if (secret !== undefined) return whyUnbound('secret', objects('secrets', namespace, secret.name), secret.uid);
  if (pod !== undefined) return whyUnbound('pod', objects('pods', namespace, pod.name), pod.uid);
  return node === undefined ? undefined : whyUnbound('node', objects('nodes', '', node.name), node.uid);
}

const EXTRA = 'authentication.kubernetes.io';

function userOf({ sub, jti, 'kubernetes.io': { namespace, serviceaccount, pod, node } }: TokenClaims): UserInfo {
  return {
    name: sub,
    uid: serviceaccount.uid,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: {
      [`${EXTRA}/credential-id`]: [`JTI=${jti}`],
      ...(node === undefined ? {} : { [`${EXTRA}/node-name`]: [node.name] }),
      ...(node?.uid === undefined ? {} : { [`${EXTRA}/node-uid`]: [node.uid] }),
      ...(pod === undefined ? {} : { [`${EXTRA}/pod-name`]: [pod.name], [`${EXTRA}/pod-uid`]: [pod.uid] }),
    },
  };
}

/** A list of strings as Go's %q prints it. */
const quoted = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
