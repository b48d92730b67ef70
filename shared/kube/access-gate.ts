import type { Clock } from '../runtime/clock.ts';
import { withDeadline } from '../runtime/deadline.ts';
import { createFairSlots, TooMuchWaits } from '../runtime/fair-slots.ts';
import type { HttpRefusal, MetricsGate } from '../runtime/http-server.ts';
import { createKeptAnswers } from '../runtime/kept-answers.ts';
import type { Logger } from '../runtime/logger.ts';
import { userMay, type AccessAttributes, type KubeUser } from './access-reviews.ts';
import { ApiError } from './api-error.ts';
import type { RawClient } from './client.ts';
import { createTokenUsers, TooManyNewTokens } from './token-users.ts';
import { digestOf, ownerOf, withoutCredential } from './user-identity.ts';

/** Judges the header `Authorization` for one thing to do. `address`: where the request comes from. Never rejects. */
export type AccessGate = (authorization: string | undefined, attributes: AccessAttributes, address?: string) => Promise<AccessAnswer>;
export type AccessAnswer =
  | { readonly kind: 'Allowed'; readonly user: KubeUser }
  /** `user`: where the token is good. */
  | ({ readonly kind: 'Refused'; readonly user?: KubeUser } & HttpRefusal);

export type AccessGateDeps = {
  /** The API server that knows the tokens. Without a rate limit of its own: this one holds strangers back. */
  readonly client: RawClient;
  /**
   * The UID of the namespace that a name means now: what was allowed in one is not kept for another one that gets its name. Absent: names
   * are not told apart.
   */
  readonly uidOf?: (namespace: string) => string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A token that was taken back is taken no longer than this (client caches of kube-apiserver's delegated authentication: one minute). */
const ALLOWED_MS = 60_000;
/** Who was just given the permission need not wait long. */
const REFUSED_MS = 10_000;
const ANSWERS_MAX = 1_024;
/** The API server has this long for each question. */
const ANSWER_MS = 5_000;
/** Questions about tokens that are not known, of one address. */
const NEW_TOKENS = { qps: 10, burst: 20 };
const REVIEWS = { all: 64, waitingMax: 64 };

/** Lets in whose user may `get` the path /metrics. */
export function createMetricsGate(deps: AccessGateDeps): MetricsGate {
  const gate = createAccessGate(deps);
  return async (authorization, path = '/metrics') => {
    const answer = await gate(authorization, { nonResourceAttributes: { path, verb: 'get' } });
    return answer.kind === 'Allowed' ? undefined : { status: answer.status, why: answer.why };
  };
}

/**
 * Lets in who has a bearer token that the API server knows (TokenReview) and whose user may do what is asked for (SubjectAccessReview).
 * Answers are kept for a while, equal questions asked once, however many tokens a user has; without a token nothing is asked. When nobody
 * can be asked, nobody is let in.
 */
export function createAccessGate({ client, uidOf, clock, log }: AccessGateDeps): AccessGate {
  const users = createTokenUsers({ client, newTokens: NEW_TOKENS, clock });
  const reviews = createFairSlots(REVIEWS);
  const answers = createKeptAnswers<{ readonly owner: string; readonly isAllowed: boolean }>({
    most: ANSWERS_MAX,
    keptMs: ({ isAllowed }) => (isAllowed ? ALLOWED_MS : REFUSED_MS),
    ownerOf: ({ owner }) => owner,
    clock,
  });

  const uidIn = (attributes: AccessAttributes): string | undefined =>
    'resourceAttributes' in attributes ? uidOf?.(attributes.resourceAttributes.namespace) : undefined;

  const may = async (user: KubeUser, attributes: AccessAttributes): Promise<boolean> => {
    const [owner, reviewed] = [ownerOf(user), withoutCredential(user)];
    const { isAllowed } = await answers.of(digestOf([reviewed, attributes, uidIn(attributes)]), () =>
      reviews.run(owner, async () => ({
        owner,
        isAllowed: await withDeadline(clock, ANSWER_MS, undefined, (signal) => userMay(client, reviewed, attributes, signal)),
      })),
    );
    return isAllowed;
  };

  return async (authorization, attributes, address) => {
    const token = bearerToken(authorization);
    if (token === undefined) return { kind: 'Refused', ...UNAUTHENTICATED };
    try {
      const user = await users.of(token, address);
      if (user === undefined) return { kind: 'Refused', status: 401, why: 'the bearer token is not valid in this cluster' };
      if (await may(user, attributes)) return { kind: 'Allowed', user };
      return { kind: 'Refused', status: 403, why: forbidden(attributes), user };
    } catch (error) {
      if (error instanceof TooManyNewTokens || error instanceof TooMuchWaits) return { kind: 'Refused', status: 503, why: error.message };
      log.warn('nobody can be asked who somebody is and what he may do; he is not let in', { error });
      return { kind: 'Refused', ...unanswered(error) };
    }
  };
}

const UNAUTHENTICATED: HttpRefusal = {
  status: 401,
  why: 'a bearer token of this cluster is asked for: send Authorization: Bearer TOKEN',
};

/** The token of `Bearer TOKEN`, whose first word may be in any case. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer +([^\s,]+) *$/i.exec(authorization ?? '') ?? [];
  return token;
}

/** What the API server says is for the log; a stranger is told what the operator must look for. */
function unanswered(error: unknown): HttpRefusal {
  const how = error instanceof ApiError ? `answered ${error.code} ${error.reason}`.trimEnd() : 'did not answer';
  return { status: 503, why: `cannot find out who asks: the API server ${how}` };
}

/** With what whoever grants rights has to grant. */
export function forbidden(attributes: AccessAttributes): string {
  if ('nonResourceAttributes' in attributes) {
    const { path, verb } = attributes.nonResourceAttributes;
    return `the user of the bearer token may not ${verb} the path ${path}: grant nonResourceURLs [${path}], verbs [${verb}]`;
  }
  const { verb, group, resource, subresource, namespace } = attributes.resourceAttributes;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `the user of the bearer token may not ${verb} ${what} in namespace ${namespace}: grant apiGroups [${group}], resources [${what}], verbs [${verb}]`;
}
